//! The tables a run prints: laws side by side, then flows and links of each run.

mod comparison;
mod drops;
mod overlay;
mod sweep;

pub use ratewire_table::wrap;
use ratewire_table::{Column, Grid, Style, clip};

use crate::compare::{FigureName, Measured, asked};
use crate::figure::{NONE, count, held, mean, percent, plural, rate, seconds};
use crate::figures::{FIGURES, Reading};
use crate::headline::{bottleneck_label_of, labels, over_classes, over_several, summaries};
use crate::summary::LawTotals;
use crate::{Basis, CheckedExpectation, Headline, Run, Verdict};
pub use comparison::comparison;
pub use sweep::sweep;

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Columns of the terminal; `None` for as wide as it gets (a pipe, a file).
    pub width: Option<usize>,
    /// Whether to use ANSI colours: only when standard output is a terminal.
    pub colour: bool,
    /// Flows printed a run.
    pub flows: usize,
    /// Links printed a run.
    pub links: usize,
}

impl TableOptions {
    /// Columns for text: those of the terminal, or 80.
    pub fn text_width(&self) -> usize {
        self.width.unwrap_or(80)
    }

    fn style(&self) -> Style {
        Style { width: self.width, colour: self.colour, ..Style::default() }
    }
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions { width: None, colour: false, flows: 20, links: 20 }
    }
}

/// The tables of `runs`, all of one scenario, ending in a newline. Empty without runs.
pub fn render(runs: &[Run], options: &TableOptions) -> String {
    let mut out = outcome(runs, options);
    for (run, label) in runs.iter().zip(labels(runs)) {
        out.push_str(&format!("\n{}\n", options.style().bold(&clip(&label, 80))));
        out.push_str(&flows(run, options));
        out.push_str(&links(run, options));
        for load in run.summary.arrivals_explained() {
            out.push_str(&wrap(&load, 2, options.text_width()));
        }
        out.push_str(&pausing(run, options));
        out.push_str(&overlay::overlay(run, options));
        out.push_str(&totals(run, options));
        out.push_str(&fidelity(run, options));
    }
    out
}

/// The runs side by side, a line each, and what makes the figures of one doubtful. Empty without
/// runs.
pub fn overview(runs: &[Run], options: &TableOptions) -> String {
    let mut out = outcome(runs, options);
    for (run, label) in runs.iter().zip(labels(runs)) {
        let doubts = doubts(run, options);
        if !doubts.is_empty() {
            out.push_str(&format!("\n{}\n{doubts}", options.style().bold(&clip(&label, 80))));
        }
    }
    out
}

/// What went wrong in a run, or makes its figures doubtful. Empty if nothing does.
pub fn doubts(run: &Run, options: &TableOptions) -> String {
    let mut out = pausing_trouble(run, options);
    if !run.summary.conservation.holds() {
        out.push_str(&totals(run, options));
    }
    if run.summary.fidelity.as_ref().is_some_and(|fidelity| !fidelity.holds) {
        out.push_str(&fidelity(run, options));
    }
    out
}

/// What was run, and the runs side by side.
fn outcome(runs: &[Run], options: &TableOptions) -> String {
    let mut out = String::new();
    let Some(first) = runs.first() else { return out };
    let info = &first.info;
    let title = if info.scenario.is_empty() { "(no name)" } else { &info.scenario };
    out.push_str(&options.style().bold(&clip(title, 200)));
    let seeds = if runs.iter().all(|r| r.info.seed == info.seed) {
        format!(", seed {}", info.seed)
    } else {
        String::new()
    };
    let worlds = clip(&crate::headline::worlds(runs), 40);
    out.push_str(&format!("\n{worlds}, {}{seeds}\n", first.summary.lasted()));
    if let Some(arriving) = first.summary.arriving() {
        out.push_str(&wrap(&arriving, 0, options.text_width()));
    }
    out.push('\n');
    out.push_str(&compare(runs, options));
    out
}

