//! The page of a sweep: any figure against any swept parameter, a line a law, heat maps of two
//! parameters, and all figures as a table.

use super::drawn::swatch;
use super::table::table;
use super::text::{capital, escape, json_value, name};
use super::{PAPER, STYLE, data_element, head, headed};
use crate::Sweep;
use crate::draw::{Look, looks};
use crate::figure::{count, plural};

const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("../../assets/figure.js"),
    "\n",
    include_str!("../../assets/tiles.js"),
    "\n",
    include_str!("../../assets/save.js"),
    "\n",
    include_str!("../../assets/fold.js"),
    "\n",
    include_str!("../../assets/sweep.js"),
);
const OWN_STYLE: &str = include_str!("../../assets/sweep.css");

/// Most rows of the page's table; the Parquet file has every run.
const ROWS: usize = 1000;

/// What a page of a sweep can have beside its own content.
#[derive(Clone, Copy, Debug, Default)]
pub struct SweepExtra<'a> {
    /// Style, beside that of the page.
    pub style: &'a str,
    /// HTML of a section before the others.
    pub section: &'a str,
    /// Script that runs after the page's own, and may call what that defines.
    pub script: &'a str,
}

/// The page of a sweep as one HTML document. `set` are values that were set at every point.
pub fn render_sweep(sweep: &Sweep, set: &[(String, String)], scenario_text: &str) -> String {
    render_sweep_with(sweep, set, scenario_text, &SweepExtra::default())
}

/// As [`render_sweep`], with a section and a script of the caller's.
pub fn render_sweep_with(
    sweep: &Sweep,
    set: &[(String, String)],
    scenario_text: &str,
    extra: &SweepExtra<'_>,
) -> String {
    let title = match sweep.scenario.as_str() {
        "" => "Ratewire sweep".to_string(),
        own => name(own),
    };
    let laws: Vec<String> = sweep.laws.iter().map(|law| name(law)).collect();
    let over = sweep
        .axes
        .iter()
        .map(|axis| format!("{} ({})", name(&axis.key), plural(axis.values.len(), "value")));
    let set = set.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    let facts = vec![
        (if laws.len() == 1 { "Law" } else { "Laws" }, laws.join(", ")),
        ("Swept", over.collect::<Vec<_>>().join(", ")),
        (
            "Seeds",
            escape(sweep.seeds_text().trim_start_matches("seeds ").trim_start_matches("seed ")),
        ),
        ("Runs", count(sweep.runs.len() as u64)),
        ("Figures", escape(&sweep.measured_text().unwrap_or_default())),
        ("Set", escape(&ratewire_table::clip(&set.join(", "), 1000))),
        ("Ratewire", name(&sweep.version)),
    ];
    let missing = match sweep.missing_runs {
        0 => String::new(),
        n => format!("<p class=\"pill fail\">✗ partial: {} without results</p>", plural(n, "run")),
    };
    let mut out = head(&title, &format!("{STYLE}{OWN_STYLE}{}", extra.style));
    out += &headed(&title, &missing, facts, "");
    if sweep.runs.is_empty() {
        return out + "<main><p class=\"note\">Nothing ran.</p></main>\n</body>\n</html>\n";
    }
    out += &legend(sweep);
    let links = sweep.bottleneck_text();
    let links = links.map(|text| format!("<p class=\"note\">{}.</p>", escape(&capital(&text))));
    out += &format!("<main>\n{}", extra.section);
    out += "<section aria-labelledby=\"h-lines\"><h2 id=\"h-lines\">Against a parameter</h2>\n\
            <p class=\"note\">A point is the mean over the seeds, its bar the 95 % interval of the mean \
            (Student’s t), which tables have as ±. A point without a bar has one seed, the same value \
            from every seed, or is a maximum, a minimum, or a p95 or above: tables then have the least and the largest \
            of the seeds, as (a to b).</p>\n";
    out += &links.unwrap_or_default();
    out += "<figure id=\"lines\"><figcaption></figcaption><div class=\"plot\" role=\"img\"></div></figure></section>\n";
    if sweep.axes.iter().filter(|axis| axis.values.len() > 1).count() > 1 {
        out += "<section aria-labelledby=\"h-map\"><h2 id=\"h-map\">Over two parameters</h2>\n\
                <figure id=\"map\"><figcaption></figcaption><div class=\"plot\" role=\"img\"></div></figure></section>\n";
    }
    out += &all_figures(sweep);
    let text = match scenario_text {
        "" => String::new(),
        text => format!(
            "<details><summary>The scenario</summary><pre><code>{}</code></pre></details>\n",
            escape(text)
        ),
    };
    out += &format!(
        "<footer>{text}\
         <p class=\"note\">Made by Ratewire. <code>sweep.parquet</code> has every run, a row each.</p></footer>\n\
         </main>\n"
    );
    out += &data_element(&data(sweep));
    let own = match extra.script {
        "" => String::new(),
        script => format!("<script>\n\"use strict\";\n{script}</script>\n"),
    };
    out + &format!("<script>\n{SCRIPT}</script>\n{own}</body>\n</html>\n")
}

