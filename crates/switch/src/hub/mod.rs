//! All sessions of a switch, sans-IO. Time is that since the switch's start.

mod arrivals;
mod changes;
mod dialling;
mod ensemble;
mod handshakes;
mod ports;
mod readers;
mod seat;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use dialling::Dialled;
pub use ensemble::{Duty, Health, Member};
use ensemble::{RETRY, Seen};
pub use ports::PortOf;
use ratewire_acp::channel::CloseReason;
use ratewire_acp::handshakes::Handshakes;
use ratewire_acp::wire::ConnectionId;
use ratewire_acp::{Config, Error};
use ratewire_anypoint::Side;
use ratewire_anypoint::routing::Routing;
use ratewire_switch_interface::table::{Choice, WhenDown};
use ratewire_units::Bytes;
use readers::Reader;
use ring::rand::{SecureRandom as _, SystemRandom};
pub use seat::SessionId;
use seat::{Numbers, Seat};

use crate::session::{SessionConfig, SessionCounts, SessionEvent};

/// Why a member is down that owes an acknowledgement.
const SILENT: &str = "it has left packets unanswered";

/// A side of the switch: each has a socket of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// The side of the peers.
    Peers = 0,
    /// The side of the members.
    Members = 1,
}

impl Port {
    fn of(side: Side) -> Port {
        match side {
            Side::Peer => Port::Peers,
            Side::Member(_) => Port::Members,
        }
    }
}

/// Makes the routing module of a new session.
pub type NewRouting = Box<dyn Fn() -> Box<dyn Routing> + Send>;

/// What a switch tells gateways of its routing. By default they leave the choice to it.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// How they choose members themselves.
    pub choice: Choice,
    /// What becomes of frames whose member is down, if the operator has said so.
    pub when_down: Option<WhenDown>,
    /// Time from the start in which members may be missing that had registered before.
    pub gather: Duration,
}

impl Default for Told {
    fn default() -> Told {
        Told { choice: Choice::Switch, when_down: None, gather: Duration::ZERO }
    }
}

/// What a switch is to do.
pub struct HubConfig {
    /// Settings of the connections with peers; their credentials are those of the switch.
    pub peers: Config,
    /// A peer that the switch connects to: a switch of another ensemble.
    pub peer: Option<SocketAddr>,
    /// How sessions treat their packets; the credentials in it are not used.
    pub session: SessionConfig,
    /// The members.
    pub members: Vec<Member>,
    /// Places for members that come while the switch runs.
    pub spare: usize,
    /// The routing module.
    pub routing: NewRouting,
    /// What gateways are told of it.
    pub told: Told,
    /// Time for members to answer before a session begins without them.
    pub patience: Duration,
}

/// What has happened, for logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubEvent {
    /// A peer has connected.
    PeerConnected(SocketAddr),
    /// Its connection is over.
    PeerGone(SocketAddr, CloseReason),
    /// The peer that the switch connects to does not answer, for the first time since it did.
    PeerSilent(SocketAddr),
    /// A member answers, again or for the first time.
    MemberUp(usize),
    /// A member does not answer any more.
    MemberDown(usize, String),
    /// The member of this name, which was drained, has no session any more.
    MemberDrained(String),
    /// A member is for another application than a peer, which this names with both.
    MemberRefuses(usize, String),
    /// A first packet that was not made with the switch's key has come, in the name of this
    /// address.
    Stranger(SocketAddr),
}

/// What a switch knows of a member.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberState<'a> {
    /// Whether it came while the switch ran.
    pub is_spare: bool,
    /// The member.
    pub member: &'a Member,
    /// Its health.
    pub health: &'a Health,
    /// Whether it gets new frames.
    pub duty: Duty,
    /// Sessions that it is connected in.
    pub sessions: usize,
    /// Payload on its way to it.
    pub outstanding: Bytes,
    /// Times that it went down.
    pub failures: u64,
    /// Why a peer's session does not have it, if it is for another application than the peer.
    pub refusal: Option<&'a str>,
}

impl PartialEq for Member {
    fn eq(&self, other: &Member) -> bool {
        (&self.name, self.address) == (&other.name, other.address)
    }
}

