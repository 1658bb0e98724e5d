//! Real time, counted from the start of a run.

use std::time::{Duration as Span, Instant};

use ratewire_units::{Duration, Time};

/// The clock of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    zero: Instant,
}

impl Clock {
    /// A clock whose time zero is now.
    pub(crate) fn start() -> Clock {
        Clock { zero: Instant::now() }
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
