//! The sender's part, of RCP and, with a ramp, of PIQI-RCP.

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::RcpHeader;
use super::header::MAX_RATE;
use crate::law::{Acked, Congestion, FlowContext, Sending, Source};
use crate::options::Options;
use crate::paced::{AFTER_LOSS_EQUATION, Paced};
use crate::reason::{Bound, Figure, Reason};

/// RCP or PIQI-RCP at one sender.
#[derive(Clone, Debug)]
pub struct RcpSource {
    paced: Paced,
    /// The rate that came back last, B/s; `None` until one has.
    offered: Option<f64>,
    /// Approach to the offered rate; `None` to take it at once.
    ramp: Option<Ramp>,
    /// When the ramp was last climbed.
    climbed: Time,
    desired: f64,
    /// Minimum rate, B/s.
    least: f64,
    packet: f64,
    mss: Bytes,
}

/// A sender's approach to the offered rate.
#[derive(Clone, Copy, Debug)]
pub struct Ramp {
    /// Share of the difference that it covers in an RTT.
    pub share: f64,
    /// Whether a lower rate is taken at once.
    pub falls_at_once: bool,
}

impl RcpSource {
    pub(crate) fn new(options: &Options, ramp: Option<Ramp>, flow: &FlowContext) -> RcpSource {
        let desired = options.rate("desired").unwrap_or(flow.line_rate).throughput().get();
        RcpSource {
            paced: Paced::new(0.0, flow, options),
            offered: None,
            ramp,
            climbed: Time::ZERO,
            // The link may be down as the flow starts.
            desired: if desired > 0.0 { desired } else { MAX_RATE },
            least: flow.packet.as_f64() / options.time("probe").secs(),
            packet: flow.packet.as_f64(),
            mss: flow.mss,
        }
    }

    fn take(&mut self, now: Time, header: Option<&RcpHeader>) {
        let Some(rate) = header.map(|h| h.reverse_rate.get()).filter(|rate| *rate >= 0.0) else {
            return;
        };
        let rate = rate.min(self.desired);
        let first = self.offered.replace(rate).is_none();
        match self.ramp {
            None => self.paced.grant(rate),
            Some(ramp) if first => {
                self.paced.grant(self.first_step(ramp.share, rate));
                self.climbed = now;
            }
            Some(ramp) if ramp.falls_at_once => self.paced.grant(self.paced.granted().min(rate)),
            Some(_) => {}
        }
    }

    /// Pace of the first packet of a flow whose rate rises from 0 with slope `share rate / RTT`.
    /// Such a rate sends a packet in `sqrt(2 packet RTT / (share rate))`.
    fn first_step(&self, share: f64, rate: f64) -> f64 {
        let srtt = self.paced.srtt();
        let step =
            if srtt > 0.0 { libm::sqrt(share * rate * self.packet / (2.0 * srtt)) } else { 0.0 };
        step.min(rate)
    }

    /// `x += ramp (R - x)` in an RTT, in as many steps as there are packets and acknowledgements.
    #[inline]
    fn climb(&mut self, now: Time) {
        let (Some(ramp), Some(offered)) = (self.ramp, self.offered) else { return };
        let srtt = self.paced.srtt();
        // At most an RTT's step, even after a pause.
        let rounds =
            if srtt > 0.0 { (now.since(self.climbed).secs() / srtt).min(1.0) } else { 0.0 };
        let rate = self.paced.granted();
        self.paced.grant(rate + (ramp.share * rounds).min(1.0) * (offered - rate));
        self.climbed = now;
    }
}

impl Source for RcpSource {
    type Header = RcpHeader;

    fn on_open(&mut self, _now: Time) -> Option<RcpHeader> {
        Some(RcpHeader::request(self.desired, Duration::ZERO))
    }

    fn on_opened(&mut self, now: Time, rtt: Option<Duration>, header: Option<&RcpHeader>) {
        if let Some(rtt) = rtt {
            self.paced.set_srtt(rtt);
        }
        self.take(now, header);
    }

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<RcpHeader> {
        self.climb(sending.now);
        Some(RcpHeader::request(self.desired, sending.srtt))
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&RcpHeader>) {
        self.paced.on_ack(acked);
        self.climb(acked.now);
        self.take(acked.now, header);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.paced.on_congestion(congestion);
    }

    fn on_spurious(&mut self, _now: Time) {
        self.paced.on_spurious();
    }

    #[inline]
    fn window(&self) -> Bytes {
        if self.offered.is_some() { self.paced.window() } else { self.mss }
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        self.offered.map(|_| Throughput::new(self.paced.rate().max(self.least)))
    }

    fn reason(&self) -> Reason {
        let Some(offered) = self.offered else {
            let wish = [Figure::rate("wish", self.desired)];
            let equation = "no rate has come back yet: one packet outstanding asks for it";
            return Reason::new(equation, wish).bound(Bound::Source);
        };
        let (equation, bound) = if self.paced.is_capped() {
            (AFTER_LOSS_EQUATION, Bound::Source)
        } else if self.paced.granted() < self.least {
            ("one packet per probe interval, to hear of a higher rate", Bound::LastChange)
        } else if self.ramp.is_some() {
            (
                "x += ramp (R - x) in an RTT, R the least rate of the routers on the path",
                Bound::LastChange,
            )
        } else {
            ("x = R, the least rate of the routers on the path", Bound::LastChange)
        };
        let figures = [
            Figure::rate("R", offered),
            Figure::rate("x", self.paced.rate()),
            Figure::seconds("RTT", self.paced.srtt()),
        ];
        let ramp = self.ramp.map(|ramp| Figure::one("ramp", ramp.share));
        Reason::new(equation, figures).with(ramp).bound(bound)
    }
}
