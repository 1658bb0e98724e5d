//! Transmission of packets: how long a link takes to send one, and what becomes of it on the way.

use rand_core::Rng;
use ratewire_units::{Bytes, Duration, SerialTime, Time};

use super::Link;
use super::bucket::Shaper;
use crate::packet::Fate;
use crate::random::unit;

impl Link {
    /// Time at which a packet that leaves its queue now will have left the link, and the time that
    /// counts as spent sending. At rate zero nothing starts: the time is [`Time::NEVER`].
    pub(crate) fn transmit(&mut self, now: Time, size: u32) -> (Time, Duration) {
        let on_wire = self.on_wire(size);
        let shaper = self.extra.as_mut().and_then(|e| e.shaper.as_mut());
        let starts = shaper.map_or(now, |shaper| shaper.start(now, on_wire));
        if let Some(trace) = self.extra.as_mut().and_then(|e| e.trace.as_mut()) {
            return (trace.finish(starts, on_wire), trace.mean_time(on_wire));
        }
        match self.per_byte {
            Some(per_byte) => (starts + per_byte.of(on_wire), per_byte.of(on_wire)),
            None => (Time::NEVER, Duration::ZERO),
        }
    }

    /// Time until which the packet that left the queue last waits for the tokens of a shaper.
    pub(crate) fn shaped_until(&self) -> Time {
        let shaper = self.extra.as_ref().and_then(|extra| extra.shaper.as_ref());
        shaper.map_or(Time::ZERO, Shaper::starts)
    }

    /// Mean transmission time of a packet of this size, if it is known.
    pub(crate) fn packet_time(&self, size: u32) -> Option<Duration> {
        let on_wire = self.on_wire(size);
        match self.extra.as_ref().and_then(|e| e.trace.as_ref()) {
            Some(trace) => Some(trace.mean_time(on_wire)),
            None => self.per_byte.map(|per_byte| per_byte.of(on_wire)),
        }
    }

    /// The part of the time counted as spent sending that is still to come, as the link sends until
    /// `free`.
    pub(crate) fn unfinished(&self, now: Time, free: Time) -> Duration {
        let left = free.since(now);
        match &self.extra {
            Some(extra) if extra.stalled.is_some() || left.is_zero() => Duration::ZERO,
            Some(extra) if extra.trace.is_some() => {
                let sending = self.started.checked_sub(1).and_then(|at| self.fifo.get(at));
                sending.and_then(|l| self.packet_time(l.size)).unwrap_or(Duration::ZERO)
            }
            _ => free.since(self.shaped_until().max(now)),
        }
    }

    /// Whether the link can send at all now.
    pub(crate) fn can_send(&self) -> bool {
        match &self.extra {
            None => self.per_byte.is_some(),
            Some(e) => (self.per_byte.is_some() || e.trace.is_some()) && e.stalled.is_none(),
        }
    }

    /// Draws whether the packet that starts now is lost on the way or late. Tells the discipline if
    /// no packet waits behind it.
    pub(crate) fn draw_fate(&mut self, now: Time) -> Fate {
        let waiting = self.waiting_all();
        let Some(extra) = self.extra.as_deref_mut() else { return Fate::Arrives };
        if waiting == 0 {
            extra.discipline.on_empty(now);
        }
        if extra.loss.draw(&mut extra.random) {
            return Fate::Lost;
        }
        match extra.reorder {
            Some(reorder) if unit(extra.random.next_u64()) < reorder.share => Fate::Late,
            _ => Fate::Arrives,
        }
    }

    /// Sends a packet that need not wait; returns its arrival time.
    #[inline(always)]
    pub(crate) fn pass(&mut self, now: Time, size: u32, per_byte: SerialTime) -> Time {
        let time = per_byte.of(self.on_wire(size));
        self.send(now + time, time, Bytes::new(u64::from(size)))
    }

    /// Counts a packet as sent, which will have left at this time; returns its arrival time.
    #[inline]
    pub(crate) fn send(&mut self, left: Time, busy: Duration, size: Bytes) -> Time {
        self.send_late(left, busy, size, Duration::ZERO)
    }

    /// As [`Link::send`], of a packet with this additional delay.
    #[inline]
    pub(crate) fn send_late(
        &mut self,
        left: Time,
        busy: Duration,
        size: Bytes,
        late: Duration,
    ) -> Time {
        self.busy_until = left;
        self.busy += busy;
        self.sent_bytes += size.get();
        self.last_size = size.get() as u32;
        // After a shorter delay, packets do not overtake each other.
        self.last_arrival = self.last_arrival.max(left + self.delay + late);
        self.last_arrival
    }

    /// Arrival time of a packet that is sent next.
    pub(crate) fn arrival_after(&mut self, size: u32) -> Time {
        let (left, _) = self.transmit(self.busy_until, size);
        self.last_arrival.max(left + self.delay)
    }
}
