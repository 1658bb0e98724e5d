//! The sender's part: RFC 8257, sections 3.3 and 3.4.

use ratewire_units::{Bytes, Throughput, Time};

use super::Dctcp;
use crate::law::{Acked, Congestion, FlowContext, NoHeader, Sending, Signal, Source};
use crate::reason::{Figure, Reason};
use crate::tcp::common::Profile;
use crate::tcp::newreno::{MARK_FLOOR, NewRenoSource};

/// Unit in which Linux counts alpha: `DCTCP_MAX_ALPHA` of them are 1.
const STEPS: f64 = 1024.0;

/// DCTCP at one sender.
#[derive(Clone, Debug)]
pub struct DctcpSource {
    pub(super) reno: NewRenoSource,
    profile: Profile,
    g: f64,
    /// Share of the bytes that are marked, over about `1/g` windows of data.
    pub(super) alpha: f64,
    /// Payload acknowledged in this window of data, and how much of it was marked.
    acked: f64,
    marked: f64,
    /// Acknowledging more than this ends the window of data.
    pub(super) window_end: u64,
    /// Share of the window that remained after the last mark.
    kept: f64,
}

impl DctcpSource {
    pub(super) fn new(law: &Dctcp, flow: &FlowContext) -> DctcpSource {
        let mut reno = NewRenoSource::new(&law.reno, flow);
        if law.profile == Profile::Rfc {
            reno.window.grow_after_marks();
        }
        DctcpSource {
            reno,
            profile: law.profile,
            g: law.g,
            alpha: law.initial_alpha,
            acked: 0.0,
            marked: 0.0,
            window_end: 0,
            kept: 1.0,
        }
    }

    /// Reduces the window, not the outstanding data, by half of alpha.
    fn on_mark(&mut self, congestion: &Congestion) {
        let cwnd = self.reno.window.cwnd();
        let (kept, is_new) = match self.profile {
            // What has been acknowledged goes on counting for growth (3.4).
            Profile::Rfc => {
                let kept = cwnd * (1.0 - self.alpha / 2.0);
                (kept, self.reno.window.on_congestion(congestion, kept, MARK_FLOOR))
            }
            Profile::Linux => {
                let mss = self.reno.window.mss();
                let packets = libm::floor(cwnd / mss);
                let kept = (packets - libm::floor(packets * self.alpha / 2.0)) * mss;
                (kept, self.reno.cut(congestion, kept))
            }
        };
        if is_new {
            self.kept = kept / cwnd;
        }
    }

    #[inline]
    fn count(&mut self, acked: &Acked) {
        let bytes = acked.bytes.as_f64();
        self.acked += bytes;
        if acked.marked {
            self.marked += bytes;
        }
        if acked.cumulative > self.window_end && self.acked > 0.0 {
            let share = self.marked / self.acked;
            self.alpha = match self.profile {
                Profile::Rfc => self.alpha + self.g * (share - self.alpha),
                Profile::Linux => next_in_steps(self.alpha, self.g, share),
            };
            self.acked = 0.0;
            self.marked = 0.0;
            self.window_end = acked.next;
        }
    }
}

/// The next alpha as Linux counts it, in whole steps. Both parts are rounded down; of less than a
/// step, all of alpha is taken away.
fn next_in_steps(alpha: f64, g: f64, share: f64) -> f64 {
    let steps = alpha * STEPS;
    let taken = libm::floor(steps * g);
    let left = if taken > 0.0 { steps - taken } else { 0.0 };
    (left + libm::floor(share * STEPS * g)).min(STEPS) / STEPS
}

impl Source for DctcpSource {
    type Header = NoHeader;

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<NoHeader> {
        self.reno.on_send(sending)
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, _: Option<&NoHeader>) {
        self.count(acked);
        self.reno.on_ack(acked, None);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let keep = match congestion.signal {
            Signal::Mark => return self.on_mark(congestion),
            _ if self.reno.window.leave_mark(congestion.now) => self.reno.beta / self.kept,
            _ => self.reno.beta,
        };
        let kept = self.reno.window.outstanding(congestion) * keep;
        self.reno.cut(congestion, kept);
    }

    fn on_recovered(&mut self, now: Time) {
        self.reno.on_recovered(now);
    }

    fn on_spurious(&mut self, now: Time) {
        self.reno.on_spurious(now);
    }

    fn slow_start_threshold(&self) -> Option<Bytes> {
        self.reno.slow_start_threshold()
    }

    #[inline]
    fn window(&self) -> Bytes {
        self.reno.window()
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        self.reno.pacing()
    }

    fn reason(&self) -> Reason {
        let mut reason = self.reno.reason();
        reason.figures.push(Figure::one("alpha", self.alpha));
        reason
    }
}
