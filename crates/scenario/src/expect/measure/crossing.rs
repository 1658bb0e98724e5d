//! Rates of flows at a link, by the packets that reach its far end.

use ratewire_net::Body;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::PacketSeen;
use ratewire_units::{Bytes, Throughput, Time};

use crate::expect::{Expectation, Measure};

/// Data of flows that came through a link.
#[derive(Clone, Debug)]
pub(super) struct Crossing {
    link: Option<usize>,
    /// Whether a flow is measured, by index up to the last that is.
    is_member: Vec<bool>,
    /// Network-layer size of the flows' data packets.
    size: Bytes,
}

impl Crossing {
    pub fn new(measure: &Measure) -> Crossing {
        let mut is_member = vec![false; measure.flows.iter().max().map_or(0, |last| last + 1)];
        measure.flows.iter().for_each(|flow| is_member[*flow] = true);
        Crossing { link: measure.link, is_member, size: Bytes::ZERO }
    }

    /// Counts a packet, if it has data of a measured flow at the measured link.
    pub fn see(&mut self, seen: &PacketSeen) {
        let is_here = self.link == Some(seen.packet.link.index());
        let is_measured = self.is_member.get(seen.flow.0 as usize) == Some(&true);
        if is_here && is_measured && matches!(seen.packet.content.body, Body::Data { .. }) {
            self.size += Bytes::new(u64::from(seen.packet.label.size));
        }
    }

    /// Bits per second of the window, or of the run.
    pub fn value(&self, expectation: &Expectation, outcome: &Outcome) -> f64 {
        let (from, to) = expectation.during.unwrap_or((Time::ZERO, outcome.ended));
        Throughput::over(self.size, to.since(from)).bps()
    }
}
