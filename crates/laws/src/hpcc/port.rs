//! The router's part: it stamps packets and computes nothing.

use ratewire_units::{Bytes, Rate, Time};

use super::header::{HopStamp, HpccHeader, SpeedCode};
use crate::law::{LinkContext, Port, PortQueue};
use crate::reason::{Figure, Reason};

/// HPCC at one output queue.
#[derive(Clone, Debug)]
pub struct HpccPort {
    speed: SpeedCode,
    ticks_per_sec: f64,
    /// Factor of byte counts: the stamped speed over the link's rate.
    scale: f64,
    /// Bytes sent, scaled.
    sent: f64,
    /// Queue behind the last packet, and the departure time of that packet.
    queue: f64,
    stamped: Time,
    id: u32,
}

impl HpccPort {
    pub(super) fn new(link: &LinkContext) -> HpccPort {
        let speed = SpeedCode::at_least(link.rate.bps());
        let ticks_per_sec = 1.0 / speed.tick();
        let mut port = HpccPort {
            speed,
            ticks_per_sec,
            scale: 1.0,
            sent: 0.0,
            queue: 0.0,
            stamped: Time::ZERO,
            id: link.id,
        };
        port.set_rate(link.rate);
        port
    }

    /// Sets the rate. At rate zero no packet leaves or is stamped.
    fn set_rate(&mut self, rate: Rate) {
        if rate != Rate::ZERO {
            self.scale = self.speed.rate() / rate.throughput().get();
        }
    }
}

impl Port for HpccPort {
    type Header = HpccHeader;

    #[inline]
    fn on_arrival(&mut self, _: Time, _: Bytes, _: Option<&mut HpccHeader>, _: PortQueue) {}

    #[inline]
    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut HpccHeader>,
        queue: PortQueue,
    ) {
        self.queue = queue.bytes.as_f64();
        self.stamped = now;
        if let Some(header) = header.filter(|header| !header.returning()) {
            let tick = (now.secs() * self.ticks_per_sec + 0.5) as u64;
            let stamp = HopStamp::new(self.speed, tick, self.sent, self.queue * self.scale);
            header.push(stamp, self.id);
        }
        self.sent += size.as_f64() * self.scale;
    }

    fn next_timer(&self) -> Time {
        Time::NEVER
    }
    fn on_timer(&mut self, _: Time, _: PortQueue) {}

    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        self.set_rate(rate);
    }

    fn reason(&self) -> Reason {
        Reason::new(
            "stamped with B, ts, txBytes and qlen: senders work out from them how full it is",
            [
                Figure::rate("B", self.speed.rate() / self.scale),
                Figure::seconds("ts", self.stamped.secs()),
                Figure::bytes("txBytes", self.sent / self.scale),
                Figure::bytes("qlen", self.queue),
            ],
        )
    }
}
