//! What the parts of a run act on.

use ratewire_net::Network;
use ratewire_units::Time;

use super::schedule::Schedule;
use crate::error::RunError;
use crate::overlay::Daemons;

/// Events at one instant above which the simulation is stuck in a loop.
const MOST_AT_ONCE: u64 = 1 << 26;

/// The time, the network, and what else all parts may use.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) clock: Clock,
    pub(crate) schedule: Schedule,
    pub(crate) network: Network,
    /// The applications of flows that are links of an overlay.
    pub(crate) overlay: Option<Box<Daemons>>,
}

/// The time that a run has reached, and the events up to it.
#[derive(Debug)]
pub(crate) struct Clock {
    pub(crate) now: Time,
    pub(crate) end: Time,
    pub(crate) events: u64,
    /// Number of events before those of this instant.
    events_before: u64,
}

impl Clock {
    pub(crate) fn new(end: Time) -> Clock {
        Clock { now: Time::ZERO, end, events: 0, events_before: 0 }
    }

    /// Counts an event and advances the time.
    #[inline]
    pub(crate) fn advance(&mut self, at: Time) -> Result<(), RunError> {
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
