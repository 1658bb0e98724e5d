//! The foot of a page: how its figures were made, and from which scenario.

use super::Page;
use super::data::Choice;
use super::text::escape;
use crate::figure::{count, plural};
use crate::headline::labels;
use crate::plots::key;
use crate::{Run, World};

/// Bytes of the scenario shown.
const SCENARIO: usize = 200_000;

/// "N samples of dt each, mean and maximum kept", for the series on the page.
pub(super) fn points(runs: &[Run], halvings: u32) -> String {
    let series = || {
        let flows = runs.iter().flat_map(|r| &r.collected.flows);
        let links = runs.iter().flat_map(|r| &r.collected.links);
        let goodputs = flows.filter_map(|flow| flow.tracks.get(key::GOODPUT));
        goodputs.chain(links.filter_map(|link| link.tracks.get(key::UTILISATION)))
    };
    let Some(longest) = series().max_by_key(|s| s.len()) else {
        return "No samples were taken.".into();
    };
    let width = longest.interval() * (1_u64 << halvings.min(30));
    let n = longest.len().div_ceil(1 << halvings.min(30));
    let sampling = runs[0].info.sampling;
    let text = format!("{} of {width} each", plural(n, "point"));
    if !sampling.is_zero() && width > sampling {
        let merged = width.ps().div_ceil(sampling.ps());
        return format!(
            "{text}, made of {} taken every {sampling}: the mean is kept, of queues the maximum too.",
            plural(merged as usize, "sample")
        );
    }
    format!("{text}; every sample is kept. Queues have their mean and their maximum.")
}

pub(super) fn foot(page: &Page, choice: &Choice, halvings: u32) -> String {
    let runs = &page.runs;
    let events: u64 = runs.iter().map(|r| r.summary.engine.events).sum();
    let mut out = format!(
        "<footer><section class=\"about\" aria-labelledby=\"h-how\"><h2 id=\"h-how\">How these figures were made</h2>\n\
         <dl class=\"how\">\n\
         <dt>Samples</dt><dd>{} A series holds at most {} points: when a run is longer, neighbours \
         are merged and each point stands for more time. The tables and verdicts come from exact \
         counters, not from the plots; <code>flows.parquet</code> and <code>links.parquet</code> \
         hold every sample, <code>completions.parquet</code> every flow of a given size.{}</dd>\n\
         <dt>Goodput</dt><dd>Data delivered in order to the receiving application, once. Headers \
         and data sent again do not count. Plots over time count data as it arrives, in order or \
         not.</dd>\n\
         <dt>Share</dt><dd>Payload that a flow delivered, of what all listed flows delivered over the run.</dd>\n\
         <dt>Utilisation</dt><dd>Part of the time a link was busy sending, headers included.</dd>\n\
         <dt>Queue</dt><dd>Packets waiting for the link, the one being sent not counted. The mean \
         and the 99th percentile are over time, not over packets.</dd>\n\
         <dt>Fairness</dt><dd>Jain’s index, (Σx)² / (n Σx²), of the rates at which payload arrived, \
         in order or not, of the long flows: those with unlimited data that run to the end, from the \
         last of their starts on (of a part of the run: through all of it). Each rate is over the \
         flow’s max-min fair rate beside all listed flows that are active, those that stop, \
         have a size, a constant rate or pauses too; by weight where a law has an option for it.</dd>\n\
         <dt>Completion time</dt><dd>From the application’s request to the last byte delivered. \
         Slowdown is that over the time the flow would take alone. Medians and percentiles leave \
         out flows of no given size (of one that is told to stop the table says when all had arrived) and those that had \
         not completed when the run ended. Of more than {} flows these \
         are within half a percent; those of claims are exact.</dd>\n\
         <dt>Conservation</dt><dd>{}</dd>\n{}",
        escape(&points(runs, halvings)),
        count(runs.iter().map(|r| r.collected.limits.points).max().unwrap_or(0) as u64),
        daemons(runs),
        count(runs.iter().map(|r| r.collected.limits.exact_completions).max().unwrap_or(0) as u64),
        conservation(runs),
        fidelity(runs)
    );
    if !choice.links.is_empty() || events > 0 {
        out.push_str(&format!(
            "<dt>Engine</dt><dd>{} handled.</dd>\n",
            plural(events as usize, "event")
        ));
    }
    out.push_str("</dl></section>\n");
    if let Some(text) = &page.scenario_text {
        let mut end = text.len().min(SCENARIO);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let cut = if end < text.len() { "\n… (cut here)" } else { "" };
        out.push_str(&format!(
            "<details><summary>The scenario</summary><pre><code>{}{cut}</code></pre></details>\n",
            escape(&text[..end])
        ));
    }
    out + "<p class=\"note\">Made by Ratewire. Plots by uPlot 1.6.32 (MIT licence, © Leon Sorokin).</p></footer>\n"
}

/// Where the figures of emulated overlays come from.
fn daemons(runs: &[Run]) -> &'static str {
    let is_of_daemons =
        |run: &Run| run.info.world == World::Emulate && run.summary.overlay.is_some();
    match runs.iter().any(is_of_daemons) {
        true => {
            " Those of an emulated overlay are what its daemons had counted at the samples, which \
             may be farther apart than asked."
        }
        false => "",
    }
}

fn fidelity(runs: &[Run]) -> String {
    let of = |(run, label): (&Run, String)| {
        let fidelity = run.summary.fidelity.as_ref()?;
        let class = if fidelity.holds { "" } else { " class=\"fail\"" };
        let (label, text) = (escape(&label), escape(&fidelity.text()));
        Some(format!("<dt>Real time</dt><dd{class}>{label}: {text}.</dd>\n"))
    };
    runs.iter().zip(labels(runs)).filter_map(of).collect()
}

fn conservation(runs: &[Run]) -> String {
    let labels = crate::headline::labels(runs);
    let broken: Vec<String> = runs
        .iter()
        .zip(&labels)
        .filter(|(r, _)| !r.summary.conservation.holds())
        .map(|(_, l)| super::text::name(l))
        .collect();
    if broken.is_empty() {
        let has_copies = runs.iter().any(|r| r.summary.conservation.duplicated_packets > 0);
        let copies = if has_copies { " + duplicated" } else { "" };
        return format!(
            "Packets sent{copies} = delivered + dropped + in flight at the end, in every run."
        );
    }
    format!(
        "<strong class=\"fail\">Packets are missing under {}: please report this.</strong>",
        broken.join(", ")
    )
}
