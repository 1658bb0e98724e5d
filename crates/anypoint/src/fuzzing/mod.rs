//! Properties of any sequence of packets, losses and failures. The fuzz target and the test that
//! replays its corpus share them, so that what the fuzzer found once stays found.

mod ends;

use ratewire_laws::{AnyLaw, Header};
use ratewire_transport::{Ack, Epoch, SackBlocks, Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Duration, Time};

use crate::routing::{KeyHash, LeastOutstanding, RoundRobin, Routing, Weighted};
use crate::{FlowControl, Output, Side, Switch, SwitchConfig, Transforms};
use ends::{Flight, Stream, UNIT};

/// Maximum number of unacknowledged packets of a stream.
const MOST_OUT: u64 = 48;
/// Maximum number of rounds in which everything is sent again until all has arrived. A gap is
/// closed again after 200 ms; before, the peer and each of four members may have been idle for too
/// long once a millisecond. A second gap may follow.
const MOST_ROUNDS: usize = 2 * 5 * 200;

/// Reads `data` as a configuration (2 bytes) and operations (2 bytes each): packets that are sent,
/// arrive or are lost, members that fail and recover. Then all members are up, nothing is lost, and
/// every unit sent must arrive. Returns the number of operations.
///
/// An operation may acknowledge anything. Then nothing has to arrive, but the switch must not
/// panic.
///
/// # Panics
/// If a unit is lost, arrives in two places, or is sent again after it was acknowledged.
pub fn switch(data: &[u8]) -> usize {
    let mut bytes = data.iter().copied();
    let (Some(shape), Some(how)) = (bytes.next(), bytes.next()) else { return 0 };
    let mut world = World::new(shape, how);
    let mut count = 0;
    while let (Some(operation), Some(operand)) = (bytes.next(), bytes.next()) {
        world.operate(operation, operand);
        count += 1;
    }
    if world.is_honest {
        world.settle();
    }
    count
}

/// A switch and simple ends: a packet is a unit of payload, and each is acknowledged on arrival.
struct World {
    switch: Switch,
    now: Time,
    out: Vec<Output>,
    /// The peer's stream. Members hold its units in streams of their own.
    peer: Stream,
    /// Units of a frame.
    frame: u64,
    /// The units that each member has.
    members: Vec<MemberState>,
    /// The members' streams to the peer, by place in the peer's stream.
    gathered: Stream,
    to_peer: Vec<Flight<Segment>>,
    from_peer: Vec<Flight<Ack>>,
    is_honest: bool,
}

#[derive(Default)]
struct MemberState {
    is_up: bool,
    /// Distinguishes packets sent to the member before a failure from those after it.
    life: u32,
    /// The stream from the switch to the member.
    given: Stream,
    /// The member's own stream.
    own: Stream,
    to: Vec<Flight<Segment>>,
    from: Vec<Flight<Ack>>,
}

impl World {
    fn new(shape: u8, how: u8) -> World {
        let members = 1 + usize::from(shape & 3);
        let law = AnyLaw::new(["newreno", "xcp"][usize::from(how >> 2 & 1)], &[]);
        let payload = Bytes::new(UNIT);
        let frame = u64::from(1 + (shape >> 2 & 3));
        let config = SwitchConfig {
            law: law.expect("a registered law"),
            members,
            frame: payload * frame,
            payload,
            packet: payload + Bytes::new(40),
            flow_control: if how & 8 == 0 { FlowControl::Strict } else { FlowControl::Soft },
            transforms: match how & 32 {
                0 => Transforms::Refusals { shuffle: 0.1 },
                _ => Transforms::Paper,
            },
            // So short that a few operations in a row outlast it, and so long that gaps, which are
            // closed again every 200 ms, are closed within the rounds.
            idle_expiry: Duration::from_millis(1 + u64::from(how >> 4)),
            peer_spreads: shape & 16 != 0,
        };
        let routing: Box<dyn Routing> = match how & 3 {
            0 => Box::new(RoundRobin::default()),
            1 => Box::new(Weighted::new(vec![1.0, 3.0])),
            2 => Box::new(LeastOutstanding::default()),
            _ => Box::new(KeyHash { offset: 0, len: 8 }),
        };
        World {
            switch: Switch::new(config, routing),
            now: Time::ZERO,
            out: Vec::new(),
            peer: Stream::default(),
            frame,
            members: (0..members)
                .map(|_| MemberState { is_up: true, ..MemberState::default() })
                .collect(),
            gathered: Stream::default(),
            to_peer: Vec::new(),
            from_peer: Vec::new(),
            is_honest: true,
        }
    }

