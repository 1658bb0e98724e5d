//! The page of a comparison: who is best in what, each figure with its interval, and the runs of the
//! first seed over time.

use ratewire_statistics::Verdict;

use super::data::Choice;
use super::groups::{Groups, Mode};
use super::text::{coordinate, escape, name};
use super::{Page, data, foot, head, headed, plots, script, small_enough, tables, toolbar};
use crate::compare::{About, Better, Comparison, Figure, LawFigure, Standing, Unit, shown};
use crate::figure::{clip, count};

/// Changes with a drawing of their own.
const CHANGES: usize = 24;
/// Beyond this ratio of the largest to the smallest value a scale is logarithmic.
const WIDE: f64 = 40.0;

/// The page of a comparison as one HTML document, below 5 MB as others. `page` holds the runs of the
/// first seed, one a law.
pub fn render_comparison(comparison: &Comparison, page: &Page) -> String {
    let groups = Groups::of(&page.runs);
    let choice = Choice::of(&page.runs);
    small_enough(|halvings| document(comparison, page, &groups, &choice, halvings))
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
    let duration = ratewire_units::Duration::from_secs_f64(comparison.duration_s);
    let laws: Vec<String> = comparison.laws.iter().map(|law| name(law)).collect();
    let facts = vec![
        ("Laws", laws.join(", ")),
        ("Seeds", comparison.seeds_text().replace("seeds ", "").replace("seed ", "")),
        ("Duration", escape(&duration.to_string())),
        ("World", name(&comparison.world)),
        ("Ratewire", name(&comparison.version)),
    ];
    let mut out = head(&title) + &headed(&title, "", facts) + &toolbar(groups, choice);
    out.push_str("<main>\n");
    out.push_str(&verdict(comparison, groups));
    let of = |about| comparison.figures.iter().filter(move |f| f.about == about);
    out.push_str(&section("h-run", "Figures", &run_note(comparison), of(About::Run), groups));
    let note = "Completion time over the time alone on the path, of the flows that completed.";
    let heading = "Slowdown by flow size";
    out.push_str(&section("h-sizes", heading, note, of(About::Sizes), groups));
    let note = "From the change until every flow is within 10 % of its fair share, for good until the \
                next change.";
    let heading = "Time until shares are fair";
    let changes = of(About::Changes);
    out.push_str(&section("h-changes", heading, note, changes.take(CHANGES), groups));
    let heading = match comparison.seeds.as_slice() {
        [first, _, ..] => format!("Over time, seed {first}"),
        _ => "Over time".into(),
    };
    out.push_str(&plots::plots(&heading, &page.runs, groups, choice, halvings));
    out.push_str(&all_figures(comparison));
    out.push_str(&how(comparison));
    out.push_str(&foot::foot(page, choice, halvings));
    out + "</main>\n"
        + &script(&data::json(&page.runs, groups, choice, halvings))
        + "</body>\n</html>\n"
}

/// A law's colour, and what makes the legend filter it.
fn tag(groups: &Groups, law: usize) -> String {
    match groups.list.get(law) {
        Some(group) if groups.mode == Mode::Runs => {
            format!("class=\"hue{}\" data-g=\"{law}\"", group.hue)
        }
        _ => "class=\"ink\"".into(),
    }
}

/// A table of who is best, who may be as good, and who is not.
fn verdict(comparison: &Comparison, groups: &Groups) -> String {
    let titles = ["Figure", "Best", "Within noise of the best", "Not as good", "Not known"];
    let standings = [Standing::Best, Standing::WithinNoise, Standing::Worse, Standing::Unknown];
    let is_known = |figure: &&Figure| figure.laws.iter().any(|l| l.standing == Standing::Best);
    let any = |standing| {
        let laws = comparison.figures.iter().filter(is_known).flat_map(|figure| &figure.laws);
        laws.into_iter().any(|law| law.standing == standing)
    };
    let shown: Vec<usize> = (0..standings.len()).filter(|i| any(standings[*i])).collect();
    let mut out =
        String::from("<section aria-labelledby=\"h-verdict\"><h2 id=\"h-verdict\">Verdict</h2>\n");
    out.push_str(&format!("<p class=\"note\">{}</p>\n", escape(&comparison.about_seeds())));
    if shown.is_empty() {
        return out + "</section>\n";
    }
    let heads: String = [0]
        .into_iter()
        .chain(shown.iter().map(|i| i + 1))
        .map(|i| titles[i])
        .fold(String::new(), |heads, title| heads + &format!("<th scope=\"col\">{title}</th>"));
    out.push_str(&format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Verdict\">\
         <table class=\"verdict\"><thead><tr>{heads}</tr></thead>\n<tbody>\n"
    ));
    for figure in comparison.figures.iter().filter(is_known) {
        out.push_str(&format!("<tr><th scope=\"row\">{}</th>", name(&long_title(figure))));
        for i in &shown {
            let laws = figure.laws.iter().enumerate().filter(|(_, l)| l.standing == standings[*i]);
            let said: String =
                laws.map(|(i, law)| standing(figure, law, &tag(groups, i))).collect();
            out.push_str(&format!("<td>{said}</td>"));
        }
        out.push_str("</tr>\n");
    }
    out + "</tbody></table></div></section>\n"
}

