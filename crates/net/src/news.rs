//! What happened in a network that its caller asked to be told of.

use ratewire_backpressure::frames::Control;
use ratewire_transport::Ack;
use ratewire_units::Time;

use crate::packet::{Content, Label, Slab};
use crate::spec::LinkId;

/// A packet seen at the far end of a link, as it went by.
#[derive(Clone, Copy, Debug)]
pub struct Captured {
    /// When it reached the far end.
    pub at: Time,
    /// Which link.
    pub link: LinkId,
    /// Its label.
    pub label: Label,
    /// Its header, as the last router left it, and body.
    pub content: Content,
    /// The acknowledgement it carries, if it does.
    pub ack: Option<Ack>,
}

/// A frame that pauses a link or lets it go on, seen at the end of its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapturedFrame {
    /// When it got there; the transmitter obeys after its reaction time.
    pub at: Time,
    /// The link by which it came.
    pub link: LinkId,
    /// The link that it pauses, which starts where the other ends.
    pub pauses: LinkId,
    /// The pauses that the frame asks for.
    pub control: Control,
}

/// A frame on its way, with when it leaves: until then it may yet say something else.
#[derive(Debug)]
struct Tapped {
    starts: Time,
    frame: CapturedFrame,
}

/// The events noted for a network's caller since they were last taken.
#[derive(Debug, Default)]
pub struct News {
    /// A packet was captured, or a socket may go on, since [`News::take_any`] was last called.
    is_any: bool,
    captured: Vec<Captured>,
    /// Links whose hosts' sockets may go on.
    roomy: Vec<LinkId>,
    /// Numbers of packets kept elsewhere that were dropped.
    dropped: Vec<u32>,
    /// Frames of tapped links.
    tapped: Vec<Tapped>,
}

impl News {
    /// Whether there is something for [`News::take_captured`] or [`News::take_roomy`] since this
    /// was last asked.
    #[inline]
    pub fn take_any(&mut self) -> bool {
        core::mem::take(&mut self.is_any)
    }

    /// The packets seen on watched links since this was last asked.
    pub fn take_captured(&mut self) -> Vec<Captured> {
        core::mem::take(&mut self.captured)
    }

    /// The links whose hosts' sockets may go on, since this was last asked.
    pub fn take_roomy(&mut self) -> Vec<LinkId> {
        core::mem::take(&mut self.roomy)
    }

    /// The numbers of packets given to [`Network::carry`](crate::Network::carry) that were dropped
    /// since this was last asked.
    pub fn take_dropped(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.dropped)
    }

    /// The frames that have arrived by now on tapped links, or at the starts of tapped links, since
    /// this was last asked; in order.
    ///
    /// They cause no events of their own, which would be others than those of a run without
    /// capture.
    pub fn take_frames(&mut self, now: Time) -> Vec<CapturedFrame> {
        let arrived = self.tapped.extract_if(.., |tapped| tapped.frame.at <= now);
        let mut arrived: Vec<CapturedFrame> = arrived.map(|tapped| tapped.frame).collect();
        arrived.sort_by_key(|frame| frame.at);
        arrived
    }

    /// A packet reaches the far end of a watched link.
    #[cold]
    pub(crate) fn note_captured(&mut self, at: Time, link: LinkId, label: Label, packets: &Slab) {
        let content = *packets.content(label.content);
        let ack = packets.ack(label.content);
        self.is_any = true;
        self.captured.push(Captured { at, link, label, content, ack });
    }

    /// The sockets that wait for room on this link may go on.
    pub(crate) fn note_roomy(&mut self, link: LinkId) {
        self.is_any = true;
        self.roomy.push(link);
    }

    /// A packet that the caller keeps under this number was dropped.
    pub(crate) fn note_dropped(&mut self, kept: u32) {
        self.dropped.push(kept);
    }

    /// A frame is to leave at this time on a tapped link, or for one.
    pub(crate) fn note_frame(&mut self, starts: Time, frame: CapturedFrame) {
        self.tapped.push(Tapped { starts, frame });
    }

    /// The frame that pauses this link and is to leave at this time says something else.
    pub(crate) fn change_frame(&mut self, pauses: LinkId, starts: Time, control: Control) {
        let mut tapped = self.tapped.iter_mut();
        let waits = tapped.find(|tapped| tapped.frame.pauses == pauses && tapped.starts == starts);
        if let Some(tapped) = waits {
            tapped.frame.control = control;
        }
    }
}