    fn operate(&mut self, operation: u8, operand: u8) {
        self.now += Duration::from_micros(u64::from(operand));
        let k = usize::from(operation >> 4) % self.members.len();
        let pick = usize::from(operand >> 1);
        let is_lost = operand & 1 == 1;
        match operation & 15 {
            0 | 1 => {
                if let Some(unit) = self.peer.next(MOST_OUT)
                    && !is_lost
                {
                    self.peer_sends(unit);
                }
            }
            2 => {
                if let Some(unit) = self.peer.again(pick) {
                    self.peer_sends(unit);
                }
            }
            3 | 4 => self.reach_member(k, pick, is_lost),
            5 | 6 => self.acknowledge_member(k, pick, is_lost),
            7 | 8 => {
                let member = &mut self.members[k];
                if member.is_up
                    && let Some(unit) = member.own.next(MOST_OUT)
                    && !is_lost
                {
                    self.member_sends(k, unit);
                }
            }
            9 => {
                if self.members[k].is_up
                    && let Some(unit) = self.members[k].own.again(pick)
                {
                    self.member_sends(k, unit);
                }
            }
            10 | 11 => self.reach_peer(pick, is_lost),
            12 => self.acknowledge_peer(pick, is_lost),
            13 if self.members[k].is_up => self.fail(k),
            13 => self.recover(k),
            14 => self.time_passes(),
            _ => self.lie(k, operand),
        }
    }

    fn peer_sends(&mut self, unit: u64) {
        let frame = (unit / self.frame).to_le_bytes();
        self.hand_in(Side::Peer, unit, &frame);
    }

    fn member_sends(&mut self, k: usize, unit: u64) {
        self.hand_in(Side::Member(k), unit, &[]);
    }

    fn hand_in(&mut self, from: Side, unit: u64, content: &[u8]) {
        let segment = segment(unit * UNIT, UNIT);
        self.switch.on_segment(self.now, from, &segment, content.into(), false, &mut self.out);
        self.collect(Some((from, unit)));
    }

    /// Collects the switch's packets; `cause` is the packet that came, if there was one.
    fn collect(&mut self, cause: Option<(Side, u64)>) {
        for output in core::mem::take(&mut self.out) {
            match output {
                Output::Segment(Side::Member(k), segment) => {
                    let member = &mut self.members[k];
                    if let Some((Side::Peer, unit)) = cause
                        && self.is_honest
                    {
                        assert!(!self.peer.is_safe(unit), "unit {unit} was acknowledged before");
                        member.given.carry(segment.offset, unit, 0);
                    }
                    member.to.push(Flight { life: member.life, packet: segment });
                }
                Output::Segment(Side::Peer, segment) => {
                    if let Some((Side::Member(k), unit)) = cause
                        && self.is_honest
                    {
                        let owner = k as u32 + (self.members[k].life << 8);
                        self.gathered.carry(segment.offset, unit, owner);
                    }
                    self.to_peer.push(Flight { life: 0, packet: segment });
                }
                Output::Skip(Side::Peer, segment) => {
                    self.to_peer.push(Flight { life: 0, packet: segment });
                }
                Output::Skip(Side::Member(k), segment) => {
                    let member = &mut self.members[k];
                    if self.is_honest {
                        member.given.leave_empty(&segment);
                    }
                    member.to.push(Flight { life: member.life, packet: segment });
                }
                Output::Ack(Side::Peer, ack) if self.is_honest => {
                    self.peer.on_ack(&ack);
                    assert!(self.peer.is_safe_below(ack.cumulative), "{ack:?} is not so");
                }
                Output::Ack(Side::Member(k), ack) if self.is_honest => {
                    let owner = k as u32 + (self.members[k].life << 8);
                    let own = &mut self.members[k].own;
                    own.on_ack(&ack);
                    let arrived = self.gathered.arrived_of(owner, ack.cumulative / UNIT);
                    assert!(arrived, "{ack:?} of member {k} is not so");
                }
                Output::Ack(..) => {}
            }
        }
    }

    /// Delivers or loses a packet on its way to a member.
    fn reach_member(&mut self, k: usize, pick: usize, is_lost: bool) {
        let member = &mut self.members[k];
        let Some(flight) = Flight::take(&mut member.to, pick) else { return };
        if is_lost || !member.is_up || flight.life != member.life {
            return;
        }
        let ack = member.given.arrive(&flight.packet);
        member.from.push(Flight { life: member.life, packet: ack });
    }

