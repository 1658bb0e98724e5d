//! For tests of laws: one source at one end of a pipe, driven acknowledgement by acknowledgement.
//!
//! The pipe has a delay, may have a bottleneck with an endless queue, and may lose or mark every
//! n-th packet it is given, or packets at random. The transport is the simplest that keeps the
//! contract of [`Source`]: a lost packet is noticed when its acknowledgement would have come, and
//! sent again at once. There is no pacing, and headers come back as they were sent.

use alloc::collections::VecDeque;

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::law::{Acked, Congestion, Draw, FlowContext, Named, Sending, Signal, Source};
use crate::options::Options;

/// Payload of a full packet.
pub(crate) const MSS: Bytes = Bytes::new(1000);
/// A flow of such packets, with 40 bytes of headers, on a link of 10 Gbit/s.
pub(crate) const FLOW: FlowContext = FlowContext {
    mss: MSS,
    packet: Bytes::new(1040),
    line_rate: Rate::from_mbps(10_000),
    back_pressured: false,
    draw: Draw::new(0),
};

/// The source of a law with these options.
pub(crate) fn source<L: Named>(options: &[(&str, &str)]) -> L::Source {
    let mut all = Options::defaults(L::INFO.options);
    for (name, value) in options {
        all.set(name, value).unwrap();
    }
    L::from_options(&all).unwrap().source(&FLOW)
}

/// One packet acknowledged, 100 ms after it was sent; to be changed with `..`.
pub(crate) fn acked() -> Acked {
    Acked {
        now: Time::ZERO + Duration::from_millis(100),
        bytes: MSS,
        in_flight: MSS * 9,
        was_in_flight: MSS * 10,
        rtt: Some(Duration::from_millis(100)),
        srtt: Duration::from_millis(100),
        cumulative: 1000,
        next: 11_000,
        receive_window: Bytes::MAX,
        limited: false,
        in_recovery: false,
        marked: false,
        lost: Bytes::ZERO,
    }
}

/// Congestion noticed after 100 ms, with this many packets outstanding.
pub(crate) fn congestion(signal: Signal, packets: u64) -> Congestion {
    Congestion {
        now: Time::ZERO + Duration::from_millis(100),
        signal,
        in_flight: MSS * packets,
        srtt: Duration::from_millis(100),
    }
}

/// A packet sent after 100 ms with nothing else outstanding.
pub(crate) fn sending() -> Sending {
    Sending {
        now: Time::ZERO + Duration::from_millis(100),
        packet: FLOW.packet,
        in_flight: MSS,
        receive_window: Bytes::MAX,
        srtt: Duration::from_millis(100),
        rto: Duration::from_secs(1),
        limited: false,
    }
}

/// A source, its pipe, and packets on their way.
pub(crate) struct Pipe<S: Source> {
    pub(crate) source: S,
    /// RTT without queueing.
    pub(crate) rtt: Duration,
    /// Time each packet takes at the bottleneck.
    pub(crate) serial: Duration,
    /// Packets an acknowledgement covers: 2 with delayed acknowledgements.
    pub(crate) ack_every: u64,
    /// One packet in so many is lost (or marked, with `marks`); 0 for none.
    pub(crate) lose_every: u64,
    /// Probability with which each packet is lost (or marked), beside those.
    pub(crate) chance: f64,
    /// State of the dice for it.
    pub(crate) dice: u64,
    /// Whether to mark packets instead of losing them.
    pub(crate) marks: bool,
    /// When the last acknowledgement arrived.
    pub(crate) now: Time,
    /// Payload acknowledged.
    pub(crate) delivered: Bytes,
    /// Losses and marks noticed, at most one a window.
    pub(crate) events: u64,
    sent: u64,
    next: u64,
    on_the_way: VecDeque<Packet<S::Header>>,
    /// Offsets of packets lost and sent again, not yet acknowledged, in order.
    holes: VecDeque<u64>,
    /// Acknowledging this offset ends the repair.
    recover: Option<u64>,
    /// Marks of packets before this one belong to the last event.
    marked_until: u64,
    srtt: Duration,
    bottleneck_free: Time,
    /// Payload lost since the last acknowledgement.
    unreported: Bytes,
}

struct Packet<H> {
    offset: u64,
    sent: Time,
    due: Time,
    again: bool,
    hit: bool,
    header: Option<H>,
}

impl<S: Source> Pipe<S> {
    /// A pipe that loses nothing and is infinitely fast.
    pub(crate) fn new(source: S, rtt: Duration) -> Pipe<S> {
        Pipe {
            source,
            rtt,
            serial: Duration::ZERO,
            ack_every: 1,
            lose_every: 0,
            chance: 0.0,
            dice: 1,
            marks: false,
            now: Time::ZERO,
            delivered: Bytes::ZERO,
            events: 0,
            sent: 0,
            next: 0,
            on_the_way: VecDeque::new(),
            holes: VecDeque::new(),
            recover: None,
            marked_until: 0,
            srtt: Duration::ZERO,
            bottleneck_free: Time::ZERO,
            unreported: Bytes::ZERO,
        }
    }

    /// The window in packets.
    pub(crate) fn packets(&self) -> f64 {
        self.source.window().as_f64() / MSS.as_f64()
    }

