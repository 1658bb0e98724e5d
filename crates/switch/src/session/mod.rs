//! One connection of a peer with an ensemble, sans-IO.
//!
//! The switch has a channel with the peer and one with each member, and keys of all. A packet is
//! opened, changed by [`ratewire_anypoint::Switch`], sealed for its next neighbour and sent on.

mod closing;
mod draining;
mod gate;
mod parts;
mod passing;
#[cfg(test)]
mod tests;
mod waiting;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use ratewire_acp::Config;
use ratewire_acp::channel::{Channel, CloseReason, Ends, Taken, Transmit};
use ratewire_acp::wire::{EndKind, Part, Parts, Target};
use ratewire_anypoint::routing::Routing;
use ratewire_anypoint::{FlowControl, Output, Side, Switch, SwitchConfig, Transforms};
use ratewire_laws::{AnyLaw, Header};
use ratewire_units::{Bytes, Duration, Time};

use crate::leg::{self, Content, Leg};
use gate::Gates;
use waiting::Held;

/// Packets of a peer that wait for the members' handshakes, at most, and bytes of each: a path that
/// carries larger ones is found later.
const MOST_WAITING: usize = 64;
const LONGEST_WAITING: usize = 1500;
/// Silence after which a switch forgets a connection that owes nothing, except for the positions
/// of its streams.
const IDLE_EXPIRY: Duration = Duration::from_secs(10);

/// Silence after which a peer that the switch has connected to is asked for a sign of life: a
/// restarted peer cannot send until this switch connects again.
const DIALLED_KEEP_ALIVE: Duration = Duration::from_secs(1);

/// Code of a reset of a peer whose connection ends with a member.
pub const MEMBER_LOST: u64 = 7;

/// How a session treats its packets.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// Settings of the channels.
    pub acp: Config,
    /// Treatment of receivers' windows.
    pub flow_control: FlowControl,
    /// How feedback in changes of rate is split and merged.
    pub transforms: Transforms,
    /// Silence of a member that owes an acknowledgement, after which it has failed.
    pub silence: Duration,
}

/// What has happened in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// A member's connection is over.
    Lost {
        /// Which member.
        member: usize,
        /// Why.
        reason: CloseReason,
    },
    /// A member owes an acknowledgement and has been silent for too long.
    Silent(usize),
}

/// Numbers of frames and packets of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// First packets of frames that were sent to members, repeated ones included.
    pub frames_in: u64,
    /// First packets of frames that were sent to the peer, repeated ones included.
    pub frames_out: u64,
}

impl SessionCounts {
    /// The sums of two.
    pub fn plus(self, other: SessionCounts) -> SessionCounts {
        SessionCounts {
            frames_in: self.frames_in + other.frames_in,
            frames_out: self.frames_out + other.frames_out,
        }
    }
}

/// A packet that came before the members were there.
#[derive(Debug)]
struct Early {
    header: Header,
    parts: Vec<u8>,
    marked: bool,
}

/// What a peer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerKind {
    /// One that has connected to this switch.
    Client(EndKind),
    /// A switch that this one has connected to.
    Dialled,
}

impl PeerKind {
    /// What members are told that the switch is: between them and a switch that spreads what it
    /// gets, it is one that does.
    fn to_members(self) -> EndKind {
        match self {
            PeerKind::Client(kind) => kind,
            PeerKind::Dialled => EndKind::SwitchAfter,
        }
    }
}

/// A peer whose handshake is over.
#[derive(Debug)]
pub struct Peer {
    /// What it is.
    pub kind: PeerKind,
    /// The law of the connection.
    pub law: AnyLaw,
    /// The connection's ends.
    pub ends: Ends,
}