/// The claims of the scenario beside what was measured; empty without claims.
pub fn expectations(list: &[CheckedExpectation], options: &TableOptions) -> String {
    if list.is_empty() {
        return String::new();
    }
    let word = |e: &CheckedExpectation| if e.passed { "pass" } else { "FAIL" };
    let passed = list.iter().filter(|e| e.passed).count();
    format!("{}{}\n", grid_of(list, word, options), held(passed, list.len()))
}

/// The claims that do not hold, and how many do; empty without claims.
pub fn failed_claims(list: &[CheckedExpectation], options: &TableOptions) -> String {
    let failed: Vec<_> = list.iter().filter(|e| !e.passed).cloned().collect();
    match (failed.as_slice(), list.len()) {
        (_, 0) => String::new(),
        ([], all) => format!("{}\n", held(all, all)),
        (failed, all) => {
            let table = grid_of(failed, |_| "FAIL", options);
            format!("{table}{}\n", held(all - failed.len(), all))
        }
    }
}

/// The claims of a paper's figure, with measured values and verdicts. Below the table stands what
/// the source says of claims that are not reproduced.
pub fn claims(list: &[CheckedExpectation], options: &TableOptions) -> String {
    let mut text = grid_of(list, |e| e.verdict().word(), options);
    let not = list.iter().filter(|e| e.verdict() == Verdict::NotReproduced);
    for (i, e) in not.enumerate() {
        if i == 0 {
            text += &wrap(
                "Not reproduced: the source says otherwise. The bounds below come from a run \
                 here, and still hold:",
                0,
                options.text_width(),
            );
        }
        let says = e.note.as_ref().or(e.source.as_ref()).map_or("", |says| says.as_str());
        text += &wrap(&format!("- {}, {}: {says}", e.run(list), e.claim), 2, options.text_width());
    }
    text
}

/// The bound of a claim, marked if it rests on a run and not on the source.
pub(crate) fn bound_of(e: &CheckedExpectation) -> String {
    match e.basis {
        Basis::Claim => e.bound.clone(),
        Basis::Derived => format!("{} (derived)", e.bound),
        Basis::Fit => format!("{} (fitted)", e.bound),
        Basis::Run | Basis::Differs => format!("{} (from a run)", e.bound),
    }
}

/// Verdicts counted for each of `rows` (name, number of figures, verdicts) and in total.
pub fn tally(rows: &[(String, usize, Vec<Verdict>)], options: &TableOptions) -> String {
    let figures = Column::number("figures");
    let mut grid = verdicts([Column::text("paper").shrinks(), figures]);
    let mut row = |name: &str, figures: usize, verdicts: &[Verdict]| {
        grid.row(counted([name.to_string(), figures.to_string()], verdicts));
    };
    for (name, figures, verdicts) in rows {
        row(name, *figures, verdicts);
    }
    if rows.len() > 1 {
        let all: Vec<Verdict> = rows.iter().flat_map(|(.., v)| v).copied().collect();
        row("together", rows.iter().map(|(_, figures, _)| figures).sum(), &all);
    }
    grid.render(&options.style())
}

/// Figures of papers, a line each: `rows` are paper, figure and verdicts on its claims.
pub fn paper_figures(rows: &[(String, String, Vec<Verdict>)], options: &TableOptions) -> String {
    let paper = Column::text("paper").left_out(1).shrinks();
    let mut grid = verdicts([paper, Column::text("figure").shrinks()]);
    for (paper, figure, verdicts) in rows {
        grid.row(counted([paper.clone(), figure.clone()], verdicts));
    }
    grid.render(&options.style())
}

/// A grid with these columns, and one a verdict.
fn verdicts(first: [Column; 2]) -> Grid {
    let right = |title| Column::number(title);
    let counts = ["claims"].into_iter().chain(Verdict::ALL.map(Verdict::word)).map(right);
    Grid::new(first.into_iter().chain(counts).collect())
}

