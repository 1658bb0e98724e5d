//! The time that a run has reached, and its events.

use ratewire_units::Time;

use crate::error::RunError;

/// Events at one instant above which the simulation is stuck in a loop.
const MOST_AT_ONCE: u64 = 1 << 26;

/// The time, and the events up to it.
#[derive(Debug)]
pub(super) struct Clock {
    pub(super) now: Time,
    pub(super) end: Time,
    pub(super) events: u64,
    /// Number of events before those of this instant.
    events_before: u64,
}

impl Clock {
    pub(super) fn new(end: Time) -> Clock {
        Clock { now: Time::ZERO, end, events: 0, events_before: 0 }
    }

    /// Counts an event and advances the time.
    #[inline]
    pub(super) fn advance(&mut self, at: Time) -> Result<(), RunError> {
        if at != self.now {
            self.now = at;
            self.events_before = self.events;
        } else if self.events - self.events_before > MOST_AT_ONCE {
            return Err(RunError::Stuck(at));
        }
        self.events += 1;
        Ok(())
    }
}
