//! Time since the run began, by the clock that all processes of a machine share.

use ratewire_timer::Timer;
use ratewire_units::{Duration, Time};
use rustix::time::{ClockId, clock_gettime};

/// Time since the run began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Time zero by `CLOCK_MONOTONIC`, in nanoseconds.
    zero: u64,
}

/// `CLOCK_MONOTONIC` in nanoseconds.
fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

impl Clock {
    /// A clock whose time zero is now.
    pub(super) fn start() -> Clock {
        Clock { zero: monotonic() }
    }

    /// A clock whose time zero is this time by `CLOCK_MONOTONIC`, in nanoseconds.
    pub(super) fn since(zero: u64) -> Clock {
        Clock { zero }
    }

    pub(super) fn now(&self) -> Time {
        Time::ZERO + Duration::from_nanos(monotonic().saturating_sub(self.zero))
    }

    pub(super) async fn wait_until(&self, timer: &Timer, at: Time) {
        let left = at.since(self.now());
        if !left.is_zero() {
            timer.wait(Some(left.to_std())).await;
        }
    }
}
