//! Statistics of all flows that completed: together, by class of traffic, and by size.

use std::collections::BTreeMap;

use ratewire_statistics::Histogram;

use crate::{ClassSummary, Completion, CompletionSummary, SizeSummary};

/// Bounds between size classes of flows, bytes.
const SIZES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Bins of equally many flows, as data-centre papers have them.
const BINS: usize = 20;
/// What flows of no class of traffic are called.
const LISTED: &str = "listed flows";

/// Completion times and slowdowns of completed flows.
#[derive(Debug)]
pub(crate) struct Completed {
    /// Names of the classes of traffic, by index.
    traffic: Vec<String>,
    most: usize,
    flows: Vec<Flow>,
    /// Histograms of all flows and of each class, once there are too many flows to keep.
    rough: Option<(Rough, BTreeMap<Option<u32>, Rough>)>,
}

/// A completed flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    traffic: Option<u32>,
    size: u64,
    seconds: f64,
    slowdown: Option<f64>,
}

impl Completed {
    /// Statistics whose percentiles are exact for up to `most` flows, with the names of the classes
    /// of traffic.
    pub(crate) fn new(most: usize, traffic: Vec<String>) -> Completed {
        Completed { traffic, most, flows: Vec::new(), rough: None }
    }

    pub(crate) fn add(&mut self, c: &Completion) {
        let ideal = c.ideal.filter(|ideal| !ideal.is_zero());
        let slowdown = ideal.map(|ideal| c.took.secs() / ideal.secs());
        let (traffic, size, seconds) = (c.traffic, c.size.get(), c.took.secs());
        let flow = Flow { traffic, size, seconds, slowdown };
        match &mut self.rough {
            Some((all, classes)) => {
                all.add(&flow);
                let class = classes.entry(traffic).or_insert_with(|| Rough::of(&[flow]));
                class.add(&flow);
            }
            None if self.flows.len() < self.most => self.flows.push(flow),
            None => {
                let classes = self.classes().map(|(class, flows)| (class, Rough::of(&flows)));
                let mut rough = (Rough::of(&self.flows), classes.collect::<BTreeMap<_, _>>());
                for flow in std::mem::take(&mut self.flows).into_iter().chain([flow]) {
                    rough.0.add(&flow);
                    let class = rough.1.entry(flow.traffic);
                    class.or_insert_with(|| Rough::of(&[flow])).add(&flow);
                }
                self.rough = Some(rough);
            }
        }
    }

    /// The kept flows of each class.
    fn classes(&self) -> impl Iterator<Item = (Option<u32>, Vec<Flow>)> {
        let mut classes: BTreeMap<Option<u32>, Vec<Flow>> = BTreeMap::new();
        for flow in &self.flows {
            classes.entry(flow.traffic).or_default().push(*flow);
        }
        classes.into_iter()
    }

    /// The statistics; `None` if no flow completed.
    pub(crate) fn summary(&self) -> Option<CompletionSummary> {
        let (all, classes): (_, Vec<(Option<u32>, _)>) = match &self.rough {
            Some((all, classes)) => {
                let classes = classes.iter().map(|(class, rough)| (*class, rough.summary()));
                (all.summary()?, classes.collect())
            }
            None => {
                let classes = self.classes().map(|(class, flows)| (class, exact(&flows)));
                (exact(&self.flows)?, classes.collect())
            }
        };
        let named = |(class, completions): (Option<u32>, Option<CompletionSummary>)| {
            let name = class
                .map_or(Some(LISTED), |class| self.traffic.get(class as usize).map(String::as_str));
            Some(ClassSummary { name: name?.to_string(), completions: completions? })
        };
        let by_traffic = match classes.len() {
            1 => Vec::new(),
            _ => classes.into_iter().filter_map(named).collect(),
        };
        Some(CompletionSummary { by_traffic, ..all })
    }
}

/// The first size of each bin of sizes, so that each has as many flows as can be: flows of one size
/// are in one bin.
fn edges(flows: &[Flow]) -> Vec<u64> {
    let mut sizes: Vec<u64> = flows.iter().map(|flow| flow.size).collect();
    sizes.sort_unstable();
    let mut edges: Vec<u64> = (0..BINS)
        .filter_map(|bin| sizes.get((bin * sizes.len()).div_ceil(BINS)).copied())
        .collect();
    edges.dedup();
    edges
}

/// Place of a size among sorted bounds: 0 below the first.
fn place(bounds: &[u64], size: u64) -> usize {
    bounds.partition_point(|bound| *bound <= size)
}

/// Figures of a group of times or slowdowns. Percentiles of its tail are `None` if there are too
/// few values to show them.
#[derive(Clone, Copy, Default)]
struct Spread {
    count: u64,
    mean: Option<f64>,
    median: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    p999: Option<f64>,
    /// The 99th percentile of however few values.
    any_p99: Option<f64>,
}

