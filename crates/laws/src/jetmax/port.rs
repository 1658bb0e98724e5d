//! The router's part.

use ratewire_units::{Bytes, Rate, Time};

use super::{Jetmax, JetmaxHeader};
use crate::feedback::Meter;
use crate::law::{LinkContext, Port, PortQueue};
use crate::reason::{Figure, Reason};

/// JetMax at one output queue.
#[derive(Clone, Debug)]
pub struct JetmaxPort {
    id: u32,
    meter: Meter,
    /// Bytes of the flows bound here, in this interval.
    responsive: f64,
    /// Sum of the gaps of these flows, in seconds. Each flow fills an interval with gaps, so the
    /// sum over the interval's length is the number of flows.
    gaps: f64,
    longest_gap: f64,
    switch_margin: f64,
    /// Figures worked out when the last interval ended.
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct State {
    loss: f64,
    /// B/s.
    fair: f64,
    flows: f64,
    unresponsive: f64,
}

impl JetmaxPort {
    pub(super) fn new(law: &Jetmax, link: &LinkContext) -> JetmaxPort {
        let options = &law.options;
        let meter = Meter::new(options, link, options.number("gamma"));
        let state = State {
            loss: meter.virtual_loss(meter.idle()),
            fair: meter.target(),
            flows: 0.0,
            unresponsive: 0.0,
        };
        JetmaxPort {
            id: link.id,
            meter,
            responsive: 0.0,
            gaps: 0.0,
            longest_gap: options.time("longest_gap").secs(),
            switch_margin: options.number("switch_margin"),
            state,
        }
    }
}

impl Port for JetmaxPort {
    type Header = JetmaxHeader;

    /// The three additions.
    #[inline]
    fn on_arrival(
        &mut self,
        _now: Time,
        size: Bytes,
        header: Option<&mut JetmaxHeader>,
        _queue: PortQueue,
    ) {
        self.meter.count(size);
        if let Some(header) = header.filter(|h| h.bottleneck == self.id && !h.returned) {
            self.responsive += size.as_f64();
            self.gaps += f64::from(header.gap).min(self.longest_gap);
        }
    }

    #[inline]
    fn on_departure(
        &mut self,
        _now: Time,
        _size: Bytes,
        header: Option<&mut JetmaxHeader>,
        _queue: PortQueue,
    ) {
        let Some(header) = header.filter(|h| !h.returned) else { return };
        if header.bottleneck == self.id {
            header.fair = self.state.fair;
            header.number = self.meter.number();
        } else if self.state.loss as f32 > header.loss {
            header.loss = self.state.loss as f32;
            header.proposed = self.id;
            header.proposed_fair = self.state.fair;
        }
    }

    fn next_timer(&self) -> Time {
        self.meter.next_timer()
    }

    fn on_timer(&mut self, now: Time, _queue: PortQueue) {
        let Some(load) = self.meter.end(now) else { return };
        let responsive = core::mem::take(&mut self.responsive) / load.secs;
        let flows = core::mem::take(&mut self.gaps) / load.secs;
        let loss = self.meter.virtual_loss(load);
        let unresponsive = load.rate - responsive;
        let fair = if flows > 0.0 {
            (self.meter.target() - unresponsive).max(0.0) / flows.max(1.0)
        } else if loss > self.switch_margin {
            // Flows bound elsewhere overload the link: each flow that gets this g becomes bound
            // here.
            0.0
        } else {
            self.meter.target()
        };
        self.state = State { loss, fair, flows, unresponsive };
    }

    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        self.meter.on_rate_change(rate);
    }

    fn reason(&self) -> Reason {
        Reason::new(
            "g = (gamma C - u) / N, u what comes from flows bound elsewhere, N flows bound here",
            [
                Figure::rate("g", self.state.fair),
                Figure::rate("gamma C", self.meter.target()),
                Figure::rate("u", self.state.unresponsive),
                Figure::one("N", self.state.flows),
                Figure::one("virtual loss", self.state.loss),
            ],
        )
    }
}
