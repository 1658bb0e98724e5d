//! Two ends over a path of the test's making.

mod overload;

use std::collections::VecDeque;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_laws::Header;

use super::*;
use crate::keys::{ClientHandshake, Credentials, ServerHandshake};
use crate::wire::{DataPart, EndKind, LEAST_FIRST, Params, Part, Parts, Target};

/// What the path does to packets.
#[derive(Clone, Copy, Debug)]
struct Path {
    delay: Duration,
    /// Packets of 1,000 that are lost, come twice, come late, and have a byte changed.
    lost: u64,
    twice: u64,
    late: u64,
    changed: u64,
    /// Longest datagram.
    largest: usize,
    /// Period with which the path takes packets on, as a busy host does; and packets that wait
    /// for that, at most.
    period: Duration,
    queue: usize,
}

const CLEAN: Path = Path {
    delay: Duration::from_millis(5),
    lost: 0,
    twice: 0,
    late: 0,
    changed: 0,
    largest: 1452,
    period: Duration::ZERO,
    queue: usize::MAX,
};
const BAD: Path = Path { lost: 50, twice: 30, late: 30, changed: 30, ..CLEAN };

impl Path {
    /// Time for which a packet waits before the path takes it on.
    fn until_taken(&self, now: Time) -> Duration {
        match now.ps().checked_rem(self.period.ps()) {
            None | Some(0) => Duration::ZERO,
            Some(passed) => Duration::from_ps(self.period.ps() - passed),
        }
    }
}

struct Pair {
    now: Time,
    ends: [Connection; 2],
    addresses: [SocketAddr; 2],
    /// Arrivals at each end, in the order of sending.
    wires: [VecDeque<(Time, SocketAddr, Vec<u8>)>; 2],
    path: Path,
    random: Xoshiro256PlusPlus,
}

