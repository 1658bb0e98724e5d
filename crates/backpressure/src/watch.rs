//! A buffer that pauses and resumes its upstream.
//!
//! Above one threshold it sends a pause frame, and repeats it before the pause expires. Below
//! another threshold it resumes the upstream. Between the two it sends nothing, so that one packet
//! more or less does not make a frame.

use ratewire_units::{Bytes, Duration, Time};

/// When a buffer pauses its upstream and resumes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Pause if the buffer holds more than this.
    pub xoff: Bytes,
    /// Resume if the buffer holds this or less; not above `xoff`.
    pub xon: Bytes,
    /// Time from one pause frame to the next, while there is no room.
    pub refresh: Duration,
    /// Maximum that the buffer holds.
    pub room: Bytes,
}

/// Signal to the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseSignal {
    /// Pause, for as long as a pause lasts.
    Stop,
    /// Resume.
    Go,
}

/// The state of one buffer.
#[derive(Clone, Debug)]
pub struct Watch {
    thresholds: Thresholds,
    held: Bytes,
    stopped: bool,
    /// Pauses repeated since a packet last left.
    repeated: u32,
    /// When the next pause is due; [`Time::NEVER`] while the upstream may send.
    refresh_at: Time,
}

impl Watch {
    /// The state of an empty buffer.
    pub fn new(thresholds: Thresholds) -> Watch {
        Watch {
            thresholds,
            held: Bytes::ZERO,
            stopped: false,
            repeated: 0,
            refresh_at: Time::NEVER,
        }
    }

    /// Bytes in the buffer.
    pub fn held(&self) -> Bytes {
        self.held
    }
    /// Whether the buffer has room for this much more.
    #[inline]
    pub fn has_room_for(&self, size: Bytes) -> bool {
        self.held + size <= self.thresholds.room
    }
    /// Whether the upstream is paused.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }
    /// Whether the upstream would resume with this much in the buffer.
    pub fn lets_go_at(&self, held: Bytes) -> bool {
        held <= self.thresholds.xon
    }
    /// Whether no packet has left for so long that a search for a deadlock is due: after one
    /// repeated pause, two, four and so on, and after each sixty-fourth.
    pub fn stands_still(&self) -> bool {
        self.repeated.is_power_of_two() || (self.repeated > 0 && self.repeated.is_multiple_of(64))
    }
    /// When to call [`Watch::refresh`].
    pub fn deadline(&self) -> Time {
        self.refresh_at
    }

    /// Notes that a packet has come in.
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

    /// Notes that a packet has left.
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

    /// Repeats a pause that is about to expire; call it at [`Watch::deadline`].
    ///
    /// Ask [`Watch::stands_still`] afterwards.
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
