//! The cost of a packet in the switch, without keys, parts and sockets.

use std::collections::VecDeque;

use divan::Bencher;
use divan::counter::ItemsCount;
use ratewire_anypoint::routing::{KeyHash, RoundRobin, Routing};
use ratewire_anypoint::{FlowControl, FrameOf, Output, Side, Switch, SwitchConfig, Transforms};
use ratewire_laws::{AnyLaw, Header};
use ratewire_transport::{Ack, Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Duration, Time};

/// Packets on their way to members.
const OUTSTANDING: usize = 64;
const PAYLOAD: u64 = 1300;
const WINDOW: Bytes = Bytes::new(4 << 20);
/// Data packets of an iteration. Each has an acknowledgement.
const ROUND: u64 = 1000;

fn main() {
    divan::main();
}

/// Packets through the switch, data and acknowledgements: a frame is a packet.
#[divan::bench(args = [4, 256])]
fn in_turn(bencher: Bencher, members: usize) {
    pass(bencher, members, || Box::new(RoundRobin::default()));
}

/// The same with a module that reads frames.
#[divan::bench(args = [4, 256])]
fn by_hash(bencher: Bencher, members: usize) {
    pass(bencher, members, || Box::new(KeyHash { offset: 0, len: 8 }));
}

fn pass(bencher: Bencher, members: usize, routing: fn() -> Box<dyn Routing>) {
    let config = SwitchConfig {
        law: AnyLaw::new("cubic", &[]).expect("a law in the tree"),
        members,
        frame: Bytes::new(PAYLOAD),
        payload: Bytes::new(PAYLOAD),
        packet: Bytes::new(1500),
        flow_control: FlowControl::Strict,
        transforms: Transforms::Refusals { shuffle: 0.1 },
        idle_expiry: Duration::from_secs(10),
        peer_spreads: false,
    };
    let mut run = Run {
        switch: Switch::new(config, routing()),
        now: Time::ZERO,
        next: 0,
        under_way: VecDeque::new(),
        out: Vec::new(),
    };
    bencher.counter(ItemsCount::new(2 * ROUND)).bench_local(|| {
        (0..ROUND).for_each(|_| run.packet());
    });
}

struct Run {
    switch: Switch,
    now: Time,
    /// Offset of the next packet in the peer's stream.
    next: u64,
    /// Data packets on their way to members.
    under_way: VecDeque<(usize, u64)>,
    out: Vec<Output>,
}

impl Run {
    /// Gives the switch a data packet, and the acknowledgement of the oldest one under way.
    fn packet(&mut self) {
        self.now += Duration::from_micros(10);
        let kind = SegmentKind::Data { again: false };
        let payload = Bytes::new(PAYLOAD);
        let segment =
            Segment { kind, offset: self.next, payload, stamp: Stamp::NONE, header: Header::None };
        let content = self.next.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        let frame = FrameOf {
            content: &content,
            bounds: Some((self.next, self.next + PAYLOAD)),
            size: None,
        };
        self.next += PAYLOAD;
        self.switch.on_segment(self.now, Side::Peer, &segment, frame, false, &mut self.out);
        for output in self.out.drain(..) {
            if let Output::Segment(Side::Member(k), segment) = output {
                self.under_way.push_back((k, segment.offset + segment.payload.get()));
            }
        }
        if self.under_way.len() < OUTSTANDING {
            return;
        }
        let Some((k, end)) = self.under_way.pop_front() else { return };
        let ack = Ack::plain(end, WINDOW);
        self.switch.on_ack(self.now, Side::Member(k), &ack, &mut self.out);
        self.out.clear();
    }
}
