//! The headline figures of a law, the same for the terminal and the page.

use crate::{CompletionSummary, LinkSummary, Run, Summary};

/// The headline figures of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The law, with the world, seed or number of the run where laws alone would not
    /// distinguish runs.
    pub law: String,
    /// Share of the time that the bottlenecks were busy, 0 to 1; the mean of several bottlenecks.
    pub utilisation: Option<f64>,
    /// Jain's index of the long flows' goodputs over their max-min fair rates.
    pub jain_index: Option<f64>,
    /// Packets waiting at the bottleneck, mean over time; the mean of several bottlenecks.
    pub queue_packets_mean: Option<f64>,
    /// Packets waiting at the bottleneck, 99th percentile; the largest of several bottlenecks.
    pub queue_packets_p99: Option<f64>,
    /// Packets waiting at the bottleneck, most at any instant; the largest of several bottlenecks.
    pub queue_packets_max: Option<u64>,
    /// Packets dropped on any link.
    pub drops: u64,
    /// Packets given a congestion mark on any link.
    pub marks: u64,
    /// Flow completion times, if any flow completed.
    pub completions: Option<CompletionSummary>,
    /// Flows of a given size that had not completed when the run ended, and so have no completion
    /// time.
    pub unfinished: u64,
}

impl Headline {
    /// The headline of a run whose bottlenecks are the links `bottlenecks`, by index.
    pub fn of(summary: &Summary, law: String, bottlenecks: &[u32]) -> Headline {
        let links = || bottlenecks.iter().filter_map(|&i| summary.links.get(i as usize));
        let mean = |values: Vec<f64>| {
            let known: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        let p99 = links().map(|l| l.queue_packets_p99).filter(|v| v.is_finite());
        Headline {
            law,
            utilisation: mean(links().map(|l| l.utilisation).collect()),
            jain_index: summary.jain_index,
            queue_packets_mean: mean(links().map(|l| l.queue_packets_mean).collect()),
            queue_packets_p99: p99.reduce(f64::max),
            queue_packets_max: links().map(|l| l.queue_packets_max).max(),
            drops: summary.links.iter().map(|l| l.drops_total()).sum(),
            marks: summary.links.iter().map(|l| l.marks).sum(),
            completions: summary.completions.clone(),
            unfinished: summary.unfinished_flows.unwrap_or(0),
        }
    }

    /// The headlines of all runs of a scenario, with the same bottlenecks.
    pub fn of_all(runs: &[Run]) -> Vec<Headline> {
        let bottlenecks = bottlenecks(&summaries(runs));
        let of = |(run, law): (&Run, String)| Headline {
            completions: completions(run),
            ..Headline::of(&run.summary, law, &bottlenecks)
        };
        runs.iter().zip(labels(runs)).map(of).collect()
    }
}

/// Completion statistics: the exact ones if the run has them, else those of the collector.
pub(crate) fn completions(run: &Run) -> Option<CompletionSummary> {
    run.summary.completions.clone().or_else(|| run.collected.completion_summary.clone())
}

/// A link counts as busy as the busiest from this part of the busiest link's utilisation.
const AS_BUSY: f64 = 0.95;
/// Names of links that a label has room for.
const NAMES: usize = 3;

/// The bottlenecks, by index: links that the scenario calls so, else those that are expected to
/// limit flows whatever law they run. Where nothing tells which, as in recorded runs, they are the
/// links that were busiest over all runs.
pub(crate) fn bottlenecks(all: &[&Summary]) -> Vec<u32> {
    let summaries = || all.iter().copied();
    let most = summaries().map(|s| s.links.len()).max().unwrap_or(0);
    let that = |is: fn(&LinkSummary) -> bool| -> Vec<u32> {
        let are = |i: &usize| summaries().any(|s| s.links.get(*i).is_some_and(is));
        (0..most).filter(are).map(|i| i as u32).collect()
    };
    let known = [that(|link| link.bottleneck), that(|link| link.expected_bottleneck)];
    if let Some(links) = known.into_iter().find(|links| !links.is_empty()) {
        return links;
    }
    let most_busy = (0..most).map(|i| busy(all, i)).fold(0.0, f64::max);
    let as_busy = |i: &usize| busy(all, *i) > 0.0 && busy(all, *i) >= AS_BUSY * most_busy;
    (0..most).filter(as_busy).map(|i| i as u32).collect()
}

/// A link's utilisation, mean over all runs.
fn busy(all: &[&Summary], link: usize) -> f64 {
    let of = |s: &&Summary| s.links.get(link).map(|l| l.utilisation).filter(|u| u.is_finite());
    all.iter().filter_map(of).sum::<f64>() / all.len() as f64
}

/// The busiest link, if it was busier than every bottleneck.
pub(crate) fn busier<'a>(all: &[&'a Summary], bottlenecks: &[u32]) -> Option<&'a str> {
    let links = &all.first()?.links;
    let most = bottlenecks.iter().map(|i| busy(all, *i as usize)).reduce(f64::max)?;
    let busiest = (0..links.len()).max_by(|a, b| busy(all, *a).total_cmp(&busy(all, *b)))?;
    (AS_BUSY * busy(all, busiest) > most).then(|| links[busiest].name.as_str())
}

