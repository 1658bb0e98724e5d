//! Figures that are no plots over time: their data, which the page's script draws and saves.

use super::text::{escape, json_value};
use crate::draw::{Figure, FigureSeries, MARKS};

/// A figure with the caption of its title, described to screen readers by `said`.
pub(super) fn figure(figure: &Figure, said: &str) -> String {
    let detail = match figure.detail.as_str() {
        "" => String::new(),
        detail => format!("<span class=\"what\">{}</span>", escape(detail)),
    };
    format!(
        "<figure class=\"drawn\"><figcaption><h3>{}</h3>{detail}</figcaption>\
         <div class=\"plot\" role=\"img\" aria-label=\"{}\"></div>{}</figure>\n",
        escape(&figure.title),
        escape(said),
        element(figure)
    )
}

/// The element with a figure's data.
pub(super) fn element(figure: &Figure) -> String {
    let mut figure = figure.clone();
    for series in figure.panels.iter_mut().flat_map(|panel| &mut panel.series) {
        shorten(series);
    }
    let json = serde_json::to_value(&figure).unwrap_or_default();
    format!("<script type=\"application/json\" class=\"figure\">{}</script>", json_value(&json))
}

/// Leaves four significant digits of every number.
fn shorten(series: &mut FigureSeries) {
    let short = |value: &mut f64| *value = format!("{value:.3e}").parse().unwrap_or(*value);
    for (x, y) in &mut series.points {
        short(x);
        y.iter_mut().for_each(short);
    }
    series.margins.iter_mut().chain(&mut series.values).flatten().for_each(short);
}

/// A line of a legend with its marker, in the colour of the element around it.
pub(super) fn swatch(dash: usize, mark: usize) -> String {
    let corner = |(x, y): &(f64, f64)| format!("{:.1} {:.1}", 12.0 + 4.0 * x, 5.0 + 4.0 * y);
    let corners: Vec<String> = MARKS[mark % MARKS.len()].iter().map(corner).collect();
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 24 10\" aria-hidden=\"true\"><path class=\"dash{}\" d=\"M0 5H24\"/>\
         <path class=\"mark\" d=\"M{}Z\"/></svg>",
        dash % 4,
        corners.join("L")
    )
}
