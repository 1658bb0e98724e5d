//! The router's part.

use alloc::boxed::Box;

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::meter::{Meter, float};
use super::{Abc, AbcHeader};
use crate::law::{LinkContext, Port, PortQueue};
use crate::reason::{Bound, Figure, Reason};

/// Minimum number of bytes from which a rate is measured: ten full packets.
const FEWEST: Bytes = Bytes::new(15_000);

/// ABC at one output queue.
#[derive(Clone, Debug)]
pub struct AbcPort {
    /// Boxed, because every port is as large as the largest.
    meter: Box<Meter>,
    /// `mu`, B/s.
    capacity: f64,
    capacity_is_set: bool,
    token: f64,
    token_limit: f64,
    eta: f64,
    /// `d_t` in seconds.
    allowed_delay: f64,
    /// `1 / delta`, per second.
    drain: f64,
    /// `q` and `tr` at the last packet, then the bytes and seconds whose quotient is `cr`.
    queue: f64,
    target: f64,
    departed: (f64, f64),
}

impl AbcPort {
    pub(super) fn new(law: &Abc, link: &LinkContext) -> AbcPort {
        let fewest = link.rate.serial_time().map_or(Duration::ZERO, |time| time.of(FEWEST));
        AbcPort {
            meter: Box::new(Meter::new(law.window.max(fewest))),
            capacity: law.capacity.unwrap_or(link.rate).throughput().get(),
            capacity_is_set: law.capacity.is_some(),
            token: 0.0,
            token_limit: law.token_limit,
            eta: law.eta,
            allowed_delay: law.allowed_delay,
            drain: 1.0 / law.delta,
            queue: 0.0,
            target: 0.0,
            departed: (1.0, 0.0),
        }
    }

    /// Handles a departure that begins a slot: the measured capacity is taken over for this slot.
    // A function of its own, so that the path of other packets makes no call and saves no
    // registers.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, now: Time, size: Bytes, header: Option<&mut AbcHeader>, queue: PortQueue) {
        self.meter.departs(now, size, queue.packets > 0);
        if !self.capacity_is_set
            && let Some(capacity) = self.meter.capacity()
        {
            self.capacity = capacity;
        }
        self.answer(now, size, header, queue);
    }

    #[inline]
    fn answer(&mut self, now: Time, size: Bytes, header: Option<&mut AbcHeader>, queue: PortQueue) {
        let Some(AbcHeader::Data { accelerate }) = header else { return };
        self.departed = self.meter.departed(now);
        self.queue = float(queue.bytes.saturating_add(size).get());
        let too_much = (self.queue - self.capacity * self.allowed_delay).max(0.0);
        self.target = self.eta * self.capacity - too_much * self.drain;
        let token = self.token + self.share();
        self.token = if token < self.token_limit { token } else { self.token_limit };
        if *accelerate {
            *accelerate = self.token > 1.0;
            if *accelerate {
                self.token -= 1.0;
            }
        }
    }

    /// Share of packets to accelerate.
    #[inline]
    fn share(&self) -> f64 {
        let (bytes, window) = self.departed;
        (self.target * window / (2.0 * bytes.max(1.0))).clamp(0.0, 1.0)
    }
}

impl Port for AbcPort {
    type Header = AbcHeader;

    #[inline]
    fn on_arrival(&mut self, _: Time, _: Bytes, _: Option<&mut AbcHeader>, _: PortQueue) {}

    #[inline]
    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut AbcHeader>,
        queue: PortQueue,
    ) {
        if self.meter.is_due(now) {
            self.turn(now, size, header, queue);
        } else {
            self.meter.count(now, size, queue.packets > 0);
            self.answer(now, size, header, queue);
        }
    }

    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    fn on_timer(&mut self, _: Time, _: PortQueue) {}

    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        if !self.capacity_is_set {
            self.capacity = rate.throughput().get();
            self.meter.forget_capacity();
        }
    }

    fn reason(&self) -> Reason {
        let (bytes, window) = self.departed;
        let departing = if window > 0.0 { bytes / window } else { 0.0 };
        let figures = [
            Figure::rate("mu", self.capacity),
            Figure::bytes("q", self.queue),
            Figure::rate("tr", self.target),
            Figure::rate("cr", departing),
            Figure::one("f", self.share()),
            Figure::one("eta", self.eta),
            Figure::seconds("d_t", self.allowed_delay),
            Figure::seconds("delta", 1.0 / self.drain),
        ];
        Reason::new(
            "f = min(tr / (2 cr), 1) of the packets accelerate; tr = eta mu - max(q - mu d_t, 0) / delta",
            figures,
        )
        .bound(Bound::Share(self.share()))
    }
}