/// One connection of a peer with an ensemble.
///
/// Calls come in this order, each with a time that is not before the last:
///
/// 1. [`Session::new`], when the peer's handshake is over; packets of the peer wait.
/// 2. [`Session::join`] for each member whose handshake is over, and [`Session::begin`] when all
///    that are awaited have joined. Members may also join later.
/// 3. [`Session::on_datagram`] for each packet, [`Session::on_timer`] at [`Session::deadline`],
///    [`Session::fail`] for a member that is lost, [`Session::drain`] for one that is to leave.
/// 4. After each of these, [`Session::poll_transmit`] for the sides that [`Session::take_changed`]
///    gives, until it has no more; and [`Session::take_events`].
/// 5. The session is to be dropped once [`Session::is_over`]; [`Session::reset`] ends it at once.
#[derive(Debug)]
pub struct Session {
    config: SessionConfig,
    switch: Switch,
    gates: Gates,
    peer: Leg,
    /// What members are told that the switch is.
    kind: EndKind,
    /// `None` while a member is down.
    members: Vec<Option<Leg>>,
    /// Packets that wait for the members; `None` once the session has begun.
    early: Option<Vec<Early>>,
    /// Whether a side has said where its stream ends.
    has_ends: bool,
    /// By offset in the peer's stream: data that waits for data before it.
    held: BTreeMap<u64, Held>,
    /// Bytes in `held`.
    held_bytes: usize,
    counts: SessionCounts,
    events: Vec<SessionEvent>,
    /// Sides that may have packets to send.
    changed: Vec<Side>,
    outputs: Vec<Output>,
}

impl Session {
    /// A session of a peer with this many members.
    pub fn new(
        now: Time,
        config: &SessionConfig,
        members: usize,
        routing: Box<dyn Routing>,
        peer: Peer,
    ) -> Session {
        let Peer { kind, law, ends } = peer;
        let has_dialled = kind == PeerKind::Dialled;
        let keep_alive = if has_dialled { Some(DIALLED_KEEP_ALIVE) } else { config.acp.keep_alive };
        let acp = Config { keep_alive, ..config.acp.clone() };
        let mut channel = Channel::new(now, law.clone(), &acp, ends);
        if has_dialled {
            // Only a packet shows the peer that the switch has the key.
            channel.ask();
        }
        let (packet, payload) = leg::sizes(&channel);
        let core = SwitchConfig {
            law,
            members,
            // Every packet says what its frame is.
            frame: payload,
            payload,
            packet,
            flow_control: config.flow_control,
            transforms: config.transforms,
            idle_expiry: IDLE_EXPIRY,
            peer_spreads: kind.to_members() != EndKind::Host,
        };
        let gates = Gates::new(members);
        Session {
            config: config.clone(),
            switch: Switch::new(core, gates.guard(routing)),
            gates,
            peer: Leg::new(channel),
            kind: kind.to_members(),
            members: (0..members).map(|_| None).collect(),
            early: Some(Vec::new()),
            has_ends: false,
            held: BTreeMap::new(),
            held_bytes: 0,
            counts: SessionCounts::default(),
            events: Vec::new(),
            changed: vec![Side::Peer],
            outputs: Vec::new(),
        }
    }

    /// Address of the peer.
    pub fn peer(&self) -> SocketAddr {
        self.peer.peer()
    }
    /// The law of the connection as the peer has told it: `name key=value ...`.
    pub fn law_name(&self) -> String {
        self.peer.channel.params().law.clone()
    }
    /// The application that the peer is for; empty if it does not say.
    pub fn application(&self) -> &str {
        &self.peer.channel.params().application
    }
    /// What members are told that the switch is.
    pub fn kind_to_members(&self) -> EndKind {
        self.kind
    }
    /// Numbers of frames.
    pub fn counts(&self) -> SessionCounts {
        self.counts
    }
    /// Whether the session passes packets on.
    pub fn has_begun(&self) -> bool {
        self.early.is_none()
    }
    /// Whether a member is connected.
    pub fn has(&self, member: usize) -> bool {
        self.members[member].is_some()
    }
    /// Payload on its way to a member, or to the peer.
    pub fn outstanding(&self, to: Side) -> Bytes {
        self.switch.outstanding(to)
    }
    /// Whether the neighbour proves with this token, from its address, that it does not know its
    /// connection.
    pub fn is_proof(&self, side: Side, from: SocketAddr, token: &[u8; 16]) -> bool {
        self.leg(side).is_some_and(|leg| leg.peer() == from && leg.channel.is_proof(token))
    }
    /// Why the connection with the peer is over; `None` while it lasts.
    pub fn closed(&self) -> Option<&CloseReason> {
        self.peer.closed()
    }
    /// Whether members may join: the switch can still send to the peer.
    pub fn takes_members(&self) -> bool {
        self.peer.closing.may_write()
    }
    /// Whether all that is known of the session may be forgotten.
    pub fn is_over(&self) -> bool {
        self.peer.closing.is_over()
            && self.members.iter().flatten().all(|leg| leg.closing.is_over())
    }