/// The cells of a line with the numbers of claims and of each verdict.
fn counted(first: [String; 2], verdicts: &[Verdict]) -> Vec<String> {
    let of = |verdict: Verdict| verdicts.iter().filter(|v| **v == verdict).count();
    let counts = [verdicts.len()].into_iter().chain(Verdict::ALL.map(of));
    first.into_iter().chain(counts.map(|count| count.to_string())).collect()
}

fn grid_of(
    list: &[CheckedExpectation],
    word: impl Fn(&CheckedExpectation) -> &'static str,
    options: &TableOptions,
) -> String {
    let mut grid = Grid::new(vec![
        Column::text(""),
        Column::text("law"),
        Column::text("claim").wraps(),
        Column::text("measured").wraps(),
        Column::text("bound"),
        Column::text("source").left_out(2).shrinks(),
    ]);
    for e in list {
        let source = e.source.clone().unwrap_or_default();
        let cells = [word(e), &e.run(list), &e.claim, &e.measured, &bound_of(e), &source];
        grid.row(cells);
    }
    grid.render(&options.style())
}

/// The figures that are asked for, a line a run.
fn chosen(runs: &[Run], names: &[FigureName], options: &TableOptions) -> String {
    let figures = asked(names, &summaries(runs));
    let law = Column::text("law").shrinks();
    let columns = figures.iter().map(|figure| Column::number(&clip(&figure.title(), 40)));
    let mut grid = Grid::new([law].into_iter().chain(columns).collect());
    for (label, run) in labels(runs).into_iter().zip(runs) {
        let cells = figures.iter().map(|figure| figure.text(&run.summary));
        grid.row([label].into_iter().chain(cells));
    }
    let is_of_bottleneck = |figure: &Measured| FigureName::is_of_bottleneck(&figure.names().0);
    let about = match figures.iter().any(is_of_bottleneck) {
        true => comparison::note(&about_bottlenecks(runs), options),
        false => String::new(),
    };
    grid.folded(&options.style()) + &about
}

/// What figures of bottlenecks are of.
fn about_bottlenecks(runs: &[Run]) -> String {
    let links = clip(&bottleneck_label_of(runs), 300);
    format!("utilisation and queue (packets) of {links}{}", over_several(runs))
}

fn compare(runs: &[Run], options: &TableOptions) -> String {
    if let Some(names) = runs.first().map(|run| &run.info.figures[..])
        && !names.is_empty()
    {
        return chosen(runs, names, options);
    }
    let headlines = Headline::of_all(runs);
    let shown: Vec<_> = FIGURES
        .iter()
        .filter(|figure| headlines.iter().any(figure.is_shown))
        .filter_map(|figure| Some((figure.column?, figure.text)))
        .collect();
    let figures = shown.iter().map(|((title, order), _)| Column::number(title).left_out(*order));
    let law = Column::text("law").shrinks();
    let mut grid = Grid::new([law].into_iter().chain(figures).collect());
    for (headline, run) in headlines.iter().zip(runs) {
        let reading = Reading { summary: &run.summary, headline };
        let cells = shown.iter().map(|(_, text)| text(reading));
        grid.row([headline.law.clone()].into_iter().chain(cells));
    }
    let about = about_bottlenecks(runs);
    let classes = Some(over_classes(runs)).filter(|about| !about.is_empty());
    let notes = [Some(about.as_str()), classes].into_iter().flatten();
    let notes: String = notes.map(|about| comparison::note(about, options)).collect();
    format!("{}{notes}", grid.render(&options.style()))
}

