//! Handshakes of a switch: with a peer, and then with each member for it.

use std::time::Duration;

use ratewire_acp::channel::Ends;
use ratewire_acp::handshakes::{NO_ROOM, NO_TARGET, Purpose, UNKNOWN_LAW};
use ratewire_acp::wire::{ConnectionId, EndKind, Target};
use ratewire_anypoint::Side;
use ratewire_anypoint::routing::RoundRobin;
use ratewire_laws::AnyLaw;
use ratewire_units::Time;

use super::ensemble::RETRY;
use super::seat::Scope;
use super::{Hub, HubConfig, HubEvent, Numbers, Seat, Seen, SessionId};
use crate::session::{MEMBER_LOST, Peer, PeerKind, Session};

/// Code of a reset of a peer whose members are all for another application.
const OTHER_APPLICATION: u64 = 5;

impl HubConfig {
    /// Time for members to answer before a session begins without them. One that is for a single
    /// member can do nothing without it.
    fn patience(&self, scope: Scope) -> Duration {
        match scope {
            Scope::All | Scope::Gone => self.patience,
            Scope::One(_) => self.patience.max(self.session.silence.to_std()),
        }
    }
}

impl Hub {
    pub(super) fn accept(&mut self, now: Duration, ends: Ends) {
        let scope = match ends.params.target {
            Target::Table => return self.accept_reader(now, ends),
            Target::Ensemble | Target::Once => Scope::All,
            Target::Member(id) => {
                let is_it = |seen: &Seen| seen.member.is_some() && seen.id == id;
                self.ensemble.iter().position(is_it).map_or(Scope::Gone, Scope::One)
            }
        };
        let name = ends.params.law.clone();
        let known = name.parse().ok();
        let used = known.clone().unwrap_or_else(|| self.config.peers.law.clone());
        let kind = PeerKind::Client(ends.params.kind);
        let id = self.seat(now, used, kind, scope, ends);
        let Some(seat) = self.seats.get_mut(&id) else { return };
        if known.is_none() {
            seat.session.reset(UNKNOWN_LAW, &format!("the switch knows no law {name:?}"));
        } else if scope == Scope::Gone {
            seat.session.reset(NO_TARGET, "the switch has no such member any more");
        }
        self.look_after(now, id);
    }

    /// Makes the session of a peer.
    pub(super) fn seat(
        &mut self,
        now: Duration,
        law: AnyLaw,
        kind: PeerKind,
        scope: Scope,
        ends: Ends,
    ) -> SessionId {
        let id = self.new_session();
        let numbers = Numbers { local: ends.local, remote: ends.params.connection };
        let routing = match scope {
            Scope::All => (self.config.routing)(),
            Scope::One(_) | Scope::Gone => Box::new(RoundRobin::default()),
        };
        let (members, peer) = (scope.len(self.ensemble.len()), Peer { kind, law, ends });
        let session = Session::new(Time::ZERO, &self.config.session, members, routing, peer);
        self.seats.insert(id, Seat::new(now, session, scope, members));
        self.register(id, Side::Peer, numbers);
        self.look_after(now, id);
        id
    }

    /// Connects with the members for a peer that has shown that it has the keys.
    pub(super) fn welcome(&mut self, now: Duration, id: SessionId) {
        let has_room = self.sessions() <= self.config.peers.connections;
        let Some(seat) = self.seats.get_mut(&id) else { return };
        if !has_room {
            seat.session.reset(NO_ROOM, "the switch has no room for another peer");
            return;
        }
        self.gather(now, id);
    }

