//! The sender's part.

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::{Maxnet, MaxnetHeader};
use crate::feedback::Limits;
use crate::law::{Acked, Congestion, FlowContext, Sending, Source};
use crate::paced::{AFTER_LOSS_EQUATION, Paced};
use crate::reason::{Bound, Figure, Reason};

/// MaxNet at one sender.
#[derive(Clone, Debug)]
pub struct MaxnetSource {
    paced: Paced,
    limits: Limits,
    x_max: f64,
    /// The last price received; -infinity before the first.
    price: f64,
}

impl MaxnetSource {
    pub(super) fn new(law: &Maxnet, flow: &FlowContext) -> MaxnetSource {
        let limits = Limits::new(flow, &law.options);
        MaxnetSource {
            paced: Paced::new(limits.initial(&law.options), flow, &law.options),
            limits,
            x_max: law.x_max,
            price: f64::NEG_INFINITY,
        }
    }

    #[inline]
    fn read_price(&mut self, header: Option<&MaxnetHeader>) {
        let Some(header) = header else { return };
        if header.price.is_finite() && header.price != self.price {
            self.price = header.price;
            self.paced.grant(self.limits.hold(self.x_max * libm::exp(-header.price)));
        }
    }
}

impl Source for MaxnetSource {
    type Header = MaxnetHeader;

    /// Asks for the price, so that the first data already has the right pace.
    fn on_open(&mut self, _now: Time) -> Option<MaxnetHeader> {
        Some(MaxnetHeader::new())
    }

    fn on_opened(&mut self, _now: Time, rtt: Option<Duration>, header: Option<&MaxnetHeader>) {
        if let Some(rtt) = rtt {
            self.paced.set_srtt(rtt);
        }
        self.read_price(header);
    }

    #[inline]
    fn on_send(&mut self, _sending: &Sending) -> Option<MaxnetHeader> {
        Some(MaxnetHeader::new())
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&MaxnetHeader>) {
        self.paced.on_ack(acked);
        self.read_price(header);
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
        let (equation, bound) = if self.price == f64::NEG_INFINITY {
            ("x at its initial rate: no router has been heard", Bound::Source)
        } else if self.paced.is_capped() {
            (AFTER_LOSS_EQUATION, Bound::Source)
        } else {
            ("x = x_max exp(-q), q the largest price on the path", Bound::LastChange)
        };
        let figures = [
            Figure::rate("x", self.paced.granted()),
            Figure::one("q", self.price),
            Figure::rate("x_max", self.x_max),
            Figure::rate("cap after loss", self.paced.cap()),
            Figure::seconds("RTT", self.paced.srtt()),
        ];
        Reason::new(equation, figures).bound(bound)
    }
}
