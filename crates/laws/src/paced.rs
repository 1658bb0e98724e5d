//! Pace and window of a source whose rate the network sets, shared by all rate-based laws.
//!
//! The window is not part of these laws. It is [`SPARE`] times the data that the rate sends in a
//! round trip, so that it binds only when acknowledgements fail to arrive. A window of two round
//! trips would cut off the end of the queue that newcomers cause under RCP. ns-2's senders have no
//! window and build that queue.
//!
//! The response to losses is not part of the laws either. It is needed because a bottleneck may not
//! take part in the law. A loss caps the rate at half. The cap grows by a packet an RTT each RTT,
//! and is removed once it has reached the granted rate.

use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::law::{Acked, Congestion, FlowContext, Signal};
use crate::options::{OptionKind, OptionSpec, Options, Part};

/// Number of round trips' data that may be outstanding.
const SPARE: f64 = 20.0;
/// Minimum window in packets, so that a slow flow always gets acknowledgements.
const FEWEST: f64 = 4.0;

/// Whether losses are answered.
pub(crate) const AFTER_LOSS: OptionSpec = OptionSpec {
    name: "after_loss",
    kind: OptionKind::Word(&["halve", "ignore"]),
    default: "halve",
    part: Part::Source,
    doc: "what a loss does: cap the rate at half of what it was, the cap growing by a packet an RTT \
          each RTT until it is back at what routers grant; or nothing.",
};

/// Equation while [`Paced::is_capped`].
pub(crate) const AFTER_LOSS_EQUATION: &str =
    "a loss was seen: half the rate of then, and a packet an RTT more each RTT";

/// The rate of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Paced {
    /// Rate that the network grants, in network-layer bytes per second.
    granted: f64,
    /// Cap after a loss; infinite without a loss.
    cap: f64,
    /// The cap before the last loss.
    cap_before: f64,
    srtt: f64,
    packet: f64,
    payload_per_packet: f64,
    /// Time before which losses belong to the last response.
    answered_until: Time,
    answers_loss: bool,
}

impl Paced {
    /// Starts at `rate` network-layer bytes per second.
    pub(crate) fn new(rate: f64, flow: &FlowContext, options: &Options) -> Paced {
        Paced {
            granted: rate,
            cap: f64::INFINITY,
            cap_before: f64::INFINITY,
            srtt: 0.0,
            packet: flow.packet.as_f64().max(1.0),
            payload_per_packet: flow.mss.as_f64() / flow.packet.as_f64().max(1.0),
            answered_until: Time::ZERO,
            answers_loss: options.word("after_loss") == "halve",
        }
    }

    /// Smoothed RTT in seconds, 0 while unknown.
    #[inline]
    pub(crate) fn srtt(&self) -> f64 {
        self.srtt
    }
    /// Takes the smoothed RTT.
    #[inline]
    pub(crate) fn set_srtt(&mut self, srtt: Duration) {
        self.srtt = srtt.secs();
    }
    /// Rate that the network grants, B/s.
    #[inline]
    pub(crate) fn granted(&self) -> f64 {
        self.granted
    }
    /// Cap after a loss, B/s; infinite without a loss.
    pub(crate) fn cap(&self) -> f64 {
        self.cap
    }
    /// Whether a loss holds the rate below the granted rate.
    pub(crate) fn is_capped(&self) -> bool {
        self.cap < self.granted
    }
    /// Rate at which the source sends, B/s.
    #[inline]
    pub(crate) fn rate(&self) -> f64 {
        self.granted.min(self.cap)
    }
    /// Takes the rate that the network grants now, B/s. A number that is no rate (negative,
    /// infinite or NaN) is ignored.
    #[inline]
    pub(crate) fn grant(&mut self, rate: f64) {
        if rate.is_finite() && rate >= 0.0 {
            self.granted = rate;
        }
    }

    /// See [`crate::Source::on_ack`]. To be called before the law looks at the header.
    #[inline]
    pub(crate) fn on_ack(&mut self, acked: &Acked) {
        self.srtt = acked.srtt.secs();
        if self.cap.is_finite() && !acked.in_recovery && self.srtt > 0.0 {
            // The cap grows by a packet an RTT for each acknowledged RTT of data.
            let bytes = acked.bytes.as_f64() / self.payload_per_packet;
            self.cap += self.packet * bytes / (self.cap * self.srtt * self.srtt).max(1.0);
            if self.cap >= self.granted {
                self.cap = f64::INFINITY;
            }
        }
    }

    /// See [`crate::Source::on_congestion`].
    pub(crate) fn on_congestion(&mut self, congestion: &Congestion) {
        let loss = matches!(congestion.signal, Signal::Loss | Signal::Timeout);
        if !loss || !self.answers_loss {
            return;
        }
        self.cap_before = self.cap;
        if congestion.now < self.answered_until {
            return;
        }
        self.answered_until = congestion.now + congestion.srtt;
        let least = if self.srtt > 0.0 { self.packet / self.srtt } else { self.packet };
        self.cap = (self.rate() / 2.0).max(least);
    }

    /// See [`crate::Source::on_spurious`].
    pub(crate) fn on_spurious(&mut self) {
        self.cap = self.cap.max(self.cap_before);
        self.answered_until = Time::ZERO;
    }

    /// See [`crate::Source::window`].
    #[inline]
    pub(crate) fn window(&self) -> Bytes {
        let bytes = (SPARE * self.rate() * self.srtt).max(FEWEST * self.packet);
        Bytes::new((bytes * self.payload_per_packet + 0.5).min(9e15) as u64)
    }

    /// See [`crate::Source::pacing`].
    #[inline]
    pub(crate) fn pacing(&self) -> Option<Throughput> {
        Some(Throughput::new(self.rate()))
    }
}
