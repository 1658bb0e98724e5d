//! One page a scenario, in one file that opens without a network, prints, and can be kept with a
//! paper.
//!
//! Text, tables and the network are made here. Scripts in the page draw figures from data in the
//! page, plots over time with uPlot (inlined), and save them as files. A content security policy in
//! the page forbids it to load anything at all. [`crate::draw`] reads the same data.

mod against_delay;
mod by_size;
mod cards;
mod changes;
mod charts;
mod comparison;
mod completions;
mod data;
mod drawn;
mod foot;
mod groups;
mod live;
mod overlay;
pub mod papers;
mod sweep;
mod swept;
mod table;
mod tables;
mod text;
mod topology;
mod units;

use std::collections::BTreeSet;

use crate::figure::plural;
use crate::plots::Plot;
use crate::{CheckedExpectation, LeftOut, Run, RunInfo};
pub use comparison::render_comparison;
use data::{Choice, Drawing};
use groups::{Groups, Mode};
pub use live::{Fragment, LivePage, render_fragment, render_live};
pub use swept::{SweepExtra, render_sweep, render_sweep_with};
use text::{escape, name};

const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("../../assets/figure.js"),
    "\n",
    include_str!("../../assets/tiles.js"),
    "\n",
    include_str!("../../assets/timed.js"),
    "\n",
    include_str!("../../assets/save.js"),
    "\n",
    include_str!("../../assets/fold.js"),
    "\n",
    include_str!("../../assets/tip.js"),
    "\n",
    include_str!("../../assets/earlier.js"),
    "\n",
    include_str!("../../assets/page.js"),
);
const UPLOT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
/// Every page is a copy of uPlot, so every page carries its licence.
const UPLOT_LICENCE: &str = include_str!("../../assets/uplot/LICENSE");
const UPLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");

/// Bytes a page stays below, whatever ran.
const LARGEST: usize = 4_800_000;
/// How often series may be halved to keep a page below [`LARGEST`]: 600 points become 10.
const MOST_HALVINGS: u32 = 6;

/// The content of a page: the runs of one scenario, usually one a law.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The runs, in the order in which laws get their colours.
    pub runs: Vec<Run>,
    /// The scenario's claims compared with what was measured; empty without claims.
    pub expectations: Vec<CheckedExpectation>,
    /// The scenario file as its author wrote it.
    pub scenario_text: Option<String>,
    /// The scenario's description, if it has one.
    pub description: Option<String>,
    /// Laws that were asked for and could not run.
    pub left_out: Vec<LeftOut>,
}

impl Page {
    /// A page of `runs`, without claims and without the scenario's text.
    pub fn new(runs: Vec<Run>) -> Page {
        Page { runs, ..Page::default() }
    }
}

/// The page as one HTML document, below 5 MB. Series are made coarser if need be, and the page says
/// how coarse.
pub fn render(page: &Page) -> String {
    let groups = Groups::of(&page.runs);
    let choice = Choice::of(&page.runs);
    small_enough(|halvings| document(page, &groups, &choice, halvings), String::len)
}

/// A document, with its series halved until it is below [`LARGEST`]. `bytes` is its length.
fn small_enough<D>(document: impl Fn(u32) -> D, bytes: impl Fn(&D) -> usize) -> D {
    let mut halvings = 0;
    loop {
        let made = document(halvings);
        if bytes(&made) <= LARGEST || halvings >= MOST_HALVINGS {
            return made;
        }
        halvings += 1;
    }
}

fn document(page: &Page, groups: &Groups, choice: &Choice, halvings: u32) -> String {
    let runs = &page.runs;
    let title = match runs.first() {
        Some(run) if !run.info.scenario.is_empty() => name(&run.info.scenario),
        _ => "Ratewire report".into(),
    };
    let mut out = head(&title, STYLE);
    out.push_str(&header(page, groups, &title));
    if runs.is_empty() {
        out.push_str("<main><p class=\"note\">Nothing ran.</p></main>\n");
        return out + "</body>\n</html>\n";
    }
    out.push_str(&toolbar(groups, choice));
    out.push_str("<main>\n");
    out.push_str(&cards::cards(runs, groups, &page.left_out));
    out.push_str(&cards::expectations(&page.expectations));
    out.push_str(&charts::plots("Over time", runs, groups, choice, halvings));
    out.push_str(&completions::completions(runs, groups));
    out.push_str(&against_delay::against_delay(runs, groups));
    out.push_str(&topology::topology(runs));
    out.push_str(&overlay::overlay(runs));
    out.push_str(&tables::tables(runs, groups));
    out.push_str(&foot::foot(page, choice, halvings));
    let all: Vec<Plot> = Plot::all().collect();
    let drawing = Drawing { plots: &all, apart: false, halvings };
    out.push_str("</main>\n");
    out.push_str(&data_element(&data::json(runs, groups, choice, &drawing)));
    out + &end()
}

