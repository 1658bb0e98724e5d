//! Periodic timers of disciplines, without events.

use ratewire_laws::OptionError;
use ratewire_units::{Duration, Time};

/// Shortest interval allowed, because shorter ones would take long to compute.
const LEAST: Duration = Duration::from_micros(1);

/// A timer that fires at each multiple of its interval. Past steps are computed late, one by one,
/// at the next arrival or departure.
#[derive(Clone, Debug)]
pub(super) struct Timer {
    interval: Duration,
    next: Time,
}

impl Timer {
    /// The timer of a discipline called `title`, by its option `update`.
    pub(super) fn new(interval: Duration, title: &str) -> Result<Timer, OptionError> {
        if interval < LEAST {
            let message = format!("`update` of {title} must be {LEAST} or more");
            return Err(OptionError::new("update", message));
        }
        Ok(Timer { interval, next: Time::ZERO + interval })
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// The next time up to `now` at which the timer fired and that was not taken yet.
    pub(super) fn take(&mut self, now: Time) -> Option<Time> {
        let due = self.next;
        (due <= now).then(|| {
            self.next = due + self.interval;
            due
        })
    }

    /// Skips all times up to `now`, which would change nothing.
    pub(super) fn skip(&mut self, now: Time) {
        if self.next <= now {
            let missed = now.since(self.next).ps() / self.interval.ps() + 1;
            self.next += self.interval * missed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_goes_off_at_multiples_of_its_interval() {
        let ms = |n| Time::ZERO + Duration::from_millis(n);
        let mut timer = Timer::new(Duration::from_millis(15), "it").unwrap();
        assert_eq!(timer.take(ms(14)), None);
        assert_eq!([timer.take(ms(45)), timer.take(ms(45))], [Some(ms(15)), Some(ms(30))]);
        assert_eq!([timer.take(ms(45)), timer.take(ms(45))], [Some(ms(45)), None]);
        timer.skip(ms(59));
        assert_eq!(timer.take(ms(60)), Some(ms(60)));
        timer.skip(ms(90_000));
        assert_eq!([timer.take(ms(90_014)), timer.take(ms(90_015))], [None, Some(ms(90_015))]);
    }

    #[test]
    fn an_interval_of_nothing_is_refused() {
        let e = Timer::new(Duration::from_nanos(999), "PIE").unwrap_err();
        assert_eq!(e.message, "`update` of PIE must be 1 us or more");
    }
}
