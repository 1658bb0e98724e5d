//! The peer that a switch connects to: the switch of another ensemble. Of two switches that face
//! each other, one connects and the other waits.

use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp::channel::Ends;
use ratewire_acp::handshakes::Purpose;
use ratewire_acp::wire::{ConnectionId, EndKind, Target};

use super::ensemble::RETRY;
use super::seat::Scope;
use super::{Hub, HubEvent, SessionId};
use crate::session::PeerKind;

/// Longest time between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A peer that the switch connects to, again whenever the connection is over.
#[derive(Debug)]
pub(super) struct Dialled {
    address: SocketAddr,
    state: State,
    /// When the last attempt began, and the least time from there to the next. It grows while
    /// connections are short, as with a peer that resets each or members that have nothing to send.
    began: Duration,
    wait: Duration,
    /// Whether the last attempt had no answer.
    is_silent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Apart,
    Handshake(ConnectionId),
    Connected(SessionId),
}

impl Dialled {
    pub(super) fn new(address: SocketAddr) -> Dialled {
        Dialled {
            address,
            state: State::Apart,
            began: Duration::ZERO,
            wait: Duration::ZERO,
            is_silent: false,
        }
    }

    /// When the switch connects.
    pub(super) fn due(&self) -> Option<Duration> {
        (self.state == State::Apart).then_some(self.began + self.wait)
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

    /// Connects to a peer at this address from now on. What has begun with another goes on.
    pub fn dial(&mut self, address: SocketAddr) {
        match &mut self.dialled {
            Some(dialled) if dialled.state == State::Apart => dialled.address = address,
            Some(_) => {}
            None => self.dialled = Some(Dialled::new(address)),
        }
    }

    /// Connects to the peer, if that is due.
    pub(super) fn dial_if_due(&mut self, now: Duration) {
        let Some(dialled) = &mut self.dialled else { return };
        if dialled.due().is_none_or(|due| due > now) {
            return;
        }
        let lasted = now.saturating_sub(dialled.began);
        let longer = if lasted > 2 * dialled.wait { RETRY } else { 2 * dialled.wait };
        (dialled.began, dialled.wait) = (now, longer.clamp(RETRY, LONGEST_WAIT));
        let peers = &self.config.peers;
        let (law, target) = (&*peers.law_name, Target::Ensemble);
        let purpose = Purpose { law, kind: EndKind::Switch, application: "", target };
        let begun = self.of_peers.connect(now, dialled.address, &peers.credentials, purpose);
        // The kernel gave no random numbers; the next attempt tries again.
        dialled.state = begun.map_or(State::Apart, State::Handshake);
    }

    /// The peer has accepted the connection.
    pub(super) fn dial_connected(&mut self, now: Duration, ends: Ends) {
        let is_awaited = |dialled: &Dialled| dialled.state == State::Handshake(ends.local);
        if !self.dialled.as_ref().is_some_and(is_awaited) {
            return;
        }
        let law = self.config.peers.law.clone();
        let session = self.seat(now, law, PeerKind::Dialled, Scope::All, ends);
        if let Some(dialled) = &mut self.dialled {
            (dialled.state, dialled.is_silent) = (State::Connected(session), false);
        }
        self.gather(now, session);
    }

    /// The peer has not answered.
    pub(super) fn dial_unanswered(&mut self) {
        if let Some(dialled) = &mut self.dialled {
            dialled.state = State::Apart;
            if !core::mem::replace(&mut dialled.is_silent, true) {
                self.events.push(HubEvent::PeerSilent(dialled.address));
            }
        }
    }
}