/// The line of a page's head that names its generator; the version follows.
const GENERATOR: &str = "<meta name=\"generator\" content=\"Ratewire ";

/// Whether Ratewire wrote the page that begins with `text`, its first 1,000 characters or more.
pub fn is_ours(text: &str) -> bool {
    text.starts_with("<!doctype html>") && text.contains(GENERATOR)
}

/// The document up to its body.
fn head(title: &str, style: &str) -> String {
    head_with(title, style, "")
}

/// As [`head`], with more sources that the page may load from.
fn head_with(title: &str, style: &str, sources: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         {GENERATOR}{version}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:{sources}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{UPLOT_STYLE}</style>\n<style>\n{style}</style>\n\
         </head>\n<body>\n",
        version = env!("CARGO_PKG_VERSION"),
    )
}

/// The data element of the plots over time.
fn data_element(data: &str) -> String {
    format!("<script type=\"application/json\" id=\"data\">{data}</script>\n")
}

/// The scripts that draw the plots, and the end of the document.
fn end() -> String {
    format!(
        "<script>\n/*\n{UPLOT_LICENCE}*/\n{UPLOT}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Seeds that the head of a page names.
const SEEDS: usize = 8;
/// Most explanations of loads that the head of the page shows.
const LOADS: usize = 4;

fn header(page: &Page, groups: &Groups, title: &str) -> String {
    let Some(first) = page.runs.first() else {
        return format!("<header><h1>{title}</h1></header>\n");
    };
    let info = &first.info;
    let labels: Vec<String> = crate::headline::labels(&page.runs).iter().map(|l| name(l)).collect();
    let laws: Vec<String> = groups.laws().map(name).collect();
    let seeds: BTreeSet<u64> = page.runs.iter().map(|r| r.info.seed).collect();
    let mut shown: Vec<String> = seeds.iter().take(SEEDS).map(u64::to_string).collect();
    if seeds.len() > SEEDS {
        shown.push(format!("and {} more", seeds.len() - SEEDS));
    }
    let facts = vec![
        (if laws.len() == 1 { "Law" } else { "Laws" }, laws.join(", ")),
        ("Duration", escape(&first.summary.lasted())),
        ("Flows", flows(&page.runs)),
        ("World", name(&crate::headline::worlds(&page.runs))),
        (if seeds.len() == 1 { "Seed" } else { "Seeds" }, shown.join(", ")),
        ("Set", set(info)),
        ("Ratewire", name(&info.version)),
    ];
    let pills = pills(page, &labels);
    let description = page.description.as_deref().map_or_else(String::new, |text| {
        format!("<p class=\"note\">{}</p>", escape(&ratewire_table::clip(text, 1000)))
    });
    let arriving = first
        .summary
        .arriving()
        .map_or_else(String::new, |text| format!("<p class=\"note\">{}</p>", escape(&text)));
    let loads = page.runs.iter().zip(&labels).flat_map(|(run, label)| {
        let explained = run.summary.arrivals_explained().into_iter();
        explained.map(move |load| format!("<p class=\"note\">{label}: {}</p>", escape(&load)))
    });
    let loads: String = loads.take(LOADS).collect();
    headed(title, &pills, facts, &(description + &arriving + &loads))
}

/// Whether the claims of the scenario held, and runs that are partial or not to be relied on.
fn pills(page: &Page, labels: &[String]) -> String {
    let failed = page.expectations.iter().filter(|e| !e.passed).count();
    let verdict = match (page.expectations.len(), failed) {
        (0, _) => String::new(),
        (n, 0) => format!("<p class=\"pill pass\">✓ {} held</p>", plural(n, "claim")),
        (n, _) => format!("<p class=\"pill fail\">✗ {failed} of {} failed</p>", plural(n, "claim")),
    };
    let untrue =
        page.runs.iter().zip(labels).filter(|(run, _)| {
            run.summary.fidelity.as_ref().is_some_and(|fidelity| !fidelity.holds)
        });
    let untrue: String = untrue
        .map(|(_, label)| format!("<p class=\"pill fail\">✗ {label}: not to be relied on</p>"))
        .collect();
    let parts = page.runs.iter().zip(labels).filter_map(|(run, label)| {
        let part = run.summary.partial()?;
        Some(format!("<p class=\"pill fail\">✗ {label}: partial, {}</p>", escape(&part)))
    });
    verdict + &untrue + &parts.collect::<String>()
}

/// Values set in place of the scenario's own, as a command line has them.
fn set(info: &RunInfo) -> String {
    let all = info.values.iter().map(|(key, value)| format!("{key}={value}"));
    escape(&ratewire_table::clip(&all.collect::<Vec<_>>().join(", "), 1000))
}

/// The number of listed flows and of arrived flows, which differs between seeds.
fn flows(runs: &[Run]) -> String {
    let listed = runs.iter().map(|run| run.collected.flows_total as u64);
    let arrived = runs.iter().map(|run| run.summary.arrived_flows.unwrap_or(0));
    match (range(listed), range(arrived)) {
        (listed, None) => listed.unwrap_or("0".into()),
        (None, Some(arrived)) => arrived,
        (Some(listed), Some(arrived)) => format!("{listed} listed, {arrived} arrived"),
    }
}

/// The least and the largest number, as text; `None` if all are 0.
fn range(all: impl Iterator<Item = u64>) -> Option<String> {
    let (least, most) = all.fold((u64::MAX, 0), |(a, b), n| (a.min(n), b.max(n)));
    let count = crate::figure::count;
    let text =
        if least == most { count(least) } else { format!("{} to {}", count(least), count(most)) };
    (most > 0).then_some(text)
}

/// The header: the title with a verdict beside it, and the facts that are known.
fn headed(title: &str, verdict: &str, facts: Vec<(&str, String)>, below: &str) -> String {
    let known = facts.iter().filter(|(_, text)| !text.is_empty());
    let facts: String =
        known.map(|(k, v)| format!("<div><dt>{k}</dt><dd>{v}</dd></div>")).collect();
    format!(
        "<header><div><h1>{title}</h1>{verdict}</div><dl class=\"facts\">{facts}</dl>{below}</header>\n"
    )
}

/// The legend that filters every plot, and the tools for all plots.
fn toolbar(groups: &Groups, choice: &Choice) -> String {
    let mut out =
        String::from("<nav class=\"bar-top\" aria-label=\"Plots\"><div class=\"legend\">");
    if groups.mode != Mode::Flows {
        out.push_str(&law_toggles(groups));
    }
    out.push_str("</div><div class=\"tools\">");
    out.push_str(
        "<label>Lines <select class=\"layout\"><option value=\"auto\">apart where many</option>\
         <option value=\"one\">in one plot</option><option value=\"each\">apart</option></select></label>",
    );
    if choice.links.len() > 1 {
        out.push_str("<label>Link <select class=\"choose-link\"></select></label>");
    }
    out.push_str(PAPER);
    out + "<button type=\"button\" class=\"reset\" disabled>Reset zoom</button></div></nav>\n"
}

/// The choice of the form that saved figures have.
const PAPER: &str = "<label>Saved figures <select class=\"paper\">\
    <option value=\"1 sans\">one column</option><option value=\"2 sans\">two columns</option>\
    <option value=\"1 serif\">one column, serif</option>\
    <option value=\"2 serif\">two columns, serif</option></select></label>";

/// One box a law, which shows and hides the law.
fn law_toggles(groups: &Groups) -> String {
    let boxes = groups.list.iter().enumerate().map(|(i, g)| {
        format!(
            "<label class=\"hue{}\"><input type=\"checkbox\" checked data-toggle=\"{i}\">{}{}</label>",
            g.hue,
            drawn::swatch(g.dash, g.mark),
            name(&g.name)
        )
    });
    boxes.collect()
}

#[cfg(test)]
mod tests;
