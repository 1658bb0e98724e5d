//! A peer, a switch and its members, joined by paths that lose, double, delay and change packets.

use std::collections::{BTreeMap, VecDeque};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_acp::connection::Connection;
use ratewire_acp::keys::{ClientHandshake, ServerHandshake};
use ratewire_acp::wire::{ConnectionId, Params};
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
}

const BAD: Path = Path { lost: 20, twice: 10, late: 20, changed: 10 };

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
    peer: Host,
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
        reset_token: [0; 16],
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
        let settings = SessionConfig {
            acp: config.clone(),
            flow_control: FlowControl::Strict,
            transforms: Transforms::Refusals { shuffle: 0.1 },
            silence: Duration::from_secs(1),
        };
        let zero = Time::ZERO;
        let mut rig = Rig {
            now: zero,
            session: Session::new(zero, known.clone(), &settings, members, routing, server),
            arrivals: VecDeque::new(),
            peer: Host::new(Connection::new(zero, known.clone(), &config, client)),
            members: (0..members).map(|_| None).collect(),
            lives: vec![0; members],
            law: known,
            config,
            path,
            random: Xoshiro256PlusPlus::seed_from_u64(1),
        };
        (0..members).for_each(|k| rig.start(k));
        rig.session.begin(zero);
        rig
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
        if self.happens(self.path.lost) {
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
            Side::Peer => Some(&mut self.peer),
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
                    if let Some(host) = self.host(side) {
                        host.arrivals.push_back(arrival);
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
        let hosts = || self.members.iter().flatten().chain([&self.peer]);
        let at_hosts = hosts().flat_map(|host| &host.arrivals).map(|(at, _)| *at);
        let deadlines = hosts().map(|host| host.connection.deadline());
        let at_switch = self.arrivals.iter().map(|(at, ..)| *at);
        let all = at_hosts.chain(deadlines).chain(at_switch);
        let next = all.fold(self.session.deadline(), Time::min);
        if next > until {
            return false;
        }
        self.now = self.now.max(next);
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
        for host in self.members.iter_mut().flatten().chain([&mut self.peer]) {
            host.step(now);
        }
        true
    }

    fn run(&mut self, until: Time) {
        while self.step(until) {}
        self.now = until;
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

/// Frames of one peer go to four members in turn and back. Each member's are in order, and each
/// arrives once, whole.
fn there_and_back(law: &str, path: Path) {
    let mut rig = Rig::new(law, 4, path);
    rig.run(ms(100));
    let (mut written, mut answered) = (0, [0; 4]);
    const FRAMES: u64 = 400;
    for at in (100..60_000).step_by(10) {
        while written < FRAMES && rig.peer.connection.write(frame(written)).is_ok() {
            written += 1;
        }
        for (k, done) in answered.iter_mut().enumerate() {
            let host = rig.members[k].as_mut().unwrap();
            while let Some(frame) = host.got.get(*done)
                && host.connection.write(frame.clone()).is_ok()
            {
                *done += 1;
            }
        }
        rig.run(ms(at));
        if rig.peer.got.len() as u64 == FRAMES {
            break;
        }
    }
    for k in 0..4 {
        let got = rig.got(k);
        assert!(got.is_sorted(), "{law}: {got:?}");
        if path == Path::default() {
            assert!(got.iter().all(|id| id % 4 == k as u64), "in turn");
        }
    }
    let by_id: BTreeMap<u64, &Frame> = rig.peer.got.iter().map(|f| (f.id, f)).collect();
    assert_eq!((by_id.len() as u64, rig.peer.got.len() as u64), (FRAMES, FRAMES));
    assert!(by_id.iter().all(|(id, got)| got.data == frame(*id).data));
    let counts = rig.session.counts();
    assert!(counts.frames_in >= FRAMES && counts.frames_out >= FRAMES);
    // The end goes through, too.
    rig.peer.connection.close();
    rig.run(rig.now + Duration::from_secs(1));
    for k in 0..4 {
        let host = rig.members[k].as_mut().unwrap();
        assert!(host.connection.is_at_end() && host.connection.closed().is_none());
        host.connection.close();
    }
    rig.run(rig.now + Duration::from_secs(10));
    assert_eq!(rig.peer.connection.closed(), Some(&CloseReason::Done), "{law}");
    for member in rig.members.iter().flatten() {
        assert_eq!(member.connection.closed(), Some(&CloseReason::Done), "{law}");
    }
    assert!(rig.session.is_over(), "{law}");
}

#[test]
fn one_connection_is_spread_and_merged() {
    for law in ["xcp", "rcp", "cubic"] {
        there_and_back(law, Path::default());
    }
}

#[test]
fn bad_paths_change_nothing() {
    for law in ["xcp", "newreno"] {
        there_and_back(law, BAD);
    }
}

/// Members die at random times and start again, some of them only after they count as silent.
/// Whatever the peer sent arrives, and twice only if the first to get it has died.
fn with_deaths(seed: u64, path: Path) {
    const FRAMES: u64 = 2500;
    const DEATHS: usize = 10;
    let mut rig = Rig::new("xcp", 4, path);
    rig.random = Xoshiro256PlusPlus::seed_from_u64(seed);
    rig.run(ms(100));
    let (mut written, mut silent) = (0, 0);
    let mut lives: Vec<Vec<u64>> = Vec::new();
    let mut back: BTreeMap<usize, Time> = BTreeMap::new();
    let total = |rig: &Rig, lives: &[Vec<u64>]| {
        let alive = (0..4).map(|k| rig.got(k).len()).sum::<usize>();
        alive + lives.iter().map(Vec::len).sum::<usize>()
    };
    for at in (100..200_000).step_by(10) {
        for _ in 0..4 {
            let room = written < FRAMES && rig.peer.connection.write(frame(written)).is_ok();
            written += u64::from(room);
        }
        // One of four stays.
        if back.len() < 3 && lives.len() < DEATHS && rig.happens(30) {
            let k = (0..4)
                .find(|k| rig.members[*k].is_some() && rig.random.next_u64().is_multiple_of(2));
            if let Some(k) = k {
                lives.push(rig.got(k));
                rig.members[k] = None;
                let pause = if rig.happens(500) { 1500 } else { 50 };
                back.insert(k, rig.now + Duration::from_millis(pause));
            }
        }
        let due: Vec<usize> =
            back.iter().filter(|(_, at)| **at <= rig.now).map(|(k, _)| *k).collect();
        for k in due {
            back.remove(&k);
            let now = rig.now;
            rig.session.forgotten(now, Side::Member(k));
            rig.start(k);
        }
        rig.run(ms(at));
        let events = rig.session.take_events();
        silent += events.iter().filter(|e| matches!(e, SessionEvent::Silent(_))).count();
        let is_done = rig.peer.connection.metrics().buffered == Bytes::ZERO;
        if written == FRAMES && is_done && back.is_empty() && lives.len() == DEATHS {
            break;
        }
    }
    assert!(total(&rig, &lives) as u64 >= FRAMES && silent > 0, "seed {seed}");
    let alive = (0..4).map(|k| rig.got(k));
    let mut count: BTreeMap<u64, (u32, u32)> = BTreeMap::new();
    for id in lives.iter().flatten() {
        count.entry(*id).or_default().0 += 1;
    }
    for id in alive.flatten() {
        count.entry(id).or_default().1 += 1;
    }
    assert_eq!(count.len() as u64, FRAMES, "seed {seed}: none is lost");
    assert!(count.values().all(|(_, alive)| *alive <= 1), "seed {seed}");
    for life in lives {
        let mut once = life.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), life.len(), "seed {seed}");
    }
    let broken = rig.members.iter().flatten().map(|host| host.connection.closed());
    assert!(broken.into_iter().all(|reason| reason.is_none()), "seed {seed}");
}

