//! The sender's part.

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::{Emkc, EmkcHeader};
use crate::feedback::{Limits, Round};
use crate::law::{Acked, Congestion, FlowContext, Sending, Source};
use crate::paced::{AFTER_LOSS_EQUATION, Paced};
use crate::reason::{Bound, Figure, Reason};

/// EMKC at one sender.
#[derive(Clone, Debug)]
pub struct EmkcSource {
    paced: Paced,
    limits: Limits,
    /// B/s a round trip.
    alpha: f64,
    beta: f64,
    round: Round,
    /// The price that was acted on last.
    loss: f64,
}

impl EmkcSource {
    pub(super) fn new(law: &Emkc, flow: &FlowContext) -> EmkcSource {
        let options = &law.options;
        let limits = Limits::new(flow, options);
        EmkcSource {
            paced: Paced::new(limits.initial(options), flow, options),
            limits,
            alpha: law.alpha,
            beta: options.number("beta"),
            round: Round::default(),
            loss: 0.0,
        }
    }

    /// Whether the rate in force has caused this price.
    #[inline]
    fn is_due(&mut self, header: &EmkcHeader) -> bool {
        header.router != 0
            && self.round.has_returned(header.marker)
            && self.round.is_measured(header.router, header.number)
    }
}

impl Source for EmkcSource {
    type Header = EmkcHeader;

    #[inline]
    fn on_send(&mut self, _sending: &Sending) -> Option<EmkcHeader> {
        Some(EmkcHeader::new(self.round.marker()))
    }

    fn on_opened(&mut self, _now: Time, rtt: Option<Duration>, _header: Option<&EmkcHeader>) {
        if let Some(rtt) = rtt {
            self.paced.set_srtt(rtt);
        }
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&EmkcHeader>) {
        self.paced.on_ack(acked);
        if let Some(header) = header.filter(|h| self.is_due(h)) {
            let rate = self.paced.granted();
            self.loss = header.loss;
            let next = rate + self.alpha - self.beta * header.loss * rate;
            // While a loss holds the rate below x, x does not grow: the price was caused by the
            // lower rate.
            let next = if self.paced.is_capped() { next.min(rate) } else { next };
            self.paced.grant(self.limits.hold(next));
            self.round.begin();
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.paced.on_congestion(congestion);
    }
    fn on_spurious(&mut self, _now: Time) {
        self.paced.on_spurious();
    }
    #[inline]
    fn window(&self) -> Bytes {
        self.paced.window()
    }
    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        self.paced.pacing()
    }

    fn reason(&self) -> Reason {
        let (equation, bound) = if self.paced.is_capped() {
            (AFTER_LOSS_EQUATION, Bound::Source)
        } else {
            let equation = "x += alpha - beta p x once a round trip, p the largest on the path";
            (equation, Bound::LastChange)
        };
        let figures = [
            Figure::rate("x", self.paced.granted()),
            Figure::one("p", self.loss),
            Figure::rate("alpha", self.alpha),
            Figure::one("beta", self.beta),
            Figure::rate("cap after loss", self.paced.cap()),
            Figure::seconds("RTT", self.paced.srtt()),
        ];
        Reason::new(equation, figures).bound(bound)
    }
}
