//! All figures of the summary as tables, for readers who do not see the plots.

use super::groups::{Groups, Mode};
use super::table::{more, state, table};
use super::text::{escape, name};
use crate::compare::asked;
use crate::figure::{NONE, bytes, count, mean, percent, rate, seconds};
use crate::figures::{FIGURES, Reading};
use crate::markup::capital;
use crate::summary::LawTotals;
use crate::{Headline, LinkSummary, Run, Summary};

/// Rows of flows and of links over all runs together.
const ROWS: usize = 800;
/// Rows of flows, or of links, of one run.
const ROWS_A_RUN: usize = 100;

pub(super) fn tables(runs: &[Run], groups: &Groups) -> String {
    let limit = (ROWS / runs.len().max(1)).clamp(5, ROWS_A_RUN);
    let mut out = String::from(
        "<section aria-labelledby=\"h-figures\"><h2 id=\"h-figures\">All figures</h2>\n",
    );
    out.push_str(&laws(runs));
    for (run, label) in runs.iter().zip(crate::headline::labels(runs)) {
        let open = |rows: usize| state(rows, runs.len() <= 4);
        let (flows_open, links_open) =
            (open(run.summary.flows.len()), open(run.summary.links.len()));
        let chip = match groups.mode {
            Mode::Runs => {
                let hue = groups.list.iter().find(|g| g.name == label).map_or(0, |g| g.hue);
                format!("<i class=\"chip hue{hue}\"></i>")
            }
            _ => String::new(),
        };
        let label = name(&label);
        out.push_str(&format!("<details{flows_open}><summary>{chip}{label}: flows</summary>\n"));
        out.push_str(&by_law(&run.summary));
        out.push_str(&flows(&run.summary, limit));
        out.push_str(&format!(
            "</details>\n<details{links_open}><summary>{chip}{label}: links</summary>\n"
        ));
        out.push_str(&links(&run.summary.links, limit));
        if let Some(deadlock) = &run.summary.deadlock {
            let text = escape(&deadlock.text());
            out.push_str(&format!(
                "<p class=\"note\"><strong class=\"fail\">{text}</strong></p>\n"
            ));
        }
        out.push_str("</details>\n");
        out.push_str(&super::overlay::tables(run, &format!("{chip}{label}"), limit));
    }
    out + "</section>\n"
}

/// One column a law: there are more figures than laws.
fn laws(runs: &[Run]) -> String {
    let headlines = Headline::of_all(runs);
    let readings = || {
        let pairs = runs.iter().zip(&headlines);
        pairs.map(|(run, headline)| Reading { summary: &run.summary, headline })
    };
    // Where nothing completed, a block of dashes would say nothing.
    let rows = FIGURES.iter().filter_map(|figure| {
        let title = figure.row?.to_string();
        let cells: Vec<String> = readings().map(figure.text).collect();
        let known = cells.iter().any(|cell| cell != NONE);
        known.then(|| [vec![title], cells].concat())
    });
    let names = runs.first().map_or(&[][..], |run| &run.info.figures);
    let asked = asked(names, &crate::headline::summaries(runs)).into_iter().map(|figure| {
        let cells = runs.iter().map(|run| figure.text(&run.summary));
        [capital(&figure.title())].into_iter().chain(cells).collect()
    });
    let labels = crate::headline::labels(runs);
    let head: Vec<&str> = ["Figure"].into_iter().chain(labels.iter().map(String::as_str)).collect();
    table("Laws", &head, asked.chain(rows))
}

/// Title of the column of packets that policers corrected or dropped, shown if there are any.
const CLAMPS: &str = "Clamps";

/// Totals of each law, where flows obey several.
fn by_law(summary: &Summary) -> String {
    let all = summary.totals_by_law();
    if all.is_empty() {
        return String::new();
    }
    let rows = all.into_iter().map(|totals| {
        let LawTotals { law, flows, goodput_bps, share, retransmitted_packets } = totals;
        let (flows, again) = (count(flows as u64), count(retransmitted_packets));
        vec![law.to_string(), flows, rate(goodput_bps), percent(share), again]
    });
    let head = ["Law", "Flows", "Goodput, together", "Share", "Packets again"];
    table("Listed flows of each law, together", &head, rows)
}

