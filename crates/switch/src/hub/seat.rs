//! A session, and what the switch knows of it.

use std::time::Duration;

use ratewire_acp::wire::ConnectionId;
use ratewire_anypoint::Side;
use ratewire_units::Time;

use crate::session::Session;

/// Number of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// Numbers of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// The switch's.
    pub(super) local: ConnectionId,
    /// The other end's.
    pub(super) remote: ConnectionId,
}

/// A session, and what the switch knows of it.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) session: Session,
    /// Start of the session's time, which has room for 213 days.
    zero: Duration,
    /// Numbers of its connections at both ends, that with the peer first.
    numbers: Vec<Option<Numbers>>,
    /// By side: whether it waits in a port's queue.
    is_dirty: Vec<bool>,
    /// By member: a handshake that is not over.
    pub(super) pending: Vec<Option<ConnectionId>>,
    /// Whether the peer has shown that it has the key.
    pub(super) is_welcome: bool,
    /// When the session begins without the members that have not answered.
    pub(super) begins_at: Option<Duration>,
    /// The deadline in the index.
    pub(super) deadline: Duration,
}

impl Seat {
    pub(super) fn new(now: Duration, session: Session, members: usize) -> Seat {
        Seat {
            session,
            zero: now,
            numbers: vec![None; members + 1],
            is_dirty: vec![false; members + 1],
            pending: vec![None; members],
            is_welcome: false,
            begins_at: None,
            deadline: Duration::MAX,
        }
    }

    pub(super) fn time(&self, now: Duration) -> Time {
        Time::from_ps(now.saturating_sub(self.zero).as_nanos() as u64 * 1000)
    }

    /// When the session has something to do.
    pub(super) fn due(&self) -> Duration {
        let session = match self.session.deadline() {
            Time::NEVER => Duration::MAX,
            at => self.zero + at.since(Time::ZERO).to_std(),
        };
        session.min(self.begins_at.unwrap_or(Duration::MAX))
    }

    /// Sets the numbers of a side's connection; returns those before.
    pub(super) fn set_numbers(&mut self, side: Side, numbers: Option<Numbers>) -> Option<Numbers> {
        core::mem::replace(&mut self.numbers[place(side)], numbers)
    }
    /// Sides with a connection.
    pub(super) fn sides(&self) -> Vec<Side> {
        let side = |place: usize| if place == 0 { Side::Peer } else { Side::Member(place - 1) };
        let has = |place: &usize| self.numbers[*place].is_some();
        (0..self.numbers.len()).filter(has).map(side).collect()
    }

    /// Whether a side waits in a port's queue.
    pub(super) fn is_dirty(&self) -> bool {
        self.is_dirty.contains(&true)
    }
    /// Marks a side as one with packets to send, or not. Returns whether it was one.
    pub(super) fn set_dirty(&mut self, side: Side, is_dirty: bool) -> bool {
        core::mem::replace(&mut self.is_dirty[place(side)], is_dirty)
    }
}

fn place(side: Side) -> usize {
    match side {
        Side::Peer => 0,
        Side::Member(k) => k + 1,
    }
}