impl Pair {
    fn new(law: &str, path: Path, change: impl Fn(&mut Config)) -> Pair {
        let mut config = Config::new(Credentials::Shared([7; 32]));
        config.law = law.parse().expect("a law");
        change(&mut config);
        let addresses = [1, 2].map(|port| SocketAddr::from(([10, 0, 0, 1], port)));
        let params = |connection| Params {
            connection: ConnectionId(connection),
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
        let (second, server) = server.answer(&params(2)).unwrap();
        client.finish(&second).unwrap();
        let end = |me: usize, keys| {
            let (local, other) = (ConnectionId(me as u64 + 1), 1 - me);
            let params = params(other as u64 + 1);
            let ends = Ends { local, params, peer: addresses[other], keys };
            Connection::new(Time::ZERO, config.law.clone(), &config, ends)
        };
        Pair {
            now: Time::ZERO,
            ends: [end(0, client.keys()), end(1, server)],
            addresses,
            wires: Default::default(),
            path,
            random: Xoshiro256PlusPlus::seed_from_u64(1),
        }
    }

    fn happens(&mut self, in_1000: u64) -> bool {
        self.random.next_u64() % 1000 < in_1000
    }

    fn send(&mut self) {
        for me in 0..2 {
            let mut packet = Vec::new();
            while let Some(transmit) = self.ends[me].poll_transmit(self.now, &mut packet) {
                assert_eq!(transmit.len, packet.len());
                let mut bytes = core::mem::take(&mut packet);
                if bytes.len() > self.path.largest || self.happens(self.path.lost) {
                    continue;
                }
                if self.happens(self.path.changed) {
                    let at = self.random.next_u64() as usize % bytes.len();
                    bytes[at] ^= 1 << (self.random.next_u64() % 8);
                }
                if self.wires[1 - me].len() >= self.path.queue {
                    continue;
                }
                let delay = self.path.delay + self.path.until_taken(self.now);
                let late =
                    if self.happens(self.path.late) { self.path.delay } else { Duration::ZERO };
                let copies = 1 + usize::from(self.happens(self.path.twice));
                for _ in 0..copies {
                    let arrival = (self.now + delay + late, self.addresses[me], bytes.clone());
                    self.wires[1 - me].push_back(arrival);
                }
            }
        }
    }

    /// Lets time pass to the next event. Returns whether there was one before `until`.
    fn step(&mut self, until: Time) -> bool {
        self.send();
        let arrival = self.wires.iter().flatten().map(|(at, ..)| *at).min();
        let deadline = self.ends[0].deadline().min(self.ends[1].deadline());
        let next = arrival.unwrap_or(Time::NEVER).min(deadline);
        if next > until {
            return false;
        }
        self.now = self.now.max(next);
        for me in 0..2 {
            let due = self.now;
            let (arrived, later): (VecDeque<_>, _) =
                self.wires[me].drain(..).partition(|(at, ..)| *at <= due);
            self.wires[me] = later;
            for (_, from, mut bytes) in arrived {
                self.ends[me].on_datagram(due, from, &mut bytes, false);
            }
            self.ends[me].on_timer(due);
        }
        true
    }

    /// Where the data parts of the packets are that the first end sends now, which get lost.
    fn sent(&mut self) -> Vec<Vec<DataAt>> {
        let (mut packets, mut packet) = (Vec::new(), Vec::new());
        while self.ends[0].poll_transmit(self.now, &mut packet).is_some() {
            let mut bytes = core::mem::take(&mut packet);
            let from = self.addresses[0];
            let opened = self.ends[1].channel.open(self.now, from, &mut bytes).unwrap();
            let parts = Parts::new(&bytes[opened.parts]).map(|part| match part.unwrap() {
                Part::Data(data) => {
                    let length = data.bytes.len() as u64;
                    DataAt { within: data.within, length, frame: data.frame }
                }
                other => panic!("{other:?}"),
            });
            packets.push(parts.collect());
        }
        packets
    }

    /// Sends frames from each end to the other, and returns what arrived at each.
    fn exchange(&mut self, frames: &[Frame]) -> [Vec<Frame>; 2] {
        let mut left = [frames.to_vec(), frames.to_vec()].map(VecDeque::from);
        let mut got: [Vec<Frame>; 2] = Default::default();
        let limit = Time::from_secs(600);
        loop {
            for me in 0..2 {
                while let Some(frame) = left[me].pop_front() {
                    if let Err(frame) = self.ends[me].write(frame) {
                        left[me].push_front(frame);
                        break;
                    }
                }
                if left[me].is_empty() {
                    self.ends[me].finish();
                }
                while let Some(frame) = self.ends[me].read() {
                    got[me].push(frame);
                }
            }
            let is_done = |end: &Connection| end.closed().is_some();
            if self.ends.iter().all(is_done) || !self.step(limit) {
                return got;
            }
        }
    }
}

/// Where in its frame a data part is.
#[derive(Debug)]
struct DataAt {
    within: u64,
    length: u64,
    frame: u64,
}

impl DataAt {
    fn is_whole(&self) -> bool {
        self.within == 0 && self.length == self.frame
    }
}

fn frames(sizes: &[usize]) -> Vec<Frame> {
    let frame = |(id, size): (usize, &usize)| {
        let data: Vec<u8> = (0..*size).map(|at| (at * 7 + id) as u8).collect();
        Frame::new(id as u64 * 1000, data)
    };
    sizes.iter().enumerate().map(frame).collect()
}

#[test]
fn frames_of_all_sizes_arrive_whole_and_in_order() {
    let sent = frames(&[0, 1, 100, 1100, 1101, 5000, 0, 70_000, 3]);
    for law in ["xcp", "rcp", "xcp@kernel", "jetmax", "jetmax@kernel", "cubic", "fixed"] {
        let mut pair = Pair::new(law, CLEAN, |_| {});
        let got = pair.exchange(&sent);
        assert!(got[0] == sent && got[1] == sent, "{law}");
        assert_eq!(pair.ends[0].closed(), Some(&CloseReason::Done));
        assert_eq!(pair.ends[1].metrics().frames_received, 9);
        assert_eq!(pair.ends[0].metrics().retransmitted, Size::ZERO, "{law}");
    }
}

#[test]
fn small_frames_share_packets() {
    let sent = frames(&[40; 300]);
    for law in ["xcp", "cubic"] {
        let mut pair = Pair::new(law, CLEAN, |_| {});
        let got = pair.exchange(&sent);
        assert!(got[0] == sent && got[1] == sent, "{law}");
        let packets = pair.ends[0].metrics().packets_sent;
        assert!(packets < 60, "{law}: {packets} packets with 300 frames");
    }
    // The path gets narrower: a packet goes again in pieces, and no frame is torn without need.
    let mut pair = Pair::new("cubic", CLEAN, |_| {});
    let mut pass = |sent: &[Frame], largest, until| {
        pair.path.largest = largest;
        sent.iter().for_each(|frame| pair.ends[0].write(frame.clone()).unwrap());
        while pair.step(until) {}
        let got: Vec<Frame> = std::iter::from_fn(|| pair.ends[1].read()).collect();
        assert!(got == sent, "{} of {}", got.len(), sent.len());
        pair.ends[0].metrics().datagram
    };
    assert_eq!(pass(&frames(&[20_000; 3]), 1452, Time::from_secs(5)), Size::new(1452));
    assert_eq!(pass(&sent, 1300, Time::from_secs(60)), Size::new(1200));
}

#[test]
fn packets_are_a_part_of_a_frame_or_whole_frames() {
    let sizes = [100, 500, 500, 500, 3000, 10, 10, 2000];
    let mut pair = Pair::new("cubic", CLEAN, |_| {});
    while pair.step(Time::from_millis(100)) {}
    frames(&sizes).into_iter().for_each(|frame| pair.ends[0].write(frame).unwrap());
    let packets = pair.sent();
    assert!(packets.iter().all(|parts| parts.len() == 1 || parts.iter().all(DataAt::is_whole)));
    let lengths: Vec<usize> = packets.iter().map(Vec::len).collect();
    assert_eq!(lengths, [3, 1, 1, 1, 1, 2, 1, 1], "{packets:?}");
}

/// A tail-loss probe carries new data, beyond the window.
#[test]
fn probes_are_whole_frames_too() {
    let mut pair = Pair::new("cubic", CLEAN, |_| {});
    pair.ends[0].write(frames(&[500]).remove(0)).unwrap();
    while pair.step(Time::from_millis(500)) {}
    frames(&[300; 200]).into_iter().for_each(|frame| pair.ends[0].write(frame).unwrap());
    let before: usize = pair.sent().iter().map(Vec::len).sum();
    pair.now = pair.ends[0].deadline();
    pair.ends[0].on_timer(pair.now);
    let probe = pair.sent();
    assert!(before < 200 && probe.len() == 1, "{before} frames, {probe:?}");
    assert!(probe[0].len() > 1 && probe[0].iter().all(DataAt::is_whole), "{probe:?}");
}

#[test]
fn first_parts_have_what_a_switch_reads() {
    for info in ratewire_laws::registry::list() {
        let pair = Pair::new(info.name, CLEAN, |_| {});
        let room = pair.ends[0].channel.room() - DATA_FIELDS;
        assert!(room >= LEAST_FIRST, "{}: {room}", info.name);
    }
}

#[test]
fn a_bad_path_changes_nothing() {
    let sizes: Vec<usize> = (0..400).map(|n| n * 37 % 9000).collect();
    let sent = frames(&sizes);
    for law in ["xcp", "cubic"] {
        let mut pair = Pair::new(law, BAD, |_| {});
        let got = pair.exchange(&sent);
        assert!(got[0] == sent && got[1] == sent, "{law}: {:?}", pair.ends[0].closed());
        let metrics = pair.ends[0].metrics();
        assert!(metrics.retransmitted > Size::ZERO && metrics.packets_refused > 0);
    }
}

#[test]
fn frames_may_be_larger_than_the_buffer() {
    let small = |config: &mut Config| config.receive_buffer = Size::new(20_000);
    let sent = frames(&[100_000, 10, 50_000]);
    let mut pair = Pair::new("cubic", CLEAN, small);
    assert!(pair.exchange(&sent).iter().all(|got| *got == sent));
}

#[test]
fn a_reader_that_waits_holds_the_sender_back() {
    let small = |config: &mut Config| config.receive_buffer = Size::new(20_000);
    let mut pair = Pair::new("cubic", CLEAN, small);
    let sent = frames(&[1000; 100]);
    sent.iter().for_each(|frame| pair.ends[0].write(frame.clone()).unwrap());
    while pair.step(Time::from_secs(5)) {}
    let received = pair.ends[1].metrics().frames_received;
    assert!((10..=20).contains(&received), "{received} in a buffer of 20 kB");
    let mut got = Vec::new();
    while pair.step(Time::from_secs(20)) && got.len() < sent.len() {
        got.extend(std::iter::from_fn(|| pair.ends[1].read()));
    }
    assert_eq!(got, sent);
}

/// Strict flow control fills the receiver's buffer; with soft flow control feedback slows the
/// sender down before it is full.
#[test]
fn soft_flow_control_keeps_a_slow_readers_buffer_from_filling() {
    let most = |law: &str| {
        let buffer = |config: &mut Config| config.receive_buffer = Size::new(64_000);
        let mut pair = Pair::new(law, CLEAN, buffer);
        let (mut read, mut most) = (0, 0);
        for at in (0..20_000).step_by(10) {
            while pair.ends[0].write(Frame::new(0, vec![0; 1000])).is_ok() {}
            while pair.step(Time::from_millis(at)) {}
            let unread = pair.ends[1].metrics().frames_received - read;
            if at > 10_000 {
                most = most.max(unread);
            }
            read += u64::from(pair.ends[1].read().is_some());
        }
        assert!(read > 1800, "{law}: {read} frames");
        most
    };
    let (strict, soft) = (most("xcp"), most("xcp flow_control=soft"));
    assert!(strict >= 60 && soft < 50, "{strict} frames unread with strict, {soft} with soft");
}

#[test]
fn packets_are_as_large_as_the_path_carries() {
    let mut pair = Pair::new("cubic", Path { largest: 1400, ..CLEAN }, |_| {});
    let sent = frames(&[30_000; 20]);
    assert!(pair.exchange(&sent).iter().all(|got| *got == sent));
    assert_eq!(pair.ends[0].metrics().datagram, Size::new(1400));
    // The path gets narrower.
    let mut pair = Pair::new("cubic", Path { largest: 1400, ..CLEAN }, |_| {});
    pair.ends[0].write(sent[0].clone()).unwrap();
    while pair.step(Time::from_secs(1)) {}
    pair.path.largest = 1250;
    assert!(pair.exchange(&sent[1..]).iter().any(|got| got.len() == 20));
    assert_eq!(pair.ends[0].metrics().datagram, Size::new(1200));
}

/// As over loopback: a packet carries many frames, and waits for no second one to be acknowledged.
#[test]
fn a_wide_path_carries_large_packets() {
    let mut pair = Pair::new("xcp", Path { largest: 65_535, ..CLEAN }, |_| {});
    let pass = |pair: &mut Pair, sent: &[Frame]| {
        let (begun, before) = (pair.now, pair.ends.each_ref().map(|end| end.metrics()));
        sent.iter().for_each(|frame| pair.ends[0].write(frame.clone()).unwrap());
        while pair.ends[1].metrics().frames_received < before[1].frames_received + 100 {
            assert!(pair.step(Time::from_secs(5)));
        }
        let got: Vec<Frame> = std::iter::from_fn(|| pair.ends[1].read()).collect();
        assert!(got == sent);
        let packets = pair.ends[0].metrics().packets_sent - before[0].packets_sent;
        (packets, pair.now.since(begun))
    };
    let sent = frames(&[4096; 100]);
    for _ in 0..10 {
        pass(&mut pair, &sent);
    }
    let (packets, took) = pass(&mut pair, &sent);
    assert_eq!(pair.ends[0].metrics().datagram, Size::new(65_000));
    assert!(packets < 20 && took < Duration::from_millis(30), "{packets} packets, {took:?}");
}

#[test]
fn an_idle_connection_keeps_little_memory() {
    let mut pair = Pair::new("xcp", CLEAN, |_| {});
    frames(&[10; 5000]).into_iter().for_each(|frame| pair.ends[0].write(frame).unwrap());
    assert!(pair.ends[0].out.capacity() >= 5000);
    while pair.step(Time::from_secs(1)) {}
    assert!(pair.ends[1].inc.capacity() >= 5000);
    while pair.ends[1].read().is_some() {}
    let kept = [pair.ends[0].out.capacity(), pair.ends[1].inc.capacity()];
    assert!(kept.iter().all(|kept| *kept <= KEPT), "{kept:?}");
}

#[test]
fn a_peer_that_moves_keeps_its_connection() {
    let mut pair = Pair::new("cubic", CLEAN, |_| {});
    let sent = frames(&[2000; 50]);
    pair.ends[0].write(sent[0].clone()).unwrap();
    while pair.step(Time::from_millis(500)) {}
    pair.addresses[0] = SocketAddr::from(([10, 0, 0, 9], 77));
    let got = pair.exchange(&sent[1..]);
    assert_eq!((got[1].len(), got[0].len()), (50, 49));
    assert_eq!(pair.ends[1].peer(), pair.addresses[0]);
}

#[test]
fn silence_ends_a_connection_and_pings_prevent_that() {
    let mut pair = Pair::new("cubic", CLEAN, |_| {});
    while pair.step(Time::from_secs(100)) {}
    assert_eq!(pair.ends[0].closed(), None);
    pair.path.lost = 1000;
    while pair.step(Time::from_secs(200)) {}
    assert_eq!(pair.ends[0].closed(), Some(&CloseReason::Idle));
    let mut pair = Pair::new("cubic", CLEAN, |config| config.keep_alive = None);
    while pair.step(Time::from_secs(100)) {}
    assert_eq!(pair.ends[1].closed(), Some(&CloseReason::Idle));
}

#[test]
fn a_silent_end_is_asked_as_often_as_is_wanted() {
    let longest = |max_rto| {
        let mut pair = Pair::new("xcp", CLEAN, |config| config.max_rto = max_rto);
        pair.ends[0].write(Frame::new(0, "heard")).expect("room");
        while pair.step(Time::from_secs(1)) {}
        pair.ends[0].write(Frame::new(1, "not heard")).expect("room");
        let (mut waits, mut packet) = (Vec::new(), Vec::new());
        let end = pair.now + Duration::from_secs(8);
        while pair.now < end {
            while pair.ends[0].poll_transmit(pair.now, &mut packet).is_some() {
                packet.clear();
            }
            let next = pair.ends[0].deadline();
            waits.push(next.since(pair.now));
            pair.now = next;
            pair.ends[0].on_timer(next);
        }
        waits.into_iter().max().expect("a wait")
    };
    assert_eq!(longest(Duration::from_secs(1)), Duration::from_secs(1));
    assert!(longest(Duration::from_secs(60)) > Duration::from_secs(3));
}

#[test]
fn a_reset_is_told_to_the_other_end() {
    let mut pair = Pair::new("cubic", CLEAN, |_| {});
    while pair.step(Time::from_millis(100)) {}
    pair.ends[0].reset(7, "enough");
    while pair.step(Time::from_millis(200)) {}
    assert!(pair.ends.iter().all(Connection::is_over));
    let told = CloseReason::Reset { code: 7, text: "enough".into() };
    assert_eq!(pair.ends[1].closed(), Some(&told));
    assert_eq!(told.to_string(), "the other end has reset the connection: enough (code 7)");
    assert!(pair.ends[0].write(Frame::new(0, "late")).is_err());
}

#[test]
fn an_end_that_let_go_after_all_had_arrived_has_closed() {
    for writes in [false, true] {
        let mut pair = Pair::new("cubic", CLEAN, |_| {});
        frames(&[10; 3]).into_iter().for_each(|frame| pair.ends[0].write(frame).unwrap());
        pair.ends[1].finish();
        while pair.step(Time::from_secs(1)) {}
        assert!(pair.ends[0].is_at_end() && pair.ends[0].closed().is_none());
        if writes {
            pair.ends[0].write(Frame::new(9, "nobody has this")).unwrap();
        }
        pair.ends[0].finish();
        pair.ends[0].forgotten();
        let expected = if writes { CloseReason::Forgotten } else { CloseReason::Done };
        assert_eq!(pair.ends[0].closed(), Some(&expected));
    }
}

#[test]
fn frames_that_are_too_long_are_refused_on_both_sides() {
    let mut pair = Pair::new("cubic", CLEAN, |config| config.longest_frame = Size::new(5000));
    while pair.step(Time::from_millis(100)) {}
    assert!(pair.ends[0].write(Frame::new(0, vec![0; 5001])).is_err());
    assert!(pair.ends[0].write(Frame::new(0, vec![0; 5000])).is_ok());
    pair.ends[0].out.write(Frame::new(0, vec![0; 5500]));
    while pair.step(Time::from_secs(2)) {}
    assert!(matches!(pair.ends[1].closed(), Some(CloseReason::Violation(_))));
    assert!(matches!(pair.ends[0].closed(), Some(CloseReason::Reset { code: 1, .. })));
}

#[test]
fn a_frame_whose_member_fails_is_dropped_and_the_others_are_not() {
    let mut pair = Pair::new("cubic", CLEAN, |_| {});
    while pair.step(Time::from_millis(100)) {}
    let mut offset = 0;
    let mut give = |source, frame, within, bytes: &[u8]| {
        let (mut packet, to) = (Vec::new(), pair.addresses[1]);
        let draft = pair.ends[0].channel.begin(&mut packet);
        let part = DataPart { offset, source, frame, within, bytes, again: false };
        Part::Data(part).put(&mut packet);
        offset += bytes.len() as u64;
        pair.ends[0].channel.finish(pair.now, to, &Header::None, &draft, &mut packet);
        pair.ends[1].on_datagram(pair.now, pair.addresses[0], &mut packet, false);
        let read = std::iter::from_fn(|| pair.ends[1].read());
        (read.map(|frame| frame.id).collect::<Vec<u64>>(), pair.ends[1].metrics().frames_broken)
    };
    assert_eq!(give(1, 4, 0, &[7, 0]), (vec![], 0));
    assert_eq!(give(2, 2, 0, &[8, 0]), (vec![8], 0), "another source's");
    assert_eq!(give(1, 2, 0, &[9, 0]), (vec![9], 1), "the first is never finished");
    assert_eq!(give(1, 4, 2, &[0, 0]), (vec![], 1), "the end of a frame that nobody has");
    assert_eq!(give(1, 4, 0, &[5, 0]), (vec![], 1));
    assert_eq!(give(1, 4, 3, &[0]), (vec![], 2), "a part is missing");
    assert_eq!(give(1, 3, 0, &[6, 0]), (vec![], 2));
    assert_eq!(give(1, 3, 2, &[0]), (vec![6], 2));
    assert_eq!(pair.ends[1].closed(), None);
}

/// A connection that is over has no more to send, though the last acknowledgement was lost.
#[test]
fn a_closed_end_waits_for_nothing() {
    for seed in 0..30 {
        let mut pair = Pair::new("xcp", BAD, |_| {});
        pair.random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for end in &mut pair.ends {
            (0..20).for_each(|id| end.write(Frame::new(id, vec![0; 1000])).expect("room"));
            end.finish();
        }
        let steps = (0..100_000).take_while(|_| pair.step(Time::from_secs(20))).count();
        assert!(steps < 5000, "seed {seed}: {steps} steps");
    }
}
