//! A peer, a switch and its members, joined by paths of fixed delay and random loss.

use std::collections::BTreeMap;

use ratewire_laws::{AnyLaw, Draw, FlowContext};
use ratewire_transport::{
    Ack, App, Receiver, Reply, Segment, SegmentKind, Sender, Stamp, TransportConfig, Writer,
};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::routing::{RoundRobin, Routing};
use crate::{FlowControl, FrameOf, Output, Side, Switch, SwitchConfig, Transforms};

pub(super) const PAYLOAD: u64 = 1000;
/// Longer than a round trip, shorter than most timeouts.
pub(super) const IDLE_EXPIRY: Duration = Duration::from_millis(100);

/// One end of the connection.
pub(super) struct End {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
}

/// A packet that arrives somewhere.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// At the switch, from a side, sent in this life of it.
    SegmentIn(Side, u32, Segment),
    AckIn(Side, u32, Ack),
    SegmentOut(Side, u32, Segment),
    AckOut(Side, u32, Ack),
    Fail(usize),
    Recover(usize),
    /// Nothing arrives: timers are checked.
    Look,
}

pub(super) struct Rig {
    pub(super) switch: Switch,
    pub(super) peer: End,
    /// `None` while down.
    pub(super) members: Vec<Option<End>>,
    /// Number of failures of each member.
    pub(super) lives: Vec<u32>,
    pub(super) now: Time,
    law: AnyLaw,
    config: TransportConfig,
    app: App,
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    pub(super) delays: Vec<Duration>,
    /// One packet in this many is lost, each way and path; 0 for none.
    pub(super) loss: u64,
    random: u64,
    /// By offset in the peer's stream: members, and their lives, that a packet went to.
    pub(super) went: BTreeMap<u64, Vec<(usize, u32)>>,
    /// The order in which the packets of the peer's stream first reached the switch and were
    /// routed, by member and life.
    pub(super) orders: BTreeMap<(usize, u32), Vec<(u64, u64)>>,
    /// Position up to which each life of a member had its stream when it ended.
    pub(super) had: BTreeMap<(usize, u32), u64>,
    /// Number of times that the connection expired.
    pub(super) expired: u64,
    /// Packets before and after the switch.
    pub(super) segments: Vec<(Segment, Segment)>,
    pub(super) acks: Vec<(Ack, Ack)>,
}

pub(super) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Data of each sender.
pub(super) struct Loads {
    pub(super) peer: Writer,
    pub(super) members: Writer,
}

impl Rig {
    pub(super) fn new(law: &str, members: usize, frame: u64, loads: Loads) -> Rig {
        Rig::with(law, members, frame, loads, Box::new(RoundRobin::default()))
    }

    pub(super) fn with(
        law: &str,
        members: usize,
        frame: u64,
        loads: Loads,
        routing: Box<dyn Routing>,
    ) -> Rig {
        let law = AnyLaw::new(law, &[]).unwrap();
        let headers = Bytes::new(40) + law.header_len();
        let packet = Bytes::new(PAYLOAD) + headers;
        let config = TransportConfig { packet, ..TransportConfig::default() };
        let frame = Bytes::new(frame);
        let switch = Switch::new(
            SwitchConfig {
                law: law.clone(),
                members,
                frame,
                payload: Bytes::new(PAYLOAD),
                packet,
                flow_control: FlowControl::Strict,
                transforms: Transforms::Refusals { shuffle: 0.1 },
                idle_expiry: IDLE_EXPIRY,
                peer_spreads: false,
            },
            routing,
        );
        let app = |writer| App { writer, frame: Some(frame), ..App::unlimited() };
        let peer = end(&law, &config, &app(loads.peer), Time::ZERO);
        let app = app(loads.members);
        Rig {
            switch,
            peer,
            members: (0..members).map(|_| Some(end(&law, &config, &app, Time::ZERO))).collect(),
            lives: vec![0; members],
            now: Time::ZERO,
            law,
            config,
            app,
            events: BTreeMap::from([((Time::ZERO, 0), Event::Look)]),
            count: 0,
            delays: vec![ms(5); members + 1],
            loss: 0,
            random: 0x9e37_79b9_7f4a_7c15,
            went: BTreeMap::new(),
            orders: BTreeMap::new(),
            had: BTreeMap::new(),
            expired: 0,
            segments: Vec::new(),
            acks: Vec::new(),
        }
    }

