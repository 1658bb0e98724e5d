//! Notes the followed packet's hops.

use ratewire_units::{Duration, Time};

use super::network::Network;
use super::trail::{DropReason, Hop, PauseWait};
use crate::packet::{Body, Ecn, Label};
use crate::spec::LinkId;

impl Network {
    /// Time for which the link has been paused; `None` if no buffer pauses it.
    fn paused_for(&mut self, now: Time, id: LinkId) -> Option<Duration> {
        self.fabric.buffer(id)?;
        self.links[id.index()].outlet_mut().map(|outlet| outlet.tally(now).paused)
    }

    fn held(&mut self, now: Time, id: LinkId) -> Option<PauseWait> {
        let before = self.tracer.paused_before();
        let paused = self.paused_for(now, id)?.saturating_sub(before);
        let (buffered, xoff) = self.fabric.buffer(id)?.level();
        (!paused.is_zero()).then_some(PauseWait { paused, buffered, xoff })
    }

    #[cold]
    pub(super) fn note_arrival(&mut self, now: Time, id: LinkId, label: Label) {
        let header = self.packets.content(label.content).header;
        let paused_before = self.paused_for(now, id).unwrap_or_default();
        let hop = Hop {
            link: id,
            arrived: now,
            queue: self.links[id.index()].port_queue(),
            left: None,
            came_with: header,
            left_with: header,
            came_marked: label.ecn == Ecn::Marked,
            left_marked: label.ecn == Ecn::Marked,
            reason: None,
            flow: label.generation,
            held: None,
            shaped: Duration::ZERO,
            late: Duration::ZERO,
            overtaken: Duration::ZERO,
            copied: false,
            dropped: None,
        };
        self.tracer.note_arrival(paused_before, hop);
    }

    #[cold]
    pub(super) fn note_departure(&mut self, now: Time, id: LinkId, label: &Label) {
        let header = self.packets.content(label.content).header;
        let held = self.held(now, id);
        if !self.ports.acts_on_arrival_only(&self.links[id.index()]) {
            self.note_reason(id);
        }
        if let Some(hop) = self.tracer.hop_mut() {
            hop.held = held;
            hop.left = Some(now);
            hop.left_with = header;
            hop.left_marked = label.ecn == Ecn::Marked;
        }
    }

    /// Notes why the port does what it has just done with the followed packet.
    #[cold]
    pub(super) fn note_reason(&mut self, id: LinkId) {
        let reason = self.ports.reason(&self.links[id.index()]);
        if let Some(hop) = self.tracer.hop_mut() {
            hop.reason = reason;
        }
    }

    /// Notes what delayed the followed packet, which has just left its queue, on its link.
    #[cold]
    pub(super) fn note_variation(&mut self, now: Time, id: LinkId, late: Duration) {
        let shaped = self.links[id.index()].shaped_until().since(now);
        if let Some(hop) = self.tracer.hop_mut() {
            (hop.shaped, hop.late) = (shaped, late);
        }
    }

    #[cold]
    pub(super) fn drop_full(&mut self, id: LinkId, label: &Label) {
        self.links[id.index()].tally.dropped_full += 1;
        self.discard(label, DropReason::Full);
    }

    /// Removes a packet that is dropped or lost.
    pub(super) fn discard(&mut self, label: &Label, reason: DropReason) {
        self.tracer.note_end(label.content, reason);
        match self.packets.content(label.content).body {
            Body::Kept(number) => self.news.note_dropped(number),
            Body::Data { .. } => self.news.note_lost_data(label.generation),
            Body::Open | Body::Ack { .. } => {}
        }
        self.packets.remove(label.content);
    }
}
