//! The page of a comparison: the best laws by metric, each metric with its intervals, and the runs
//! of the first seed over time.

mod means;

use super::data::{Choice, Drawing};
use super::drawn::swatch;
use super::groups::{Groups, Mode};
use super::text::{capital, escape, name};
use super::{
    Page, STYLE, charts, data, data_element, end, foot, head, headed, set, small_enough, table,
    toolbar,
};
use crate::compare::{About, Comparison, FigureUnit, LawMetric, Metric, Standing};
use crate::figure::plural;
use crate::plots::Plot;
use means::section;

/// Most changes with a drawing of their own.
const CHANGES: usize = 24;

/// The page of a comparison as one HTML document, below 5 MB. `page` holds the runs of the first
/// seed, one a law.
pub fn render_comparison(comparison: &Comparison, page: &Page) -> String {
    let groups = Groups::of(&page.runs);
    let choice = Choice::of(&page.runs);
    small_enough(|halvings| document(comparison, page, &groups, &choice, halvings), String::len)
}

fn document(
    comparison: &Comparison,
    page: &Page,
    groups: &Groups,
    choice: &Choice,
    halvings: u32,
) -> String {
    let title = match comparison.scenario.as_str() {
        "" => "Ratewire comparison".into(),
        scenario => name(scenario),
    };
    let laws: Vec<String> = comparison.laws.iter().map(|law| name(law)).collect();
    let facts = vec![
        ("Laws", laws.join(", ")),
        ("Seeds", comparison.seeds_text().replace("seeds ", "").replace("seed ", "")),
        ("Duration", escape(&comparison.lasted)),
        ("World", comparison.world.to_string()),
        ("Set", page.runs.first().map_or_else(String::new, |run| set(&run.info))),
        ("Ratewire", name(&comparison.version)),
    ];
    let mut out = head(&title, STYLE) + &headed(&title, "", facts, "") + &toolbar(groups, choice);
    out.push_str("<main>\n");
    out.push_str(&verdict(comparison, groups));
    let of = |about| comparison.figures.iter().filter(move |f| f.about == about);
    out.push_str(&section(
        "h-chosen",
        "Figures that were asked for",
        "",
        of(About::Chosen),
        groups,
    ));
    out.push_str(&section("h-run", "Figures", &run_note(comparison), of(About::Run), groups));
    let heading = "Goodput, delay, loss and power of flows";
    out.push_str(&section("h-flows", heading, ABOUT_FLOWS, of(About::Flows), groups));
    let note = "Completion time over the time alone on the path, of the flows that completed.";
    let heading = "Slowdown by flow size";
    out.push_str(&section("h-sizes", heading, note, of(About::Sizes), groups));
    let note = "From the change until every flow’s part of what all of them get is within 10 % of the part \
                that its fair rate is of all fair rates (whether links are full is another figure), for good until the \
                next change.";
    let heading = "Time until shares are fair";
    let changes = of(About::Changes);
    out.push_str(&section("h-changes", heading, note, changes.take(CHANGES), groups));
    let heading = match comparison.seeds.as_slice() {
        [first, _, ..] => format!("Over time, seed {first}"),
        _ => "Over time".into(),
    };
    out.push_str(&charts::plots(&heading, &page.runs, groups, choice, halvings));
    out.push_str(&all_figures(comparison));
    out.push_str(&how(comparison));
    out.push_str(&foot::foot(page, choice, halvings));
    let all: Vec<Plot> = Plot::all().collect();
    let drawing = Drawing { plots: &all, apart: false, halvings };
    out + "</main>\n" + &data_element(&data::json(&page.runs, groups, choice, &drawing)) + &end()
}

/// Attributes of a law: its colour, and its group in the legend.
fn tag(groups: &Groups, law: usize) -> String {
    match groups.list.get(law) {
        Some(group) if groups.mode == Mode::Runs => {
            format!("class=\"hue{}\" data-g=\"{law}\"", group.hue)
        }
        _ => "class=\"ink\"".into(),
    }
}

/// What the figures of flows are of.
const ABOUT_FLOWS: &str = "Goodput is the mean of the listed flows, power the goodput of all of them \
     over the mean round trip. Delays and losses are those of all packets of all flows, whatever their \
     paths: a flow with more packets counts more.";

/// The columns of the verdict.
const STANDINGS: [(Standing, &str); 4] = [
    (Standing::Best, "Best"),
    (Standing::WithinNoise, "Within noise of the best"),
    (Standing::Worse, "Not as good"),
    (Standing::Unknown, "No value from every seed"),
];