    pub(super) fn seed(&mut self, seed: u64) {
        self.random ^= seed.wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1;
    }
    pub(super) fn fail_at(&mut self, at: Time, member: usize) {
        self.push(at, Event::Fail(member));
    }
    pub(super) fn recover_at(&mut self, at: Time, member: usize) {
        self.push(at, Event::Recover(member));
    }

    fn push(&mut self, at: Time, event: Event) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }

    fn delay(&self, side: Side) -> Duration {
        match side {
            Side::Peer => self.delays[0],
            Side::Member(k) => self.delays[k + 1],
        }
    }

    /// Puts a packet on a path, unless it is lost there.
    fn put(&mut self, side: Side, event: Event) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        if self.loss == 0 || !self.random.is_multiple_of(self.loss) {
            self.push(self.now + self.delay(side), event);
        }
    }

    /// Runs until all ends are done, or `until`.
    pub(super) fn run(&mut self, until: Time) {
        while self.events.first_key_value().is_some_and(|((at, _), _)| *at <= until) {
            let Some(((at, _), event)) = self.events.pop_first() else { return };
            self.now = at;
            self.step(event);
            self.serve_timers();
            if self.events.is_empty() {
                let next = self.next_timer();
                if next != Time::NEVER {
                    self.push(next.max(self.now), Event::Look);
                }
            } else if let Some(((first, _), _)) = self.events.first_key_value() {
                let (first, next) = (*first, self.next_timer());
                if next < first {
                    self.push(next.max(self.now), Event::Look);
                }
            }
        }
    }

    fn next_timer(&self) -> Time {
        let ends = self.members.iter().flatten().chain([&self.peer]);
        let ends = ends.map(|e| e.sender.deadline().min(e.receiver.deadline()));
        ends.fold(self.switch.deadline(), Time::min)
    }

    fn step(&mut self, event: Event) {
        let now = self.now;
        let mut out = Vec::new();
        match event {
            Event::Look => {}
            Event::SegmentIn(side, life, segment) => {
                if !self.is_life(side, life) {
                    return;
                }
                self.switch.on_segment(now, side, &segment, FrameOf::default(), false, &mut out);
                self.note(side, &segment, &out);
            }
            Event::AckIn(side, life, ack) => {
                if !self.is_life(side, life) {
                    return;
                }
                self.switch.on_ack(now, side, &ack, &mut out);
                let made = out.iter().filter_map(|o| match o {
                    Output::Ack(_, made) => Some((ack, *made)),
                    _ => None,
                });
                self.acks.extend(made);
            }
            Event::SegmentOut(side, life, segment) => self.arrive(side, life, &segment),
            Event::AckOut(side, life, ack) => {
                if self.is_life(side, life)
                    && let Some(end) = self.end(side)
                {
                    end.sender.on_ack(now, &ack);
                }
            }
            Event::Fail(k) => {
                self.note_had(k);
                self.members[k] = None;
                self.lives[k] += 1;
                self.switch.fail(now, k, &mut out);
            }
            Event::Recover(k) => {
                self.members[k] = Some(end(&self.law, &self.config, &self.app, now));
                self.switch.recover(k);
            }
        }
        self.send(out);
        self.pump(Side::Peer);
        (0..self.members.len()).for_each(|k| self.pump(Side::Member(k)));
    }

    fn note_had(&mut self, k: usize) {
        if let Some(end) = &self.members[k] {
            self.had.insert((k, self.lives[k]), end.receiver.delivered().get());
        }
    }

    /// Offsets of the peer's packets that a member's application has got.
    pub(super) fn delivered(&mut self) -> Vec<u64> {
        (0..self.members.len()).for_each(|k| self.note_had(k));
        let had = |life: &(usize, u32)| self.had.get(life).copied().unwrap_or(0);
        let got = self.orders.iter().flat_map(|(life, places)| {
            let places = places.iter().filter(move |(_, at)| *at < had(life));
            places.map(|(offset, _)| *offset)
        });
        let mut got: Vec<u64> = got.collect();
        got.sort_unstable();
        got.dedup();
        got
    }

    fn note(&mut self, side: Side, segment: &Segment, out: &[Output]) {
        for output in out {
            let Output::Segment(to, made) = output else { continue };
            self.segments.push((*segment, *made));
            if let (Side::Peer, Side::Member(k)) = (side, *to)
                && segment.payload > Bytes::ZERO
            {
                let life = self.lives[k];
                self.went.entry(segment.offset).or_default().push((k, life));
                self.orders.entry((k, life)).or_default().push((segment.offset, made.offset));
            }
        }
    }

    fn is_life(&self, side: Side, life: u32) -> bool {
        self.life(side) == life
    }
    fn life(&self, side: Side) -> u32 {
        match side {
            Side::Peer => 0,
            Side::Member(k) => self.lives[k],
        }
    }
    fn end(&mut self, side: Side) -> Option<&mut End> {
        match side {
            Side::Peer => Some(&mut self.peer),
            Side::Member(k) => self.members[k].as_mut(),
        }
    }

    /// Sends the switch's packets on their paths.
    fn send(&mut self, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Segment(side, segment) | Output::Skip(side, segment) => {
                    self.put(side, Event::SegmentOut(side, self.life(side), segment));
                }
                Output::Ack(side, ack) => {
                    self.put(side, Event::AckOut(side, self.life(side), ack));
                }
            }
        }
    }

    /// Delivers data to an end.
    fn arrive(&mut self, side: Side, life: u32, segment: &Segment) {
        let now = self.now;
        if !self.is_life(side, life) {
            return;
        }
        let Some(end) = self.end(side) else { return };
        let ack = if segment.kind == SegmentKind::Open {
            end.receiver.open(now, &segment.header)
        } else {
            let Segment { offset, payload, header, .. } = segment;
            if end.receiver.on_data(now, *offset, *payload, header, false, Stamp::NONE)
                != Reply::Now
            {
                return;
            }
            end.receiver.acknowledge(now)
        };
        self.put(side, Event::AckIn(side, life, ack));
    }

    fn pump(&mut self, side: Side) {
        let (now, life) = (self.now, self.life(side));
        while let Some(segment) = self.end(side).and_then(|end| end.sender.poll_transmit(now)) {
            self.put(side, Event::SegmentIn(side, life, segment));
        }
    }

    fn serve_timers(&mut self) {
        let now = self.now;
        let mut out = Vec::new();
        let was_idle = self.switch.is_idle();
        self.switch.on_timer(now, &mut out);
        self.expired += u64::from(self.switch.is_idle() && !was_idle);
        self.send(out);
        let sides = (0..self.members.len()).map(Side::Member).chain([Side::Peer]);
        for side in sides {
            let life = self.life(side);
            let Some(end) = self.end(side) else { continue };
            let answer = (end.receiver.deadline() <= now && end.receiver.on_timer(now))
                .then(|| end.receiver.acknowledge(now));
            let urgent = end.sender.on_timer(now);
            if let Some(ack) = answer {
                self.put(side, Event::AckIn(side, life, ack));
            }
            if let Some(segment) = urgent {
                self.put(side, Event::SegmentIn(side, life, segment));
            }
            self.pump(side);
        }
    }
}

fn end(law: &AnyLaw, config: &TransportConfig, app: &App, now: Time) -> End {
    let headers = config.headers + law.header_len();
    let mss = Bytes::new(PAYLOAD);
    let flow = FlowContext {
        mss,
        packet: config.packet,
        line_rate: Rate::from_mbps(10),
        back_pressured: false,
        draw: Draw::new(0),
    };
    End {
        sender: Sender::new(now, law.source(&flow), config, headers, app),
        receiver: Receiver::new(law.sink(&flow), config, mss, app),
    }
}
