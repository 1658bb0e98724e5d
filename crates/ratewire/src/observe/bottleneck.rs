//! The links that are expected to limit flows, whatever law they run.
//!
//! Figures of queue and utilisation are about these where the scenario names no bottleneck, so that
//! the figures of all laws are about the same links.

use ratewire_net::spec::LinkId;
use ratewire_sim::setup::Setup;
use ratewire_transport::Writer;
use ratewire_units::Time;

use super::estimate::{active, arriving, mean_size};

/// Part by which links may differ that count as alike.
const ALIKE: f64 = 0.01;

/// What crosses a link.
#[derive(Clone, Copy, Default)]
struct Crossed {
    /// Flows that take all the rate that they get.
    greedy: f64,
    /// Bits that others offer.
    offered: f64,
}

/// The links where flows with unlimited data get the least each, besides what flows of a given size
/// offer there (the first links to fill, max-min); without such flows, those with the most on
/// offer for their rate. None if nothing is sent.
pub(super) fn expected(setup: &Setup) -> Vec<LinkId> {
    let crossed = crossed(setup);
    let has_greedy = crossed.iter().any(|link| link.greedy > 0.0);
    let seconds = setup.duration.secs();
    let scores = crossed.iter().zip(&setup.network.links).map(|(crossed, link)| {
        let rate = link.service.mean_rate().bps() as f64;
        let left = rate - crossed.offered / seconds;
        match (has_greedy, crossed.greedy > 0.0) {
            (true, true) => crossed.greedy / left.max(f64::MIN_POSITIVE),
            (true, false) => 0.0,
            (false, _) => crossed.offered / seconds / rate.max(f64::MIN_POSITIVE),
        }
    });
    let scores: Vec<f64> = scores.collect();
    let most = scores.iter().copied().fold(0.0, f64::max);
    let is_expected = |score: &f64| *score > 0.0 && *score >= (1.0 - ALIKE) * most;
    (0..).zip(&scores).filter(|(_, score)| is_expected(score)).map(|(id, _)| LinkId(id)).collect()
}

fn crossed(setup: &Setup) -> Vec<Crossed> {
    let mut crossed = vec![Crossed::default(); setup.network.links.len()];
    // A setup with an invalid path cannot run, and the engine reports why.
    let Ok(mut pathfinder) = setup.pathfinder() else { return crossed };
    for (id, flow) in setup.flows.iter().enumerate() {
        let path = pathfinder.path(flow.from, flow.to, id as u64).unwrap_or_default();
        let starts = flow.start < Time::ZERO + setup.duration;
        for link in path.iter().filter(|_| starts) {
            let crossed = &mut crossed[link.index()];
            match flow.app.writer {
                Writer::Sized(size) => crossed.offered += size.as_f64() * 8.0,
                Writer::Constant { rate } => {
                    crossed.offered +=
                        rate.bps() as f64 * active(setup, flow.start, flow.stop).secs();
                }
                Writer::Unlimited | Writer::OnOff { .. } | Writer::Fed => crossed.greedy += 1.0,
            }
        }
    }
    let mut offered = vec![0.0; crossed.len()];
    for class in &setup.traffic {
        let bits = mean_size(class) * 8.0;
        let demands = arriving(setup, class).into_iter();
        let demands: Vec<_> = demands.map(|(from, to, flows)| (from, to, flows * bits)).collect();
        pathfinder.spread(&demands, &mut offered);
    }
    crossed.iter_mut().zip(offered).for_each(|(link, bits)| link.offered += bits);
    crossed
}
