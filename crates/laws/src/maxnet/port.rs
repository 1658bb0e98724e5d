//! The router's part.

use ratewire_units::{Bytes, Rate, Time};

use super::{Maxnet, MaxnetHeader};
use crate::feedback::{Load, Meter};
use crate::law::{LinkContext, Port, PortQueue};
use crate::reason::{Figure, Reason};

/// Rate of a flow at the highest price, B/s.
const SLOWEST: f64 = 1000.0;

/// MaxNet at one output queue.
#[derive(Clone, Debug)]
pub struct MaxnetPort {
    meter: Meter,
    /// Load of the last interval.
    load: Load,
    price: f64,
    highest: f64,
    x_max: f64,
    gain: f64,
    floor_is_zero: bool,
}

impl MaxnetPort {
    pub(super) fn new(law: &Maxnet, link: &LinkContext) -> MaxnetPort {
        let options = &law.options;
        let meter = Meter::new(options, link, options.number("mu"));
        let mut port = MaxnetPort {
            load: meter.idle(),
            meter,
            price: 0.0,
            highest: libm::log(law.x_max / SLOWEST).max(0.0),
            x_max: law.x_max,
            gain: options.number("k"),
            floor_is_zero: options.word("floor") == "zero",
        };
        port.price = port.floor();
        port
    }

    fn floor(&self) -> f64 {
        let target = self.meter.target();
        if self.floor_is_zero || target <= 0.0 {
            return 0.0;
        }
        libm::log(self.x_max / target).clamp(0.0, self.highest)
    }
}

impl Port for MaxnetPort {
    type Header = MaxnetHeader;

    #[inline]
    fn on_arrival(
        &mut self,
        _now: Time,
        size: Bytes,
        _header: Option<&mut MaxnetHeader>,
        _queue: PortQueue,
    ) {
        self.meter.count(size);
    }

    #[inline]
    fn on_departure(
        &mut self,
        _now: Time,
        _size: Bytes,
        header: Option<&mut MaxnetHeader>,
        _queue: PortQueue,
    ) {
        if let Some(header) = header.filter(|h| !h.returned && self.price > h.price) {
            header.price = self.price;
        }
    }

    fn next_timer(&self) -> Time {
        self.meter.next_timer()
    }

    fn on_timer(&mut self, now: Time, _queue: PortQueue) {
        let Some(load) = self.meter.end(now) else { return };
        self.load = load;
        let target = self.meter.target();
        if target > 0.0 {
            let surplus = (load.rate - target) / target;
            let price = self.price + self.gain * load.secs * surplus;
            self.price = price.clamp(self.floor(), self.highest);
        }
    }

    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        self.meter.on_rate_change(rate);
    }

    fn reason(&self) -> Reason {
        Reason::new(
            "p += k T (y - mu C) / (mu C), once an interval; the largest on the path counts",
            [
                Figure::one("p", self.price),
                Figure::one("floor", self.floor()),
                Figure::per_second("k", self.gain),
                Figure::seconds("T", self.load.secs),
                Figure::rate("y", self.load.rate),
                Figure::rate("mu C", self.meter.target()),
            ],
        )
    }
}