/// One box a law, which shows and hides the law's line.
fn legend(sweep: &Sweep) -> String {
    let boxes = sweep.laws.iter().zip(looks_of(sweep)).enumerate().map(|(at, (law, look))| {
        format!(
            "<label class=\"hue{}\"><input type=\"checkbox\" checked data-toggle=\"{at}\">{}{}</label>",
            look.hue,
            swatch(look.dash, look.mark),
            name(law)
        )
    });
    let boxes: String = boxes.collect();
    format!(
        "<nav class=\"bar-top\" aria-label=\"Laws\"><div class=\"legend\">{boxes}</div>\
         <div class=\"tools\">{PAPER}</div></nav>\n"
    )
}

/// The looks of the laws.
fn looks_of(sweep: &Sweep) -> Vec<Look> {
    looks(sweep.laws.iter().map(String::as_str))
}

/// Every cell of the grid with the figures of runs as a whole.
fn all_figures(sweep: &Sweep) -> String {
    let figures = sweep.of_table();
    let keys = sweep.axes.iter().map(|axis| axis.key.as_str());
    let titles = figures.iter().map(|at| sweep.figures[*at].title.as_str());
    let links = (!sweep.bottlenecks.is_empty()).then_some("Bottleneck");
    let head: Vec<&str> = keys.chain(["Law"]).chain(links).chain(titles).collect();
    let cells = sweep.cells();
    let rows = cells.iter().take(ROWS).map(|cell| sweep.row(cell, &figures));
    let mut out =
        String::from("<section aria-labelledby=\"h-all\"><h2 id=\"h-all\">All figures</h2>\n")
            + &table("Figures by point and law", &head, rows);
    if cells.len() > ROWS {
        let rest = count((cells.len() - ROWS) as u64);
        out +=
            &format!("<p class=\"note\">… and {rest} more, in <code>sweep.parquet</code>.</p>\n");
    }
    out + "</section>\n"
}