/// All sessions of a switch.
///
/// Calls come in this order, each with a time that is not before the last:
///
/// 1. [`Hub::new`].
/// 2. [`Hub::on_datagram`] for each packet that a socket has, [`Hub::on_timer`] at
///    [`Hub::deadline`], and, at any time, changes of the ensemble: [`Hub::enlist`],
///    [`Hub::drain`], [`Hub::distrust`] and their like.
/// 3. After each of these, the packets of both ports are to be sent ([`Hub::port`]), and
///    [`Hub::take_events`] has what is for the log.
/// 4. To end: [`Hub::refuse_peers`], then [`Hub::drain_all`] until [`Hub::is_drained`], or
///    [`Hub::reset_all`].
pub struct Hub {
    config: HubConfig,
    ensemble: Vec<Seen>,
    /// Handshakes of peers, and with members.
    of_peers: Handshakes,
    of_members: Handshakes,
    dialled: Option<Dialled>,
    /// A random number of this process.
    number: u64,
    seats: BTreeMap<SessionId, Seat>,
    readers: BTreeMap<SessionId, Reader>,
    /// Number of the table that readers are told.
    edition: u64,
    /// Until when members may be missing that had registered before.
    gathers_until: Option<Duration>,
    /// Whether no more peers are taken.
    ends: bool,
    next_session: u64,
    next_member: u64,
    /// By port: sessions by the numbers of their connections.
    ids: [BTreeMap<ConnectionId, (SessionId, Side)>; 2],
    /// By number at the other end: numbers of connections.
    remotes: BTreeSet<(ConnectionId, Port, ConnectionId)>,
    /// Handshakes with members that are not over: of a session, or to see whether the member is
    /// there.
    pending: BTreeMap<ConnectionId, (Option<SessionId>, usize)>,
    deadlines: BTreeSet<(Duration, SessionId)>,
    retries: BTreeSet<(Duration, SessionId, usize)>,
    /// By port: sides with packets to send.
    dirty: [VecDeque<(SessionId, Side)>; 2],
    events: Vec<HubEvent>,
    /// Frames of sessions that are over.
    past: SessionCounts,
    /// First packets of peers that were not made with the switch's key.
    strangers: u64,
}

impl Hub {
    /// A switch without sessions, and the addresses that the sockets of [`Port::Peers`] and
    /// [`Port::Members`] are bound to.
    ///
    /// # Errors
    /// When the kernel gives no random numbers.
    pub fn new(config: HubConfig, bound: [SocketAddr; 2]) -> Result<Hub, Error> {
        let mut number = [0; 8];
        SystemRandom::new().fill(&mut number).map_err(|_| Error::Random)?;
        let members = config.members.iter().cloned().map(Some);
        let places = members.chain(core::iter::repeat_n(None, config.spare));
        let number = u64::from_be_bytes(number);
        // Numbers of members fit a varint, and are no other process's: who asks for one of an
        // earlier switch must not get another member.
        let first = number >> 3;
        Ok(Hub {
            ensemble: (first..).zip(places).map(|(id, member)| Seen::new(id, member)).collect(),
            number,
            readers: BTreeMap::new(),
            edition: 1,
            gathers_until: (!config.told.gather.is_zero()).then_some(config.told.gather),
            ends: false,
            next_member: first + (config.members.len() + config.spare) as u64,
            of_peers: Handshakes::new(&config.peers, bound[Port::Peers as usize], true)?,
            of_members: Handshakes::new(&config.session.acp, bound[Port::Members as usize], false)?,
            dialled: config.peer.map(Dialled::new),
            config,
            seats: BTreeMap::new(),
            next_session: 0,
            ids: Default::default(),
            remotes: BTreeSet::new(),
            pending: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            retries: BTreeSet::new(),
            dirty: Default::default(),
            events: Vec::new(),
            past: SessionCounts::default(),
            strangers: 0,
        })
    }