/// The names of the bottlenecks of `runs`.
pub fn verdict_links(runs: &[Run]) -> Vec<String> {
    let summaries = summaries(runs);
    let Some(first) = summaries.first() else { return Vec::new() };
    names_of(first, &bottlenecks(&summaries)).map(str::to_string).collect()
}

fn names_of<'a>(summary: &'a Summary, links: &'a [u32]) -> impl Iterator<Item = &'a str> {
    let known = links.iter().filter_map(|i| summary.links.get(*i as usize));
    known.map(|link| link.name.as_str())
}

/// The summaries of `runs`.
pub(crate) fn summaries(runs: &[Run]) -> Vec<&Summary> {
    runs.iter().map(|run| &run.summary).collect()
}

/// A label for the bottlenecks of `runs`.
pub(crate) fn bottleneck_label_of(runs: &[Run]) -> String {
    let summaries = summaries(runs);
    let links = bottlenecks(&summaries);
    let label = bottleneck_label(&summaries, &links);
    with_busier(&label, busier(&summaries, &links), runs.len())
}

/// How the figures of several bottlenecks of `runs` are made one; empty for a single one.
pub(crate) fn over_several(runs: &[Run]) -> &'static str {
    match verdict_links(runs).len() {
        0 | 1 => "",
        _ => ": means over these links; 99 % and max are the largest",
    }
}

/// What completion times are of where flows of several classes completed; else empty.
pub(crate) fn over_classes(runs: &[Run]) -> &'static str {
    let has_several = |run: &Run| completions(run).is_some_and(|all| !all.by_traffic.is_empty());
    match runs.iter().any(has_several) {
        true => "completion times are of all classes of traffic and listed flows together",
        false => "",
    }
}

/// The label of the bottlenecks, with the link that was busier, if one was.
pub(crate) fn with_busier(label: &str, busier: Option<&str>, runs: usize) -> String {
    let Some(busier) = busier else { return label.into() };
    let over = if runs > 1 { ", in the mean over the runs" } else { "" };
    format!("{label} ({busier} was busier{over})")
}

/// The names of the bottlenecks, the first few of many.
pub(crate) fn bottleneck_names(all: &[&Summary]) -> String {
    all.first().map_or_else(String::new, |first| few_names(first, &bottlenecks(all)))
}

fn few_names(summary: &Summary, links: &[u32]) -> String {
    let names: Vec<&str> = names_of(summary, links).take(NAMES).collect();
    match links.len().saturating_sub(NAMES) {
        0 => names.join(", "),
        more => format!("{} and {more} more links", names.join(", ")),
    }
}

