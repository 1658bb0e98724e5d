//! The sender's part.

use ratewire_units::{Bytes, Rate, Throughput, Time};

use crate::law::{Acked, Congestion, FlowContext, NoHeader, Sending, Source};
use crate::reason::{Bound, Figure, Reason};
use crate::tcp::newreno::NewRenoSource;

/// NoQ at one sender.
#[derive(Clone, Debug)]
pub enum NoqSource {
    /// The queues of its path hold it back.
    HeldBack {
        /// Rate of its own link.
        line_rate: Rate,
        /// Largest window that the receiver has advertised; one packet before the first. The
        /// transport keeps within the receiver's window anyway.
        window: Bytes,
    },
    /// NewReno holds the sender back, because the queues of its path do not.
    Reno(NewRenoSource),
}

impl NoqSource {
    pub(super) fn held_back(flow: &FlowContext) -> NoqSource {
        NoqSource::HeldBack { line_rate: flow.line_rate, window: flow.mss }
    }
}

impl Source for NoqSource {
    type Header = NoHeader;

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<NoHeader> {
        match self {
            NoqSource::HeldBack { window, .. } => {
                *window = sending.receive_window.max(*window);
                None
            }
            NoqSource::Reno(reno) => reno.on_send(sending),
        }
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&NoHeader>) {
        match self {
            NoqSource::HeldBack { window, .. } => *window = acked.receive_window.max(*window),
            NoqSource::Reno(reno) => reno.on_ack(acked, header),
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if let NoqSource::Reno(reno) = self {
            reno.on_congestion(congestion);
        }
    }

    fn on_recovered(&mut self, now: Time) {
        if let NoqSource::Reno(reno) = self {
            reno.on_recovered(now);
        }
    }

    fn on_spurious(&mut self, now: Time) {
        if let NoqSource::Reno(reno) = self {
            reno.on_spurious(now);
        }
    }

    fn slow_start_threshold(&self) -> Option<Bytes> {
        match self {
            NoqSource::HeldBack { .. } => None,
            NoqSource::Reno(reno) => reno.slow_start_threshold(),
        }
    }

    #[inline]
    fn window(&self) -> Bytes {
        match self {
            NoqSource::HeldBack { window, .. } => *window,
            NoqSource::Reno(reno) => reno.window(),
        }
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        match self {
            NoqSource::HeldBack { line_rate, .. } => Some(line_rate.throughput()),
            NoqSource::Reno(reno) => reno.pacing(),
        }
    }

    fn reason(&self) -> Reason {
        match self {
            NoqSource::HeldBack { line_rate, window } => Reason::new(
                "no congestion window: as fast as the queues before it let it",
                [
                    Figure::rate("own link", line_rate.throughput().get()),
                    Figure::bytes(
                        "receiver's window",
                        match *window {
                            Bytes::MAX => f64::INFINITY,
                            window => window.as_f64(),
                        },
                    ),
                ],
            )
            .bound(Bound::Queues),
            NoqSource::Reno(reno) => reno.reason(),
        }
    }
}
