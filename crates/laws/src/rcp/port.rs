//! The router's part: its measurements, and the one rate for all flows. A [`Rule`] moves the rate:
//! it is the only difference between the routers of RCP and PIQI-RCP.

use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use super::RcpHeader;
use super::header::RcpKind;
use crate::law::{LinkContext, Port, PortQueue};
use crate::options::Options;
use crate::reason::{Figure, Reason};

/// Lower bound of the mean RTT, because a timer runs on it.
const SHORTEST_RTT: f64 = 1e-6;
/// Bytes of the packet that `min_packets` counts, as in ns-2.
const NOMINAL_PACKET: f64 = 1000.0;
const SECONDS_PER_PS: f64 = 1e-12;

/// Measurements of a slot that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Length, seconds.
    pub length: f64,
    /// Mean RTT `d0`, seconds.
    pub rtt: f64,
    /// Capacity to fill, `gamma C`, B/s; above 0.
    pub capacity: f64,
    /// Arrival rate `y`, B/s.
    pub input: f64,
    /// Queue at the end of the slot, bytes.
    pub queue: f64,
}

/// How a router's rate moves.
pub trait Rule {
    /// The equation, as the law's documentation writes it.
    const EQUATION: &'static str;
    /// The rule's own figures in the equation: its gains and its state.
    fn figures(&self) -> Vec<Figure>;
    /// The relative change of `R` at the end of a slot.
    fn growth(&mut self, slot: &Slot) -> f64;
}

/// A router's part of RCP or PIQI-RCP at one output queue.
#[derive(Clone, Debug)]
pub struct RatePort<R> {
    rule: R,
    /// `R`, B/s.
    rate: f64,
    rtt: MeanRtt,
    capacity: f64,
    capacity_is_set: bool,
    gamma: f64,
    min_packets: f64,
    longest_slot: f64,
    /// Length of the current slot in seconds, and its end.
    length: f64,
    end: Time,
    /// Bytes that arrived in this slot; and the part of a packet whose transmission would reach
    /// into the next slot.
    input: f64,
    spill: f64,
    /// The slot before this one.
    last: Slot,
}

/// The mean RTT of packets, weighted by their bytes.
#[derive(Clone, Debug)]
struct MeanRtt {
    /// `d0`, seconds.
    mean: f64,
    /// Mean RTT in the last slot with a packet that knew its RTT, seconds; 0 before.
    sample: f64,
    /// Picoseconds times bytes, and bytes, in this slot.
    sum: f64,
    bytes: f64,
}

impl<R: Rule> RatePort<R> {
    pub(crate) fn new(rule: R, options: &Options, link: &LinkContext) -> RatePort<R> {
        let set = options.rate("capacity");
        let capacity = set.unwrap_or(link.rate).throughput().get();
        let rtt = options.time("initial_rtt").secs();
        let longest_slot = options.time("slot").secs();
        let length = rtt.min(longest_slot);
        let gamma = options.number("gamma");
        let last = Slot { length, rtt, capacity: gamma * capacity, input: 0.0, queue: 0.0 };
        RatePort {
            rule,
            rate: capacity * options.number("initial_rate"),
            rtt: MeanRtt { mean: rtt, sample: 0.0, sum: 0.0, bytes: 0.0 },
            capacity,
            capacity_is_set: set.is_some(),
            gamma,
            min_packets: options.number("min_packets"),
            longest_slot,
            length,
            end: Time::ZERO + Duration::from_secs_f64(length),
            input: 0.0,
            spill: 0.0,
            last,
        }
    }

    fn end_slot(&mut self, now: Time, queue: PortQueue) {
        // While the link is down, R does not change.
        if self.capacity > 0.0 {
            self.rtt.end_slot(self.length, self.rate / self.capacity);
            self.last = Slot {
                length: self.length,
                rtt: self.rtt.mean,
                capacity: self.gamma * self.capacity,
                input: self.input / self.length,
                queue: queue.bytes.as_f64(),
            };
            let least = self.min_packets * NOMINAL_PACKET / self.rtt.mean;
            let rate = self.rate * (1.0 + self.rule.growth(&self.last));
            self.rate = rate.min(self.last.capacity).max(least);
        }
        self.length = self.rtt.mean.min(self.longest_slot);
        self.end = now + Duration::from_secs_f64(self.length);
        self.input = core::mem::take(&mut self.spill);
    }
}

impl MeanRtt {
    /// Ends a slot, as in ns-2. The mean rises within an RTT, and falls more slowly the more flows
    /// there are. A slot without a sample repeats the last sample.
    fn end_slot(&mut self, slot: f64, share_of_a_flow: f64) {
        if self.bytes > 0.0 {
            self.sample = self.sum / self.bytes * SECONDS_PER_PS;
        }
        let gain = if self.sample >= self.mean {
            slot / self.mean
        } else {
            share_of_a_flow * (self.sample / self.mean) * (slot / self.mean)
        };
        self.mean += gain.min(1.0) * (self.sample - self.mean);
        self.mean = self.mean.max(SHORTEST_RTT);
        self.sum = 0.0;
        self.bytes = 0.0;
    }
}

impl<R: Rule> Port for RatePort<R> {
    type Header = RcpHeader;

    /// Counts bytes of all traffic, because packets of other laws fill the link too.
    #[inline]
    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut RcpHeader>,
        _queue: PortQueue,
    ) {
        let size = size.as_f64();
        let left = self.capacity * SECONDS_PER_PS * self.end.since(now).ps() as f64;
        let spill = (size - left).max(0.0);
        self.input += size - spill;
        self.spill += spill;
        if let Some(header) = header.filter(|h| h.kind == RcpKind::Request && !h.rtt.is_zero()) {
            self.rtt.sum += size * header.rtt.ps() as f64;
            self.rtt.bytes += size;
        }
    }

    #[inline]
    fn on_departure(
        &mut self,
        _now: Time,
        _size: Bytes,
        header: Option<&mut RcpHeader>,
        _queue: PortQueue,
    ) {
        if let Some(header) = header.filter(|h| h.kind == RcpKind::Request) {
            header.rate = header.rate.min(Throughput::new(self.rate));
        }
    }

    fn next_timer(&self) -> Time {
        self.end
    }

    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        if self.end <= now {
            self.end_slot(now, queue);
        }
    }

    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        if !self.capacity_is_set {
            self.capacity = rate.throughput().get();
        }
    }

    fn reason(&self) -> Reason {
        let measured = [
            Figure::rate("R", self.rate),
            Figure::rate("C", self.capacity),
            Figure::rate("y", self.last.input),
            Figure::bytes("q", self.last.queue),
            Figure::seconds("d0", self.last.rtt),
            Figure::seconds("T", self.last.length),
            Figure::one("gamma", self.gamma),
        ];
        Reason::new(R::EQUATION, [measured.to_vec(), self.rule.figures()].concat())
    }
}
