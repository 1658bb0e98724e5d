//! The peer that a switch connects to: the switch of another ensemble. Of two switches that face
//! each other, one connects and the other waits.

use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::channel::Ends;
use ratewire_acp::wire::ConnectionId;

use super::ensemble::RETRY;
use super::{Hub, HubEvent, SessionId};
use crate::session::PeerKind;

/// A peer that the switch connects to, again whenever the connection is over.
#[derive(Debug)]
pub(super) struct Dialled {
    address: SocketAddr,
    state: State,
    /// When the next attempt may begin: a peer that resets each connection is not asked faster.
    not_before: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Apart,
    Handshake(ConnectionId),
    Connected(SessionId),
}

impl Dialled {
    pub(super) fn new(address: SocketAddr) -> Dialled {
        Dialled { address, state: State::Apart, not_before: Duration::ZERO }
    }

    /// When the switch connects.
    pub(super) fn due(&self) -> Option<Duration> {
        (self.state == State::Apart).then_some(self.not_before)
    }

    /// Notes that a session is over.
    pub(super) fn ended(&mut self, session: SessionId) {
        if self.state == State::Connected(session) {
            self.state = State::Apart;
        }
    }
}

impl Hub {
    /// The peer that the switch connects to, and whether it has answered.
    pub fn dialled(&self) -> Option<(SocketAddr, bool)> {
        let dialled = self.dialled.as_ref()?;
        Some((dialled.address, matches!(dialled.state, State::Connected(_))))
    }

    /// Connects to the peer, if that is due.
    pub(super) fn dial_if_due(&mut self, now: Duration) {
        let Some(dialled) = &mut self.dialled else { return };
        if dialled.due().is_none_or(|due| due > now) {
            return;
        }
        dialled.not_before = now + RETRY;
        let peers = &self.config.peers;
        let begun =
            self.of_peers.connect(now, dialled.address, &peers.credentials, &peers.law_name, true);
        // Without random numbers for one, the next attempt has them.
        dialled.state = begun.map_or(State::Apart, State::Handshake);
    }

    /// The peer has accepted the connection.
    pub(super) fn dial_connected(&mut self, now: Duration, ends: Ends) {
        let is_awaited = |dialled: &Dialled| dialled.state == State::Handshake(ends.local);
        if !self.dialled.as_ref().is_some_and(is_awaited) {
            return;
        }
        let law = self.config.peers.law.clone();
        let session = self.seat(now, law, PeerKind::Dialled, ends);
        if let Some(dialled) = &mut self.dialled {
            dialled.state = State::Connected(session);
        }
        self.gather(now, session);
    }

    /// The peer has not answered.
    pub(super) fn dial_unanswered(&mut self) {
        if let Some(dialled) = &mut self.dialled {
            dialled.state = State::Apart;
            self.events.push(HubEvent::PeerSilent(dialled.address));
        }
    }
}
