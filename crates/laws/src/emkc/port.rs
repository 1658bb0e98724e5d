//! The router's part.

use ratewire_units::{Bytes, Rate, Time};

use super::{Emkc, EmkcHeader};
use crate::feedback::{Load, Meter};
use crate::law::{LinkContext, Port, PortQueue};
use crate::reason::{Figure, Reason};

/// EMKC at one output queue.
#[derive(Clone, Debug)]
pub struct EmkcPort {
    id: u32,
    meter: Meter,
    /// Load and `p` of the last interval.
    load: Load,
    loss: f64,
}

impl EmkcPort {
    pub(super) fn new(law: &Emkc, link: &LinkContext) -> EmkcPort {
        let meter = Meter::new(&law.options, link, law.options.number("gamma"));
        let load = meter.idle();
        let loss = meter.virtual_loss(load);
        EmkcPort { id: link.id, meter, load, loss }
    }
}

impl Port for EmkcPort {
    type Header = EmkcHeader;

    #[inline]
    fn on_arrival(
        &mut self,
        _now: Time,
        size: Bytes,
        _header: Option<&mut EmkcHeader>,
        _queue: PortQueue,
    ) {
        self.meter.count(size);
    }

    #[inline]
    fn on_departure(
        &mut self,
        _now: Time,
        _size: Bytes,
        header: Option<&mut EmkcHeader>,
        _queue: PortQueue,
    ) {
        if let Some(header) = header.filter(|h| !h.returned && self.loss > h.loss) {
            header.router = self.id;
            header.number = self.meter.number();
            header.loss = self.loss;
        }
    }

    fn next_timer(&self) -> Time {
        self.meter.next_timer()
    }

    fn on_timer(&mut self, now: Time, _queue: PortQueue) {
        if let Some(load) = self.meter.end(now) {
            self.load = load;
            self.loss = self.meter.virtual_loss(load);
        }
    }

    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        self.meter.on_rate_change(rate);
    }

    fn reason(&self) -> Reason {
        Reason::new(
            "p = (S - gamma C) / S, once an interval; the largest on the path counts",
            [
                Figure::one("p", self.loss),
                Figure::rate("S", self.load.rate),
                Figure::rate("gamma C", self.meter.target()),
            ],
        )
    }
}
