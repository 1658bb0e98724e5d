//! The members' latencies, as routing modules see them.

use std::sync::{Arc, Mutex};

use ratewire_laws::{AnyLaw, Header};
use ratewire_transport::{Ack, SackBlocks, Segment, SegmentKind, Stamp, Writer};
use ratewire_units::{Bytes, Duration, Time};

use super::rig::{IDLE_EXPIRY, Loads, PAYLOAD, Rig, ms};
use crate::routing::{Frame, Member, RoundRobin, Routing};
use crate::{FlowControl, FrameOf, Side, Switch, SwitchConfig, Transforms};

/// Round robin that keeps the latencies it saw last.
#[derive(Debug, Default)]
struct Watch {
    turn: RoundRobin,
    latencies: Vec<Duration>,
}

impl Routing for Watch {
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
        self.latencies = members.iter().map(|member| member.latency).collect();
        self.turn.route(frame, members)
    }
}

/// A switch with one member, and frames of two packets.
struct Pair {
    switch: Switch,
    watch: Arc<Mutex<Watch>>,
}

impl Pair {
    fn new() -> Pair {
        let watch = Arc::new(Mutex::new(Watch::default()));
        let config = SwitchConfig {
            law: AnyLaw::new("newreno", &[]).unwrap(),
            members: 1,
            frame: Bytes::new(2 * PAYLOAD),
            payload: Bytes::new(PAYLOAD),
            packet: Bytes::new(PAYLOAD + 40),
            flow_control: FlowControl::Strict,
            transforms: Transforms::Refusals { shuffle: 0.1 },
            idle_expiry: IDLE_EXPIRY,
            peer_spreads: false,
        };
        Pair { switch: Switch::new(config, Box::new(Arc::clone(&watch))), watch }
    }

    fn send(&mut self, millis: u64, packet: u64) {
        let (kind, offset) = (SegmentKind::Data { again: false }, packet * PAYLOAD);
        let segment = Segment {
            kind,
            offset,
            payload: Bytes::new(PAYLOAD),
            stamp: Stamp::NONE,
            header: Header::None,
        };
        let (now, frame) = (Time::from_millis(millis), FrameOf::default());
        self.switch.on_segment(now, Side::Peer, &segment, frame, false, &mut Vec::new());
    }

    fn acknowledge(&mut self, millis: u64, packets: u64, beyond: Option<(u64, u64)>) {
        let cumulative = packets * PAYLOAD;
        let mut sack = SackBlocks::default();
        if let Some((from, to)) = beyond {
            sack.push(cumulative, from * PAYLOAD, to * PAYLOAD);
        }
        let (window, header) = (Bytes::new(100_000), Header::None);
        let ack = Ack { sack, header, ..Ack::plain(cumulative, window) };
        self.switch.on_ack(Time::from_millis(millis), Side::Member(0), &ack, &mut Vec::new());
    }

    /// The latency that the module sees with the next frame, whose first packet is this.
    fn seen(&mut self, millis: u64, packet: u64) -> Duration {
        self.send(millis, packet);
        self.watch.lock().unwrap().latencies[0]
    }
}

#[test]
fn a_frame_is_measured_from_its_last_packet_when_all_of_it_is_acknowledged() {
    let mut pair = Pair::new();
    assert_eq!(pair.seen(0, 0), Duration::ZERO, "nothing is known");
    pair.send(3, 1);
    pair.acknowledge(10, 1, None);
    assert_eq!(pair.seen(11, 2), Duration::ZERO, "half a frame says nothing");
    pair.acknowledge(23, 2, None);
    assert_eq!(pair.seen(24, 4), ms(20));
    // Frame 2 arrives whole and out of order: 60 ms, of which the mean takes an eighth.
    pair.send(30, 5);
    pair.acknowledge(90, 2, Some((4, 6)));
    assert_eq!(pair.seen(91, 6), ms(25));
}

#[test]
fn a_packet_that_was_sent_twice_measures_nothing() {
    let mut pair = Pair::new();
    pair.send(0, 0);
    pair.send(0, 1);
    pair.send(50, 0);
    pair.acknowledge(60, 2, None);
    assert_eq!(pair.seen(61, 2), Duration::ZERO);
    // An acknowledgement that also covers such a frame waited for it.
    pair.send(61, 3);
    pair.send(61, 2);
    pair.send(62, 4);
    pair.send(62, 5);
    pair.acknowledge(100, 6, None);
    assert_eq!(pair.seen(101, 6), Duration::ZERO);
    pair.send(101, 7);
    pair.acknowledge(108, 8, None);
    assert_eq!(pair.seen(109, 8), ms(7));
}

#[test]
fn a_failure_forgets_the_latency() {
    let mut pair = Pair::new();
    pair.send(0, 0);
    pair.send(0, 1);
    pair.acknowledge(10, 2, None);
    assert_eq!(pair.seen(11, 2), ms(10));
    pair.switch.fail(Time::from_millis(12), 0, &mut Vec::new());
    pair.switch.recover(0);
    assert_eq!(pair.seen(13, 4), Duration::ZERO);
}

#[test]
fn each_member_has_the_round_trip_of_its_path() {
    let watch = Arc::new(Mutex::new(Watch::default()));
    let loads = Loads { peer: Writer::Sized(Bytes::new(3_000_000)), members: Writer::Fed };
    let mut rig = Rig::with("newreno", 3, PAYLOAD, loads, Box::new(Arc::clone(&watch)));
    rig.delays = vec![ms(1), ms(5), ms(20), ms(45)];
    rig.loss = 50;
    rig.run(Time::from_secs(60));
    let latencies = watch.lock().unwrap().latencies.clone();
    for (latency, delay) in latencies.iter().zip(&rig.delays[1..]) {
        let least = *delay * 2;
        // A receiver may wait for a second packet before it acknowledges.
        assert!(*latency >= least && *latency <= least + ms(60), "{latency} of {least}");
    }
}
