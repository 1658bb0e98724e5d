//! The time in which a switch could have heard others.

use std::cell::Cell;
use std::time::Duration;

use tokio::time::Instant;

/// Delay from which on a process that is due was stopped, and not only busy.
const LATE: Duration = Duration::from_millis(100);

/// A clock that stands still while its process is stopped, as by SIGSTOP or a virtual machine that
/// is moved. What others have sent meanwhile is still to be read: they were not silent.
pub(crate) struct Clock {
    start: Instant,
    /// Time that does not count.
    stopped: Cell<Duration>,
    /// When the process is to look at the clock, from the start.
    due: Cell<Duration>,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        let zero = Cell::new(Duration::ZERO);
        Clock { start: Instant::now(), stopped: zero.clone(), due: zero }
    }

    /// Time since the start.
    pub(crate) fn now(&self) -> Duration {
        let passed = self.start.elapsed();
        if let Some(late) = passed.checked_sub(self.due.get()) {
            if late > LATE {
                self.stopped.set(self.stopped.get() + late);
            }
            self.due.set(passed);
        }
        passed - self.stopped.get()
    }

    /// Notes that the process waits, for so long at most.
    pub(crate) fn rest(&self, wait: Option<Duration>) {
        let passed = self.start.elapsed();
        self.due.set(wait.map_or(Duration::MAX, |wait| passed.saturating_add(wait)));
    }

    /// Notes that it does not wait any more.
    pub(crate) fn wake(&self) {
        self.now();
        self.due.set(self.due.get().min(self.start.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stop_does_not_count() {
        let ms = Duration::from_millis;
        let clock = Clock::new();
        advance(ms(100)).await;
        assert_eq!(clock.now(), ms(100), "a busy process");
        advance(ms(5000)).await;
        assert_eq!(clock.now(), ms(100), "a process that was stopped");
        // While it waits, time passes.
        clock.rest(Some(ms(400)));
        advance(ms(300)).await;
        assert_eq!(clock.now(), ms(400), "asked by others");
        advance(ms(200)).await;
        clock.wake();
        assert_eq!(clock.now(), ms(600));
        clock.rest(Some(ms(400)));
        advance(ms(9400)).await;
        clock.wake();
        assert_eq!(clock.now(), ms(1000), "stopped while it waited");
        clock.rest(None);
        advance(ms(5000)).await;
        clock.wake();
        assert_eq!(clock.now(), ms(6000), "nothing was due");
        clock.rest(Some(ms(400)));
        advance(ms(10)).await;
        clock.wake();
        advance(ms(300)).await;
        assert_eq!(clock.now(), ms(6010), "stopped just after it was woken");
    }
}