    /// Whether a member gets no new frames.
    fn is_draining(&self, member: usize) -> bool {
        self.gates.is_closed(member)
    }

    fn leg(&self, side: Side) -> Option<&Leg> {
        match side {
            Side::Peer => Some(&self.peer),
            Side::Member(k) => self.members[k].as_ref(),
        }
    }
    fn leg_mut(&mut self, side: Side) -> Option<&mut Leg> {
        match side {
            Side::Peer => Some(&mut self.peer),
            Side::Member(k) => self.members[k].as_mut(),
        }
    }
    fn legs(&self) -> impl Iterator<Item = (Side, &Leg)> {
        let members = self.members.iter().enumerate();
        let members = members.filter_map(|(k, leg)| Some((Side::Member(k), leg.as_ref()?)));
        core::iter::once((Side::Peer, &self.peer)).chain(members)
    }

    /// What has happened since the last call.
    pub fn take_events(&mut self) -> Vec<SessionEvent> {
        core::mem::take(&mut self.events)
    }
    /// Sides that may have packets to send, since the last call.
    pub fn take_changed(&mut self) -> Vec<Side> {
        core::mem::take(&mut self.changed)
    }

    /// Adds a member whose handshake is over. It begins with new streams.
    pub fn join(&mut self, now: Time, member: usize, ends: Ends) {
        let law = self.peer.channel.law().clone();
        let channel = Channel::new(now, law, &self.config.acp, ends);
        self.members[member] = Some(Leg::new(channel));
        self.gates.set(member, false);
        if self.has_begun() {
            self.switch.recover(member);
        }
        self.changed.push(Side::Member(member));
    }

    /// Passes on what the peer has sent so far. Members that are not connected are down.
    pub fn begin(&mut self, now: Time) {
        let Some(early) = self.early.take() else { return };
        for k in 0..self.members.len() {
            if self.members[k].is_none() {
                self.switch.fail(now, k, &mut self.outputs);
            }
        }
        self.outputs.clear();
        for Early { header, parts, marked } in early {
            self.take_parts(now, Side::Peer, self.peer.peer(), &parts, &header, marked);
        }
        self.look_at_ends(now);
    }

    /// Drops a member. What it has not acknowledged goes to others when the peer sends it again, or
    /// ends the peer's connection if that is for [`Target::Once`].
    pub fn fail(&mut self, now: Time, member: usize) {
        if self.members[member].take().is_none() {
            return;
        }
        if self.has_begun() {
            let is_once = self.peer.channel.params().target == Target::Once;
            let owes = self.switch.outstanding(Side::Member(member)) > Bytes::ZERO;
            self.switch.fail(now, member, &mut self.outputs);
            self.pass_on(now, None);
            if is_once && owes && self.peer.closed().is_none() {
                self.reset(MEMBER_LOST, "a member is lost that has not acknowledged all");
            }
        }
        self.look_at_ends(now);
    }

    /// Ends the session at once, for the peer and all members.
    pub fn reset(&mut self, code: u64, text: &str) {
        let reason = || CloseReason::Local { code, text: text.to_string() };
        self.peer.closing.reset(reason());
        for leg in self.members.iter_mut().flatten() {
            leg.closing.reset(reason());
        }
        self.changed_all();
    }

    fn changed_all(&mut self) {
        let sides: Vec<Side> = self.legs().map(|(side, _)| side).collect();
        self.changed.extend(sides);
    }

