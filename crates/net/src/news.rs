//! Events in a network that its caller asked for.

use std::collections::BTreeMap;

use ratewire_backpressure::frames::Control;
use ratewire_transport::Ack;
use ratewire_units::Time;

use crate::packet::{Content, Label};
use crate::route_store::RouteStore;
use crate::slab::Slab;
use crate::spec::LinkId;

/// A packet seen at the far end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Captured {
    /// Time at which it reached the far end.
    pub at: Time,
    /// The link.
    pub link: LinkId,
    /// Number of links that it crossed before, each to a router that forwarded it.
    pub crossed: u32,
    /// Label of the packet.
    pub label: Label,
    /// Body of the packet, and its header as the last router left it.
    pub content: Content,
    /// The acknowledgement that the packet carries, if any.
    pub ack: Option<Ack>,
}

/// A frame that pauses or resumes a link, seen at its arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapturedFrame {
    /// Time of arrival; the transmitter reacts after its reaction time.
    pub at: Time,
    /// The link that carried the frame.
    pub link: LinkId,
    /// The link that the frame pauses or resumes; it starts where `link` ends.
    pub pauses: LinkId,
    /// The pauses that the frame asks for.
    pub control: Control,
}

/// A frame that its caller has not taken, with the time at which it leaves. Its content may change
/// until then.
#[derive(Debug)]
struct PendingFrame {
    starts: Time,
    frame: CapturedFrame,
}

/// Events noted for a network's caller since they were last taken.
#[derive(Debug, Default)]
pub struct News {
    /// Whether a packet was captured, or a socket may continue, since the last call of
    /// [`News::take_any`].
    is_any: bool,
    captured: Vec<Captured>,
    /// Links whose hosts' sockets may continue.
    unblocked: Vec<LinkId>,
    /// Numbers of dropped packets whose bytes the caller keeps.
    dropped: Vec<u32>,
    /// Numbers of packets whose bytes the caller keeps and of which there is one more copy.
    copied: Vec<u32>,
    /// Packets with data that were dropped or lost, by flow.
    lost_data: BTreeMap<u32, u64>,
    /// Frames on captured links, and frames that pause captured links.
    frames: Vec<PendingFrame>,
}

impl News {
    /// Whether [`News::take_captured`] or [`News::take_unblocked`] has new results since the last
    /// call.
    #[inline]
    pub fn take_any(&mut self) -> bool {
        core::mem::take(&mut self.is_any)
    }

    /// The packets seen on watched links since the last call.
    pub fn take_captured(&mut self) -> Vec<Captured> {
        core::mem::take(&mut self.captured)
    }

    /// The links whose hosts' sockets may continue, since the last call.
    pub fn take_unblocked(&mut self) -> Vec<LinkId> {
        core::mem::take(&mut self.unblocked)
    }

    /// Numbers of packets given to [`Network::carry`](crate::Network::carry) that were dropped
    /// since the last call.
    pub fn take_dropped(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.dropped)
    }

    /// Numbers of packets given to [`Network::carry`](crate::Network::carry) that a link has copied
    /// since the last call, once a copy: one more packet of that number arrives or is dropped.
    ///
    /// To be called after each event, before the packet that it gives is removed.
    pub fn take_copied(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.copied)
    }

    /// Packets with data of flows' senders that were dropped or lost since the last call, by flow
    /// ([`Address::generation`](crate::Address::generation)).
    pub fn take_lost_data(&mut self) -> BTreeMap<u32, u64> {
        core::mem::take(&mut self.lost_data)
    }

    /// Frames that have arrived since the last call, in order of arrival: those on captured
    /// links, and those that pause captured links.
    ///
    /// Frames cause no events of their own, so that a run has the same events without capture.
    pub fn take_frames(&mut self, now: Time) -> Vec<CapturedFrame> {
        let arrived = self.frames.extract_if(.., |pending| pending.frame.at <= now);
        let mut arrived: Vec<CapturedFrame> = arrived.map(|pending| pending.frame).collect();
        arrived.sort_by_key(|frame| frame.at);
        arrived
    }

    /// Notes a packet at the far end of a watched link.
    #[cold]
    pub(crate) fn note_captured(
        &mut self,
        at: Time,
        link: LinkId,
        label: Label,
        routes: &RouteStore,
        packets: &Slab,
    ) {
        let crossed = routes.crossed(&label);
        let content = *packets.content(label.content);
        let ack = packets.ack(label.content);
        self.is_any = true;
        self.captured.push(Captured { at, link, crossed, label, content, ack });
    }

    /// Notes that sockets waiting for room on this link may continue.
    pub(crate) fn note_unblocked(&mut self, link: LinkId) {
        self.is_any = true;
        self.unblocked.push(link);
    }

    /// Notes the drop of a packet whose bytes the caller keeps.
    pub(crate) fn note_dropped(&mut self, kept: u32) {
        self.dropped.push(kept);
    }

    /// Notes a copy of a packet whose bytes the caller keeps.
    pub(crate) fn note_copied(&mut self, kept: u32) {
        self.copied.push(kept);
    }

    /// Notes the drop or loss of a packet with data.
    pub(crate) fn note_lost_data(&mut self, flow: u32) {
        *self.lost_data.entry(flow).or_default() += 1;
    }

    /// Notes a frame that leaves at `starts`, on a captured link or for one.
    pub(crate) fn note_frame(&mut self, starts: Time, frame: CapturedFrame) {
        self.frames.push(PendingFrame { starts, frame });
    }

    /// Changes the content of the frame that pauses this link and leaves at this time.
    pub(crate) fn change_frame(&mut self, pauses: LinkId, starts: Time, control: Control) {
        let mut all = self.frames.iter_mut();
        let waits = all.find(|one| one.frame.pauses == pauses && one.starts == starts);
        if let Some(pending) = waits {
            pending.frame.control = control;
        }
    }
}
