//! How fast packets leave a queue, and how fast they could: over the last sixteen slots of time.

use ratewire_units::{Bytes, Duration, Time};

const SLOTS: usize = 16;

/// Bytes and picoseconds, so that what is added can be taken away again exactly.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Left the queue, and when the last of them did.
    bytes: u64,
    last: Time,
    /// Of packets whose successor waited behind them, and the time they took.
    busy_bytes: u64,
    busy_ps: u64,
}

impl Slot {
    const EMPTY: Slot = Slot { bytes: 0, last: Time::ZERO, busy_bytes: 0, busy_ps: 0 };
}

/// Measures departures.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    slots: [Slot; SLOTS],
    sum: Slot,
    /// When the last packet before the window left: since then as many bytes have left as are counted.
    before: Time,
    current: usize,
    current_ends: Time,
    slot: Duration,
    /// When the last packet left, and its bytes, if another waited behind it.
    followed: Option<(Time, u64)>,
}

impl Meter {
    pub(super) fn new(window: Duration) -> Meter {
        let slot = Duration::from_ps((window.ps() / SLOTS as u64).max(1));
        Meter {
            slots: [Slot::EMPTY; SLOTS],
            sum: Slot::EMPTY,
            before: Time::ZERO,
            current: 0,
            current_ends: Time::ZERO + slot,
            slot,
            followed: None,
        }
    }

    /// A packet of `size` leaves, and others wait behind it or not. Says whether a slot has ended.
    #[inline]
    pub(super) fn departs(&mut self, now: Time, size: Bytes, others_wait: bool) -> bool {
        let turned = now >= self.current_ends;
        if turned {
            self.turn(now);
        }
        // A packet's length has 16 bits: this only keeps sums of nonsense from running over.
        let size = size.get().min(u64::from(u32::MAX));
        let slot = &mut self.slots[self.current];
        if let Some((start, before)) = self.followed {
            let took = now.since(start).ps();
            slot.busy_bytes += before;
            slot.busy_ps += took;
            self.sum.busy_bytes += before;
            self.sum.busy_ps += took;
        }
        slot.bytes += size;
        slot.last = now;
        self.sum.bytes += size;
        self.followed = others_wait.then_some((now, size));
        turned
    }

    #[cold]
    fn turn(&mut self, now: Time) {
        let ended = now.since(self.current_ends).ps() / self.slot.ps() + 1;
        for _ in 0..ended.min(SLOTS as u64) {
            self.current = (self.current + 1) % SLOTS;
            let old = core::mem::replace(&mut self.slots[self.current], Slot::EMPTY);
            self.before = self.before.max(old.last);
            self.sum.bytes -= old.bytes;
            self.sum.busy_bytes -= old.busy_bytes;
            self.sum.busy_ps -= old.busy_ps;
        }
        self.current_ends += self.slot * ended;
    }

    /// Bytes that left in the window, and its length in seconds: from one departure to another, so that
    /// few packets are counted right too. A pause before it counts up to another window.
    #[inline]
    pub(super) fn departed(&self, now: Time) -> (f64, f64) {
        let slot = self.slot.ps() as f64;
        let window = now.since(self.before).ps() as f64;
        let (least, most) = ((SLOTS - 1) as f64 * slot, 2.0 * SLOTS as f64 * slot);
        (self.sum.bytes as f64, window.clamp(least, most) * 1e-12)
    }

    /// What the link takes in a second while packets wait, B/s; `None` if none have.
    pub(super) fn capacity(&self) -> Option<f64> {
        let Slot { busy_bytes, busy_ps, .. } = self.sum;
        (busy_ps > 0).then(|| busy_bytes as f64 / (busy_ps as f64 * 1e-12))
    }

    /// Forgets what it knew of the capacity.
    pub(super) fn forget_capacity(&mut self) {
        for slot in self.slots.iter_mut().chain([&mut self.sum]) {
            slot.busy_bytes = 0;
            slot.busy_ps = 0;
        }
        self.followed = None;
    }
}
