//! The clock of clients that send at a rate.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "latency is real time")]

use std::time::Instant;

use ratewire_units::Time;

/// A clock that all clients of a command share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    zero: Instant,
}

impl Clock {
    /// A clock whose time zero is now.
    pub(super) fn start() -> Clock {
        Clock { zero: Instant::now() }
    }

    /// Time since the start.
    pub(super) fn now(&self) -> Time {
        // A u64 holds 213 days of picoseconds.
        Time::from_ps(self.zero.elapsed().as_nanos() as u64 * 1_000)
    }
}
