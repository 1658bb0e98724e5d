//! The end of a connection.
//!
//! Each end says where its stream ends and repeats that until the other says that it has all. A
//! connection is closed when both have. A reset ends it at once.

use ratewire_units::{Duration, Time};

use crate::wire::Part;

/// Code of a reset after a violation of the protocol.
const VIOLATION: u64 = 1;
/// Time for which a closed connection still answers the other end.
const LINGER: Duration = Duration::from_secs(1);
/// Copies of a reset that are sent.
const RESETS: u32 = 3;
/// Bytes of the words with a reset that are sent.
const LONGEST_TEXT: usize = 200;
/// Shortest time between two copies of what may be lost.
const REPEAT: Duration = Duration::from_millis(20);

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// Both ends have sent and got all.
    #[error("the connection was closed")]
    Done,
    /// This end has reset it.
    #[error("this end has reset the connection: {text}")]
    Local {
        /// A number for the other end.
        code: u64,
        /// Words for the other end.
        text: String,
    },
    /// The other end has reset it.
    #[error("the other end has reset the connection: {text} (code {code})")]
    Reset {
        /// Why, as a number.
        code: u64,
        /// Why, in words.
        text: String,
    },
    /// Nothing has come for too long.
    #[error("the other end was silent for too long")]
    Idle,
    /// The other end does not know it: it was restarted.
    #[error("the other end has been restarted")]
    Forgotten,
    /// The other end does not keep to the protocol.
    #[error("the other end violates the protocol: {0}")]
    Violation(&'static str),
}

/// A direction on its way to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Direction {
    #[default]
    Open,
    /// No more data is written; the stream ends here.
    Ending(u64),
    /// The other end has all.
    Ended,
}

/// The end of a connection.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    own: Direction,
    /// Whether the other end waits to hear that this one has all.
    is_asked: bool,
    is_other_whole: bool,
    /// Whether this end reads no more.
    leaves: bool,
    reason: Option<CloseReason>,
    /// Copies of a reset still to be sent.
    resets: u32,
    /// When to repeat what may be lost.
    again: Time,
    /// When a closed connection is forgotten.
    over: Option<Time>,
}

impl Closing {
    /// Why the connection is over; `None` while it lasts.
    pub fn reason(&self) -> Option<&CloseReason> {
        self.reason.as_ref()
    }
    /// Whether this end has not said where its stream ends.
    pub fn may_write(&self) -> bool {
        self.own == Direction::Open && self.reason.is_none()
    }
    /// Whether data may still be sent.
    pub fn sends_data(&self) -> bool {
        self.reason.is_none()
    }
    /// Whether nothing is left to do.
    pub fn is_over(&self) -> bool {
        self.reason.is_some() && self.resets == 0 && self.over == Some(Time::ZERO)
    }

    /// Says that this end's stream ends at this offset.
    pub fn close_own(&mut self, end: u64) {
        self.own = Direction::Ending(end);
        self.again = Time::ZERO;
    }
    /// Says that this end's stream ends at this offset, and that it reads no more.
    pub fn leave(&mut self, end: u64) {
        self.leaves = true;
        self.close_own(end);
    }
    /// Notes that the other end has all of this end's stream.
    pub fn own_is_closed(&mut self) {
        if let Direction::Ending(_) = self.own {
            self.own = Direction::Ended;
            self.settle();
        }
    }
    /// Notes that the other end waits to hear that this one has all.
    pub fn other_asks(&mut self) {
        self.is_asked = true;
    }
    /// Whether this end has all of the other's stream.
    pub fn is_other_whole(&self) -> bool {
        self.is_other_whole
    }
    /// Notes that this end has all of the other's stream.
    pub fn other_is_whole(&mut self) {
        self.is_other_whole = true;
        self.settle();
    }

    fn settle(&mut self) {
        if self.own == Direction::Ended && self.is_other_whole {
            self.reason.get_or_insert(CloseReason::Done);
        }
    }

    /// Ends the connection, and tells the other end.
    pub fn reset(&mut self, reason: CloseReason) {
        if self.reason.is_none() {
            self.reason = Some(reason);
            self.resets = RESETS;
            self.again = Time::ZERO;
            self.over = Some(Time::ZERO);
        }
    }

    /// Ends the connection.
    pub fn end(&mut self, reason: CloseReason) {
        self.reason.get_or_insert(reason);
        self.over = Some(Time::ZERO);
        self.resets = 0;
    }

    /// When to call [`Closing::on_timer`] and [`Closing::put`].
    pub fn deadline(&self) -> Time {
        let repeats = self.resets > 0 || matches!(self.own, Direction::Ending(_));
        let again = if repeats { self.again } else { Time::NEVER };
        again.min(self.over.filter(|at| *at > Time::ZERO).unwrap_or(Time::NEVER))
    }

    /// Does what is due.
    pub fn on_timer(&mut self, now: Time) {
        if self.over.is_some_and(|at| at <= now) {
            self.over = Some(Time::ZERO);
        }
    }

    /// Writes what the other end is to hear now.
    pub fn put(&mut self, now: Time, rto: Duration, parts: &mut Vec<u8>) {
        if self.reason == Some(CloseReason::Done) && self.over.is_none() {
            self.over = Some(now + LINGER);
        }
        if self.is_asked && self.is_other_whole {
            self.is_asked = false;
            Part::Closed.put(parts);
        }
        if now < self.again {
            return;
        }
        if let Direction::Ending(end) = self.own {
            Part::Close(end).put(parts);
            if self.leaves {
                Part::Leaving.put(parts);
            }
            self.again = now + rto.max(REPEAT);
        }
        if self.resets > 0 {
            self.resets -= 1;
            self.again = now + REPEAT;
            let (code, text) = match &self.reason {
                Some(CloseReason::Local { code, text }) => (*code, text.as_str()),
                Some(CloseReason::Violation(what)) => (VIOLATION, *what),
                _ => (0, ""),
            };
            let text = &text.as_bytes()[..text.len().min(LONGEST_TEXT)];
            Part::Reset { code, text }.put(parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Parts;

    #[test]
    fn who_asks_too_early_is_answered_once_all_is_there() {
        let mut closing = Closing::default();
        let mut says = |change: fn(&mut Closing)| {
            change(&mut closing);
            let mut parts = Vec::new();
            closing.put(Time::ZERO, Duration::from_secs(60), &mut parts);
            Parts::new(&parts).any(|part| part == Ok(Part::Closed))
        };
        assert!(!says(Closing::other_asks));
        assert!(says(Closing::other_is_whole));
        assert!(!says(|_| {}), "once");
        assert!(says(Closing::other_asks), "again, if the answer was lost");
    }
}
