//! A session, and what the switch knows of it.

use std::time::Duration;

use ratewire_acp::wire::ConnectionId;
use ratewire_anypoint::Side;
use ratewire_units::{Bytes, Time};

use crate::session::Session;

/// Number of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// The members that a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All of the ensemble.
    All,
    /// The one in this place.
    One(usize),
    /// One that there is not any more.
    Gone,
}

impl Scope {
    /// The session's number of the member in a place of the ensemble.
    fn slot(self, place: usize) -> Option<usize> {
        match self {
            Scope::All => Some(place),
            Scope::One(only) => (only == place).then_some(0),
            Scope::Gone => None,
        }
    }
    /// The place of a member of the session.
    pub(super) fn place(self, slot: usize) -> usize {
        if let Scope::One(only) = self { only } else { slot }
    }
    /// Number of members in an ensemble of this many.
    pub(super) fn len(self, members: usize) -> usize {
        if self == Scope::All { members } else { 1 }
    }
}

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
    pub(super) scope: Scope,
    /// Start of the session's time, which has room for 213 days.
    zero: Duration,
    /// Numbers of its connections at both ends, that with the peer first.
    numbers: Vec<Option<Numbers>>,
    /// By side: whether it waits in a port's queue.
    is_dirty: Vec<bool>,
    /// By member: a handshake that is not over.
    pending: Vec<Option<ConnectionId>>,
    /// Whether the peer has shown that it has the key.
    pub(super) is_welcome: bool,
    /// When the session begins without the members that have not answered.
    pub(super) begins_at: Option<Duration>,
    /// The deadline in the index.
    pub(super) deadline: Duration,
}

impl Seat {
    pub(super) fn new(now: Duration, session: Session, scope: Scope, members: usize) -> Seat {
        let members = scope.len(members);
        Seat {
            session,
            scope,
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

    /// Whether the member in a place is connected.
    pub(super) fn has(&self, place: usize) -> bool {
        self.scope.slot(place).is_some_and(|slot| self.session.has(slot))
    }
    /// Whether the session lacks the member in a place, which it is for.
    pub(super) fn lacks(&self, place: usize) -> bool {
        let slot = self.scope.slot(place);
        slot.is_some_and(|slot| !self.session.has(slot) && self.pending[slot].is_none())
    }
    /// Whether it lacks all members.
    pub(super) fn lacks_all(&self) -> bool {
        (0..self.pending.len()).all(|slot| self.lacks(self.scope.place(slot)))
    }
    /// Payload on its way to the member in a place.
    pub(super) fn outstanding(&self, place: usize) -> Bytes {
        let slot = self.scope.slot(place);
        slot.map_or(Bytes::ZERO, |slot| self.session.outstanding(Side::Member(slot)))
    }
    /// The side of the member in a place.
    pub(super) fn side(&self, place: usize) -> Option<Side> {
        self.scope.slot(place).map(Side::Member)
    }
    /// Notes a handshake with the member in a place, or that it is over.
    pub(super) fn set_pending(&mut self, place: usize, handshake: Option<ConnectionId>) {
        if let Some(slot) = self.scope.slot(place) {
            self.pending[slot] = handshake;
        }
    }
    /// Places whose members have not answered a handshake yet.
    pub(super) fn awaited(&self) -> impl Iterator<Item = usize> {
        let awaited = (0..self.pending.len()).filter(|slot| self.pending[*slot].is_some());
        awaited.map(|slot| self.scope.place(slot))
    }
    /// Handshakes that are not over.
    pub(super) fn handshakes(&self) -> impl Iterator<Item = ConnectionId> {
        self.pending.iter().copied().flatten()
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