fn flows(run: &Run, options: &TableOptions) -> String {
    let all = &run.summary.flows;
    if all.is_empty() {
        let completed = run.collected.completions_total;
        let arriving = if completed > 0 {
            format!("; {completed} that arrived completed")
        } else {
            String::new()
        };
        return format!("no listed flows{arriving}\n");
    }
    let right = |title: &str, order| Column::number(title).left_out(order);
    let mut columns = vec![
        Column::text("flow").shrinks(),
        Column::text("path").left_out(3).shrinks(),
        Column::text("law").left_out(4),
        right("goodput", 0),
        right("share", 1),
        right("completed in", 1),
        right("sent again", 2),
        right("RTT mean", 2),
        right("RTT min", 3),
        right("RTT p95", 4),
        right("one-way p95", 4),
        right("lost", 4),
    ];
    let policed = all.iter().any(|f| f.clamps > 0);
    if policed {
        columns.push(right("clamps", 1));
    }
    let mut grid = Grid::new(columns);
    for f in all.iter().take(options.flows) {
        let of_run = |text: String| if run.summary.has_run(f) { text } else { NONE.into() };
        let mut row = vec![
            f.name.clone(),
            format!("{} → {}", f.from, f.to),
            f.law.clone(),
            of_run(rate(f.goodput_bps)),
            of_run(percent(f.share)),
            seconds(f.completion_s.filter(|_| run.summary.has_begun(f))),
            of_run(count(f.retransmitted_packets)),
            seconds(f.rtt_mean_s),
            seconds(f.rtt_min_s),
            seconds(f.rtt.map(|rtt| rtt.p95_s)),
            seconds(f.one_way.map(|delay| delay.p95_s)),
            percent(f.loss_share.unwrap_or(f64::NAN)),
        ];
        row.extend(policed.then(|| count(f.clamps)));
        grid.row(row);
    }
    grid.render(&options.style()) + &more(all.len(), options.flows, options) + &by_law(run, options)
}

/// Totals of each law, where flows obey several.
fn by_law(run: &Run, options: &TableOptions) -> String {
    let all = run.summary.totals_by_law();
    if all.is_empty() {
        return String::new();
    }
    let right = |title: &str| Column::number(title);
    let law = Column::text("law");
    let mut grid = Grid::new(vec![
        law,
        right("flows"),
        right("goodput, together"),
        right("share"),
        right("sent again"),
    ]);
    for LawTotals { law, flows, goodput_bps, share, retransmitted_packets } in all {
        let (flows, again) = (count(flows as u64), count(retransmitted_packets));
        grid.row(vec![law.to_string(), flows, rate(goodput_bps), percent(share), again]);
    }
    format!("\n{}", grid.render(&options.style()))
}

fn links(run: &Run, options: &TableOptions) -> String {
    let all = &run.summary.links;
    if all.is_empty() {
        return "no links\n".into();
    }
    let right = |title: &str, order| Column::number(title).left_out(order);
    let mut columns = vec![
        Column::text("link").shrinks(),
        right("rate", 2),
        right("room", 4),
        right("utilisation", 0),
        right("queue mean", 0),
        right("p99", 1),
        right("max", 0),
        right("max bytes", 3),
        right("drops", 0),
        right("marks", 2),
    ];
    let policed = all.iter().any(|l| l.clamps > 0);
    if policed {
        columns.push(right("clamps", 1));
    }
    let of = |l: &crate::LinkSummary| l.disturbances.clone().unwrap_or_default();
    let has_outages = all.iter().any(|l| of(l).outages > 0);
    let has_copies = all.iter().any(|l| of(l).duplicated > 0);
    columns.extend(has_outages.then(|| right("outages", 1)));
    columns.extend(has_outages.then(|| right("time down", 1)));
    columns.extend(has_copies.then(|| right("duplicates", 1)));
    let mut grid = Grid::new(columns);
    // The most interesting links first: the bottleneck, then by drops, queue and throughput.
    let mut order: Vec<_> = all.iter().collect();
    order.sort_by(|a, b| {
        let key = |l: &crate::LinkSummary| (l.bottleneck, l.drops_total(), l.queue_packets_max);
        key(b).cmp(&key(a)).then(b.utilisation.total_cmp(&a.utilisation))
    });
    for l in order.iter().take(options.links) {
        let mut row = vec![
            l.name.clone(),
            rate(l.rate_bps as f64),
            l.room_text(),
            percent(l.utilisation),
            mean(l.queue_packets_mean),
            mean(l.queue_packets_p99),
            count(l.queue_packets_max),
            crate::figure::bytes(l.queue_bytes_max),
            count(l.drops_total()),
            count(l.marks),
        ];
        row.extend(policed.then(|| count(l.clamps)));
        row.extend(has_outages.then(|| count(of(l).outages)));
        row.extend(has_outages.then(|| seconds(Some(of(l).down_s))));
        row.extend(has_copies.then(|| count(of(l).duplicated)));
        grid.row(row);
    }
    let more = more(all.len(), options.links, options);
    format!("\n{}{more}{}", grid.render(&options.style()), drops::reasons(&order, options))
}