    /// Connects with the members for a peer.
    pub(super) fn gather(&mut self, now: Duration, id: SessionId) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        self.events.push(HubEvent::PeerConnected(seat.session.peer()));
        seat.is_welcome = true;
        seat.begins_at = Some(now + self.config.patience(seat.scope));
        for member in 0..self.ensemble.len() {
            if !self.ensemble[member].is_down() {
                self.connect(now, id, member);
            }
        }
        self.begin_if_whole(now, id);
    }

    /// Connects with a member for a session that lacks it.
    pub(super) fn connect(&mut self, now: Duration, id: SessionId, member: usize) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        let is_wanted = seat.begins_at.is_some() || seat.session.has_begun();
        let takes = self.ensemble[member].takes_sessions();
        if !takes || !is_wanted || !seat.lacks(member) || !seat.session.takes_members() {
            return;
        }
        let (law, kind) = (seat.session.law_name(), seat.session.kind_to_members());
        let application = seat.session.application().to_string();
        if let Some(connection) = self.shake(now, member, (&law, kind, &application), Some(id))
            && let Some(seat) = self.seats.get_mut(&id)
        {
            seat.set_pending(member, Some(connection));
        }
    }

    /// Asks a member that is down whether it is there.
    pub(super) fn ask(&mut self, now: Duration, member: usize) {
        let law = self.config.peers.law_name.clone();
        self.shake(now, member, (&law, EndKind::Host, ""), None);
    }

    fn shake(
        &mut self,
        now: Duration,
        member: usize,
        (law, kind, application): (&str, EndKind, &str),
        session: Option<SessionId>,
    ) -> Option<ConnectionId> {
        let known = self.ensemble[member].member.as_ref()?;
        let (to, keys) = (known.address, &known.credentials);
        let purpose = Purpose { law, kind, application, target: Target::Ensemble };
        let begun = self.of_members.connect(now, to, keys, purpose);
        match begun {
            Ok(connection) => {
                self.pending.insert(connection, (session, member));
                Some(connection)
            }
            Err(error) => {
                self.miss(now, member, &error.to_string());
                None
            }
        }
    }

    /// A member has accepted a connection.
    pub(super) fn joined(&mut self, now: Duration, ends: Ends) {
        let Some((session, member)) = self.pending.remove(&ends.local) else { return };
        // A connection that only asked, or comes too late, is forgotten: the member never hears of
        // it again.
        if let Some(id) = session
            && self.ensemble[member].takes_sessions()
            && let Some(seat) = self.seats.get_mut(&id).filter(|s| s.session.takes_members())
            && let Some(side @ Side::Member(k)) = seat.side(member)
        {
            let numbers = Numbers { local: ends.local, remote: ends.params.connection };
            seat.set_pending(member, None);
            self.ensemble[member].refusal = None;
            let time = seat.time(now);
            seat.session.join(time, k, ends);
            self.register(id, side, numbers);
            self.begin_if_whole(now, id);
            self.look_after(now, id);
        }
        self.hear(now, member);
    }

    /// A member is for another application than a session's peer. The session goes on with others;
    /// if it has none, the peer is told why.
    pub(super) fn refused(&mut self, now: Duration, connection: ConnectionId, application: &str) {
        let Some((Some(id), member)) = self.pending.remove(&connection) else { return };
        let Some(seat) = self.seats.get_mut(&id) else { return };
        seat.set_pending(member, None);
        let (own, peer) = (seat.session.application(), seat.session.peer());
        let text = format!("it is for {application}, and the peer at {peer} for {own}");
        let name = self.ensemble[member].member.as_ref().map_or("", |member| &member.name);
        let to_peer = format!("member {name} is for {application}, and this peer for {own}");
        if seat.lacks_all() {
            seat.session.reset(OTHER_APPLICATION, &to_peer);
        }
        if self.ensemble[member].refusal.as_ref() != Some(&text) {
            self.ensemble[member].refusal = Some(text.clone());
            self.events.push(HubEvent::MemberRefuses(member, text));
        }
        self.retries.insert((now + RETRY, id, member));
        self.begin_if_whole(now, id);
        self.look_after(now, id);
        self.hear(now, member);
    }

    pub(super) fn begin_if_whole(&mut self, now: Duration, id: SessionId) {
        if self.seats.get(&id).is_some_and(|seat| seat.awaited().next().is_none()) {
            self.begin(now, id);
        }
    }

    /// Begins a session. Members that have not answered by now, and in no other session either,
    /// are down.
    pub(super) fn begin(&mut self, now: Duration, id: SessionId) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        let Some(latest) = seat.begins_at.take() else { return };
        let time = seat.time(now);
        seat.session.begin(time);
        let late: Vec<usize> = seat.awaited().collect();
        let began = latest.saturating_sub(self.config.patience(seat.scope));
        self.end_if_for_one(id, "it has not answered");
        for k in late {
            if self.ensemble[k].heard.is_none_or(|heard| heard < began) {
                self.miss(now, k, "it has not answered a handshake in time");
            }
        }
        self.look_after(now, id);
    }

    /// Ends a session that is for one member, if it has lost that member.
    pub(super) fn end_if_for_one(&mut self, id: SessionId, why: &str) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        if let Scope::One(place) = seat.scope
            && seat.session.has_begun()
            && !seat.has(place)
            && seat.session.closed().is_none()
        {
            let name = self.ensemble[place].member.as_ref().map_or("", |member| &member.name);
            seat.session.reset(MEMBER_LOST, &format!("member {name} is lost: {why}"));
        }
    }
}