impl Spread {
    /// Of `count` values: a percentile of a tail needs one value beyond it.
    fn of(count: u64, mean: Option<f64>, quantile: impl Fn(f64) -> Option<f64>) -> Spread {
        let shown = |q: f64| {
            let is_shown = count as f64 * (1.0 - q) > 1.0 - 1e-9;
            quantile(q).filter(|_| is_shown)
        };
        Spread {
            count,
            mean,
            median: quantile(0.5),
            p95: shown(0.95),
            p99: shown(0.99),
            p999: shown(0.999),
            any_p99: quantile(0.99),
        }
    }

    fn exact(values: impl Iterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len();
        let mean = (count > 0).then(|| values.iter().sum::<f64>() / count as f64);
        // Nearest rank; products such as 0.999 * 1000 may be a little too large.
        let rank = |q: f64| libm::ceil(q * count as f64 - 1e-9).max(1.0) as usize;
        Spread::of(count as u64, mean, |q| values.get(rank(q) - 1).copied())
    }

    fn rough(of: &Histogram) -> Spread {
        Spread::of(of.count(), of.mean(), |q| of.quantile(q))
    }
}

/// Times and slowdowns.
type Spreads = (Spread, Spread);

fn of_size((from, below): (u64, Option<u64>), (times, slowdowns): Spreads) -> SizeSummary {
    SizeSummary {
        from_bytes: from,
        below_bytes: below,
        flows: times.count,
        median_s: times.median,
        p95_s: times.p95,
        p99_s: times.p99,
        p999_s: times.p999,
        slowdown_median: slowdowns.median,
        slowdown_p95: slowdowns.p95,
        slowdown_p99: slowdowns.p99,
        slowdown_p999: slowdowns.p999,
    }
}

/// The statistics of flows, divided by size; `None` without flows.
fn of_all(
    (times, slowdowns): Spreads,
    percentiles_exact: bool,
    [by_size, by_twentieth]: [Vec<SizeSummary>; 2],
) -> Option<CompletionSummary> {
    Some(CompletionSummary {
        flows: times.count,
        percentiles_exact,
        mean_s: times.mean?,
        median_s: times.median?,
        p95_s: times.p95,
        p99_s: times.any_p99?,
        p999_s: times.p999,
        slowdown_median: slowdowns.median,
        slowdown_p95: slowdowns.p95,
        slowdown_p99: slowdowns.any_p99,
        slowdown_p999: slowdowns.p999,
        by_size,
        by_twentieth,
        by_traffic: Vec::new(),
    })
}

/// The parts of flows by size that have any: those below the first bound, and so on.
fn divided<T>(all: &[u64], parts: &[T], spreads: impl Fn(&T) -> Spreads) -> Vec<SizeSummary> {
    let part = |(at, part): (usize, &T)| of_size(bounds(all, at), spreads(part));
    parts.iter().enumerate().map(part).filter(|size| size.flows > 0).collect()
}

/// The bounds of the place `at` among sorted bounds.
fn bounds(all: &[u64], at: usize) -> (u64, Option<u64>) {
    (at.checked_sub(1).map_or(0, |below| all[below]), all.get(at).copied())
}

/// Statistics of flows that were kept; `None` without any.
fn exact(flows: &[Flow]) -> Option<CompletionSummary> {
    let spreads = |flows: &Vec<&Flow>| {
        let slowdowns = flows.iter().filter_map(|flow| flow.slowdown);
        (Spread::exact(flows.iter().map(|flow| flow.seconds)), Spread::exact(slowdowns))
    };
    let by = |all: &[u64]| {
        let mut parts: Vec<Vec<&Flow>> = vec![Vec::new(); all.len() + 1];
        flows.iter().for_each(|flow| parts[place(all, flow.size)].push(flow));
        divided(all, &parts, spreads)
    };
    of_all(spreads(&flows.iter().collect()), true, [by(&SIZES), by(&edges(flows))])
}

/// Histograms of the times and slowdowns of flows, by size too.
#[derive(Debug)]
struct Rough {
    all: Both,
    by_size: [Both; SIZES.len() + 1],
    /// First sizes of the bins, of the flows that came first.
    edges: Vec<u64>,
    bins: Vec<Both>,
}

#[derive(Clone, Debug, Default)]
struct Both {
    times: Histogram,
    slowdowns: Histogram,
}

impl Both {
    fn spreads(&self) -> Spreads {
        (Spread::rough(&self.times), Spread::rough(&self.slowdowns))
    }

    fn add(&mut self, flow: &Flow) {
        self.times.add(flow.seconds);
        flow.slowdown.into_iter().for_each(|slowdown| self.slowdowns.add(slowdown));
    }
}

impl Rough {
    /// Empty histograms, with bins for flows such as these.
    fn of(flows: &[Flow]) -> Rough {
        let edges = edges(flows);
        let bins = vec![Both::default(); edges.len() + 1];
        Rough { all: Both::default(), by_size: Default::default(), edges, bins }
    }

