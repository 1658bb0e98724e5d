//! Arriving flows: their times, ends and sizes.

use std::collections::BTreeMap;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_net::random::{exponential, normal, stream, unit};
use ratewire_net::spec::NodeId;
use ratewire_transport::{App, Spread};
use ratewire_units::{Bytes, Duration, Time};

use crate::setup::{Arrivals, FlowSpec, ListedArrival, Setup, Sizes, TrafficSpec};

/// An active class of arriving traffic. Times, sizes and pairs come from separate random streams,
/// so that all laws get the same arrivals.
#[derive(Debug)]
pub(crate) struct Traffic {
    times: Xoshiro256PlusPlus,
    sizes: Xoshiro256PlusPlus,
    pairs: Xoshiro256PlusPlus,
    /// Running sums of the pairs' weights.
    weights: Vec<f64>,
    /// Listed arrivals within the class's time, in order.
    listed: Vec<ListedArrival>,
    next: Time,
    /// By receiver, for incasts: its senders with their weights.
    senders: BTreeMap<u32, Vec<(NodeId, f64)>>,
    /// Pairs whose flows start at `next` too, because an incast has begun.
    together: Vec<(NodeId, NodeId)>,
    /// Number of flows so far.
    pub(crate) count: u64,
}

/// An arriving flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arrival {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) size: Bytes,
}

impl Arrival {
    /// The `number`-th flow of its class.
    pub(crate) fn flow(&self, spec: &TrafficSpec, number: u64, start: Time) -> FlowSpec {
        FlowSpec {
            name: format!("{}.{number}", spec.name),
            from: self.from,
            to: self.to,
            law: spec.law,
            start,
            stop: None,
            app: App::sized(self.size),
            transport: spec.transport.clone(),
            lie: None,
        }
    }
}

/// The flows that arrive in a run, in the order of their starts, each with the index of its class;
/// at most `most`.
pub fn arrivals(setup: &Setup, most: usize) -> Vec<(FlowSpec, usize)> {
    let specs = &setup.traffic;
    let classes = specs.iter().zip(0..).map(|(spec, i)| Traffic::new(spec, i, setup.seed));
    let mut classes: Vec<Traffic> = classes.collect();
    let mut flows = Vec::new();
    while flows.len() < most {
        let nexts = classes.iter().zip(specs).map(|(class, spec)| class.next(spec));
        let Some((class, at)) = nexts.enumerate().min_by_key(|(_, at)| *at) else { break };
        if at > Time::ZERO + setup.duration {
            break;
        }
        let arrival = classes[class].arrive(&specs[class]);
        let number = classes[class].count;
        flows.extend(arrival.map(|arrival| (arrival.flow(&specs[class], number, at), class)));
    }
    flows
}

impl Traffic {
    pub(crate) fn new(spec: &TrafficSpec, index: u64, seed: u64) -> Traffic {
        let mut sum = 0.0;
        let weights = spec
            .pairs
            .iter()
            .map(|(_, _, weight)| {
                sum += weight;
                sum
            })
            .collect();
        let mut listed = match &spec.arrivals {
            Arrivals::Listed(list) => list.clone(),
            Arrivals::Poisson(_) | Arrivals::Periodic(_) => Vec::new(),
        };
        listed.retain(|a| (spec.start..spec.stop).contains(&a.start));
        listed.sort_by_key(|a| a.start);
        let mut traffic = Traffic {
            times: stream(seed, "arrival times", index),
            sizes: stream(seed, "flow sizes", index),
            pairs: stream(seed, "flow pairs", index),
            weights,
            listed,
            next: spec.start,
            senders: senders(spec),
            together: Vec::new(),
            count: 0,
        };
        traffic.next = match &spec.arrivals {
            Arrivals::Poisson(_) => spec.start + traffic.gap(spec),
            Arrivals::Periodic(_) => spec.start,
            Arrivals::Listed(_) => traffic.listed.first().map_or(Time::NEVER, |a| a.start),
        };
        traffic
    }