#[test]
fn nothing_is_lost_when_members_die() {
    for seed in 0..6 {
        with_deaths(seed, if seed % 2 == 0 { Path::default() } else { BAD });
    }
}

#[test]
fn a_frame_larger_than_all_windows_passes() {
    let mut rig = Rig::new("cubic", 2, Path::default());
    rig.run(ms(100));
    let length = 9 << 20;
    assert!(rig.config.receive_buffer.get() * 2 < length);
    let data: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
    rig.peer.connection.write(Frame::new(7, data.clone())).unwrap();
    rig.run(Time::from_secs(20));
    let got = &rig.members[0].as_ref().unwrap().got;
    assert!(got.len() == 1 && got[0].data == data);
    assert_eq!(rig.peer.connection.metrics().buffered, Bytes::ZERO);
}

#[test]
fn frames_of_one_key_keep_their_order_on_a_bad_path() {
    const FRAMES: u64 = 1000;
    let mut rig = Rig::with("xcp", 4, BAD, Box::new(KeyHash { offset: 0, len: 1 }));
    rig.run(ms(100));
    let mut written = 0;
    for at in (100..100_000).step_by(10) {
        while written < FRAMES {
            let key = vec![(written % 32) as u8; 1 + (written * 7919 % 3000) as usize];
            if rig.peer.connection.write(Frame::new(written, key)).is_err() {
                break;
            }
            written += 1;
        }
        rig.run(ms(at));
        if written == FRAMES && rig.peer.connection.metrics().buffered == Bytes::ZERO {
            break;
        }
    }
    let all: Vec<Vec<u64>> = (0..4).map(|k| rig.got(k)).collect();
    assert_eq!(all.iter().map(Vec::len).sum::<usize>() as u64, FRAMES);
    for got in &all {
        assert!(got.is_sorted(), "{got:?}");
    }
    for key in 0..32 {
        let with = all.iter().filter(|got| got.iter().any(|id| id % 32 == key));
        assert_eq!(with.count(), 1, "a key has one member");
    }
}
