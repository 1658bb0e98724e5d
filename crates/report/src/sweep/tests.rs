//! Sweeps of made-up runs.

use super::*;
use crate::LinkSummary;

fn value(text: &str, number: Option<f64>) -> SweepValue {
    SweepValue { text: text.into(), number }
}

fn summary(law: &str, seed: u64, utilisation: f64) -> Summary {
    let link = LinkSummary { bottleneck: true, utilisation, ..LinkSummary::default() };
    Summary { law: law.into(), seed, links: vec![link], ..Summary::default() }
}

/// A sweep whose runs end from the last to the first.
fn gathered(
    axes: Vec<SweepAxis>,
    laws: &[&str],
    seeds: &[u64],
    runs: impl IntoIterator<Item = MeasuredRun, IntoIter: DoubleEndedIterator>,
) -> Sweep {
    let laws = laws.iter().map(|law| law.to_string()).collect();
    let mut gatherer = SweepGatherer::new(axes, laws, seeds.to_vec());
    runs.into_iter().rev().for_each(|run| gatherer.add(run));
    gatherer.finish()
}

/// Two rates and two disciplines under two laws, from two seeds; the last run is missing.
pub(crate) fn sample() -> Sweep {
    let rates = vec![value("1M", Some(1e6)), value("10 Mbit/s", Some(1e7))];
    let queues = vec![value("red", None), value("pie", None)];
    let axes = vec![
        SweepAxis { key: "bottleneck.rate".into(), unit: "bit/s".into(), values: rates },
        SweepAxis { key: "bottleneck.discipline".into(), unit: String::new(), values: queues },
    ];
    let mut runs = Vec::new();
    for point in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        for (law, name) in ["xcp", "cubic"].into_iter().enumerate() {
            for seed in [1, 2] {
                let utilisation = 0.5 + 0.1 * law as f64 + 0.01 * (seed as f64 - 1.0);
                let summary = summary(name, seed, utilisation);
                runs.push(MeasuredRun { point: point.to_vec(), law, summary });
            }
        }
    }
    runs.pop();
    gathered(axes, &["xcp", "cubic"], &[1, 2], runs)
}

fn figure(sweep: &Sweep, name: &str) -> usize {
    sweep.figures.iter().position(|figure| figure.name == name).expect(name)
}

#[test]
fn figures_are_estimated_over_the_seeds_of_each_point_and_law() {
    let sweep = sample();
    assert_eq!((sweep.runs.len(), sweep.missing_runs), (15, 1));
    let cells = sweep.cells();
    assert_eq!(cells.len(), 8);
    let utilisation = figure(&sweep, "utilisation");
    let estimate = |cell: &SweepCell| cell.estimates[utilisation].expect("an estimate");
    assert_eq!((cells[1].point.as_slice(), cells[1].law), (&[0, 0][..], 1));
    let whole = estimate(&cells[1]);
    assert!((whole.mean - 0.605).abs() < 1e-12 && whole.margin.is_some_and(|m| m > 0.01));
    // The cell of the missing run has one seed, and no interval.
    assert_eq!((cells[7].seeds, estimate(&cells[7]).margin), (1, None));
    assert!((estimate(&cells[7]).mean - 0.6).abs() < 1e-12);
}

/// Whether flows complete, and how many changes there are, depends on the point.
#[test]
fn points_may_have_figures_of_their_own() {
    let run = |at: usize, rtt_max_s: Option<f64>| MeasuredRun {
        point: vec![at],
        law: 0,
        summary: Summary { rtt_max_s, ..summary("xcp", 1, 0.5) },
    };
    let axis = SweepAxis { values: vec![value("a", None), value("b", None)], ..Default::default() };
    let runs = [run(0, None), run(1, Some(0.25))];
    let sweep = gathered(vec![axis], &["xcp"], &[1], runs);
    let at = figure(&sweep, "rtt_max_s");
    let values: Vec<Option<f64>> = sweep.runs.iter().map(|run| run.values[at]).collect();
    assert_eq!(values, [None, Some(0.25)]);
    assert_eq!(sweep.cells()[0].estimates[at], None);
}

#[test]
fn runs_may_come_in_any_order_and_twice() {
    let sweep = sample();
    let mut gatherer =
        SweepGatherer::new(sweep.axes.clone(), sweep.laws.clone(), sweep.seeds.clone());
    let of = |run: &SweepRun| {
        let law = &sweep.laws[run.law];
        let utilisation = run.values[figure(&sweep, "utilisation")].expect("a value");
        let summary = summary(law, run.seed, utilisation);
        MeasuredRun { point: run.point.clone(), law: run.law, summary }
    };
    for step in [7, 1] {
        (0..15).for_each(|n| gatherer.add(of(&sweep.runs[n * step % 15])));
    }
    gatherer.add(MeasuredRun { point: vec![0, 0], law: 0, summary: summary("xcp", 9, 0.5) });
    assert_eq!(gatherer.finish(), sweep);
}

#[test]
fn where_bottlenecks_differ_each_points_is_named() {
    let run = |at: usize, bottleneck: &str| {
        let link = |name: &str| LinkSummary {
            name: name.into(),
            expected_bottleneck: name == bottleneck,
            ..LinkSummary::default()
        };
        let links = vec![link("hop1"), link("hop2")];
        let measured = (Some(5.0), Some(30.0));
        let (measured_from_s, measured_to_s) = measured;
        let summary = Summary { links, measured_from_s, measured_to_s, ..summary("xcp", 1, 0.5) };
        MeasuredRun { point: vec![at], law: 0, summary }
    };
    let axis = SweepAxis {
        key: "link.hop2.rate".into(),
        unit: String::new(),
        values: vec![value("9M", None), value("1M", None)],
    };
    let swept = |runs: Vec<MeasuredRun>| gathered(vec![axis.clone()], &["xcp"], &[1], runs);
    let options = crate::table::TableOptions::default();
    let text = crate::table::sweep(&swept(vec![run(0, "hop1"), run(1, "hop2")]), &options);
    let row = |n: usize| text.lines().nth(n).unwrap_or("").split_whitespace().collect::<Vec<_>>();
    assert!(text.contains("law  bottleneck  utilisation at each point’s bottleneck"), "{text}");
    assert!(text.contains("seed 1: 2 runs, measured 5 s to 30 s"), "{text}");
    assert_eq!(
        (&row(5)[..3], &row(6)[..3]),
        (&["9M", "xcp", "hop1"][..], &["1M", "xcp", "hop2"][..])
    );
    let same = swept(vec![run(0, "hop2"), run(1, "hop2")]);
    let text = crate::table::sweep(&same, &options);
    assert!(text.contains("law  utilisation at hop2"), "{text}");
    assert!(same.bottlenecks.is_empty());
    assert_eq!(same.bottleneck, "hop2");
}