    fn gap(&mut self, spec: &TrafficSpec) -> Duration {
        match spec.arrivals {
            Arrivals::Poisson(per_second) if per_second <= 0.0 => Duration::MAX,
            Arrivals::Poisson(per_second) => {
                Duration::from_secs_f64(exponential(&mut self.times) / per_second)
            }
            Arrivals::Periodic(gap) => gap.max(Duration::from_ps(1)),
            Arrivals::Listed(_) => Duration::MAX,
        }
    }

    /// Time of the next arrival; [`Time::NEVER`] if there is none.
    pub(crate) fn next(&self, spec: &TrafficSpec) -> Time {
        if self.next < spec.stop { self.next } else { Time::NEVER }
    }

    /// The flow that arrives now.
    pub(crate) fn arrive(&mut self, spec: &TrafficSpec) -> Option<Arrival> {
        let at = self.count as usize;
        self.count += 1;
        if let Arrivals::Listed(_) = &spec.arrivals {
            self.next = self.listed.get(at + 1).map_or(Time::NEVER, |a| a.start);
            return self.listed.get(at).map(|a| Arrival { from: a.from, to: a.to, size: a.size });
        }
        if self.together.is_empty() {
            self.together = self.incast(spec);
        }
        let (from, to) = self.together.pop()?;
        if self.together.is_empty() {
            let gap = self.gap(spec);
            self.next += gap;
        }
        let size = draw_size(&spec.sizes, &mut self.sizes);
        Some(Arrival { from, to, size })
    }

    /// The pairs of the flows of one arrival, the last to start first: one, or as many different
    /// senders to the receiver that was drawn.
    fn incast(&mut self, spec: &TrafficSpec) -> Vec<(NodeId, NodeId)> {
        let Some(first) = self.pair(spec) else { return Vec::new() };
        if spec.fan_in <= 1 {
            return vec![first];
        }
        let to = first.1;
        let mut rest = self.senders.get(&to.0).cloned().unwrap_or_default();
        let mut chosen = Vec::new();
        while chosen.len() < spec.fan_in as usize && !rest.is_empty() {
            let total: f64 = rest.iter().map(|(_, weight)| weight).sum();
            let mut left = unit(self.pairs.next_u64()) * total;
            let at = rest.iter().position(|(_, weight)| {
                left -= weight;
                left < 0.0
            });
            let (from, _) = rest.remove(at.unwrap_or(rest.len() - 1));
            chosen.push((from, to));
        }
        chosen
    }

    fn pair(&mut self, spec: &TrafficSpec) -> Option<(NodeId, NodeId)> {
        let total = *self.weights.last()?;
        let drawn = unit(self.pairs.next_u64()) * total;
        let at = self.weights.partition_point(|sum| *sum <= drawn).min(spec.pairs.len() - 1);
        spec.pairs.get(at).map(|(from, to, _)| (*from, *to))
    }
}

/// By receiver: its senders, each once, with their weights; empty where arrivals are no incasts.
fn senders(spec: &TrafficSpec) -> BTreeMap<u32, Vec<(NodeId, f64)>> {
    let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    let pairs = spec.pairs.iter().filter(|pair| spec.fan_in > 1 && pair.2 > 0.0);
    pairs.for_each(|(from, to, weight)| *sums.entry((to.0, from.0)).or_default() += weight);
    let mut senders: BTreeMap<u32, Vec<(NodeId, f64)>> = BTreeMap::new();
    for ((to, from), weight) in sums {
        senders.entry(to).or_default().push((NodeId(from), weight));
    }
    senders
}

