//! Totals of the listed flows of each law.

use super::Summary;

/// What the listed flows of a law did together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LawTotals<'a> {
    pub(crate) law: &'a str,
    pub(crate) flows: usize,
    /// Data delivered over the length of the run, bits per second.
    pub(crate) goodput_bps: f64,
    /// Share of the data that all listed flows delivered, 0 to 1.
    pub(crate) share: f64,
    pub(crate) retransmitted_packets: u64,
}

impl Summary {
    /// Totals of each law, in the order of the flows. Empty where all flows obey one law.
    pub(crate) fn totals_by_law(&self) -> Vec<LawTotals<'_>> {
        let mut all: Vec<LawTotals<'_>> = Vec::new();
        for flow in &self.flows {
            let at = all.iter().position(|totals| totals.law == flow.law);
            let at = at.unwrap_or_else(|| {
                let (law, goodput_bps, share) = (flow.law.as_str(), 0.0, 0.0);
                let (flows, retransmitted_packets) = (0, 0);
                all.push(LawTotals { law, flows, goodput_bps, share, retransmitted_packets });
                all.len() - 1
            });
            let totals = &mut all[at];
            totals.flows += 1;
            totals.goodput_bps +=
                8.0 * flow.delivered_bytes as f64 / self.measured_s().max(f64::MIN_POSITIVE);
            totals.share += flow.share;
            totals.retransmitted_packets += flow.retransmitted_packets;
        }
        if all.len() > 1 { all } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowSummary;

    #[test]
    fn flows_are_added_up_law_by_law() {
        let flow = |law: &str, delivered_bytes, share| FlowSummary {
            law: law.into(),
            delivered_bytes,
            share,
            retransmitted_packets: 3,
            ..FlowSummary::default()
        };
        let mut summary = Summary {
            duration_s: 4.0,
            flows: vec![flow("bbr", 500, 0.25), flow("cubic", 1000, 0.5), flow("bbr", 500, 0.25)],
            ..Summary::default()
        };
        let of = |law, flows, retransmitted_packets| LawTotals {
            law,
            flows,
            goodput_bps: 2000.0,
            share: 0.5,
            retransmitted_packets,
        };
        assert_eq!(summary.totals_by_law(), [of("bbr", 2, 6), of("cubic", 1, 3)]);
        summary.flows.remove(1);
        assert_eq!(summary.totals_by_law(), []);
    }
}
