//! A path to test on: one bottleneck with a buffer, pacing, losses noticed by the next packet.

use alloc::collections::VecDeque;

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::bbr::PacketNumber;
use crate::law::{Acked, Congestion, Draw, FlowContext, Law, Named, Sending, Signal, Source};
use crate::options::Options;

/// A version of BBR at a sender.
pub(in crate::bbr) trait Version: Source<Header = PacketNumber> {
    type State: Copy + PartialEq + core::fmt::Debug;

    fn state(&self) -> Self::State;
}

/// Size of a packet with headers, and its payload.
pub(in crate::bbr) const PACKET: u64 = 1500;
pub(in crate::bbr) const MSS: u64 = 1460;

pub(in crate::bbr) fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// The sender of a law with these options, whose packets are `scale` times as large as usual.
pub(in crate::bbr) fn source<L: Law + Named>(options: &[(&str, &str)], scale: u64) -> L::Source {
    let mut all = Options::defaults(L::INFO.options);
    for (name, value) in options {
        all.set(name, value).unwrap();
    }
    let flow = FlowContext {
        mss: Bytes::new(MSS * scale),
        packet: Bytes::new(PACKET * scale),
        line_rate: Rate::from_mbps(10_000),
        back_pressured: false,
        draw: Draw::new(1),
    };
    L::from_options(&all).unwrap().source(&flow)
}

struct Packet {
    number: PacketNumber,
    sent: Time,
    due: Time,
    lost: bool,
}

/// A sender, its path, and packets on their way.
pub(in crate::bbr) struct Path<S: Version> {
    pub(in crate::bbr) source: S,
    pub(in crate::bbr) now: Time,
    /// Rate of the bottleneck.
    pub(in crate::bbr) rate: Rate,
    /// Round-trip time without queueing.
    pub(in crate::bbr) rtt: Duration,
    /// Room in the bottleneck, in packets.
    pub(in crate::bbr) buffer: u64,
    /// One packet in so many is lost; 0 for none.
    pub(in crate::bbr) lose_every: u64,
    /// Least time between two packets of the application.
    pub(in crate::bbr) app: Duration,
    /// Payload acknowledged, and given up.
    pub(in crate::bbr) delivered: u64,
    pub(in crate::bbr) lost: u64,
    /// All states so far, each with when it began.
    pub(in crate::bbr) states: alloc::vec::Vec<(Time, S::State)>,
    size: u64,
    sent: u64,
    may_send: Time,
    app_writes: Time,
    free: Time,
    on_the_way: VecDeque<Packet>,
    untold: u64,
    recover: Option<PacketNumber>,
}

impl<S: Version> Path<S> {
    /// A path for packets that are `scale` times as large as usual.
    pub(in crate::bbr) fn new(
        source: S,
        scale: u64,
        rate: Rate,
        rtt: Duration,
        buffer: u64,
    ) -> Path<S> {
        Path {
            size: MSS * scale,
            states: alloc::vec![(Time::ZERO, source.state())],
            source,
            now: Time::ZERO,
            rate,
            rtt,
            buffer,
            lose_every: 0,
            app: Duration::ZERO,
            delivered: 0,
            lost: 0,
            sent: 0,
            may_send: Time::ZERO,
            app_writes: Time::ZERO,
            free: Time::ZERO,
            on_the_way: VecDeque::new(),
            untold: 0,
            recover: None,
        }
    }

    pub(in crate::bbr) fn in_flight(&self) -> u64 {
        self.size * self.on_the_way.len() as u64
    }
    pub(in crate::bbr) fn window(&self) -> f64 {
        self.source.window().as_f64() / self.size as f64
    }
    /// Bandwidth-delay product of the path, in packets.
    pub(in crate::bbr) fn bdp(&self) -> f64 {
        self.rtt.secs() / self.serial().secs()
    }
    /// Payload rate of the bottleneck.
    pub(in crate::bbr) fn goodput(&self) -> f64 {
        self.size as f64 / self.serial().secs()
    }
    fn serial(&self) -> Duration {
        self.rate.serial_time().unwrap().of(self.packet())
    }
    fn packet(&self) -> Bytes {
        Bytes::new(self.size * PACKET / MSS)
    }
    /// Packets waiting at the bottleneck.
    pub(in crate::bbr) fn queue(&self) -> f64 {
        self.free.since(self.now).secs() / self.serial().secs()
    }