    fn add(&mut self, flow: &Flow) {
        self.all.add(flow);
        self.by_size[place(&SIZES, flow.size)].add(flow);
        self.bins[place(&self.edges, flow.size)].add(flow);
    }

    fn summary(&self) -> Option<CompletionSummary> {
        let by = |all: &[u64], parts: &[Both]| divided(all, parts, Both::spreads);
        let parts = [by(&SIZES, &self.by_size), by(&self.edges, &self.bins)];
        of_all(self.all.spreads(), false, parts)
    }
}

#[cfg(test)]
mod tests {
    use ratewire_units::{Bytes, Duration};

    use super::*;

    fn flow(size: u64, seconds: f64, traffic: Option<u32>) -> Completion {
        Completion {
            size: Bytes::new(size),
            took: Duration::from_secs_f64(seconds),
            ideal: Some(Duration::from_secs_f64(seconds / 2.0)),
            traffic,
            ..Completion::default()
        }
    }

    fn of(most: usize, flows: impl Iterator<Item = Completion>) -> CompletionSummary {
        let mut completed = Completed::new(most, vec!["web".into(), "rest".into()]);
        flows.for_each(|flow| completed.add(&flow));
        completed.summary().expect("flows")
    }

    #[test]
    fn a_percentile_of_a_tail_needs_a_flow_beyond_it() {
        let tails = |n: u32| {
            let all = of(9_999, (1..=n).map(|i| flow(100, f64::from(i), None)));
            let size = all.by_size[0];
            assert_eq!((size.p95_s, size.p999_s), (all.p95_s, all.p999_s));
            [size.median_s, size.p95_s, size.p99_s, size.p999_s]
        };
        assert_eq!(tails(1), [Some(1.0), None, None, None]);
        assert_eq!(tails(99), [Some(50.0), Some(95.0), None, None]);
        assert_eq!(tails(100), [Some(50.0), Some(95.0), Some(99.0), None]);
        assert_eq!(tails(1000), [Some(500.0), Some(950.0), Some(990.0), Some(999.0)]);
    }

    #[test]
    fn bins_have_a_twentieth_of_the_flows_each() {
        let sizes = (1..=400).rev().map(|i| flow(i * 1000, 1.0, None));
        let bins = of(1000, sizes).by_twentieth;
        let counts: Vec<u64> = bins.iter().map(|bin| bin.flows).collect();
        assert_eq!(counts, [20; 20]);
        assert_eq!((bins[0].from_bytes, bins[0].below_bytes), (1_000, Some(21_000)));
        assert_eq!((bins[19].from_bytes, bins[19].below_bytes), (381_000, None));
        // Flows of one size are in one bin.
        let mixed = (0..100).map(|i| flow(if i < 70 { 9_000 } else { 50_000 + i }, 1.0, None));
        let bins = of(1000, mixed).by_twentieth;
        let counts: Vec<(u64, u64)> = bins.iter().map(|bin| (bin.from_bytes, bin.flows)).collect();
        assert_eq!(counts[..2], [(9_000, 70), (50_070, 5)]);
    }

    #[test]
    fn classes_of_traffic_are_told_apart() {
        let flows = || {
            let of = |class: Option<u32>, s| (0..10).map(move |_| flow(1000, s, class));
            of(Some(0), 1.0).chain(of(Some(1), 3.0)).chain(of(None, 5.0))
        };
        for most in [1000, 15, 0] {
            let all = of(most, flows());
            let classes: Vec<(&str, u64, f64)> = all
                .by_traffic
                .iter()
                .map(|of| (of.name.as_str(), of.completions.flows, of.completions.mean_s))
                .collect();
            let expected = [("listed flows", 10, 5.0), ("web", 10, 1.0), ("rest", 10, 3.0)];
            assert_eq!(classes, expected, "{most}");
            assert_eq!((all.flows, all.mean_s, all.percentiles_exact), (30, 3.0, most == 1000));
        }
        assert!(of(10, (0..5).map(|_| flow(1, 1.0, Some(0)))).by_traffic.is_empty(), "one class");
    }

    #[test]
    fn without_room_for_all_percentiles_are_nearly_the_same() {
        let flows = || (1..=2000u32).map(|i| flow(u64::from(i) * 997 % 50_000, f64::from(i), None));
        let (exact, rough) = (of(5000, flows()), of(1000, flows()));
        let near = |a: Option<f64>, b: Option<f64>| (a.unwrap() / b.unwrap() - 1.0).abs() < 0.0051;
        assert!(near(rough.p999_s, exact.p999_s) && near(rough.p95_s, exact.p95_s));
        assert_eq!(rough.flows, exact.flows);
        let flows = |of: &CompletionSummary| -> Vec<u64> {
            of.by_size.iter().map(|size| size.flows).collect()
        };
        assert_eq!(flows(&rough), flows(&exact));
        assert!(near(rough.by_size[0].slowdown_p99, exact.by_size[0].slowdown_p99));
        assert_eq!(rough.by_twentieth.iter().map(|bin| bin.flows).sum::<u64>(), 2000);
    }
}