    /// Mean number of packets in an RTT, from the loss `from` up to the loss `to`.
    pub(crate) fn mean_window(&mut self, from: u64, to: u64) -> f64 {
        self.run_while(|pipe| pipe.events < from);
        let (start, before) = (self.now, self.delivered);
        self.run_while(|pipe| pipe.events < to);
        let packets = (self.delivered - before).as_f64() / MSS.as_f64();
        packets * self.rtt.secs() / self.now.since(start).secs()
    }

    /// Mean number of packets in an RTT, from now on for this long.
    pub(crate) fn mean_window_for(&mut self, time: Duration) -> f64 {
        let (start, before) = (self.now, self.delivered);
        self.run_while(|pipe| pipe.now.since(start) < time);
        let packets = (self.delivered - before).as_f64() / MSS.as_f64();
        packets * self.rtt.secs() / self.now.since(start).secs()
    }

    /// Runs from acknowledgement to acknowledgement while the condition holds.
    pub(crate) fn run_while(&mut self, condition: impl Fn(&Pipe<S>) -> bool) {
        while condition(self) {
            self.step();
        }
    }

    /// Runs until all data that is on its way now is acknowledged.
    pub(crate) fn round(&mut self) {
        self.fill();
        let end = self.next;
        self.run_while(|pipe| pipe.cumulative() < end);
    }

    /// Sends what the window allows, then waits for the next acknowledgement or loss.
    fn step(&mut self) {
        self.fill();
        let was_in_flight = self.in_flight();
        let mut bytes = Bytes::ZERO;
        while let Some(packet) = self.on_the_way.pop_front() {
            self.now = packet.due;
            if packet.hit && !self.marks {
                self.lost(packet.offset);
                return;
            }
            bytes += MSS;
            self.holes.retain(|offset| *offset != packet.offset);
            let held = self.on_the_way.front().is_some_and(|next| !next.again && !next.hit);
            if bytes >= MSS * self.ack_every || !held || packet.again || packet.hit {
                self.acknowledge(&packet, bytes, was_in_flight);
                return;
            }
        }
    }

    fn in_flight(&self) -> Bytes {
        MSS * self.on_the_way.len() as u64
    }

    fn cumulative(&self) -> u64 {
        let first = self.on_the_way.iter().find(|p| !p.again).map_or(self.next, |p| p.offset);
        self.holes.front().map_or(first, |hole| first.min(*hole))
    }

    /// A number from 0 up to 1 (Knuth's generator MMIX).
    fn draw(&mut self) -> f64 {
        self.dice = self
            .dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 11) as f64 / (1u64 << 53) as f64
    }

    fn fill(&mut self) {
        while self.on_the_way.is_empty() || self.in_flight() + MSS <= self.source.window() {
            let offset = self.next;
            self.next += MSS.get();
            self.send(offset, false);
        }
    }

    fn send(&mut self, offset: u64, again: bool) {
        let header = self.source.on_send(&Sending {
            now: self.now,
            in_flight: self.in_flight() + MSS,
            srtt: self.srtt,
            ..sending()
        });
        self.sent += 1;
        let is_chosen = self.lose_every > 0 && self.sent.is_multiple_of(self.lose_every);
        let hit = is_chosen || (self.chance > 0.0 && self.draw() < self.chance);
        self.bottleneck_free = self.bottleneck_free.max(self.now) + self.serial;
        self.on_the_way.push_back(Packet {
            offset,
            sent: self.now,
            due: self.bottleneck_free + self.rtt,
            again,
            hit,
            header,
        });
    }

    fn lost(&mut self, offset: u64) {
        self.unreported += MSS;
        if self.recover.is_none() {
            self.recover = Some(self.next);
            self.notice(Signal::Loss);
        }
        if let Err(at) = self.holes.binary_search(&offset) {
            self.holes.insert(at, offset);
        }
        self.send(offset, true);
    }

    fn notice(&mut self, signal: Signal) {
        self.events += 1;
        // The lost or marked packet was outstanding too.
        let in_flight = self.in_flight() + MSS;
        let (now, srtt) = (self.now, self.srtt);
        self.source.on_congestion(&Congestion { now, signal, in_flight, srtt });
    }

    fn acknowledge(&mut self, packet: &Packet<S::Header>, bytes: Bytes, was_in_flight: Bytes) {
        let rtt = (!packet.again).then(|| self.now.since(packet.sent));
        if let Some(rtt) = rtt {
            self.srtt =
                if self.srtt.is_zero() { rtt } else { self.srtt.scale(0.875) + rtt.scale(0.125) };
        }
        self.delivered += bytes;
        let cumulative = self.cumulative();
        if self.recover.is_some_and(|recover| cumulative >= recover) {
            self.recover = None;
            self.source.on_recovered(self.now);
        }
        if packet.hit && packet.offset >= self.marked_until {
            self.marked_until = self.next;
            self.notice(Signal::Mark);
        }
        let acked = Acked {
            now: self.now,
            bytes,
            in_flight: self.in_flight(),
            was_in_flight,
            rtt,
            srtt: self.srtt,
            cumulative,
            next: self.next,
            in_recovery: self.recover.is_some(),
            marked: packet.hit,
            lost: core::mem::take(&mut self.unreported),
            ..acked()
        };
        self.source.on_ack(&acked, packet.header.as_ref());
    }
}
