//! The sender's part: RFC 8257, section 3.3.

use ratewire_units::{Bytes, Throughput, Time};

use super::Dctcp;
use crate::law::{Acked, Congestion, FlowContext, NoHeader, Sending, Signal, Source};
use crate::reason::{Figure, Reason};
use crate::tcp::newreno::{KEEP, NewRenoSource};

/// DCTCP at one sender.
#[derive(Clone, Debug)]
pub struct DctcpSource {
    pub(super) reno: NewRenoSource,
    g: f64,
    /// Share of the bytes that are marked, over about `1/g` windows of data.
    pub(super) alpha: f64,
    /// Payload acknowledged in this window of data, and how much of it was marked.
    acked: f64,
    marked: f64,
    /// Acknowledging more than this ends the window of data.
    window_end: u64,
    /// Share of the window that remained after the last mark.
    kept: f64,
}

impl DctcpSource {
    pub(super) fn new(law: &Dctcp, flow: &FlowContext) -> DctcpSource {
        DctcpSource {
            reno: NewRenoSource::new(&law.reno, flow),
            g: law.g,
            alpha: law.initial_alpha,
            acked: 0.0,
            marked: 0.0,
            window_end: 0,
            kept: 1.0,
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
            self.alpha += self.g * (self.marked / self.acked - self.alpha);
            self.acked = 0.0;
            self.marked = 0.0;
            self.window_end = acked.next;
        }
    }
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
        if congestion.signal == Signal::Mark {
            let keep = 1.0 - self.alpha / 2.0;
            // The cut applies to the window, not to the outstanding data.
            let whole = Congestion { in_flight: Bytes::MAX, ..*congestion };
            if self.reno.cut(&whole, keep) {
                self.kept = keep;
            }
        } else if self.reno.window.leave_mark(congestion.now) {
            self.reno.cut(congestion, KEEP / self.kept);
        } else {
            self.reno.cut(congestion, KEEP);
        }
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
