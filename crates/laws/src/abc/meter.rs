//! Rate at which packets leave a queue, and at which they could leave, over the last sixteen slots
//! of time.

use ratewire_units::{Bytes, Duration, Time};

const SLOTS: usize = 16;

/// Bytes and times of departures since the port began. They are whole numbers, so the difference of
/// two counts is exact.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// Bytes that left the queue, and the time at which the last of them left.
    bytes: u64,
    last: Time,
    /// Bytes of packets that another packet waited behind, and the time that they took.
    busy_bytes: u64,
    busy_ps: u64,
}

impl Count {
    const NOTHING: Count = Count { bytes: 0, last: Time::ZERO, busy_bytes: 0, busy_ps: 0 };
}

/// Measures departures.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    /// Counts up to now, up to the beginning of the window (that of its oldest slot), and up to the
    /// beginning of each slot.
    now: Count,
    before: Count,
    slots: [Count; SLOTS],
    current: usize,
    current_ends: Time,
    slot: Duration,
    /// Shortest and longest window. A pause before the window counts up to the length of another
    /// one.
    shortest: Duration,
    longest: Duration,
    /// Bytes of the last packet that left, if another waited behind it.
    followed: Option<u64>,
}

impl Meter {
    pub(super) fn new(window: Duration) -> Meter {
        let slot = Duration::from_ps((window.ps() / SLOTS as u64).max(1));
        Meter {
            now: Count::NOTHING,
            before: Count::NOTHING,
            slots: [Count::NOTHING; SLOTS],
            current: 0,
            current_ends: Time::ZERO + slot,
            slot,
            shortest: slot * (SLOTS as u64 - 1),
            longest: slot * (2 * SLOTS as u64),
            followed: None,
        }
    }

    /// Whether a slot has ended.
    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        now >= self.current_ends
    }

    /// Counts a packet of `size` that leaves; `others_wait` says whether others wait behind it.
    pub(super) fn departs(&mut self, now: Time, size: Bytes, others_wait: bool) {
        if self.is_due(now) {
            self.turn(now);
        }
        self.count(now, size, others_wait);
    }

    /// Counts a departure that does not end a slot.
    #[inline]
    pub(super) fn count(&mut self, now: Time, size: Bytes, others_wait: bool) {
        // A real length has 16 bits. The bound keeps sums of invalid lengths from overflowing.
        let size = size.get().min(u64::from(u32::MAX));
        if let Some(before) = self.followed {
            self.now.busy_bytes += before;
            self.now.busy_ps += now.since(self.now.last).ps();
        }
        self.now.bytes += size;
        self.now.last = now;
        self.followed = others_wait.then_some(size);
    }

    fn turn(&mut self, now: Time) {
        let ended = now.since(self.current_ends).ps() / self.slot.ps() + 1;
        for _ in 0..ended.min(SLOTS as u64) {
            self.current = (self.current + 1) % SLOTS;
            self.slots[self.current] = self.now;
        }
        self.before = self.slots[(self.current + 1) % SLOTS];
        self.current_ends += self.slot * ended;
    }

    /// Bytes that left in the window, and its length in seconds. The window reaches from one
    /// departure to another, so the rate of a few packets is right too.
    #[inline]
    pub(super) fn departed(&self, now: Time) -> (f64, f64) {
        let window = now.since(self.before.last).max(self.shortest).min(self.longest);
        let bytes = self.now.bytes - self.before.bytes;
        (float(bytes), float(window.ps()) * 1e-12)
    }

    /// Rate of departures while packets wait, B/s; `None` if none have waited.
    pub(super) fn capacity(&self) -> Option<f64> {
        let busy_bytes = self.now.busy_bytes - self.before.busy_bytes;
        let busy_ps = self.now.busy_ps - self.before.busy_ps;
        (busy_ps > 0).then(|| busy_bytes as f64 / (busy_ps as f64 * 1e-12))
    }

    /// Forgets the measured capacity.
    pub(super) fn forget_capacity(&mut self) {
        for count in self.slots.iter_mut().chain([&mut self.now, &mut self.before]) {
            count.busy_bytes = 0;
            count.busy_ps = 0;
        }
        self.followed = None;
    }
}

/// Converts a number below 2^63. A signed one takes a single instruction.
#[inline]
pub(super) fn float(n: u64) -> f64 {
    n.cast_signed() as f64
}