/// A label for the links `bottlenecks`, with why it is these, if the scenario does not say so.
pub(crate) fn bottleneck_label(all: &[&Summary], bottlenecks: &[u32]) -> String {
    let Some(first) = all.first() else { return "no link".into() };
    let names = few_names(first, bottlenecks);
    if names.is_empty() {
        return "no link".into();
    }
    let are = |is: fn(&LinkSummary) -> bool| {
        let is_it = |i: &u32| all.iter().any(|s| s.links.get(*i as usize).is_some_and(is));
        bottlenecks.iter().all(is_it)
    };
    match (are(|link| link.bottleneck), are(|link| link.expected_bottleneck)) {
        (true, _) => names,
        (false, true) => format!("{names}, where flows are expected to get the least"),
        (false, false) => format!("{names}, the busiest"),
    }
}

/// The worlds of the runs, each once.
pub(crate) fn worlds(runs: &[Run]) -> String {
    let mut worlds: Vec<&str> = Vec::new();
    for run in runs {
        if !worlds.contains(&run.info.world.name()) {
            worlds.push(run.info.world.name());
        }
    }
    worlds.join(", ")
}

/// A label for each run: its laws, with the world if runs are of several worlds, and with the seed
/// or a number if the law ran more than once in that world.
pub(crate) fn labels(runs: &[Run]) -> Vec<String> {
    let several_worlds = runs.iter().any(|run| run.info.world != runs[0].info.world);
    let law = |run: &Run| match (run.info.laws_name(), several_worlds) {
        (law, _) if law.is_empty() => "run".to_string(),
        (law, true) => format!("{law} ({}d)", run.info.world),
        (law, false) => law,
    };
    let laws: Vec<String> = runs.iter().map(law).collect();
    let label = |i: usize| {
        let mut twins = (0..runs.len()).filter(|&j| j != i && laws[j] == laws[i]).peekable();
        let (law, seed) = (&laws[i], runs[i].info.seed);
        if twins.peek().is_none() {
            law.clone()
        } else if twins.all(|j| runs[j].info.seed != seed) {
            format!("{law} (seed {seed})")
        } else {
            format!("{law} (run {})", i + 1)
        }
    };
    (0..runs.len()).map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World::{Emulate, Simulate};
    use crate::{Collector, LinkSummary, RunInfo};

    fn run(law: &str, seed: u64, utilisations: &[f64], flagged: &[usize]) -> Run {
        let info = RunInfo { law: law.into(), seed, ..RunInfo::default() };
        let links = utilisations.iter().enumerate().map(|(i, &utilisation)| LinkSummary {
            name: format!("l{i}"),
            utilisation,
            bottleneck: flagged.contains(&i),
            ..LinkSummary::default()
        });
        let summary = Summary { links: links.collect(), ..Summary::default() };
        Run { collected: Collector::new(&info).finish(), info, summary }
    }

    fn named(runs: &[Run]) -> Vec<u32> {
        bottlenecks(&summaries(runs))
    }

    #[test]
    fn the_links_of_a_verdict_have_names() {
        assert_eq!(verdict_links(&[run("a", 1, &[0.1, 0.9, 0.86, 0.85], &[])]), ["l1", "l2"]);
        assert!(verdict_links(&[]).is_empty());
    }

    #[test]
    fn named_bottlenecks_come_before_busy_links() {
        assert_eq!(named(&[run("a", 1, &[0.9, 0.1, 0.2], &[1, 2])]), [1, 2]);
        assert_eq!(named(&[run("a", 1, &[0.1, 0.9, 0.86, 0.85], &[])]), [1, 2]);
        // Bottlenecks are those of the mean over runs, so that figures of all runs are about the
        // same links.
        assert_eq!(named(&[run("a", 1, &[0.2, 0.9], &[]), run("b", 1, &[0.8, 0.3], &[])]), [1]);
        assert_eq!(named(&[run("a", 1, &[], &[])]), [] as [u32; 0]);
        assert_eq!(named(&[run("a", 1, &[f64::NAN, 0.2], &[])]), [1]);
    }

    #[test]
    fn links_that_are_expected_to_limit_flows_come_before_busy_ones() {
        let expect = |mut run: Run, link: usize| {
            run.summary.links[link].expected_bottleneck = true;
            run
        };
        let busy = [0.9, 0.5, 0.2];
        let runs = [expect(run("a", 1, &busy, &[]), 1), expect(run("b", 1, &[0.1; 3], &[]), 1)];
        assert_eq!(named(&runs), [1]);
        let label = "l1, where flows are expected to get the least (l0 was busier, in the mean over the runs)";
        assert_eq!(bottleneck_label_of(&runs), label);
        assert_eq!(named(&[expect(run("a", 1, &busy, &[2]), 1)]), [2]);
        // Paths may differ between seeds.
        let seeds = [expect(run("a", 1, &busy, &[]), 1), expect(run("a", 2, &busy, &[]), 2)];
        assert!(bottleneck_label_of(&seeds).starts_with("l1, l2, where flows are expected"));
    }

    #[test]
    fn several_bottlenecks_are_averaged() {
        let runs = [run("a", 1, &[0.9, 0.5, f64::NAN], &[0, 1, 2])];
        let headline = &Headline::of_all(&runs)[0];
        assert!((headline.utilisation.unwrap() - 0.7).abs() < 1e-12);
        assert_eq!(bottleneck_label_of(&runs), "l0, l1, l2");
        let runs = [run("a", 1, &[0.9; 5], &[])];
        assert_eq!(bottleneck_label_of(&runs), "l0, l1, l2 and 2 more links, the busiest");
        assert_eq!(bottleneck_label_of(&[run("a", 1, &[], &[])]), "no link");
    }

    #[test]
    fn where_the_named_bottleneck_is_none_the_label_says_so() {
        let label = |first: &[f64], second: &[f64]| {
            bottleneck_label_of(&[run("a", 1, first, &[1]), run("b", 1, second, &[1])])
        };
        assert_eq!(
            label(&[0.9, 0.1, 0.2], &[0.9, 0.1, 0.2]),
            "l1 (l0 was busier, in the mean over the runs)"
        );
        // A link about as busy, or busier under one law only, is not named.
        assert_eq!(label(&[0.9, 0.88], &[0.9, 0.88]), "l1");
        assert_eq!(label(&[0.9, 0.8], &[0.5, 0.9]), "l1");
    }

    #[test]
    fn runs_of_one_law_have_different_labels() {
        let runs = [run("a", 1, &[], &[]), run("a", 2, &[], &[]), run("b", 1, &[], &[])];
        assert_eq!(labels(&runs), ["a (seed 1)", "a (seed 2)", "b"]);
        let same = [run("a", 1, &[], &[]), run("a", 1, &[], &[])];
        assert_eq!(labels(&same), ["a (run 1)", "a (run 2)"]);
    }

    #[test]
    fn where_runs_are_of_two_worlds_a_law_that_ran_in_one_says_which() {
        let of = |law: &str, seed, world| {
            let mut run = run(law, seed, &[], &[]);
            run.info.world = world;
            run
        };
        let runs = [of("a", 1, Simulate), of("a", 1, Emulate), of("b", 1, Simulate)];
        assert_eq!(labels(&runs), ["a (simulated)", "a (emulated)", "b (simulated)"]);
        let seeds = [of("a", 1, Simulate), of("a", 2, Simulate), of("b", 1, Emulate)];
        assert_eq!(
            labels(&seeds),
            ["a (simulated) (seed 1)", "a (simulated) (seed 2)", "b (emulated)"]
        );
        assert_eq!(labels(&runs[2..]), ["b"]);
        let flow = |law: &str| crate::FlowInfo { law: law.into(), ..crate::FlowInfo::default() };
        let mut mixed = run("b", 1, &[], &[]);
        mixed.info.flows = ["a", "b", "a"].map(flow).into();
        assert_eq!(labels(&[mixed.clone()]), ["b+a"]);
        mixed.info.flows.remove(1);
        assert_eq!(labels(&[mixed]), ["a"]);
    }
}
