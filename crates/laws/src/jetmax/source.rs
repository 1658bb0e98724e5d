//! The sender's part.

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::{Jetmax, JetmaxHeader};
use crate::feedback::{Limits, Round};
use crate::law::{Acked, Congestion, FlowContext, Sending, Source};
use crate::paced::{AFTER_LOSS_EQUATION, Paced};
use crate::reason::{Bound, Figure, Reason};

/// JetMax at one sender.
#[derive(Clone, Debug)]
pub struct JetmaxSource {
    paced: Paced,
    limits: Limits,
    tau: f64,
    switch_margin: f64,
    longest_gap: f64,
    /// Router that binds the flow, 0 while none is known.
    bottleneck: u32,
    /// Whether that router has yet to measure an interval with this flow among its own.
    settling: bool,
    round: Round,
    /// Last `g` received, B/s.
    fair: f64,
    /// When the last packet left, [`Time::NEVER`] before the first.
    last_sent: Time,
    /// Gap after the last packet by the rate, in seconds.
    due_gap: f64,
}

impl JetmaxSource {
    pub(super) fn new(law: &Jetmax, flow: &FlowContext) -> JetmaxSource {
        let options = &law.options;
        let limits = Limits::new(flow, options);
        let initial = limits.initial(options);
        JetmaxSource {
            paced: Paced::new(initial, flow, options),
            limits,
            tau: options.number("tau"),
            switch_margin: options.number("switch_margin"),
            longest_gap: options.time("longest_gap").secs(),
            bottleneck: 0,
            settling: false,
            round: Round::default(),
            fair: initial,
            last_sent: Time::NEVER,
            due_gap: 0.0,
        }
    }

    /// Time since the last packet. A source that had nothing to send states the gap that was due,
    /// and so leaves its unused rate to others.
    #[inline]
    fn gap(&mut self, sending: &Sending) -> f64 {
        let due = (sending.packet.as_f64() / self.paced.rate()).min(self.longest_gap);
        let gap = match self.last_sent {
            Time::NEVER => due,
            last => sending.now.since(last).secs().min(self.due_gap),
        };
        self.last_sent = sending.now;
        self.due_gap = due;
        gap
    }

    /// Switches the flow: packets from now on count as bound by `router`.
    fn switch(&mut self, router: u32) {
        self.bottleneck = router;
        self.settling = true;
        self.round.begin();
    }

    fn use_answer(&mut self, header: &JetmaxHeader, limited: bool) {
        if !self.round.has_returned(header.marker) {
            return;
        }
        if header.fair == f64::INFINITY {
            // There is no bottleneck yet, or it is no longer on the path.
            if header.proposed != 0 {
                self.switch(header.proposed);
            }
            return;
        }
        if self.settling && !self.round.is_measured(self.bottleneck, header.number) {
            return;
        }
        self.settling = false;
        let approves = header.proposed_fair < header.fair * (1.0 - self.switch_margin);
        // A router that is overloaded by flows bound elsewhere has no rate to offer yet.
        let offers = approves && header.proposed_fair > 0.0;
        self.fair = if offers { header.proposed_fair } else { header.fair };
        let rate = self.paced.granted();
        if !limited || self.fair < rate {
            self.paced.grant(self.limits.hold(rate - self.tau * (rate - self.fair)));
        }
        if approves {
            self.switch(header.proposed);
        } else {
            self.round.begin();
        }
    }
}

impl Source for JetmaxSource {
    type Header = JetmaxHeader;

    /// Asks for a proposal, so that the first data counts at the right router.
    fn on_open(&mut self, _now: Time) -> Option<JetmaxHeader> {
        Some(JetmaxHeader::new(0, self.round.marker(), 0.0))
    }

    fn on_opened(&mut self, _now: Time, rtt: Option<Duration>, header: Option<&JetmaxHeader>) {
        if let Some(rtt) = rtt {
            self.paced.set_srtt(rtt);
        }
        if let Some(header) = header {
            self.use_answer(header, false);
        }
    }

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<JetmaxHeader> {
        let gap = self.gap(sending);
        Some(JetmaxHeader::new(self.bottleneck, self.round.marker(), gap))
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&JetmaxHeader>) {
        self.paced.on_ack(acked);
        if let Some(header) = header {
            self.use_answer(header, acked.limited);
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
        let (equation, bound) = if self.bottleneck == 0 {
            ("x at its initial rate: no router has been heard", Bound::Source)
        } else if self.paced.is_capped() {
            (AFTER_LOSS_EQUATION, Bound::Source)
        } else if self.settling {
            let equation = "x held until the new bottleneck has counted this flow";
            (equation, Bound::Port(self.bottleneck))
        } else {
            let equation = "x += tau (g - x) once a round trip, g the fair rate of the bottleneck";
            (equation, Bound::Port(self.bottleneck))
        };
        let figures = [
            Figure::rate("x", self.paced.granted()),
            Figure::rate("g", self.fair),
            Figure::one("bottleneck", self.bottleneck.into()),
            Figure::rate("cap after loss", self.paced.cap()),
            Figure::seconds("RTT", self.paced.srtt()),
        ];
        Reason::new(equation, figures).with([Figure::one("tau", self.tau)]).bound(bound)
    }
}
