//! Signals of buffers that stop and resume their upstream links.

use ratewire_backpressure::flows::TAU;
use ratewire_backpressure::frames::{CLASSES, Control, Quanta};
use ratewire_backpressure::watch::PauseSignal;
use ratewire_units::{Bytes, Time};

use super::buffer::Buffer;
use super::{Fabric, QueuedPacket};
use crate::link::{Links, NoticeContent};
use crate::news::{CapturedFrame, News};
use crate::packet::Label;
use crate::route_store::RouteStore;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

/// The links over which switches signal, at one time.
pub(crate) struct Wires<'a, S> {
    pub(crate) now: Time,
    pub(crate) links: &'a mut Links,
    /// Notes frames on tapped links.
    pub(crate) news: &'a mut News,
    pub(crate) scheduler: &'a mut S,
}

impl<S: Scheduler> Wires<'_, S> {
    /// Schedules an event of a link for that time or before.
    fn call_at(&mut self, at: Time, id: LinkId) {
        self.links[id.index()].call_at(at, id, self.scheduler);
    }
}

impl Fabric {
    /// Updates the time at which the buffer at a link's far end must be called.
    fn note_due(&self, id: LinkId, links: &mut Links) {
        let due = self.buffer(id).map_or(Time::NEVER, Buffer::next_due);
        if let Some(outlet) = links[id.index()].outlet_mut() {
            outlet.note_far_due(due);
        }
    }

    /// Lets a packet occupy space in a buffer, if there is one.
    #[inline]
    pub(super) fn account<S: Scheduler>(
        &mut self,
        buffer: u32,
        label: &Label,
        wires: &mut Wires<'_, S>,
    ) {
        let Some(buffer) = self.buffers.get_mut(buffer as usize) else { return };
        let watch = buffer.watches.of_mut(label.class);
        if let Some(signal) = watch.add(wires.now, Bytes::new(u64::from(label.size))) {
            let (from, refresh) = (buffer.link, watch.deadline());
            self.note_due(from, wires.links);
            self.signal(from, label.class, signal, wires);
            wires.call_at(refresh, from);
        }
    }

    /// Frees the space of a packet in a buffer.
    #[inline]
    pub(super) fn release<S: Scheduler>(
        &mut self,
        packet: &QueuedPacket,
        wires: &mut Wires<'_, S>,
    ) {
        let Some(buffer) = self.buffers.get_mut(packet.buffer as usize) else { return };
        let label = &packet.label;
        let signal = buffer.watches.of_mut(label.class).remove(Bytes::new(u64::from(label.size)));
        let lane = u32::from(label.lane);
        let emptied = packet.counted && buffer.filter.as_mut().is_some_and(|f| f.uncount(lane));
        let from = buffer.link;
        if let Some(signal) = signal {
            self.note_due(from, wires.links);
            self.signal(from, label.class, signal, wires);
        }
        if emptied {
            self.send_map(from, wires);
        }
    }

    /// Counts a packet against its previous queue, at the near end of the link by which it came.
    pub(super) fn count<S: Scheduler>(&mut self, buffer: u32, lane: u32, wires: &mut Wires<'_, S>) {
        let Some(buffer) = self.buffers.get_mut(buffer as usize) else { return };
        let changed = buffer.filter.as_mut().is_some_and(|filter| filter.count(lane));
        if !changed {
            return;
        }
        let from = buffer.link;
        let earliest = buffer.map_sent + TAU;
        if earliest <= wires.now {
            return self.send_map(from, wires);
        }
        buffer.map_at = earliest;
        self.note_due(from, wires.links);
        wires.call_at(earliest, from);
    }

    fn send_map<S: Scheduler>(&mut self, from: LinkId, wires: &mut Wires<'_, S>) {
        let Some(buffer) = self.buffer_mut(from) else { return };
        (buffer.map_sent, buffer.map_at) = (wires.now, Time::NEVER);
        let Some(paused) = buffer.filter.as_ref().map(|filter| filter.paused()) else { return };
        self.note_due(from, wires.links);
        self.tell(from, NoticeContent::Map(paused), wires);
    }

    fn signal<S: Scheduler>(
        &self,
        from: LinkId,
        class: u8,
        signal: PauseSignal,
        wires: &mut Wires<'_, S>,
    ) {
        let Some(buffer) = self.buffer(from) else { return };
        let quanta = match signal {
            PauseSignal::Stop => buffer.spec.quanta,
            PauseSignal::Go => Quanta::ZERO,
        };
        let control = if buffer.spec.by_class {
            let mut times = [None; CLASSES];
            times[usize::from(class)] = Some(quanta);
            Control::Priority(times)
        } else {
            Control::Pause(quanta)
        };
        self.tell(from, NoticeContent::Frame(control), wires);
    }