    /// Delivers or loses a member's acknowledgement on its way to the switch.
    fn acknowledge_member(&mut self, k: usize, pick: usize, is_lost: bool) {
        let member = &mut self.members[k];
        let Some(flight) = Flight::take(&mut member.from, pick) else { return };
        if is_lost || !member.is_up || flight.life != member.life {
            return;
        }
        for unit in member.given.covered(&flight.packet) {
            self.peer.secure(unit);
        }
        self.switch.on_ack(self.now, Side::Member(k), &flight.packet, &mut self.out);
        self.collect(None);
    }

    fn reach_peer(&mut self, pick: usize, is_lost: bool) {
        let Some(flight) = Flight::take(&mut self.to_peer, pick) else { return };
        if !is_lost {
            let ack = self.gathered.arrive(&flight.packet);
            self.from_peer.push(Flight { life: 0, packet: ack });
        }
    }

    fn acknowledge_peer(&mut self, pick: usize, is_lost: bool) {
        let Some(flight) = Flight::take(&mut self.from_peer, pick) else { return };
        if !is_lost {
            self.switch.on_ack(self.now, Side::Peer, &flight.packet, &mut self.out);
            self.collect(None);
        }
    }

    fn fail(&mut self, k: usize) {
        let life = self.members[k].life + 1;
        self.members[k] = MemberState { life, ..MemberState::default() };
        self.switch.fail(self.now, k, &mut self.out);
        self.collect(None);
    }

    fn recover(&mut self, k: usize) {
        self.members[k].is_up = true;
        self.switch.recover(k);
    }

    fn time_passes(&mut self) {
        if self.switch.deadline() != Time::NEVER {
            self.now = self.now.max(self.switch.deadline());
            self.switch.on_timer(self.now, &mut self.out);
            self.collect(None);
        }
    }

    /// Acknowledges data that may never have been sent.
    fn lie(&mut self, k: usize, operand: u8) {
        self.is_honest = false;
        let cumulative = u64::from(operand) * 77;
        let mut sack = SackBlocks::default();
        sack.push(cumulative, cumulative + u64::from(operand >> 3), cumulative + 1000);
        let ack = Ack { sack, ..acknowledgement(cumulative) };
        let side = if operand & 1 == 0 { Side::Peer } else { Side::Member(k) };
        self.switch.on_ack(self.now, side, &ack, &mut self.out);
        self.collect(None);
    }

    /// All members are up and nothing is lost: every unit arrives, after enough rounds.
    fn settle(&mut self) {
        for k in 0..self.members.len() {
            if !self.members[k].is_up {
                self.recover(k);
            }
        }
        for _ in 0..MOST_ROUNDS {
            self.time_passes();
            while self.deliver_all() {}
            let waits = self.switch.deadline() != Time::NEVER;
            let is_done = self.peer.is_done() && self.members.iter().all(|m| m.own.is_done());
            if is_done && !waits {
                let rest = usize::from(!self.peer.sent().is_multiple_of(self.frame));
                assert!(self.switch.remembered() <= rest, "ranges of what has arrived");
                return;
            }
            for unit in self.peer.all_again() {
                self.peer_sends(unit);
            }
            for k in 0..self.members.len() {
                for unit in self.members[k].own.all_again() {
                    self.member_sends(k, unit);
                }
            }
        }
        panic!("what was sent does not arrive: {:?}", self.switch);
    }

    /// Delivers everything; returns whether there was anything.
    fn deliver_all(&mut self) -> bool {
        let mut moved = !self.to_peer.is_empty() || !self.from_peer.is_empty();
        self.reach_peer(0, false);
        self.acknowledge_peer(0, false);
        for k in 0..self.members.len() {
            moved |= !self.members[k].to.is_empty() || !self.members[k].from.is_empty();
            self.reach_member(k, 0, false);
            self.acknowledge_member(k, 0, false);
        }
        moved
    }
}

fn segment(offset: u64, payload: u64) -> Segment {
    let kind = SegmentKind::Data { again: false };
    Segment { kind, offset, payload: Bytes::new(payload), stamp: Stamp::NONE, header: Header::None }
}

fn acknowledgement(cumulative: u64) -> Ack {
    Ack {
        opens: false,
        cumulative,
        window: Bytes::new(1 << 20),
        sack: SackBlocks::default(),
        marked: false,
        duplicate: false,
        epoch: Epoch::UNKNOWN,
        header: Header::None,
    }
}
