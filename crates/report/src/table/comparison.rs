//! The comparison of laws over several seeds, as a terminal shows it.

use ratewire_table::{Column, Grid, clip};
use unicode_width::UnicodeWidthStr;

use super::TableOptions;
use crate::Comparison;
use crate::compare::{About, FigureName, Metric, Standing};
use crate::figure::{count, plural};

/// Most changes that are printed; the page has more.
const CHANGES: usize = 12;

/// The table of a comparison, a line a law. Columns beyond the terminal's width follow below. The
/// text ends in a newline, and is empty without laws.
pub fn comparison(comparison: &Comparison, options: &TableOptions) -> String {
    if comparison.laws.is_empty() {
        return String::new();
    }
    let title = if comparison.scenario.is_empty() { "(no name)" } else { &comparison.scenario };
    let mut out = format!("{}\n", options.style().bold(&clip(title, 200)));
    let laws = plural(comparison.laws.len(), "law");
    let world = comparison.world;
    out += &format!("{world}, {}, {laws}, {}\n", comparison.lasted, comparison.seeds_text());
    let of = |about| comparison.figures.iter().filter(move |f| f.about == about);
    if of(About::Chosen).next().is_some() {
        out += &part(comparison, of(About::Chosen), options);
        let is_of_bottleneck = |figure: &Metric| FigureName::is_of_bottleneck(&figure.name);
        if of(About::Chosen).any(is_of_bottleneck) {
            out += &bottleneck(comparison, options);
        }
    } else {
        out += &usual(comparison, options);
    }
    out += "\n";
    let marks =
        comparison.figures.iter().flat_map(|f| &f.laws).any(|l| l.standing == Standing::Best);
    if marks && comparison.has_chance {
        let about = "* best   ≈ within noise of the best: the 95 % interval of the paired difference \
                     includes 0";
        out += &note(about, options);
    } else if marks {
        out += &note("* best", options);
    }
    let missing = |f: &Metric| f.laws.iter().any(|law| law.mean.is_none());
    if comparison.figures.iter().any(missing) {
        let about = match comparison.seeds.len() {
            1 => "–: no value, or shares never became fair".to_string(),
            n => format!("k of {n}: only k seeds gave a value, or saw shares become fair"),
        };
        out += &note(&about, options);
    }
    out + &note(&comparison.about_seeds(), options)
}

/// What figures of bottlenecks are of.
fn bottleneck(comparison: &Comparison, options: &TableOptions) -> String {
    let links = clip(&comparison.bottleneck_text(), 300);
    note(&format!("utilisation and queue (packets) of {links}"), options)
}

/// The figures that are shown unless others are asked for.
fn usual(comparison: &Comparison, options: &TableOptions) -> String {
    let of = |about| comparison.figures.iter().filter(move |f| f.about == about);
    let mut out = part(comparison, of(About::Run), options);
    out += &bottleneck(comparison, options);
    if of(About::Flows).next().is_some() {
        out += &format!("\n{}", options.style().bold("Goodput, delay, loss and power of flows"));
        out += &part(comparison, of(About::Flows), options);
        let has = |name: &str| of(About::Flows).any(|figure| figure.name == name);
        let about = [
            (has("goodput_flow_mean_bps"), "goodput: mean of listed flows"),
            (has("rtt_p50_s") || has("loss_share"), "delays and losses: all packets of all flows"),
            (has("power_bps2"), "power: goodput of listed flows over the mean RTT"),
        ];
        let about: Vec<&str> = about.iter().filter(|part| part.0).map(|part| part.1).collect();
        if !about.is_empty() {
            out += &note(&about.join("; "), options);
        }
    }
    if of(About::Sizes).next().is_some() {
        out += &format!("\n{}", options.style().bold("Slowdown of completed flows, by size"));
        out += &part(comparison, of(About::Sizes), options);
    }
    let changes = of(About::Changes).count();
    if changes > 0 {
        out += &format!("\n{}", options.style().bold("Time until shares are fair"));
        out += &part(comparison, of(About::Changes).take(CHANGES), options);
        let rest = changes.saturating_sub(CHANGES);
        if rest > 0 {
            out += &note(&format!("... and {} more changes", count(rest as u64)), options);
        }
    }
    out
}

fn part<'a>(
    comparison: &Comparison,
    figures: impl Iterator<Item = &'a Metric>,
    options: &TableOptions,
) -> String {
    let figures: Vec<&Metric> = figures.collect();
    let law = Column::text("law").shrinks();
    // Marks stand right of the figures: titles keep clear of them.
    let column = |f: &&Metric| Column::number(&format!("{}  ", clip(&f.title, 40)));
    let mut grid = Grid::new([law].into_iter().chain(figures.iter().map(column)).collect());
    for (i, law) in comparison.laws.iter().enumerate() {
        let cell = |f: &&Metric| format!("{} {}", f.laws[i].text(f.unit), mark(f.laws[i].standing));
        grid.row([law.clone()].into_iter().chain(figures.iter().map(cell)));
    }
    format!("\n{}", grid.folded(&options.style()))
}

/// The mark of a law's standing.
fn mark(standing: Standing) -> char {
    match standing {
        Standing::Best => '*',
        Standing::WithinNoise => '≈',
        Standing::Worse | Standing::Unknown | Standing::Unranked => ' ',
    }
}

/// A line of small print, wrapped to the terminal.
pub(super) fn note(text: &str, options: &TableOptions) -> String {
    let limit = options.width.unwrap_or(100);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().filter(|line| line.width() + 1 + word.width() <= limit);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => line.push_str(&format!(" {word}")),
            None => lines.push(word.into()),
        }
    }
    lines.iter().map(|line| format!("{}\n", options.style().dim(line))).collect()
}
