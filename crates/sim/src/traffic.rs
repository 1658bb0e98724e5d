//! Arriving flows: their times, ends and sizes.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_net::random::{stream, unit};
use ratewire_net::spec::NodeId;
use ratewire_transport::App;
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
                let u = 1.0 - unit(self.times.next_u64());
                Duration::from_secs_f64(-libm::log(u) / per_second)
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
        let gap = self.gap(spec);
        self.next += gap;
        let (from, to) = self.pair(spec)?;
        let size = draw_size(&spec.sizes, &mut self.sizes);
        Some(Arrival { from, to, size })
    }

    fn pair(&mut self, spec: &TrafficSpec) -> Option<(NodeId, NodeId)> {
        let total = *self.weights.last()?;
        let drawn = unit(self.pairs.next_u64()) * total;
        let at = self.weights.partition_point(|sum| *sum <= drawn).min(spec.pairs.len() - 1);
        spec.pairs.get(at).map(|(from, to, _)| (*from, *to))
    }
}

/// Draws by inverting the distribution function, with portable functions only.
fn draw_size(sizes: &Sizes, random: &mut Xoshiro256PlusPlus) -> Bytes {
    let bytes = match sizes {
        Sizes::Fixed(size) => return *size,
        Sizes::Pareto { shape, mean } => {
            let scale = mean * (shape - 1.0) / shape;
            scale * libm::pow(1.0 - unit(random.next_u64()), -1.0 / shape)
        }
        Sizes::LogNormal { mean, sigma } => {
            // Box-Muller; the mean size determines the mean of its logarithm.
            let u = 1.0 - unit(random.next_u64());
            let v = unit(random.next_u64());
            let normal = libm::sqrt(-2.0 * libm::log(u)) * libm::cos(core::f64::consts::TAU * v);
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