/// The links that were paused, and any deadlock; empty if no link was paused.
fn pausing(run: &Run, options: &TableOptions) -> String {
    let of = |l: &crate::LinkSummary| l.pausing.clone().unwrap_or_default();
    let mut paused: Vec<_> =
        run.summary.links.iter().filter(|l| of(l).pauses + of(l).overflowed > 0).collect();
    paused.sort_by(|a, b| of(b).paused_s.total_cmp(&of(a).paused_s));
    let mut out = String::new();
    if !paused.is_empty() {
        let right = |title: &str, order| Column::number(title).left_out(order);
        let mut grid = Grid::new(vec![
            Column::text("paused link").shrinks(),
            right("pauses", 0),
            right("time paused", 0),
            right("dropped for space", 0),
        ]);
        for l in paused.iter().take(options.links) {
            let of = of(l);
            let time = percent(of.paused_s / run.summary.measured_s().max(f64::MIN_POSITIVE));
            grid.row(vec![l.name.clone(), count(of.pauses), time, count(of.overflowed)]);
        }
        let more = more(paused.len(), options.links, options);
        out = format!("\n{}{more}", grid.render(&options.style()));
    }
    out + &pausing_trouble(run, options)
}

/// What went wrong where links pause: packets without room, and rings that wait for themselves.
fn pausing_trouble(run: &Run, options: &TableOptions) -> String {
    let mut out = String::new();
    let pausing = run.summary.links.iter().filter_map(|link| link.pausing.as_ref());
    let overflowed: u64 = pausing.map(|of| of.overflowed).sum();
    if overflowed > 0 {
        let text = format!(
            "{} dropped by buffers that pause their links: too little headroom",
            plural(overflowed as usize, "packet")
        );
        out.push_str(&format!("{}\n", options.style().bold(&text)));
    }
    if let Some(deadlock) = &run.summary.deadlock {
        out.push_str(&format!("{}\n", options.style().bold(&deadlock.text())));
    }
    out
}

fn totals(run: &Run, options: &TableOptions) -> String {
    let c = &run.summary.conservation;
    let sign = if c.holds() { "=" } else { "≠" };
    let whole = if run.summary.measured_from_s.is_some() { ", whole run" } else { "" };
    let copies = match c.duplicated_packets {
        0 => String::new(),
        n => format!(" + {} duplicated", count(n)),
    };
    let text = format!(
        "packets{whole}: {} sent{copies} {sign} {} delivered + {} dropped + {} in flight",
        count(c.sent_packets),
        count(c.delivered_packets),
        count(c.dropped_packets),
        count(c.in_flight_packets)
    );
    let text = if c.holds() { text } else { format!("{text}  NOT CONSERVED: please report this") };
    format!("{}\n", options.style().dim(&text))
}

/// How well an emulated run kept to its times.
fn fidelity(run: &Run, options: &TableOptions) -> String {
    let Some(fidelity) = &run.summary.fidelity else { return String::new() };
    let text = fidelity.text();
    let shown =
        if fidelity.holds { options.style().dim(&text) } else { options.style().red(&text) };
    format!("{shown}\n")
}

fn more(all: usize, shown: usize, options: &TableOptions) -> String {
    if all <= shown {
        return String::new();
    }
    let text = format!("... and {} more", count((all - shown) as u64));
    format!("{}\n", options.style().dim(&text))
}

#[cfg(test)]
mod tests;