    /// Handles a datagram from a side; `marked` says whether a router marked it. Returns whether it
    /// is authentic.
    pub fn on_datagram(
        &mut self,
        now: Time,
        side: Side,
        from: SocketAddr,
        datagram: &mut [u8],
        marked: bool,
    ) -> bool {
        let Some(leg) = self.leg_mut(side) else { return false };
        let Some(opened) = leg.channel.open(now, from, datagram) else { return false };
        leg.hear();
        let parts = &datagram[opened.parts];
        match (&mut self.early, side) {
            (Some(early), Side::Peer) => {
                if early.len() < MOST_WAITING && parts.len() <= LONGEST_WAITING {
                    early.push(Early { header: opened.header, parts: parts.to_vec(), marked });
                }
            }
            _ => self.take_parts(now, side, from, parts, &opened.header, marked),
        }
        true
    }

    fn take_parts(
        &mut self,
        now: Time,
        side: Side,
        from: SocketAddr,
        parts: &[u8],
        header: &Header,
        marked: bool,
    ) {
        self.changed.push(side);
        let bytes_of = |part: &Part<'_>| match part {
            Part::Data(data) => data.bytes.len() as f64,
            _ => 0.0,
        };
        let data: f64 = Parts::new(parts).flatten().map(|part| bytes_of(&part)).sum();
        for part in Parts::new(parts) {
            let Ok(part) = part else { return self.violates(now, side, "a part cannot be read") };
            let Some(leg) = self.leg_mut(side) else { return };
            if leg.channel.take(from, &part) != Taken::No {
                continue;
            }
            // Frames that share a packet may go to different members.
            let (mut header, bytes) = (*header, bytes_of(&part));
            let mut size = None;
            if 0.0 < bytes && bytes < data {
                leg.channel.law().part(&mut header, bytes / data);
                let packet = self.switch.size(Bytes::new(data as u64));
                size = Some(Bytes::new((packet.as_f64() * bytes / data) as u64 + 1));
            }
            self.take_part(now, side, &part, &header, size, marked);
        }
        self.look_at_ends(now);
    }

    fn violates(&mut self, now: Time, side: Side, what: &'static str) {
        match side {
            Side::Peer => self.end(CloseReason::Violation(what)),
            Side::Member(k) => self.lose(now, k, CloseReason::Violation(what)),
        }
    }

    /// Notes the end of a member's connection, and drops the member.
    fn lose(&mut self, now: Time, member: usize, reason: CloseReason) {
        self.fail(now, member);
        self.events.push(SessionEvent::Lost { member, reason });
    }

    /// Notes that a side has proved not to know its connection: it was restarted.
    pub fn forgotten(&mut self, now: Time, side: Side) {
        match side {
            Side::Peer => self.end(CloseReason::Forgotten),
            Side::Member(k) => self.lose(now, k, CloseReason::Forgotten),
        }
    }

    /// When to call [`Session::on_timer`].
    pub fn deadline(&self) -> Time {
        let legs = self.legs().map(|(_, leg)| leg.deadline());
        legs.fold(self.switch.deadline(), Time::min)
    }

    /// Does what is due; call it at [`Session::deadline`].
    pub fn on_timer(&mut self, now: Time) {
        self.switch.on_timer(now, &mut self.outputs);
        self.pass_on(now, None);
        let silence = self.config.silence;
        if self.peer.on_timer(now, silence).is_silent {
            self.end(CloseReason::Idle);
        }
        for k in 0..self.members.len() {
            let Some(leg) = &mut self.members[k] else { continue };
            if leg.on_timer(now, silence).is_silent {
                self.lose(now, k, CloseReason::Idle);
            } else if leg.is_silent(now, silence) {
                self.events.push(SessionEvent::Silent(k));
                self.fail(now, k);
            }
        }
        self.look_at_drained(now);
        self.changed_all();
    }

    /// Appends the next packet to a side.
    pub fn poll_transmit(&mut self, now: Time, side: Side, out: &mut Vec<u8>) -> Option<Transmit> {
        self.leg_mut(side)?.poll_transmit(now, out)
    }
}
