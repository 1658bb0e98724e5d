//! A peer, a switch and its members, joined by paths that lose, double, delay and change packets.

mod deaths;
mod facing;
mod passing;

use std::collections::{BTreeMap, VecDeque};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_acp::connection::Connection;
use ratewire_acp::keys::{ClientHandshake, ServerHandshake};
use ratewire_acp::wire::{ConnectionId, EndKind, Params, Target};
use ratewire_acp::{Credentials, Frame};
use ratewire_anypoint::routing::{KeyHash, RoundRobin};

use super::*;

const DELAY: Duration = Duration::from_millis(2);

/// What paths do to packets, of 1,000.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Path {
    lost: u64,
    twice: u64,
    late: u64,
    changed: u64,
    /// Longest datagram that passes, if not all do.
    largest: Option<usize>,
}

const BAD: Path = Path { lost: 20, twice: 10, late: 20, changed: 10, largest: None };

/// A host at the end of a path.
struct Host {
    connection: Connection,
    /// Arrivals, in the order of sending.
    arrivals: VecDeque<(Time, Vec<u8>)>,
    got: Vec<Frame>,
}

struct Rig {
    now: Time,
    law: AnyLaw,
    config: Config,
    session: Session,
    /// Arrivals at the switch: when, from which side, and which life of it.
    arrivals: VecDeque<(Time, Side, u32, Vec<u8>)>,
    /// `None` if it is another switch.
    peer: Option<Host>,
    /// Packets to that, and when they arrive.
    outside: Vec<(Time, Vec<u8>)>,
    /// `None` while a member's process is dead.
    members: Vec<Option<Host>>,
    lives: Vec<u32>,
    path: Path,
    random: Xoshiro256PlusPlus,
}

fn address(side: Side) -> SocketAddr {
    let port = match side {
        Side::Peer => 1,
        Side::Member(k) => 100 + k as u16,
    };
    SocketAddr::from(([10, 0, 0, 1], port))
}

/// Both ends of a connection whose handshake is over; the first is the client's.
fn ends(config: &Config, law: &str, addresses: [SocketAddr; 2]) -> [Ends; 2] {
    let params = |id| Params {
        connection: ConnectionId(id),
        longest_frame: config.longest_frame.get(),
        idle_timeout_ms: 30_000,
        law: law.into(),
        kind: EndKind::Host,
        reset_token: [0; 16],
        application: String::new(),
        target: Target::Ensemble,
    };
    let (mut client, first) = ClientHandshake::begin(&config.credentials, &params(1)).unwrap();
    let (server, _) = ServerHandshake::read(&config.credentials, &first).unwrap();
    let (second, keys) = server.answer(&params(2)).unwrap();
    client.finish(&second).unwrap();
    let end = |local, keys| Ends {
        local: ConnectionId(local),
        params: params(3 - local),
        peer: addresses[2 - local as usize],
        keys,
    };
    [end(1, client.keys()), end(2, keys)]
}

const SWITCH: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 9)), 9);

impl Rig {
    fn new(law: &str, members: usize, path: Path) -> Rig {
        Rig::with(law, members, path, Box::new(RoundRobin::default()))
    }

    fn with(law: &str, members: usize, path: Path, routing: Box<dyn Routing>) -> Rig {
        let config = Config::new(Credentials::Shared([7; 32]));
        let known = AnyLaw::new(law, &[]).unwrap();
        let [client, server] = ends(&config, law, [address(Side::Peer), SWITCH]);
        let host = Host::new(Connection::new(Time::ZERO, known.clone(), &config, client));
        let peer = Peer { kind: PeerKind::Client(EndKind::Host), law: known, ends: server };
        Rig { peer: Some(host), ..Rig::of(config, members, path, routing, peer) }
    }

    /// A rig whose peer's connection is for this.
    fn for_target(target: Target, members: usize) -> Rig {
        let config = Config::new(Credentials::Shared([7; 32]));
        let law = config.law.clone();
        let [client, mut server] = ends(&config, "xcp", [address(Side::Peer), SWITCH]);
        server.params.target = target;
        let host = Host::new(Connection::new(Time::ZERO, law.clone(), &config, client));
        let peer = Peer { kind: PeerKind::Client(EndKind::Host), law, ends: server };
        let routing = Box::new(RoundRobin::default());
        Rig { peer: Some(host), ..Rig::of(config, members, Path::default(), routing, peer) }
    }

    /// A rig whose peer is elsewhere.
    fn of(
        config: Config,
        members: usize,
        path: Path,
        routing: Box<dyn Routing>,
        peer: Peer,
    ) -> Rig {
        let mut rig = Rig::unbegun(config, members, path, routing, peer);
        (0..members).for_each(|k| rig.start(k));
        rig.session.begin(Time::ZERO);
        rig
    }

    /// The same before any member has joined.
    fn unbegun(
        config: Config,
        members: usize,
        path: Path,
        routing: Box<dyn Routing>,
        peer: Peer,
    ) -> Rig {
        let law = peer.law.clone();
        let settings = SessionConfig {
            acp: config.clone(),
            flow_control: FlowControl::Strict,
            transforms: Transforms::Refusals { shuffle: 0.1 },
            silence: Duration::from_secs(1),
        };
        let zero = Time::ZERO;
        Rig {
            now: zero,
            session: Session::new(zero, &settings, members, routing, peer),
            arrivals: VecDeque::new(),
            peer: None,
            outside: Vec::new(),
            members: (0..members).map(|_| None).collect(),
            lives: vec![0; members],
            law,
            config,
            path,
            random: Xoshiro256PlusPlus::seed_from_u64(1),
        }
    }

