//! The optimum over all ways of sharing: the senders' rates with the highest total benefit.
//!
//! A linear programme: maximise the sum of benefit times rate, while the messages over a link do
//! not exceed its capacity. The overlay's own rules cannot exceed this optimum; the ratio of the
//! two says how good the rules are.

mod simplex;

use ratewire_units::Throughput;
use simplex::Program;

/// Senders that use the same tree to the same nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Commodity {
    /// Index of each resource that a message uses, and how many times.
    pub uses: Vec<(usize, f64)>,
    /// Benefit of a byte.
    pub benefit: f64,
    /// Maximum rate of all these senders together.
    pub most: Throughput,
}

/// The rates of `demands` with the highest benefit within the `capacities` of the resources.
///
/// If several allocations have the highest benefit, the result is one of them, and always the same
/// one. `None` if the benefit has no bound, or if a capacity or a maximum is negative.
pub fn best(capacities: &[Throughput], demands: &[Commodity]) -> Option<Vec<Throughput>> {
    let mut limits = capacities.iter().chain(demands.iter().map(|demand| &demand.most));
    if limits.any(|limit| *limit < Throughput::ZERO) {
        return None;
    }
    let mut uses = vec![vec![0.0; demands.len()]; capacities.len()];
    for (at, demand) in demands.iter().enumerate() {
        for (resource, times) in &demand.uses {
            uses[*resource][at] += times;
        }
    }
    let rows = uses.into_iter().zip(capacities.iter().map(|capacity| capacity.get()));
    let limiting =
        rows.filter(|(row, capacity)| capacity.is_finite() && row.iter().any(|times| *times > 0.0));
    let (uses, capacities) = limiting.unzip();
    let program = Program {
        benefits: demands.iter().map(|demand| demand.benefit).collect(),
        most: demands.iter().map(|demand| demand.most.get()).collect(),
        uses,
        capacities,
    };
    let rates = program.maximise()?.solution();
    Some(rates.into_iter().map(Throughput::new).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn demand(uses: &[usize]) -> Commodity {
        Commodity {
            uses: uses.iter().map(|used| (*used, 1.0)).collect(),
            benefit: 1.0,
            most: Throughput::new(1e6),
        }
    }

    fn rates(capacities: &[f64], demands: &[Commodity]) -> Vec<f64> {
        let capacities: Vec<Throughput> = capacities.iter().copied().map(Throughput::new).collect();
        best(&capacities, demands).unwrap().iter().map(|rate| rate.get()).collect()
    }

    /// The paper's scenario 1: 2 Mb/s to one group and 1 Mb/s to the other.
    #[test]
    fn scenario_1_is_shared_as_the_paper_says() {
        let ace = demand(&[0, 1, 2, 3]);
        let aef = demand(&[0, 2, 3, 4]);
        let found = rates(&[3.0, 2.0, 3.0, 3.0, 1.0], &[ace, aef]);
        assert!((found[0] - 2.0).abs() < 1e-9 && (found[1] - 1.0).abs() < 1e-9, "{found:?}");
    }

    /// The paper's chain: the long flow gets nothing, the five short ones all.
    #[test]
    fn the_chain_is_worth_ten_megabits() {
        let mut demands = vec![demand(&[0, 1, 2, 3, 4])];
        demands.extend((0..5).map(|link| demand(&[link])));
        let found = rates(&[2.0; 5], &demands);
        assert!((found.iter().sum::<f64>() - 10.0).abs() < 1e-9, "{found:?}");
        assert!(found[0].abs() < 1e-9);
    }

    proptest! {
        /// No link is overloaded, and no single rate can be raised.
        #[test]
        fn the_best_is_possible_and_wastes_nothing(
            capacities in prop::collection::vec(0.1..10.0f64, 1..6),
            uses in prop::collection::vec(prop::collection::btree_set(0usize..6, 1..4), 1..8),
        ) {
            let demands: Vec<Commodity> = uses
                .iter()
                .map(|set| demand(&set.iter().map(|u| u % capacities.len()).collect::<Vec<_>>()))
                .collect();
            let found = rates(&capacities, &demands);
            let load = |resource: usize| -> f64 {
                let times = |d: &Commodity| d.uses.iter().filter(|(u, _)| *u == resource).count();
                demands.iter().zip(&found).map(|(d, rate)| rate * times(d) as f64).sum()
            };
            for (resource, capacity) in capacities.iter().enumerate() {
                prop_assert!(load(resource) <= capacity + 1e-6);
            }
            for demand in &demands {
                let full = demand.uses.iter().any(|(u, _)| load(*u) >= capacities[*u] - 1e-6);
                prop_assert!(full, "a demand could have more");
            }
        }
    }
}
