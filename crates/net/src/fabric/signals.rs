//! Buffers that tell their upstream to stop and to go on.

use ratewire_backpressure::flows::TAU;
use ratewire_backpressure::frames::{CLASSES, Control, ON_WIRE, Quanta};
use ratewire_backpressure::watch::PauseSignal;
use ratewire_units::{Bytes, Time};

use super::{Buffer, Held, Told, What};
use crate::network::{Network, Scheduler};
use crate::packet::Label;
use crate::spec::LinkId;

impl Network {
    pub(crate) fn buffer(&self, id: LinkId) -> Option<&Buffer> {
        self.fabric.buffer(id)
    }
    pub(super) fn buffer_mut(&mut self, id: LinkId) -> Option<&mut Buffer> {
        self.fabric.buffer_mut(id)
    }

    /// The time at which the buffer at a link's far end wants to be called may have changed.
    fn note_due(&mut self, id: LinkId) {
        let due = self.buffer(id).map_or(Time::NEVER, Buffer::next_due);
        if let Some(outlet) = self.links[id.index()].outlet_mut() {
            outlet.far_due = due;
        }
    }

    /// A packet takes room in a buffer, if there is one.
    #[inline]
    pub(super) fn account(
        &mut self,
        now: Time,
        buffer: u32,
        label: &Label,
        scheduler: &mut impl Scheduler,
    ) {
        let Some(buffer) = self.fabric.buffers.get_mut(buffer as usize) else { return };
        let watch = buffer.watches.of_mut(label.class);
        if let Some(signal) = watch.add(now, Bytes::new(u64::from(label.size))) {
            let (from, refresh) = (buffer.link, watch.deadline());
            self.note_due(from);
            self.signal(now, from, label.class, signal, scheduler);
            self.call_at(refresh, from, scheduler);
        }
    }

    /// A packet leaves it again.
    #[inline]
    pub(super) fn release(&mut self, now: Time, held: &Held, scheduler: &mut impl Scheduler) {
        let Some(buffer) = self.fabric.buffers.get_mut(held.buffer as usize) else { return };
        let label = &held.label;
        let signal = buffer.watches.of_mut(label.class).remove(Bytes::new(u64::from(label.size)));
        let lane = u32::from(label.lane);
        let emptied = held.counted && buffer.filter.as_mut().is_some_and(|f| f.uncount(lane));
        let from = buffer.link;
        if let Some(signal) = signal {
            self.note_due(from);
            self.signal(now, from, label.class, signal, scheduler);
        }
        if emptied {
            self.send_map(now, from, scheduler);
        }
    }

    /// A packet is counted against the queue it was in at the near end of the link by which it came.
    pub(super) fn count(
        &mut self,
        now: Time,
        buffer: u32,
        lane: u32,
        scheduler: &mut impl Scheduler,
    ) {
        let Some(buffer) = self.fabric.buffers.get_mut(buffer as usize) else { return };
        let changed = buffer.filter.as_mut().is_some_and(|filter| filter.count(lane));
        if !changed {
            return;
        }
        let from = buffer.link;
        let earliest = buffer.map_sent + TAU;
        if earliest <= now {
            return self.send_map(now, from, scheduler);
        }
        buffer.map_at = earliest;
        self.note_due(from);
        self.call_at(earliest, from, scheduler);
    }

    fn send_map(&mut self, now: Time, from: LinkId, scheduler: &mut impl Scheduler) {
        let Some(buffer) = self.buffer_mut(from) else { return };
        (buffer.map_sent, buffer.map_at) = (now, Time::NEVER);
        let Some(paused) = buffer.filter.as_ref().map(|filter| filter.paused()) else { return };
        self.note_due(from);
        self.tell(now, from, What::Map(paused), scheduler);
    }

    fn signal(
        &mut self,
        now: Time,
        from: LinkId,
        class: u8,
        signal: PauseSignal,
        scheduler: &mut impl Scheduler,
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
        self.tell(now, from, What::Frame(control), scheduler);
    }