    pub(in crate::bbr) fn run_until(&mut self, time: Time) {
        while self.now < time {
            self.step();
        }
    }
    /// Runs until the condition holds, for a minute at most.
    pub(in crate::bbr) fn run_to(&mut self, condition: impl Fn(&Path<S>) -> bool) {
        let end = self.now + Duration::from_secs(60);
        while !condition(self) {
            assert!(self.now < end, "still not so: {:?}", self.source.reason());
            self.step();
        }
    }

    fn step(&mut self) {
        let room = self.source.window().get() >= self.in_flight() + self.size;
        let idle = self.on_the_way.is_empty();
        let can_send = self.may_send.max(self.app_writes).max(self.now);
        let due = self.on_the_way.front().map_or(Time::NEVER, |p| p.due);
        if (room || idle) && can_send < due {
            let limited = self.app_writes > self.may_send.max(self.now);
            self.now = can_send;
            self.send(limited);
        } else {
            self.now = due;
            self.arrive(room && self.app_writes > self.now);
        }
        let state = self.source.state();
        if self.states.last().is_some_and(|last| last.1 != state) {
            self.states.push((self.now, state));
        }
    }

    fn send(&mut self, limited: bool) {
        let number = self.source.on_send(&Sending {
            now: self.now,
            packet: self.packet(),
            in_flight: Bytes::new(self.in_flight() + self.size),
            receive_window: Bytes::MAX,
            srtt: self.rtt,
            rto: self.rtt * 2,
            limited,
        });
        self.sent += 1;
        let full = self.queue() >= self.buffer as f64;
        let lost = full || (self.lose_every > 0 && self.sent.is_multiple_of(self.lose_every));
        self.free = self.free.max(self.now);
        if !full {
            self.free += self.serial();
        }
        self.on_the_way.push_back(Packet {
            number: number.unwrap(),
            sent: self.now,
            due: self.free + self.rtt,
            lost,
        });
        self.may_send = self.now + self.source.pacing().unwrap().time_for(self.packet());
        self.app_writes = self.now.max(self.app_writes) + self.app;
    }

    fn arrive(&mut self, limited: bool) {
        let was_in_flight = self.in_flight();
        let packet = self.on_the_way.pop_front().unwrap();
        if packet.lost {
            self.untold += self.size;
            self.lost += self.size;
            return;
        }
        self.delivered += self.size;
        let now = self.now;
        let srtt = now.since(packet.sent);
        if self.recover.is_some_and(|recover| packet.number >= recover) {
            self.recover = None;
            self.source.on_recovered(now);
        }
        if self.untold > 0 && self.recover.is_none() {
            self.recover = Some(PacketNumber(self.sent));
            let in_flight = Bytes::new(was_in_flight);
            self.source.on_congestion(&Congestion { now, signal: Signal::Loss, in_flight, srtt });
        }
        let acked = Acked {
            now,
            bytes: Bytes::new(self.size),
            in_flight: Bytes::new(self.in_flight()),
            was_in_flight: Bytes::new(was_in_flight),
            rtt: Some(srtt),
            srtt,
            cumulative: self.delivered,
            next: self.sent * self.size,
            receive_window: Bytes::MAX,
            limited,
            in_recovery: self.recover.is_some(),
            marked: false,
            lost: Bytes::new(core::mem::take(&mut self.untold)),
        };
        self.source.on_ack(&acked, Some(&packet.number));
    }
}
