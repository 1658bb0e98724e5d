//! Real time, counted from the start of a run.

use std::time::{Duration as Span, Instant};

use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use ratewire_units::{Duration, Time};

/// Length of a run without an end of its own.
pub(crate) const FOR_EVER: Duration = Duration::from_ps(u64::MAX / 2);

/// The clock of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    zero: Instant,
    zero_ns: u64,
}

impl Clock {
    /// A clock whose time zero is now.
    pub(crate) fn start() -> Clock {
        let zero = Instant::now();
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |now| now.num_nanoseconds());
        let since = zero.elapsed().as_nanos() as u64;
        Clock { zero, zero_ns: (now as u64).saturating_sub(since) }
    }

    /// Time zero by `CLOCK_MONOTONIC`, for other processes, in nanoseconds.
    pub(crate) fn zero_ns(&self) -> u64 {
        self.zero_ns
    }

    pub(crate) fn now(&self) -> Time {
        let since = self.zero.elapsed().as_nanos();
        Time::ZERO + Duration::from_nanos(u64::try_from(since).unwrap_or(u64::MAX))
    }

    /// Time until then; zero if it has passed.
    pub(crate) fn until(&self, at: Time) -> Span {
        Span::from_nanos(at.since(self.now()).ps() / 1000)
    }
}
