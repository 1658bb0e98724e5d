//! The sender's part.

use ratewire_units::{Bytes, Throughput, Time};

use super::NewReno;
use crate::law::{Acked, Congestion, FlowContext, NoHeader, Sending, Source};
use crate::reason::Reason;
use crate::tcp::window::{Sizes, Window};

/// Packets below which a mark does not lower the window (RFC 5681, equation 4).
pub(in crate::tcp) const MARK_FLOOR: f64 = 2.0;

/// NewReno at one sender.
#[derive(Clone, Debug)]
pub struct NewRenoSource {
    pub(in crate::tcp) window: Window,
    /// Bytes acknowledged in congestion avoidance since the window last grew.
    acked: f64,
    /// Maximum number of bytes of one acknowledgement that count.
    counted: f64,
    /// Packets added each time that a window is acknowledged.
    increase: f64,
    /// Share of the window that is kept after a loss or mark (RFC 5681, equation 4).
    pub(in crate::tcp) beta: f64,
    /// What a spurious congestion has to restore.
    before: Option<Sizes>,
}

impl NewRenoSource {
    pub(in crate::tcp) fn new(law: &NewReno, flow: &FlowContext) -> NewRenoSource {
        let window = Window::new(&law.common, flow);
        let counted = if law.counts_acks { window.mss() } else { f64::INFINITY };
        let (increase, beta) = (law.increase, law.beta);
        NewRenoSource { window, acked: 0.0, counted, increase, beta, before: None }
    }

    /// Reduces the window to `kept` bytes. Returns whether the congestion is a new event.
    pub(in crate::tcp) fn cut(&mut self, congestion: &Congestion, kept: f64) -> bool {
        if self.window.begins_repair(congestion) {
            self.before = Some(self.window.sizes());
        }
        let cut = self.window.on_congestion(congestion, kept, MARK_FLOOR);
        if cut {
            self.acked = 0.0;
        }
        cut
    }
}

impl Source for NewRenoSource {
    type Header = NoHeader;

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<NoHeader> {
        if self.window.on_send(sending) {
            self.acked = 0.0;
        }
        None
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, _: Option<&NoHeader>) {
        self.acked += self.window.on_ack(acked).min(self.counted);
        let cwnd = self.window.cwnd();
        if self.acked >= cwnd {
            // At most one packet an RTT: of a huge acknowledgement's rest, at most one more window
            // counts.
            self.acked = (self.acked - cwnd).min(cwnd);
            self.window.add(self.window.mss() * self.increase);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let kept = self.window.outstanding(congestion) * self.beta;
        self.cut(congestion, kept);
    }

    fn on_recovered(&mut self, _now: Time) {
        self.window.on_recovered();
    }

    fn on_spurious(&mut self, _now: Time) {
        if let Some(before) = self.before.take() {
            self.window.on_spurious(before);
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