    /// Starts a member's process and connects the switch with it.
    fn start(&mut self, k: usize) {
        let addresses = [SWITCH, address(Side::Member(k))];
        let [client, server] = ends(&self.config, "xcp", addresses);
        let connection = Connection::new(self.now, self.law.clone(), &self.config, server);
        self.lives[k] += 1;
        self.members[k] = Some(Host::new(connection));
        self.session.join(self.now, k, client);
    }

    fn happens(&mut self, in_1000: u64) -> bool {
        self.random.next_u64() % 1000 < in_1000
    }

    /// What arrives of a packet, and when.
    fn carry(&mut self, mut bytes: Vec<u8>) -> Vec<(Time, Vec<u8>)> {
        let is_too_large = self.path.largest.is_some_and(|largest| bytes.len() > largest);
        if is_too_large || self.happens(self.path.lost) {
            return Vec::new();
        }
        if self.happens(self.path.changed) {
            let at = self.random.next_u64() as usize % bytes.len();
            bytes[at] ^= 1 << (self.random.next_u64() % 8);
        }
        let late = if self.happens(self.path.late) { DELAY } else { Duration::ZERO };
        let copies = 1 + usize::from(self.happens(self.path.twice));
        vec![(self.now + DELAY + late, bytes); copies]
    }

    fn life(&self, side: Side) -> u32 {
        match side {
            Side::Peer => 0,
            Side::Member(k) => self.lives[k],
        }
    }
    fn host(&mut self, side: Side) -> Option<&mut Host> {
        match side {
            Side::Peer => self.peer.as_mut(),
            Side::Member(k) => self.members[k].as_mut(),
        }
    }
    fn sides(&self) -> Vec<Side> {
        let members = (0..self.members.len()).map(Side::Member);
        core::iter::once(Side::Peer).chain(members).collect()
    }

    fn send(&mut self) {
        let (now, mut packet) = (self.now, Vec::new());
        for side in self.sides() {
            while self.session.poll_transmit(now, side, &mut packet).is_some() {
                for arrival in self.carry(core::mem::take(&mut packet)) {
                    match self.host(side) {
                        Some(host) => host.arrivals.push_back(arrival),
                        None if side == Side::Peer => self.outside.push(arrival),
                        None => {}
                    }
                }
            }
            while let Some(host) = self.host(side)
                && host.connection.poll_transmit(now, &mut packet).is_some()
            {
                let life = self.life(side);
                for (at, bytes) in self.carry(core::mem::take(&mut packet)) {
                    self.arrivals.push_back((at, side, life, bytes));
                }
            }
        }
    }

    /// Lets time pass to the next event. Returns whether there was one before `until`.
    fn step(&mut self, until: Time) -> bool {
        self.send();
        let next = self.next();
        if next <= until {
            self.advance(next);
        }
        next <= until
    }

    /// Time of the next event.
    fn next(&self) -> Time {
        let hosts = || self.members.iter().flatten().chain(&self.peer);
        let at_hosts = hosts().flat_map(|host| &host.arrivals).map(|(at, _)| *at);
        let deadlines = hosts().map(|host| host.connection.deadline());
        let at_switch = self.arrivals.iter().map(|(at, ..)| *at);
        let all = at_hosts.chain(deadlines).chain(at_switch);
        all.fold(self.session.deadline(), Time::min)
    }

    /// Does what is due by a time.
    fn advance(&mut self, to: Time) {
        self.now = self.now.max(to);
        let now = self.now;
        let (due, later): (VecDeque<_>, _) =
            self.arrivals.drain(..).partition(|(at, ..)| *at <= now);
        self.arrivals = later;
        for (_, side, life, mut bytes) in due {
            if life == self.life(side) {
                self.session.on_datagram(now, side, address(side), &mut bytes, false);
            }
        }
        self.session.on_timer(now);
        for host in self.members.iter_mut().flatten().chain(&mut self.peer) {
            host.step(now);
        }
    }

    fn run(&mut self, until: Time) {
        while self.step(until) {}
        self.now = until;
    }

    /// The peer, which is a host.
    fn peer(&mut self) -> &mut Host {
        self.peer.as_mut().expect("a host")
    }

    /// Numbers of the frames that a member's process has read.
    fn got(&self, k: usize) -> Vec<u64> {
        let host = self.members[k].as_ref();
        host.map_or(Vec::new(), |host| host.got.iter().map(|frame| frame.id).collect())
    }
}

impl Host {
    fn new(connection: Connection) -> Host {
        Host { connection, arrivals: VecDeque::new(), got: Vec::new() }
    }

    fn step(&mut self, now: Time) {
        let (due, later): (VecDeque<_>, _) =
            self.arrivals.drain(..).partition(|(at, _)| *at <= now);
        self.arrivals = later;
        for (_, mut bytes) in due {
            self.connection.on_datagram(now, SWITCH, &mut bytes, false);
        }
        self.connection.on_timer(now);
        self.got.extend(std::iter::from_fn(|| self.connection.read()));
    }
}

/// The frame of a number: its length and bytes follow from that.
fn frame(id: u64) -> Frame {
    let length = (id * 7919 % 5000) as usize;
    Frame::new(id, (0..length).map(|i| (i as u64 ^ id) as u8).collect::<Vec<u8>>())
}

fn ms(ms: u64) -> Time {
    Time::from_millis(ms)
}