    /// Number of sessions whose peers have shown that they have the keys.
    pub fn sessions(&self) -> usize {
        self.seats.len() + self.readers.len() - self.of_peers.half_open()
    }
    /// Frames of all sessions so far.
    pub fn counts(&self) -> SessionCounts {
        let all = self.seats.values().map(|seat| seat.session.counts());
        all.fold(self.past, SessionCounts::plus)
    }
    /// First packets of peers so far that were not made with the switch's key.
    pub fn strangers(&self) -> u64 {
        self.strangers
    }
    /// The members.
    pub fn members(&self) -> impl Iterator<Item = MemberState<'_>> {
        self.ensemble.iter().enumerate().filter_map(|(place, seen)| {
            let with = || self.seats.values().filter(move |seat| seat.has(place));
            Some(MemberState {
                is_spare: place >= self.config.members.len(),
                member: seen.member.as_ref()?,
                health: &seen.health,
                duty: seen.duty,
                sessions: with().count(),
                outstanding: with().map(|seat| seat.outstanding(place)).sum(),
                failures: seen.failures,
                refusal: seen.refusal.as_deref(),
            })
        })
    }
    /// What has happened since the last call.
    pub fn take_events(&mut self) -> Vec<HubEvent> {
        core::mem::take(&mut self.events)
    }

    fn handshakes(&mut self, port: Port) -> &mut Handshakes {
        match port {
            Port::Peers => &mut self.of_peers,
            Port::Members => &mut self.of_members,
        }
    }

    /// Does what follows from a change of a session.
    fn look_after(&mut self, now: Duration, id: SessionId) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        let (events, scope) = (seat.session.take_events(), seat.scope);
        for side in seat.session.take_changed() {
            if !seat.set_dirty(side, true) {
                self.dirty[Port::of(side) as usize].push_back((id, side));
            }
        }
        for event in events {
            match event {
                SessionEvent::Lost { member, reason } => {
                    self.unregister(id, Side::Member(member));
                    let again = match reason {
                        CloseReason::Forgotten => now,
                        _ => now + RETRY,
                    };
                    let member = scope.place(member);
                    self.note_if_drained(member);
                    self.retries.insert((again, id, member));
                    self.end_if_for_one(id, &reason.to_string());
                }
                SessionEvent::Silent(k) => {
                    self.unregister(id, Side::Member(k));
                    let k = scope.place(k);
                    self.note_if_drained(k);
                    self.end_if_for_one(id, SILENT);
                    let silence = self.config.session.silence.to_std();
                    let heard = self.ensemble[k].heard;
                    if heard.is_none_or(|heard| heard + silence <= now) {
                        self.miss(now, k, SILENT);
                    } else {
                        self.retries.insert((now, id, k));
                    }
                }
            }
        }
        // What is due may need packets to be sent first.
        if self.seats.get(&id).is_some_and(|seat| !seat.is_dirty()) {
            self.index(id);
        }
    }

    /// Puts a session's deadline into the index.
    fn index(&mut self, id: SessionId) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        let due = seat.due();
        let before = core::mem::replace(&mut seat.deadline, due);
        if before != due {
            self.deadlines.remove(&(before, id));
            if due < Duration::MAX {
                self.deadlines.insert((due, id));
            }
        }
    }

    /// Notes the numbers of a connection.
    fn register(&mut self, id: SessionId, side: Side, numbers: Numbers) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        seat.set_numbers(side, Some(numbers));
        let port = Port::of(side);
        self.ids[port as usize].insert(numbers.local, (id, side));
        self.remotes.insert((numbers.remote, port, numbers.local));
    }

    /// Forgets a connection.
    fn unregister(&mut self, id: SessionId, side: Side) {
        let Some(seat) = self.seats.get_mut(&id) else { return };
        if let Some(Numbers { local, remote }) = seat.set_numbers(side, None) {
            self.handshakes(Port::of(side)).forget(local);
            self.ids[Port::of(side) as usize].remove(&local);
            self.remotes.remove(&(remote, Port::of(side), local));
        }
    }

    /// Notes a sign of life of a member. If it was down, all sessions get it back.
    fn hear(&mut self, now: Duration, member: usize) {
        if self.ensemble[member].hear(now) {
            self.events.push(HubEvent::MemberUp(member));
            self.publish();
            self.give_up(member);
            let all: Vec<SessionId> = self.seats.keys().copied().collect();
            for session in all {
                self.connect(now, session, member);
            }
        }
    }

    /// Gives up handshakes with a member, which were begun while it did not answer.
    fn give_up(&mut self, member: usize) {
        let of_member = self.pending.iter().filter(|(_, (_, k))| *k == member);
        let stale: Vec<ConnectionId> = of_member.map(|(id, _)| *id).collect();
        for id in stale {
            self.of_members.give_up(id);
            let session = self.pending.remove(&id).and_then(|(session, _)| session);
            if let Some(seat) = session.and_then(|id| self.seats.get_mut(&id)) {
                seat.set_pending(member, None);
            }
        }
    }

    /// Notes that a member does not answer. All sessions go on without it.
    fn miss(&mut self, now: Duration, member: usize, reason: &str) {
        if !self.ensemble[member].miss(now, reason) {
            return;
        }
        self.events.push(HubEvent::MemberDown(member, reason.to_string()));
        self.publish();
        self.drop_from_sessions(now, member);
    }

    /// When to call [`Hub::on_timer`].
    pub fn deadline(&self) -> Option<Duration> {
        let sessions = self.deadlines.first().map(|(at, _)| *at);
        let retries = self.retries.first().map(|(at, ..)| *at);
        let members = self.ensemble.iter().filter_map(|seen| seen.retry);
        let dial = self.dialled.as_ref().and_then(Dialled::due);
        let handshakes = [self.of_peers.deadline(), self.of_members.deadline()];
        let others = handshakes.into_iter().chain([dial, self.gathers_until]);
        members.chain(sessions).chain(retries).chain(others.flatten()).min()
    }

    /// Does what is due; call it at [`Hub::deadline`].
    pub fn on_timer(&mut self, now: Duration) {
        self.dial_if_due(now);
        if self.gathers_until.take_if(|at| *at <= now).is_some() {
            self.publish();
        }
        for port in [Port::Peers, Port::Members] {
            while let Some(event) = self.handshakes(port).on_timer(now) {
                self.on_handshake(now, port, event);
            }
        }
        for k in 0..self.ensemble.len() {
            if self.ensemble[k].retry.is_some_and(|at| at <= now) {
                self.ensemble[k].retry = Some(now + RETRY);
                self.ask(now, k);
            }
        }
        while let Some((at, id, member)) = self.retries.first().copied().filter(|r| r.0 <= now) {
            self.retries.remove(&(at, id, member));
            self.connect(now, id, member);
        }
        while let Some((at, id)) = self.deadlines.first().copied().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, id));
            let Some(seat) = self.seats.get_mut(&id) else {
                self.on_reader_timer(now, id);
                continue;
            };
            seat.deadline = Duration::MAX;
            if seat.begins_at.is_some_and(|at| at <= now) {
                self.begin(now, id);
            }
            if let Some(seat) = self.seats.get_mut(&id) {
                let time = seat.time(now);
                seat.session.on_timer(time);
            }
            self.look_after(now, id);
        }
    }

    /// Forgets a session.
    fn remove(&mut self, id: SessionId) {
        self.forget_reader(id);
        for side in self.seats.get(&id).map(Seat::sides).unwrap_or_default() {
            self.unregister(id, side);
        }
        let Some(seat) = self.seats.remove(&id) else { return };
        self.past = self.past.plus(seat.session.counts());
        self.deadlines.remove(&(seat.deadline, id));
        if let Some(dialled) = &mut self.dialled {
            dialled.ended(id);
        }
        for connection in seat.handshakes() {
            self.of_members.give_up(connection);
            self.pending.remove(&connection);
        }
        for member in 0..self.ensemble.len() {
            self.note_if_drained(member);
        }
        // Who has not shown that it has the key was never there.
        if seat.is_welcome {
            let reason = seat.session.closed().cloned().unwrap_or(CloseReason::Idle);
            self.events.push(HubEvent::PeerGone(seat.session.peer(), reason));
        }
    }

    /// Takes no more peers, and connects to none.
    pub fn refuse_peers(&mut self) {
        self.ends = true;
        self.config.peers.connections = 0;
        self.dialled = None;
    }

    /// Ends all sessions.
    pub fn reset_all(&mut self, now: Duration, text: &str) {
        let all: Vec<SessionId> = self.seats.keys().copied().collect();
        for id in all {
            if let Some(seat) = self.seats.get_mut(&id) {
                seat.session.reset(0, text);
            }
            self.look_after(now, id);
        }
        self.reset_readers(text);
    }

    fn new_session(&mut self) -> SessionId {
        self.next_session += 1;
        SessionId(self.next_session)
    }
}