    /// Sends a frame to the transmitter of a link, on the link back.
    ///
    /// The frame goes before all waiting packets, after the packet in transmission, and even if the
    /// link back is paused. A link that is down or sends nothing loses it. A frame that still waits
    /// is updated in place of sending another of its kind, so at most one waits.
    fn tell<S: Scheduler>(&self, to: LinkId, content: NoticeContent, wires: &mut Wires<'_, S>) {
        let Wires { now, ref mut links, ref mut news, .. } = *wires;
        let Some(outlet) = links[to.index()].outlet_mut() else { return };
        if let Some(corrected) = outlet.correct_notice(now, content) {
            if let NoticeContent::Frame(control) = corrected.content {
                news.change_frame(to, corrected.starts, control);
            }
            return;
        }
        let Some(spec) = self.buffer(to).map(|buffer| &buffer.spec) else { return };
        let (back, reaction) = (spec.back, spec.reaction);
        let Some((starts, arrives)) = links[back.index()].send_control(now) else { return };
        let Some(outlet) = links[to.index()].outlet_mut() else { return };
        let obeyed = outlet.add_notice(starts, arrives + reaction, content).obeyed;
        if let NoticeContent::Frame(control) = content
            && (links[back.index()].is_tapped() || links[to.index()].is_tapped())
        {
            let frame = CapturedFrame { at: obeyed - reaction, link: back, pauses: to, control };
            news.note_frame(starts, frame);
        }
        wires.call_at(obeyed, to);
    }

    /// Handles the due time of the buffer at a link's far end; returns a packet that the far end
    /// has taken in.
    pub(crate) fn on_far_due<S: Scheduler>(
        &mut self,
        id: LinkId,
        routes: &RouteStore,
        wires: &mut Wires<'_, S>,
    ) -> Option<Label> {
        self.refresh(id, routes, wires);
        let taken_in = self.take_in(id, wires);
        self.note_due(id, wires.links);
        taken_in
    }

    /// Renews pauses, and sends the map that is due.
    fn refresh<S: Scheduler>(&mut self, id: LinkId, routes: &RouteStore, wires: &mut Wires<'_, S>) {
        let now = wires.now;
        let Some(buffer) = self.buffer_mut(id) else { return };
        if buffer.map_at <= now {
            self.send_map(id, wires);
        }
        let count = self.buffer(id).map_or(0, |buffer| buffer.watches.len());
        for at in 0..count {
            let Some(buffer) = self.buffer_mut(id) else { return };
            let signal = buffer.watches[at].refresh(now);
            let stands_still = buffer.watches[at].stands_still();
            if let Some(signal) = signal {
                self.signal(id, at as u8, signal, wires);
                if stands_still {
                    self.look_for_deadlock(now, &[id], wires.links, routes);
                }
            }
        }
    }

    /// Queues an arrived packet for intake; returns whether there is room for it.
    pub(crate) fn await_intake<S: Scheduler>(
        &mut self,
        id: LinkId,
        label: &Label,
        wires: &mut Wires<'_, S>,
    ) -> bool {
        let Some(buffer) = self.buffer_mut(id) else { return true };
        if !buffer.has_room_for(label) {
            buffer.overflowed += 1;
            buffer.refused += 1;
            return false;
        }
        buffer.intake.push_back(*label);
        if buffer.intake.len() == 1 {
            buffer.intake_at = wires.now + buffer.spec.intake;
            self.note_due(id, wires.links);
        }
        self.account(self.ends[id.index()].buffer, label, wires);
        true
    }

    /// The packet whose intake is complete by now, if there is one.
    fn take_in<S: Scheduler>(&mut self, id: LinkId, wires: &mut Wires<'_, S>) -> Option<Label> {
        let now = wires.now;
        let buffer = self.buffer_mut(id).filter(|buffer| buffer.intake_at <= now)?;
        let label = buffer.intake.pop_front()?;
        let more = !buffer.intake.is_empty();
        buffer.intake_at = if more { now + buffer.spec.intake } else { Time::NEVER };
        let buffer = self.ends[id.index()].buffer;
        self.release(&QueuedPacket { label, buffer, counted: false }, wires);
        Some(label)
    }
}
