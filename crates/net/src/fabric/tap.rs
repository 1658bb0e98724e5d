//! Frames that tapped links obey or carry, for a file of packets.

use ratewire_backpressure::frames::Control;
use ratewire_units::Time;

use super::{Told, What};
use crate::network::Network;
use crate::spec::LinkId;

/// A frame that pauses a link or lets it go on, seen at the end of its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapturedFrame {
    /// When it got there; the transmitter obeys after its reaction time.
    pub at: Time,
    /// The link by which it came.
    pub link: LinkId,
    /// The link that it pauses, which starts where the other ends.
    pub pauses: LinkId,
    /// What it says.
    pub control: Control,
}

/// A frame on its way, with when it leaves: until then it may yet say something else.
#[derive(Debug)]
pub(crate) struct Tapped {
    starts: Time,
    frame: CapturedFrame,
}

impl Network {
    /// The frames that have arrived by now on tapped links, or at the starts of tapped links, since
    /// this was last asked; in order.
    ///
    /// They cause no events of their own, which would be others than those of a run without capture.
    pub fn take_frames(&mut self, now: Time) -> Vec<CapturedFrame> {
        let arrived = self.fabric.tapped.extract_if(.., |tapped| tapped.frame.at <= now);
        let mut arrived: Vec<CapturedFrame> = arrived.map(|tapped| tapped.frame).collect();
        arrived.sort_by_key(|frame| frame.at);
        arrived
    }

    /// A frame is to be sent.
    pub(super) fn note_frame(&mut self, at: Time, link: LinkId, pauses: LinkId, told: &Told) {
        let is_tapped =
            |id: LinkId| self.links[id.index()].extra.as_ref().is_some_and(|extra| extra.tapped);
        if let What::Frame(control) = told.what
            && (is_tapped(link) || is_tapped(pauses))
        {
            let frame = CapturedFrame { at, link, pauses, control };
            self.fabric.tapped.push(Tapped { starts: told.starts, frame });
        }
    }

    /// A frame that waits says something else.
    pub(super) fn change_frame(&mut self, pauses: LinkId, told: &Told) {
        let What::Frame(control) = told.what else { return };
        let mut tapped = self.fabric.tapped.iter_mut();
        let waits =
            tapped.find(|tapped| tapped.frame.pauses == pauses && tapped.starts == told.starts);
        if let Some(tapped) = waits {
            tapped.frame.control = control;
        }
    }
}
