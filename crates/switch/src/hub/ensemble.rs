//! The members of an ensemble, and what the switch knows of their health.

use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::Credentials;

/// Time between attempts to reach a member that is down.
pub(super) const RETRY: Duration = Duration::from_secs(1);

/// A member of an ensemble.
#[derive(Clone, Debug)]
pub struct Member {
    /// What people call it.
    pub name: String,
    /// Its ACP address.
    pub address: SocketAddr,
    /// How the switch and the member know each other; the switch is the client.
    pub credentials: Credentials,
    /// The number by which it is hashed.
    pub number: u64,
    /// Its share of the frames.
    pub weight: f64,
    /// First bytes of the frames that go to it.
    pub prefixes: Vec<String>,
}

impl Member {
    /// A member of weight 1 without prefixes. Those of a switch that routes by hash have different
    /// numbers.
    pub fn new(name: &str, address: SocketAddr, credentials: Credentials) -> Member {
        let (name, prefixes) = (name.to_string(), Vec::new());
        Member { name, address, credentials, number: 0, weight: 1.0, prefixes }
    }
}

/// Whether a member is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing has been asked of it yet.
    Unknown,
    /// It answers.
    Up,
    /// It does not.
    Down {
        /// Since when, from the switch's start.
        since: Duration,
        /// Why.
        reason: String,
    },
}

/// What the switch may give to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// It takes frames.
    Serving,
    /// It finishes what it has, and gets nothing new.
    Draining,
    /// It has finished.
    Drained,
}

/// A place of the ensemble, its member and the member's health.
#[derive(Debug)]
pub(super) struct Seen {
    /// The number by which peers ask for a connection with the member.
    pub(super) id: u64,
    /// `None` while nobody has registered for the place.
    pub(super) member: Option<Member>,
    pub(super) duty: Duty,
    /// Whether the member does not answer probes as it should. No other sign of life counts then.
    pub(super) is_distrusted: bool,
    pub(super) health: Health,
    /// When something authentic last came from it, in any session.
    pub(super) heard: Option<Duration>,
    /// When it is tried again while it is down.
    pub(super) retry: Option<Duration>,
    /// Times that it went down.
    pub(super) failures: u64,
    /// Why a peer's session does not have it: it is for another application.
    pub(super) refusal: Option<String>,
}

impl Seen {
    pub(super) fn new(id: u64, member: Option<Member>) -> Seen {
        Seen {
            id,
            member,
            duty: Duty::Serving,
            is_distrusted: false,
            health: Health::Unknown,
            heard: None,
            retry: None,
            failures: 0,
            refusal: None,
        }
    }

    /// Whether nobody has the place.
    pub(super) fn is_vacant(&self) -> bool {
        self.member.is_none()
    }

    /// Whether sessions may connect with the member.
    pub(super) fn takes_sessions(&self) -> bool {
        self.member.is_some() && self.duty == Duty::Serving && !self.is_distrusted
    }

    pub(super) fn is_down(&self) -> bool {
        matches!(self.health, Health::Down { .. })
    }

    /// Notes a sign of life. Returns whether the member was not up.
    pub(super) fn hear(&mut self, now: Duration) -> bool {
        self.heard = Some(now);
        if self.member.is_none() || self.is_distrusted {
            return false;
        }
        self.retry = None;
        let before = core::mem::replace(&mut self.health, Health::Up);
        before != Health::Up
    }

    /// Notes that the member does not answer. Returns whether that is new.
    pub(super) fn miss(&mut self, now: Duration, reason: &str) -> bool {
        if self.member.is_none() || self.is_down() {
            return false;
        }
        self.failures += 1;
        self.health = Health::Down { since: now, reason: reason.to_string() };
        self.retry = Some(now + RETRY);
        true
    }
}
