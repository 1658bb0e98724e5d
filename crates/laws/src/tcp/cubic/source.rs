//! The sender's part. Numbers in comments are sections of RFC 9438.

use alloc::boxed::Box;

use ratewire_units::{Bytes, Duration, Throughput, Time};

use super::Cubic;
use super::linux::{self, Linux};
use super::rfc::{self, Rfc};
use super::stage::{Curve, Stage};
use crate::law::{Acked, Congestion, FlowContext, NoHeader, Sending, Signal, Source};
use crate::reason::Reason;
use crate::tcp::common::Profile;
use crate::tcp::window::{Sizes, Window, ends_idling};

/// CUBIC at one sender.
#[derive(Clone, Debug)]
pub struct CubicSource {
    pub(super) window: Window,
    /// `W_max` in packets; `None` before a loss or mark, and after a timeout.
    pub(super) w_max: Option<f64>,
    /// The stage of congestion avoidance, if in one.
    pub(super) stage: Option<Stage>,
    /// What a spurious congestion has to restore (4.9).
    before: Option<Box<Before>>,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    growth: Growth,
}

/// How the window grows along the curve, and what that needs.
#[derive(Clone, Debug)]
enum Growth {
    Rfc(Rfc),
    Linux(Linux),
}

/// State before a congestion by loss or timeout.
#[derive(Clone, Debug)]
struct Before {
    sizes: Sizes,
    w_max: Option<f64>,
    stage: Option<Stage>,
    growth: Growth,
}

impl CubicSource {
    pub(super) fn new(law: &Cubic, flow: &FlowContext) -> CubicSource {
        CubicSource {
            window: Window::new(&law.common, flow),
            w_max: None,
            stage: None,
            before: None,
            c: law.c,
            beta: law.beta,
            fast_convergence: law.fast_convergence,
            growth: match law.common.profile {
                Profile::Rfc => Growth::Rfc(Rfc::default()),
                Profile::Linux => Growth::Linux(Linux::default()),
            },
        }
    }

    /// The window in packets.
    #[inline]
    pub(super) fn cwnd(&self) -> f64 {
        self.window.cwnd() / self.window.mss()
    }

    /// Grows the window by `packets` acknowledged in congestion avoidance (4.2 to 4.5).
    #[inline]
    fn avoid(&mut self, packets: f64, acked: &Acked) {
        let cwnd = self.cwnd();
        let w_max = self.w_max;
        let stage = self.stage.get_or_insert_with(|| Stage {
            curve: Curve::new(self.c, w_max, cwnd),
            w_est: cwnd,
            t: Duration::ZERO,
            counted: acked.now,
        });
        stage.t += acked.now.since(stage.counted);
        stage.counted = acked.now;
        let grown = match &mut self.growth {
            Growth::Rfc(rfc) => {
                self.w_max = Some(stage.curve.w_max);
                rfc.grow(stage, packets, cwnd, acked.srtt, self.beta)
            }
            Growth::Linux(linux) => {
                linux.grow(stage, packets, cwnd, acked.now, w_max.is_some(), self.beta)
            }
        };
        self.window.add(grown * self.window.mss());
    }
}

impl Source for CubicSource {
    type Header = NoHeader;

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<NoHeader> {
        if self.window.on_send(sending) {
            self.stage = None;
        }
        if let Some(stage) = &mut self.stage
            && ends_idling(sending)
        {
            stage.counted = sending.now;
        }
        None
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, _: Option<&NoHeader>) {
        if let Growth::Linux(linux) = &mut self.growth
            && let Some(rtt) = acked.rtt
        {
            linux.on_sample(rtt, self.stage.as_ref());
        }
        let bytes = self.window.on_ack(acked);
        if bytes > 0.0 {
            // No more than a window can have been outstanding; more would overshoot the target.
            let packets = (bytes / self.window.mss()).min(self.cwnd());
            self.avoid(packets, acked);
        } else if let (Some(stage), Growth::Rfc(_)) = (&mut self.stage, &self.growth)
            && acked.limited
        {
            stage.counted = acked.now;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let cwnd = self.cwnd();
        if self.window.begins_repair(congestion) {
            let (w_max, stage, growth) = (self.w_max, self.stage.clone(), self.growth.clone());
            let sizes = self.window.sizes();
            self.before = Some(Box::new(Before { sizes, w_max, stage, growth }));
        }
        let (kept, mark_floor) = match self.growth {
            Growth::Rfc(_) => (self.window.outstanding(congestion) * self.beta, rfc::MARK_FLOOR),
            Growth::Linux(_) => (linux::kept(cwnd, self.beta) * self.window.mss(), linux::FLOOR),
        };
        if self.window.on_congestion(congestion, kept, mark_floor) {
            self.w_max = Some(match self.w_max {
                Some(w_max) if self.fast_convergence && cwnd < w_max => {
                    cwnd * (1.0 + self.beta) / 2.0
                }
                _ => cwnd,
            });
            self.stage = None;
            match &mut self.growth {
                Growth::Rfc(rfc) => rfc.cwnd_prior = Some(cwnd),
                Growth::Linux(linux) => linux.on_cut(),
            }
        }
        if congestion.signal == Signal::Timeout {
            self.w_max = None;
            self.stage = None;
            if let Growth::Linux(linux) = &mut self.growth {
                *linux = Linux::default();
            }
        }
    }

    fn on_recovered(&mut self, _now: Time) {
        self.window.on_recovered();
    }

    fn on_spurious(&mut self, now: Time) {
        let Some(before) = self.before.take() else { return };
        self.window.on_spurious(before.sizes);
        // Linux keeps what it has learnt of `W_max`, and begins a new stage.
        if matches!(self.growth, Growth::Rfc(_)) {
            (self.w_max, self.stage, self.growth) = (before.w_max, before.stage, before.growth);
            if let Some(stage) = &mut self.stage {
                stage.counted = now;
            }
        }
    }

    fn slow_start_threshold(&self) -> Option<Bytes> {
        Some(self.window.threshold())
    }

    #[inline]
    fn window(&self) -> Bytes {
        self.window.bytes()
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        self.window.pacing()
    }

    fn reason(&self) -> Reason {
        self.window.reason()
    }
}
