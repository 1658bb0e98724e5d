//! A buffer that watches itself: above one threshold it says stop, says so again before that expires, and
//! below another it says go. Between the two it says nothing, so that a packet more or less does not make
//! a frame each.

use ratewire_units::{Bytes, Duration, Time};

/// When a buffer pauses its upstream and lets it go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Stop when more than this waits.
    pub xoff: Bytes,
    /// Go on when this or less waits; not above `xoff`.
    pub xon: Bytes,
    /// How long after one stop the next is said, while there is no room.
    pub refresh: Duration,
    /// No more than this may wait.
    pub room: Bytes,
}

/// What a buffer tells its upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseSignal {
    /// Stop, for as long as a stop lasts.
    Stop,
    /// Go on.
    Go,
}

/// The state of one buffer.
#[derive(Clone, Debug)]
pub struct Watch {
    thresholds: Thresholds,
    held: Bytes,
    stopped: bool,
    /// How often it was said again since something last left.
    repeated: u32,
    /// When the next stop is due; [`Time::NEVER`] while the upstream may send.
    refresh_at: Time,
}

impl Watch {
    /// Of an empty buffer.
    pub fn new(thresholds: Thresholds) -> Watch {
        Watch {
            thresholds,
            held: Bytes::ZERO,
            stopped: false,
            repeated: 0,
            refresh_at: Time::NEVER,
        }
    }

    /// What waits.
    pub fn held(&self) -> Bytes {
        self.held
    }
    /// Whether so much more may wait.
    #[inline]
    pub fn has_room_for(&self, size: Bytes) -> bool {
        self.held + size <= self.thresholds.room
    }
    /// Whether the upstream has been told to stop and not to go on.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }
    /// Whether it would be let go on with so much waiting.
    pub fn lets_go_at(&self, held: Bytes) -> bool {
        held <= self.thresholds.xon
    }
    /// Whether nothing has left for so long that it is time to look whether anything ever will: after one
    /// repeated stop, two, four and so on, and after each sixty-fourth.
    pub fn stands_still(&self) -> bool {
        self.repeated.is_power_of_two() || (self.repeated > 0 && self.repeated.is_multiple_of(64))
    }
    /// When [`Watch::refresh`] wants to be called.
    pub fn deadline(&self) -> Time {
        self.refresh_at
    }

    /// A packet has come in.
    #[inline]
    pub fn add(&mut self, now: Time, size: Bytes) -> Option<PauseSignal> {
        self.held += size;
        if self.stopped || self.held <= self.thresholds.xoff {
            return None;
        }
        self.stopped = true;
        self.refresh_at = now + self.thresholds.refresh;
        Some(PauseSignal::Stop)
    }

    /// A packet has left.
    #[inline]
    pub fn remove(&mut self, size: Bytes) -> Option<PauseSignal> {
        self.held = self.held.saturating_sub(size);
        self.repeated = 0;
        if !self.stopped || !self.lets_go_at(self.held) {
            return None;
        }
        self.stopped = false;
        self.refresh_at = Time::NEVER;
        Some(PauseSignal::Go)
    }

    /// Called at [`Watch::deadline`]: a stop is about to expire.
    ///
    /// To be asked after: [`Watch::stands_still`].
    pub fn refresh(&mut self, now: Time) -> Option<PauseSignal> {
        if self.refresh_at > now || !self.stopped {
            return None;
        }
        self.repeated = self.repeated.saturating_add(1);
        self.refresh_at = now + self.thresholds.refresh;
        Some(PauseSignal::Stop)
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