/// Draws by inverting the distribution function, with portable functions only.
fn draw_size(sizes: &Sizes, random: &mut Xoshiro256PlusPlus) -> Bytes {
    let bytes = match sizes {
        Sizes::Fixed(size) => return *size,
        Sizes::Pareto { shape, mean } => Spread::Pareto(*shape).at(*mean, unit(random.next_u64())),
        Sizes::LogNormal { mean, sigma } => {
            // The mean size determines the mean of its logarithm.
            let normal = normal(random);
            libm::exp(libm::log(*mean) - sigma * sigma / 2.0 + sigma * normal)
        }
        Sizes::Empirical(cdf) => return cdf.quantile(unit(random.next_u64())),
    };
    Bytes::new((bytes + 0.5).max(1.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratewire_transport::TransportConfig;

    fn spec(arrivals: Arrivals, sizes: Sizes) -> TrafficSpec {
        TrafficSpec {
            name: "t".into(),
            pairs: vec![(NodeId(0), NodeId(1), 1.0), (NodeId(2), NodeId(3), 3.0)],
            arrivals,
            sizes,
            fan_in: 1,
            start: Time::ZERO,
            stop: Time::NEVER,
            law: 0,
            transport: TransportConfig::default(),
        }
    }

    fn mean_size(sizes: &Sizes, n: u32) -> f64 {
        let mut random = stream(7, "test sizes", 0);
        (0..n).map(|_| draw_size(sizes, &mut random).as_f64()).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn means_are_what_is_asked_for() {
        let near = |found: f64, wanted: f64, tolerance: f64| {
            assert!((found / wanted - 1.0).abs() < tolerance, "{found} for {wanted}");
        };
        near(mean_size(&Sizes::Pareto { shape: 2.5, mean: 30_000.0 }, 200_000), 30_000.0, 0.02);
        near(mean_size(&Sizes::LogNormal { mean: 50_000.0, sigma: 1.0 }, 200_000), 50_000.0, 0.02);
        assert_eq!(mean_size(&Sizes::Fixed(Bytes::new(10)), 3), 10.0);
        let spec = spec(Arrivals::Poisson(50.0), Sizes::Fixed(Bytes::new(1)));
        let mut traffic = Traffic::new(&spec, 0, 1);
        let mut second_pair = 0u32;
        for _ in 0..100_000 {
            let arrival = traffic.arrive(&spec).unwrap();
            second_pair += u32::from(arrival.from == NodeId(2));
        }
        near(traffic.next.secs(), 2000.0, 0.02);
        near(f64::from(second_pair), 75_000.0, 0.02);
    }

    #[test]
    fn an_incast_has_different_senders_and_one_receiver() {
        let pairs = (1..=8).flat_map(|from| [(NodeId(from), NodeId(0), 1.0)]);
        let more = (1..=4).map(|from| (NodeId(from), NodeId(9), 2.0));
        let sizes = Sizes::Fixed(Bytes::new(20_000));
        let spec = TrafficSpec {
            pairs: pairs.chain(more).collect(),
            fan_in: 4,
            stop: Time::ZERO + Duration::from_secs(1000),
            ..spec(Arrivals::Periodic(Duration::from_millis(10)), sizes)
        };
        let mut traffic = Traffic::new(&spec, 0, 3);
        let mut by_receiver = [0_u32; 2];
        let mut by_sender = [0_u32; 9];
        for burst in 0..2000 {
            let at = Time::ZERO + Duration::from_millis(10) * burst;
            let mut senders = Vec::new();
            let mut receivers = Vec::new();
            for _ in 0..4 {
                assert_eq!(traffic.next(&spec), at, "all start together");
                let flow = traffic.arrive(&spec).expect("a flow");
                senders.push(flow.from);
                receivers.push(flow.to);
            }
            receivers.dedup();
            assert_eq!(receivers.len(), 1);
            senders.sort_by_key(|node| node.0);
            senders.dedup();
            assert_eq!(senders.len(), 4);
            by_receiver[usize::from(receivers[0] == NodeId(9))] += 1;
            if receivers[0] == NodeId(0) {
                senders.iter().for_each(|from| by_sender[from.index()] += 1);
            }
        }
        // Receivers by the weights of their pairs; senders alike.
        assert!((850..1150).contains(&by_receiver[0]), "{by_receiver:?}");
        let half = by_receiver[0] / 2;
        assert!(by_sender[1..].iter().all(|n| n.abs_diff(half) < half / 6), "{by_sender:?}");
    }

    #[test]
    fn the_law_does_not_change_what_arrives() {
        let sizes = Sizes::Pareto { shape: 1.4, mean: 1e5 };
        let a = spec(Arrivals::Poisson(5.0), sizes);
        let b = TrafficSpec { law: 3, ..a.clone() };
        let (mut x, mut y) = (Traffic::new(&a, 2, 9), Traffic::new(&b, 2, 9));
        for _ in 0..100 {
            assert_eq!(x.next(&a), y.next(&b));
            assert_eq!(x.arrive(&a), y.arrive(&b));
        }
    }
}