fn flows(summary: &Summary, limit: usize) -> String {
    let all = &summary.flows;
    let mut head = vec![
        "Flow",
        "From",
        "To",
        "Law",
        "Goodput",
        "Share",
        "Delivered",
        "Size",
        "Start",
        "Completed in",
        "Sent again",
        "Packets again",
        "RTT mean",
        "RTT min",
        "RTT p95",
        "One-way p95",
        "Lost",
    ];
    let policed = all.iter().any(|f| f.clamps > 0);
    head.extend(policed.then_some(CLAMPS));
    let rows = all.iter().take(limit).map(|f| {
        let of_run = |text: String| if summary.has_run(f) { text } else { NONE.into() };
        let mut row = vec![
            f.name.clone(),
            f.from.clone(),
            f.to.clone(),
            f.law.clone(),
            of_run(rate(f.goodput_bps)),
            of_run(percent(f.share)),
            of_run(bytes(f.delivered_bytes)),
            f.size_bytes.map_or("unlimited".into(), bytes),
            seconds(Some(f.start_s)),
            seconds(f.completion_s.filter(|_| summary.has_begun(f))),
            of_run(bytes(f.retransmitted_bytes)),
            of_run(count(f.retransmitted_packets)),
            seconds(f.rtt_mean_s),
            seconds(f.rtt_min_s),
            seconds(f.rtt.map(|rtt| rtt.p95_s)),
            seconds(f.one_way.map(|delay| delay.p95_s)),
            percent(f.loss_share.unwrap_or(f64::NAN)),
        ];
        row.extend(policed.then(|| count(f.clamps)));
        row
    });
    table("Listed flows", &head, rows) + &more(all.len(), limit)
}

fn links(all: &[LinkSummary], limit: usize) -> String {
    let mut head = vec![
        "Link",
        "From",
        "To",
        "Rate",
        "Delay",
        "Room",
        "Utilisation",
        "Queue mean",
        "Queue 99 %",
        "Queue max",
        "Drops",
        "Marks",
        "Throughput",
        "Bytes mean",
        "Bytes 99 %",
        "Bytes max",
    ];
    let policed = all.iter().any(|l| l.clamps > 0);
    head.extend(policed.then_some(CLAMPS));
    let is_paused = all.iter().any(|l| l.pausing.is_some());
    head.extend(is_paused.then_some("Paused"));
    let paused = |l: &LinkSummary| match &l.pausing {
        Some(p) if p.overflowed > 0 => {
            format!("{} ({} dropped for space)", seconds(Some(p.paused_s)), count(p.overflowed))
        }
        Some(p) => format!("{} in {}", seconds(Some(p.paused_s)), count(p.pauses)),
        None => "–".into(),
    };
    let disturbed = |l: &LinkSummary| l.disturbances.clone().unwrap_or_default();
    let has_outages = all.iter().any(|l| disturbed(l).outages > 0);
    head.extend(has_outages.then_some("Down"));
    let down = |l: &LinkSummary| match disturbed(l) {
        of if of.outages == 0 => "–".into(),
        of => format!("{} in {}", seconds(Some(of.down_s)), count(of.outages)),
    };
    let has_copies = all.iter().any(|l| disturbed(l).duplicated > 0);
    head.extend(has_copies.then_some("Duplicates"));
    let size = |v: f64| if v.is_finite() && v >= 0.0 { bytes(v as u64) } else { "–".into() };
    let rows = all.iter().take(limit).map(|l| {
        let reasons: Vec<String> =
            l.drops.iter().map(|(why, n)| format!("{} {why}", count(*n))).collect();
        let drops = match (l.drops_total(), reasons.as_slice()) {
            (0, _) => "0".into(),
            (_, [one]) => one.clone(),
            (n, many) => format!("{} ({})", count(n), many.join(", ")),
        };
        let mut row = vec![
            l.name.clone(),
            l.from.clone(),
            l.to.clone(),
            rate(l.rate_bps as f64),
            seconds(Some(l.delay_s)),
            l.room_text(),
            percent(l.utilisation),
            mean(l.queue_packets_mean),
            mean(l.queue_packets_p99),
            count(l.queue_packets_max),
            drops,
            count(l.marks),
            rate(l.throughput_bps),
            size(l.queue_bytes_mean),
            size(l.queue_bytes_p99),
            bytes(l.queue_bytes_max),
        ];
        row.extend(policed.then(|| count(l.clamps)));
        row.extend(is_paused.then(|| paused(l)));
        row.extend(has_outages.then(|| down(l)));
        row.extend(has_copies.then(|| count(disturbed(l).duplicated)));
        row
    });
    table("Links; queues in packets and bytes", &head, rows) + &more(all.len(), limit)
}
