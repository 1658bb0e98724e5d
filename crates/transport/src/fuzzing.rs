//! Properties of any sequence of calls. The fuzz target and the test that replays its corpus share
//! them, so that what the fuzzer found once stays found.

use std::collections::VecDeque;

use ratewire_laws::fuzzing::{number, wild};
use ratewire_laws::{AnyLaw, Draw, FlowContext, Header};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::{
    Ack, AckRules, App, Epoch, PauseAfter, Phase, Reader, ReceiveWindow, Receiver, Recovery,
    SackBlocks, Segment, SegmentKind, Sender, Spread, Stamp, TransportConfig, Varying, Writer,
};

const LAWS: &[(&str, &[(&str, &str)])] = &[
    ("newreno", &[]),
    ("fixed", &[("window", "20 packets")]),
    ("fixed", &[("rate", "12 Mbit/s")]),
    ("newreno", &[("pacing", "true")]),
    ("cubic", &[]),
    ("xcp", &[]),
];

/// Longest run: 53 days.
const LATEST: Time = Time::from_ps(1 << 62);
/// Maximum number of packets sent in one go: not every law has a limit.
const MOST_AT_ONCE: usize = 64;

/// Reads `data` as a configuration (7 or 8 bytes) and calls of both ends, one after the other.
///
/// # Panics
/// If an end panics, or the sender miscounts.
pub fn transport(data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut ends = Loopback::new(&mut bytes);
    while let Some(operation) = bytes.next() {
        ends.operate(operation, &mut bytes);
        let in_flight = ends.sender.in_flight().get();
        assert!(in_flight <= ends.sent, "{in_flight} outstanding of {} sent", ends.sent);
        let _ = ends.sender.receive_window();
    }
}

/// A sender and a receiver of one flow, with two queues in place of a network.
struct Loopback {
    sender: Sender,
    receiver: Receiver,
    now: Time,
    /// Payload sent for the first time.
    sent: u64,
    there: VecDeque<Segment>,
    back: VecDeque<Ack>,
}

impl Loopback {
    fn new(bytes: &mut impl Iterator<Item = u8>) -> Loopback {
        let flags = number(bytes, 1);
        let (name, options) = LAWS[number(bytes, 1) as usize % LAWS.len()];
        let law = AnyLaw::new(name, options).expect("the laws above are valid");
        let on = |bit: u64| flags >> bit & 1 == 1;
        let size = Bytes::new(wild(bytes));
        let receive_window = if on(0) {
            ReceiveWindow::Fixed(size)
        } else {
            ReceiveWindow::Auto { initial: size, max: Bytes::new(100_000), packets_per_ack: 2 }
        };
        let config = TransportConfig {
            receive_window,
            handshake: on(1),
            delayed_ack: on(2).then(|| Duration::from_millis(40)),
            ack_rules: if on(6) { AckRules::Linux } else { AckRules::Rfc },
            tail_loss_probe: on(3),
            recovery: if on(5) { Recovery::Rack } else { Recovery::Sack },
            ..TransportConfig::default()
        };
        let frame = wild(bytes);
        let frame = (frame > 0).then_some(Bytes::new(frame));
        let reader = if on(4) {
            Reader::Slow(Duration::from_micros(wild(bytes) >> 24))
        } else {
            Reader::Immediate
        };
        let (burst, pause) = (Bytes::new(wild(bytes)), Duration::from_ps(wild(bytes)));
        let on_off = |spread, pause_after, count| Writer::OnOff {
            burst: Varying { mean: burst, spread },
            pause: Varying { mean: pause, spread },
            pause_after,
            count,
        };
        let writer = match number(bytes, 1) % 8 {
            0 => Writer::Unlimited,
            1 => Writer::Sized(burst),
            2 => Writer::Constant { rate: Rate::from_bps(burst.get()) },
            3 => on_off(Spread::None, PauseAfter::Written, None),
            4 => on_off(Spread::None, PauseAfter::Sent, Some(9)),
            5 => on_off(Spread::None, PauseAfter::Acknowledged, None),
            6 => on_off(Spread::Pareto(1.5), PauseAfter::Acknowledged, None),
            _ => {
                let random = on_off(Spread::Exponential, PauseAfter::Sent, Some(9));
                let parts = [random, Writer::Unlimited, Writer::Sized(burst)];
                let phase = |writer| Phase { writer, lasts: pause };
                Writer::Phases(parts.into_iter().map(phase).collect())
            }
        };
        let app = App { writer, reader, frame, ..App::unlimited() };
        let headers = config.headers + law.header_len();
        let mss = config.packet.saturating_sub(headers);
        let flow = FlowContext {
            mss,
            packet: config.packet,
            line_rate: Rate::from_mbps(1000),
            back_pressured: false,
            draw: Draw::new(0),
        };
        Loopback {
            sender: Sender::new(Time::ZERO, law.source(&flow), &config, headers, &app),
            receiver: Receiver::new(law.sink(&flow), &config, mss, &app),
            now: Time::ZERO,
            sent: 0,
            there: VecDeque::new(),
            back: VecDeque::new(),
        }
    }

