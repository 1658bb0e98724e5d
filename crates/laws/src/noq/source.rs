//! The sender's part.

use ratewire_units::{Bytes, Rate, Throughput, Time};

use crate::law::{Acked, Congestion, FlowContext, NoHeader, Sending, Source};
use crate::reason::{Figure, Reason};
use crate::tcp::newreno::NewRenoSource;

/// NoQ at one sender.
#[derive(Clone, Debug)]
pub enum NoqSource {
    /// The queues of its path hold it back; its own link has this rate.
    HeldBack(Rate),
    /// They do not: it holds itself back.
    Reno(NewRenoSource),
}

impl NoqSource {
    pub(super) fn held_back(flow: &FlowContext) -> NoqSource {
        NoqSource::HeldBack(flow.line_rate)
    }
}

impl Source for NoqSource {
    type Header = NoHeader;

    #[inline]
    fn on_send(&mut self, sending: &Sending) -> Option<NoHeader> {
        match self {
            NoqSource::HeldBack(_) => None,
            NoqSource::Reno(reno) => reno.on_send(sending),
        }
    }

    #[inline]
    fn on_ack(&mut self, acked: &Acked, header: Option<&NoHeader>) {
        if let NoqSource::Reno(reno) = self {
            reno.on_ack(acked, header);
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

    #[inline]
    fn window(&self) -> Bytes {
        match self {
            NoqSource::HeldBack(_) => Bytes::MAX,
            NoqSource::Reno(reno) => reno.window(),
        }
    }

    #[inline]
    fn pacing(&self) -> Option<Throughput> {
        match self {
            NoqSource::HeldBack(rate) => Some(rate.throughput()),
            NoqSource::Reno(reno) => reno.pacing(),
        }
    }

    fn reason(&self) -> Reason {
        match self {
            NoqSource::HeldBack(rate) => Reason::new(
                "no congestion window: as fast as the queues before it let it",
                [Figure::rate("own link", rate.throughput().get())],
            ),
            NoqSource::Reno(reno) => reno.reason(),
        }
    }
}
