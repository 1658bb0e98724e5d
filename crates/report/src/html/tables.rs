//! All summary figures as tables: what the plots show, for those who cannot or will not see them.

use super::groups::{Groups, Mode};
use super::table::{more, table};
use super::text::{escape, name};
use crate::figure::{bytes, count, index, mean, percent, rate, seconds};
use crate::{FlowSummary, Headline, LinkSummary, Run};

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
        // A few rows are there to be read; many are there to be found.
        let open = |rows: usize| if runs.len() <= 4 && rows <= 24 { " open" } else { "" };
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
        out.push_str(&flows(&run.summary.flows, limit));
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
    let mut columns: Vec<Vec<String>> = Vec::new();
    for (h, run) in Headline::of_all(runs).into_iter().zip(runs) {
        let number = |v: Option<f64>| mean(v.unwrap_or(f64::NAN));
        let c = h.completions.as_ref();
        let p = &run.summary.conservation;
        let missing = if p.holds() { "" } else { " (NOT CONSERVED)" };
        columns.push(vec![
            percent(h.utilisation.unwrap_or(f64::NAN)),
            index(h.jain_index),
            number(h.queue_packets_mean),
            number(h.queue_packets_p99),
            h.queue_packets_max.map_or("–".into(), count),
            count(h.drops),
            count(h.marks),
            index(run.summary.jain_over_time),
            until_fair(run),
            seconds(run.summary.rtt_max_s),
            c.map_or("–".into(), |c| count(c.flows)),
            seconds(c.map(|c| c.mean_s)),
            seconds(c.map(|c| c.median_s)),
            seconds(c.map(|c| c.p99_s)),
            number(c.and_then(|c| c.slowdown_median)),
            number(c.and_then(|c| c.slowdown_p99)),
            count(p.sent_packets) + missing,
            count(p.delivered_packets),
            count(p.dropped_packets),
            count(p.in_flight_packets),
            count(run.summary.engine.data_packets_delivered),
            count(run.summary.engine.events),
        ]);
    }
    let figures = [
        "Utilisation of the bottleneck",
        "Fairness, Jain’s index",
        "Queue, mean (packets)",
        "Queue, 99 % (packets)",
        "Queue, max (packets)",
        "Drops (packets)",
        "Marks (packets)",
        "Fairness over time, Jain’s index",
        "Time until fair, the longest after a change",
        "Round-trip time, max",
        "Flows completed",
        "Completion time, mean",
        "Completion time, median",
        "Completion time, 99 %",
        "Slowdown, median",
        "Slowdown, 99 %",
        "Packets sent",
        "Packets delivered",
        "Packets dropped",
        "Packets in flight at the end",
        "Data packets delivered",
        "Events",
    ];
    // Where nothing completed, a block of dashes would say nothing.
    let rows = figures.iter().enumerate().filter_map(|(i, figure)| {
        let cells: Vec<String> = columns.iter().map(|c| c[i].clone()).collect();
        let known = cells.iter().any(|c| c != "–");
        known.then(|| [vec![figure.to_string()], cells].concat())
    });
    let labels = crate::headline::labels(runs);
    let head: Vec<&str> = ["Figure"].into_iter().chain(labels.iter().map(String::as_str)).collect();
    table("Laws", &head, rows)
}

/// The longest that flows took to share fairly after a change.
fn until_fair(run: &Run) -> String {
    let took = run.summary.settlings.iter().map(|settling| settling.took_s);
    match took.reduce(|worst, next| Some(worst?.max(next?))) {
        None => "–".into(),
        Some(None) => "not always".into(),
        longest => seconds(longest.flatten()),
    }
}

/// Packets that policers corrected or dropped: a column only where there are any.
const CLAMPS: &str = "Clamps";

fn flows(all: &[FlowSummary], limit: usize) -> String {
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
    ];
    let policed = all.iter().any(|f| f.clamps > 0);
    head.extend(policed.then_some(CLAMPS));
    let rows = all.iter().take(limit).map(|f| {
        let mut row = vec![
            f.name.clone(),
            f.from.clone(),
            f.to.clone(),
            f.law.clone(),
            rate(f.goodput_bps),
            percent(f.share),
            bytes(f.delivered_bytes),
            f.size_bytes.map_or("unlimited".into(), bytes),
            seconds(Some(f.start_s)),
            seconds(f.completion_s),
            bytes(f.retransmitted_bytes),
            count(f.retransmitted_packets),
            seconds(f.rtt_mean_s),
            seconds(f.rtt_min_s),
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
        row
    });
    table("Links; queues in packets and bytes", &head, rows) + &more(all.len(), limit)
}