/// A law and its figure, for the verdict.
fn standing(figure: &Figure, law: &LawFigure, tag: &str) -> String {
    format!(
        "<span {tag}><i class=\"chip\"></i>{} <small>{}</small></span> ",
        name(&law.law),
        escape(&law.text(figure.unit))
    )
}

/// A title that can stand alone.
fn long_title(figure: &Figure) -> String {
    match figure.about {
        About::Run => capital(&figure.title),
        About::Sizes => format!("Slowdown, {}", figure.title),
        About::Changes => format!("Fair after: {}", figure.title),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn run_note(comparison: &Comparison) -> String {
    format!(
        "Dots are means over the seeds, bars their 95 % intervals. Utilisation and queue are those of \
         {}; drops and the worst round trip are of the whole network.",
        comparison.bottleneck
    )
}

/// A drawing a figure; nothing without figures.
fn section<'a>(
    id: &str,
    heading: &str,
    note: &str,
    figures: impl Iterator<Item = &'a Figure>,
    groups: &Groups,
) -> String {
    let cards: String = figures.map(|figure| card(figure, groups)).collect();
    if cards.is_empty() {
        return String::new();
    }
    format!(
        "<section aria-labelledby=\"{id}\"><h2 id=\"{id}\">{heading}</h2>\n<p class=\"note\">{}</p>\n\
         <div class=\"pair\">\n{cards}</div></section>\n",
        escape(note)
    )
}

/// A figure under every law: a dot and its interval on a common scale, and below, to be opened, what
/// each law has over each other.
fn card(figure: &Figure, groups: &Groups) -> String {
    let scale = Scale::of(figure);
    let mut rows = String::new();
    for (i, law) in figure.laws.iter().enumerate() {
        let mark = match law.standing {
            Standing::Best => "<span class=\"pass\">best</span>",
            Standing::WithinNoise => "<span title=\"within noise of the best\">≈ best</span>",
            Standing::Worse | Standing::Unknown => "",
        };
        rows.push_str(&format!(
            "<tr {}><th scope=\"row\">{}</th><td class=\"track\">{}</td><td class=\"n\">{}</td>\
             <td>{mark}</td></tr>\n",
            tag(groups, i),
            name(&law.law),
            law.mean.map_or(String::new(), |mean| scale.draw(mean, law.margin)),
            escape(&law.text(figure.unit)),
        ));
    }
    let better = match figure.better {
        Better::More => "more is better",
        Better::Less => "less is better",
    };
    let unit = match figure.unit {
        Unit::Packets => "packets, ",
        Unit::Ratio => "times as long, ",
        Unit::Share | Unit::Index | Unit::Count | Unit::Seconds => "",
    };
    let title = escape(&clip(&figure.title, 60));
    let title = if figure.about == About::Run { capital(&title) } else { title };
    format!(
        "<figure class=\"means\"><figcaption><h3>{title}</h3><span>{unit}{better}{}</span></figcaption>\n\
         <table><tbody>\n{rows}{}</tbody></table>\n{}</figure>\n",
        if scale.is_log { ", log scale" } else { "" },
        scale.ends(figure.unit),
        differences(figure)
    )
}

/// What each law has over each other; nothing where nothing is known.
fn differences(figure: &Figure) -> String {
    if figure.differences.is_empty() {
        return String::new();
    }
    let head = |law: &LawFigure| format!("<th scope=\"col\" class=\"n\">− {}</th>", name(&law.law));
    let mut out = format!(
        "<details><summary>Differences</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Differences of {}\"><table><thead><tr><th></th>{}</tr></thead>\n<tbody>\n",
        escape(&clip(&figure.title, 60)),
        figure.laws.iter().map(head).collect::<String>()
    );
    for a in &figure.laws {
        out.push_str(&format!("<tr><th scope=\"row\">{}</th>", name(&a.law)));
        for b in &figure.laws {
            let cell = figure.difference(&a.law, &b.law).map(|d| match d.verdict {
                Verdict::Same => "<td class=\"n noise\">0</td>".to_string(),
                Verdict::WithinNoise => {
                    format!("<td class=\"n noise\">≈ {}</td>", shown(figure.unit, d.by, d.margin))
                }
                Verdict::Differs => {
                    format!("<td class=\"n\">{}</td>", shown(figure.unit, d.by, d.margin))
                }
            });
            out.push_str(&cell.unwrap_or_else(|| "<td class=\"n\"></td>".into()));
        }
        out.push_str("</tr>\n");
    }
    out + "</tbody></table></div>\n<p class=\"note\">Row less column, paired by seed; ≈ is within noise.\
           </p></details>\n"
}

/// Where values lie between two ends.
struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Scale {
    /// Around the intervals of all laws. From 0 where 0 is near; logarithmic where values differ much.
    fn of(figure: &Figure) -> Scale {
        let known = || figure.laws.iter().filter_map(|l| Some((l.mean?, l.margin.unwrap_or(0.0))));
        let low = known().map(|(mean, margin)| mean - margin).fold(f64::INFINITY, f64::min);
        let high = known().map(|(mean, margin)| mean + margin).fold(f64::NEG_INFINITY, f64::max);
        if low > 0.0 && high / low > WIDE {
            return Scale { low, high, is_log: true };
        }
        // What cannot be below 0 is not drawn there, however wide its interval.
        let low = if low < 0.4 * high { 0.0 } else { low };
        let room = if high > low { 0.0 } else { high.abs().max(1.0) / 2.0 };
        Scale { low: (low - room).max(0.0), high: high + room, is_log: false }
    }

    /// Percent of the way from one end to the other.
    fn percent(&self, value: f64) -> f64 {
        let part = if self.is_log {
            libm::log(value.max(self.low) / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        100.0 * part.clamp(0.0, 1.0)
    }

    fn draw(&self, mean: f64, margin: Option<f64>) -> String {
        let at = |value| coordinate(self.percent(value), 2);
        let bar = margin.map_or(String::new(), |margin| {
            let (from, to) = (self.percent(mean - margin), self.percent(mean + margin));
            let width = coordinate(to - from, 2);
            format!("<i class=\"bar\" style=\"left:{}%;width:{width}%\"></i>", at(mean - margin))
        });
        format!("<div>{bar}<i class=\"dot\" style=\"left:{}%\"></i></div>", at(mean))
    }

    /// What the ends stand for.
    fn ends(&self, unit: Unit) -> String {
        if !self.low.is_finite() || !self.high.is_finite() {
            return String::new();
        }
        format!(
            "<tr class=\"ends\"><td></td><td><div><span>{}</span><span>{}</span></div></td><td></td>\
             <td></td></tr>\n",
            escape(&shown(unit, self.low, None)),
            escape(&shown(unit, self.high, None))
        )
    }
}

/// Every figure under every law.
fn all_figures(comparison: &Comparison) -> String {
    let laws = comparison.laws.iter().map(String::as_str);
    let head: Vec<&str> = ["Figure"].into_iter().chain(laws).collect();
    let rows = comparison.figures.iter().map(|figure| {
        let cells = figure.laws.iter().map(|law| law.text(figure.unit));
        [long_title(figure)].into_iter().chain(cells).collect()
    });
    format!(
        "<section aria-labelledby=\"h-all\"><h2 id=\"h-all\">All figures</h2>\n{}</section>\n",
        tables::table("Means over the seeds", &head, rows)
    )
}

/// How the comparison was made.
fn how(comparison: &Comparison) -> String {
    let pairs = comparison.laws.len() * comparison.laws.len().saturating_sub(1) / 2;
    let tests = count((pairs * comparison.figures.len()) as u64);
    format!(
        "<section aria-labelledby=\"h-compared\"><h2 id=\"h-compared\">How laws were compared</h2>\n\
         <dl class=\"how\">\n\
         <dt>Seeds</dt><dd>Every law ran from the same seeds. Arrivals, sizes, hosts and starts are \
         drawn from streams that depend on the seed only. Losses and RED’s drops are drawn packet by \
         packet: the same draws, but they meet other packets.</dd>\n\
         <dt>Interval</dt><dd>Student’s t over the seeds, 95 %. The percentiles of a run are values \
         like others: one a seed.</dd>\n\
         <dt>Within noise</dt><dd>The two laws’ values are subtracted seed by seed; the difference is \
         within noise if its 95 % interval includes 0. Each of {tests} differences is judged by \
         itself: about one in twenty of those that are nothing but chance is taken for real.</dd>\n\
         <dt>Values missing</dt><dd><i>2 of 5</i> stands where only two seeds of five gave a value: \
         no mean, which would be one of the better seeds, and no verdict.</dd>\n\
         <dt>Jain over time</dt><dd>Jain’s index of the listed flows’ rates over what is max-min fair \
         for each, window by window, mean over the time in which at least two were active. A window \
         is four round trips of the longest path, or what 40 packets of the smallest fair share \
         take.</dd>\n\
         <dt>Time until fair</dt><dd>From a change to the first of the windows from which on every \
         active flow has its fair share, give or take 10 %, up to the next change, and in five \
         windows at least.</dd>\n</dl></section>\n"
    )
}