    /// Sends a frame to the transmitter of a link, on the way back: before all that waits there, after
    /// what is being sent, and whether that link is itself paused or not. A link that is down or sends
    /// nothing loses it.
    ///
    /// A frame that still waits is not followed by another of its kind but says what holds now: however
    /// often that changes, no more than one waits.
    fn tell(&mut self, now: Time, to: LinkId, what: What, scheduler: &mut impl Scheduler) {
        let Some(outlet) = self.links[to.index()].outlet_mut() else { return };
        let mut waiting = outlet.told.iter_mut().filter(|told| told.starts > now);
        let corrected = waiting.find_map(|told| told.what.takes_in(what).then_some(*told));
        if let Some(told) = corrected {
            return self.change_frame(to, &told);
        }
        let Some(spec) = self.buffer(to).map(|buffer| &buffer.spec) else { return };
        let (back, reaction) = (spec.back, spec.reaction);
        let link = &mut self.links[back.index()];
        let down = link.extra.as_ref().is_some_and(|extra| extra.down);
        let Some(per_byte) = link.per_byte.filter(|_| !down && link.busy_until != Time::NEVER)
        else {
            return;
        };
        let time = per_byte.of(ON_WIRE);
        let starts = link.busy_until.max(now);
        link.busy_until = starts + time;
        link.busy += time;
        let arrives = link.busy_until + link.delay;
        if let Some(outlet) = link.outlet_mut() {
            outlet.control_frames += 1;
        }
        let Some(outlet) = self.links[to.index()].outlet_mut() else { return };
        // A delay that has shortened does not let frames overtake each other.
        let before = outlet.told.back().map_or(Time::ZERO, |told| told.obeyed);
        let obeyed = (arrives + reaction).max(before);
        let told = Told { starts, obeyed, what };
        outlet.told.push_back(told);
        self.note_frame(obeyed - reaction, back, to, &told);
        self.call_at(obeyed, to, scheduler);
    }

    /// The event of a link whose start may be at a switch. Returns a packet that its far end has taken in.
    #[inline]
    pub(crate) fn on_switch_event(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        let is_due = self.links[id.index()].outlet()?.next_due() <= now;
        if is_due { self.on_switch_due(now, id, scheduler) } else { None }
    }

    /// It is time for a turn, a frame, or something at the far end.
    fn on_switch_due(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        let outlet = self.links[id.index()].outlet_mut()?;
        let mut turn = outlet.turn_at <= now;
        if turn {
            outlet.turn_at = Time::NEVER;
        }
        while let Some(told) = outlet.told.front().filter(|told| told.obeyed <= now) {
            match &told.what {
                What::Frame(control) => outlet.gate.hear(now, control, outlet.rate),
                What::Map(lanes) => outlet.gate.hear_map(now, *lanes),
            }
            outlet.told.pop_front();
            turn = true;
        }
        if turn {
            self.take_turns(now, id, scheduler);
        }
        if self.links[id.index()].outlet()?.far_due > now {
            return None;
        }
        self.refresh(now, id, scheduler);
        let taken_in = self.take_in(now, id, scheduler);
        self.note_due(id);
        taken_in
    }

    /// Says again to stop, and sends the map that is due.
    fn refresh(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let Some(buffer) = self.buffer_mut(id) else { return };
        if buffer.map_at <= now {
            self.send_map(now, id, scheduler);
        }
        let count = self.buffer(id).map_or(0, |buffer| buffer.watches.len());
        for at in 0..count {
            let Some(buffer) = self.buffer_mut(id) else { return };
            let signal = buffer.watches[at].refresh(now);
            let stands_still = buffer.watches[at].stands_still();
            if let Some(signal) = signal {
                self.signal(now, id, at as u8, signal, scheduler);
                if stands_still {
                    self.look_for_deadlock(now, &[id]);
                }
            }
        }
    }

    /// A packet has come to the far end of a link whose packets are taken in one by one.
    pub(crate) fn await_intake(
        &mut self,
        now: Time,
        id: LinkId,
        label: &Label,
        scheduler: &mut impl Scheduler,
    ) {
        let Some(buffer) = self.buffer_mut(id) else { return };
        if !buffer.has_room_for(label) {
            buffer.overflowed += 1;
            buffer.refused += 1;
            return self.drop_full(id, label.content);
        }
        buffer.intake.push_back(*label);
        if buffer.intake.len() == 1 {
            buffer.intake_at = now + buffer.spec.intake;
            self.note_due(id);
        }
        self.account(now, self.fabric.ends[id.index()].buffer, label, scheduler);
    }

    /// The packet that is taken in by now, if there is one.
    fn take_in(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) -> Option<Label> {
        let buffer = self.buffer_mut(id).filter(|buffer| buffer.intake_at <= now)?;
        let label = buffer.intake.pop_front()?;
        let more = !buffer.intake.is_empty();
        buffer.intake_at = if more { now + buffer.spec.intake } else { Time::NEVER };
        let held = Held { label, buffer: self.fabric.ends[id.index()].buffer, counted: false };
        self.release(now, &held, scheduler);
        Some(label)
    }

    /// Makes sure that a link has an event by that time.
    fn call_at(&mut self, at: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        if at < link.next_event {
            link.next_event = at;
            scheduler.schedule(at, id);
        }
    }
}

impl What {
    /// Says this too, or in place of what it said, if it is of the same kind.
    fn takes_in(&mut self, newer: What) -> bool {
        match (self, newer) {
            (What::Frame(Control::Priority(times)), What::Frame(Control::Priority(newer))) => {
                for (time, newer) in times.iter_mut().zip(newer) {
                    *time = newer.or(*time);
                }
            }
            (old @ What::Frame(_), What::Frame(_)) | (old @ What::Map(_), What::Map(_)) => {
                *old = newer
            }
            _ => return false,
        }
        true
    }
}