    fn operate(&mut self, operation: u8, bytes: &mut impl Iterator<Item = u8>) {
        match operation % 12 {
            0 | 1 => self.transmit(),
            2 => self.now += Duration::from_micros(number(bytes, 2)),
            3 => self.now = self.next_time(),
            4 | 5 => self.timers(),
            6 => self.deliver(),
            7 => self.acknowledge(),
            8 => drop(self.there.pop_front()),
            9 => drop(self.back.pop_front()),
            10 => self.nonsense(bytes),
            _ => match number(bytes, 1) % 8 {
                0 => self.sender.stop(),
                1 => self.there.rotate_left(1.min(self.there.len())),
                2 => self.there.extend(self.there.front().copied()),
                _ => self.stray_data(bytes),
            },
        }
    }

    fn next_time(&self) -> Time {
        let due = self.sender.deadline().min(self.receiver.deadline());
        if due > LATEST { self.now } else { due.max(self.now) }
    }

    fn note(&mut self, segment: Segment) {
        if segment.kind == (SegmentKind::Data { again: false }) {
            self.sent += segment.payload.get();
        }
        self.there.push_back(segment);
    }

    fn transmit(&mut self) {
        if self.send_all() && self.sender.deadline() <= self.now {
            // A timer that was served is no longer due, or time would stand still.
            self.timers();
            assert!(!self.send_all() || self.sender.deadline() > self.now);
        }
    }

    /// Sends what is allowed; returns whether that was all.
    fn send_all(&mut self) -> bool {
        for _ in 0..MOST_AT_ONCE {
            let Some(segment) = self.sender.poll_transmit(self.now) else { return true };
            self.note(segment);
        }
        false
    }

    fn timers(&mut self) {
        if let Some(segment) = self.sender.on_timer(self.now) {
            self.note(segment);
        }
        if self.receiver.on_timer(self.now) {
            self.back.push_back(self.receiver.acknowledge(self.now));
        }
    }

    fn deliver(&mut self) {
        let Some(s) = self.there.pop_front() else { return };
        let ack = if s.kind == SegmentKind::Open {
            self.receiver.open(self.now, &s.header)
        } else {
            let marked = s.offset % 7 == 3;
            if self.receiver.answers_first(marked) {
                self.back.push_back(self.receiver.acknowledge(self.now));
            }
            let reply =
                self.receiver.on_data(self.now, s.offset, s.payload, &s.header, marked, s.stamp);
            if reply == crate::Reply::Later {
                return;
            }
            self.receiver.acknowledge(self.now)
        };
        self.back.push_back(ack);
    }

    fn acknowledge(&mut self) {
        if let Some(ack) = self.back.pop_front() {
            self.sender.on_ack(self.now, &ack);
        }
    }

    fn nonsense(&mut self, bytes: &mut impl Iterator<Item = u8>) {
        let flags = number(bytes, 1);
        // Near the sent data, where it does most harm, or anywhere.
        let base = if flags & 1 == 0 { self.receiver.delivered().get() } else { 0 };
        let cumulative = base.saturating_add(wild(bytes));
        let mut sack = SackBlocks::default();
        for _ in 0..flags >> 1 & 3 {
            let start = cumulative.saturating_add(wild(bytes));
            sack.push(
                cumulative,
                start,
                start.saturating_add(wild(bytes)).wrapping_sub(wild(bytes)),
            );
        }
        let ack = Ack {
            opens: flags & 8 != 0,
            cumulative,
            window: Bytes::new(wild(bytes)),
            sack,
            marked: flags & 16 != 0,
            duplicate: flags & 32 != 0,
            epoch: Epoch::any((flags >> 5) as u8),
            header: Header::None,
        };
        self.sender.on_ack(self.now, &ack);
    }

    fn stray_data(&mut self, bytes: &mut impl Iterator<Item = u8>) {
        let (offset, payload) = (wild(bytes), Bytes::new(wild(bytes)));
        let _ = self.receiver.on_data(self.now, offset, payload, &Header::None, false, Stamp::NONE);
        let ack = self.receiver.acknowledge(self.now);
        assert!(self.receiver.delivered().get() == ack.cumulative);
        self.back.push_back(ack);
    }
}