/// A table of the laws by standing: best, within noise of the best, not as good.
fn verdict(comparison: &Comparison, groups: &Groups) -> String {
    let has = |figure: &Metric, standing| figure.laws.iter().any(|law| law.standing == standing);
    let decided = || comparison.figures.iter().filter(|figure| has(figure, Standing::Best));
    let columns = STANDINGS.iter().filter(|(standing, _)| decided().any(|f| has(f, *standing)));
    let columns: Vec<_> = columns.collect();
    let mut out = format!(
        "<section aria-labelledby=\"h-verdict\"><h2 id=\"h-verdict\">Verdict</h2>\n\
         <p class=\"note\">{}</p>\n",
        escape(&comparison.about_seeds())
    );
    if columns.is_empty() {
        return out + "</section>\n";
    }
    let heads = columns.iter().map(|(_, title)| format!("<th scope=\"col\">{title}</th>"));
    out.push_str(&format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Verdict\">\
         <table class=\"verdict\"><thead><tr><th scope=\"col\">Figure</th>{}</tr></thead>\n<tbody>\n",
        heads.collect::<String>()
    ));
    for figure in decided() {
        out.push_str(&format!("<tr><th scope=\"row\">{}</th>", name(&long_title(figure))));
        for (column, title) in &columns {
            let laws = || figure.laws.iter().enumerate().filter(|(_, l)| l.standing == *column);
            let said: String = laws().map(|(i, law)| named(law, i, groups)).collect();
            // All best laws have the same value from every seed.
            let value = match laws().next() {
                Some((_, law)) if *column == Standing::Best => {
                    format!("<small>{}</small>", escape(&law.text(figure.unit)))
                }
                _ => String::new(),
            };
            out.push_str(&format!("<td data-standing=\"{title}\">{said}{value}</td>"));
        }
        out.push_str("</tr>\n");
    }
    out + "</tbody></table></div></section>\n"
}

/// A law with its colour, for the verdict.
fn named(law: &LawMetric, place: usize, groups: &Groups) -> String {
    let swatch =
        groups.list.get(place).map_or_else(String::new, |group| swatch(group.dash, group.mark));
    let (tag, law) = (tag(groups, place), name(&law.law));
    format!("<span {tag}>{swatch}{law}</span> ")
}

/// A title that can stand alone.
fn long_title(figure: &Metric) -> String {
    match figure.about {
        About::Chosen | About::Run if figure.unit == FigureUnit::Packets => {
            format!("{} (packets)", capital(&figure.title))
        }
        About::Chosen | About::Run | About::Flows => capital(&figure.title),
        About::Sizes if figure.unit == FigureUnit::Count => {
            format!("Completed flows, {}", figure.title.trim_end_matches(", n"))
        }
        About::Sizes => format!("Slowdown, {}", figure.title),
        About::Changes => format!("Fair after: {}", figure.title),
    }
}

fn run_note(comparison: &Comparison) -> String {
    let dots = match comparison.seeds.len() {
        1 => "",
        _ => {
            "Dots are means over the seeds, bars their 95 % intervals; of maxima, minima, p95 and above bars go from \
              the least to the largest seed, and strokes are seeds. "
        }
    };
    format!(
        "{dots}Utilisation and queue are those of {}; drops and the worst round trip are of the whole \
         network.",
        comparison.bottleneck_text()
    )
}

/// Every figure under every law.
fn all_figures(comparison: &Comparison) -> String {
    let laws = comparison.laws.iter().map(String::as_str);
    let head: Vec<&str> = ["Figure"].into_iter().chain(laws).collect();
    let caption = if comparison.seeds.len() > 1 { "Means over the seeds" } else { "One run a law" };
    let rows = comparison.figures.iter().map(|figure| {
        let cells = figure.laws.iter().map(|law| law.text(figure.unit));
        [long_title(figure)].into_iter().chain(cells).collect()
    });
    format!(
        "<section aria-labelledby=\"h-all\"><h2 id=\"h-all\">All figures</h2>\n{}</section>\n",
        table::table(caption, &head, rows)
    )
}

/// How the comparison was made.
fn how(comparison: &Comparison) -> String {
    // A single seed gives no intervals, and without chance differences are exact.
    let tests: usize = comparison.figures.iter().map(|figure| figure.differences.len()).sum();
    let taken = if comparison.has_chance && tests > 0 {
        format!(
            " Each of {} is judged by itself: of those that are only chance, about one in twenty \
             looks real.",
            plural(tests, "difference")
        )
    } else {
        String::new()
    };
    format!(
        "<section class=\"about\" aria-labelledby=\"h-compared\"><h2 id=\"h-compared\">How laws were compared</h2>\n\
         <dl class=\"how\">\n\
         <dt>Seeds</dt><dd>Every law ran from the same seeds. Arrivals, sizes, hosts and starts are \
         drawn from streams that depend on the seed only. Losses and RED’s drops are drawn packet by \
         packet: the same draws, but they meet other packets.</dd>\n\
         <dt>Interval</dt><dd>Student’s t over the seeds, 95 %. The percentiles of a run are values \
         like others: one a seed.</dd>\n\
         <dt>Within noise</dt><dd>The two laws’ values are subtracted seed by seed; the difference is \
         within noise if its 95 % interval includes 0.{taken}</dd>\n\
         <dt>Values missing</dt><dd><i>2 of 5</i> stands where only two seeds of five gave a value: \
         no mean, which would be one of the better seeds, and no verdict.</dd>\n\
         <dt>Jain over time</dt><dd>Jain’s index of the listed flows’ rates over what is max-min fair \
         for each, window by window, mean over the time in which at least two were active. A window \
         is four round trips of the longest path, or what 40 packets of the smallest fair share \
         take.</dd>\n\
         <dt>Time until fair</dt><dd>From a change to the first of the windows from which on every \
         active flow’s part of what all get is the part that its fair rate is of all fair rates, give \
         or take 10 %, up to the next change, and in five windows at least.</dd>\n</dl></section>\n"
    )
}
