//! Packets that have entered a link ahead of time.
//!
//! If packets come to a link from one other link only, each can enter it as soon as the time at
//! which it will come is known, provided that the link will be idle then: nothing comes between.
//! The packet then needs no event of the link before. Until that time, it does not count.

use ratewire_units::{Duration, Time};

use super::{EndFlags, Link};

/// What a link has counted ahead of time, and its state without that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) busy: Duration,
    /// Time from which the link sends nothing.
    pub(super) free: Time,
    /// Size of the packet that was sent last.
    pub(super) last_size: u32,
}

impl Link {
    /// What the link has counted ahead of this time. Bookings before now must have ended.
    pub(super) fn ahead(&self, now: Time) -> Ahead {
        let mut ahead = Ahead {
            packets: 0,
            bytes: 0,
            busy: Duration::ZERO,
            free: self.busy_until,
            last_size: self.last_size,
        };
        let has_entries = self.ends.contains(EndFlags::ENTRY_AHEAD);
        let Some(per_byte) = self.per_byte.filter(|_| has_entries) else { return ahead };
        let time = |size: u32| per_byte.of(self.on_wire(size));
        let left = |at: u32| self.fifo[at].time - self.delay;
        let is_to_start = |at: &u32| left(*at) - time(self.fifo[*at].size) > now;
        let to_start = (0..self.fifo.len()).rev().take_while(is_to_start).count() as u32;
        let first = self.fifo.len() - (to_start - self.booked());
        for label in (first..self.fifo.len()).map(|at| &self.fifo[at]) {
            ahead.packets += 1;
            ahead.bytes += u64::from(label.size);
            ahead.busy += time(label.size);
        }
        if ahead.packets > 0 {
            let before = first.checked_sub(1);
            ahead.free = before.map_or(Time::ZERO, left);
            ahead.last_size = before.map_or(0, |at| self.fifo[at].size);
        }
        ahead
    }
}