/// What the script draws: means and margins by figure, for each cell of the grid, and the text that
/// tables have for them.
fn data(sweep: &Sweep) -> String {
    let all = sweep.cells();
    let cells = all.iter().map(|cell| {
        let values = cell.estimates.iter().map(|e| e.map(|e| (e.mean, e.margin)));
        serde_json::json!([cell.point, cell.law, cell.seeds, values.collect::<Vec<_>>()])
    });
    let texts = all.iter().map(|cell| {
        (0..sweep.figures.len()).map(|figure| sweep.text(cell, figure)).collect::<Vec<_>>()
    });
    let looks = looks_of(sweep).into_iter().map(|Look { hue, dash, mark }| [hue, dash, mark]);
    json_value(&serde_json::json!({
        "axes": sweep.axes,
        "laws": sweep.laws,
        "looks": looks.collect::<Vec<_>>(),
        "seeds": sweep.seeds,
        "figures": sweep.figures,
        "cells": cells.collect::<Vec<_>>(),
        "texts": texts.collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{Figures, Panels, Style};
    use crate::sweep::tests::sample;

    fn data_of(html: &str) -> serde_json::Value {
        let (_, data) = html.split_once("id=\"data\">").expect("data");
        serde_json::from_str(data.split("</script>").next().expect("an end")).expect("JSON")
    }

    #[test]
    fn the_page_has_every_cell_of_the_grid_and_says_what_is_missing() {
        let html = render_sweep(&sample(), &[("duration".into(), "5 s".into())], "law = 'xcp'");
        assert!(html.contains("<dt>Set</dt><dd>duration=5 s</dd>"), "{html}");
        assert!(html.contains("✗ partial: 1 run without results"));
        assert!(html.contains("bottleneck.rate (2 values), bottleneck.discipline (2 values)"));
        assert!(html.contains("id=\"map\"") && html.contains("50.5 ± 6.4 %"));
        let data = data_of(&html);
        assert_eq!(data["cells"].as_array().map(Vec::len), Some(8));
        assert_eq!(data["axes"][0]["values"][1]["number"], 1e7);
        assert_eq!(data["cells"][7][2], 1);
        // Tooltips and tables have one text: 0.5598 ± 0.00005574 has digits that nothing measured.
        assert_eq!(data["texts"][0][0], "50.5 ± 6.4 %");
        let nothing = render_sweep(&Sweep::default(), &[], "");
        assert!(nothing.contains("Nothing ran") && crate::html::is_ours(&nothing));
    }

    #[test]
    fn a_heat_map_has_a_scale_with_numbers_and_no_lines_through_its_own() {
        let figures = Figures::read(&render_sweep(&sample(), &[], "")).expect("figures");
        let map = figures.figure("map/utilisation", Panels::Auto).expect("a map");
        let scale = map.scale.as_ref().expect("a scale");
        assert_eq!((scale.low, scale.high, scale.unit.as_str()), (0.0, 100.0, "%"));
        let svg = map.svg(&Style::default());
        for text in [">Utilisation (%)</text>", ">0</text>", ">60</text>", ">100</text>"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        let lines = figures.figure("utilisation", Panels::Auto).expect("lines");
        let grid = "stroke=\"#dddddd\"";
        assert!(lines.svg(&Style::default()).contains(grid) && !svg.contains(grid), "{svg}");
    }

    #[test]
    fn a_law_keeps_its_look_whatever_other_laws_are_swept() {
        let look = |laws: &[&str], at: usize| {
            let mut sweep = sample();
            sweep.laws = laws.iter().map(|law| law.to_string()).collect();
            data_of(&render_sweep(&sweep, &[], ""))["looks"][at].clone()
        };
        assert_eq!(look(&["xcp", "cubic"], 1), look(&["cubic", "rcp"], 0));
    }

    #[test]
    fn names_cannot_leave_their_place() {
        let mut sweep = sample();
        let evil = "</script><script>alert(1)</script>";
        sweep.axes[1].values[0].text = evil.into();
        sweep.axes[0].key = evil.into();
        sweep.laws[0] = evil.into();
        let html = render_sweep(&sweep, &[(evil.into(), evil.into())], evil);
        assert!(!html.contains("<script>alert"));
        assert_eq!(data_of(&html)["laws"][0], evil);
    }

    #[test]
    fn one_parameter_has_no_heat_map() {
        let mut sweep = sample();
        sweep.axes.pop();
        sweep.runs.retain(|run| run.point[1] == 0);
        sweep.runs.iter_mut().for_each(|run| run.point.truncate(1));
        assert!(!render_sweep(&sweep, &[], "").contains("id=\"map\""));
    }
}
