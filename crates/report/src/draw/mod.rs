//! Figures as they are drawn: on a page by its script, and for a paper as SVG, PDF, PNG and CSV.
//!
//! A page holds the data of its figures. [`Figures`] reads them there, so a figure for a paper has
//! the series, units and axes of the page:
//!
//! ```
//! use ratewire_report::draw::{Figures, Format, Panels, Style};
//! use ratewire_report::{Collector, FlowInfo, FlowRow, Page, Run, RunInfo, Summary, html};
//! use ratewire_units::{Duration, Throughput, Time};
//!
//! let flows = vec![FlowInfo { name: "a".into(), law: "xcp".into(), ..FlowInfo::default() }];
//! let duration = Duration::from_secs(1);
//! let info = RunInfo { law: "xcp".into(), flows, duration, ..RunInfo::default() };
//! let mut collector = Collector::new(&info);
//! let at = Time::ZERO + duration;
//! let goodput = Throughput::new(1e6);
//! collector.flow(&FlowRow { at, interval: duration, goodput, ..FlowRow::default() });
//! let (summary, collected) = (Summary::of(&info), collector.finish());
//! let page = html::render(&Page::new(vec![Run { info, summary, collected }]));
//! let figures = Figures::read(&page)?;
//! let figure = figures.figure("throughput", Panels::Auto)?;
//! assert_eq!(figure.y.label(), "Throughput (Mbit/s)");
//! assert!(figure.svg(&Style::default()).contains("Throughput (Mbit/s)"));
//! assert_eq!(Format::of("figure.svg".as_ref())?, Format::Svg);
//! # Ok::<(), ratewire_report::draw::Error>(())
//! ```

mod axis;
mod choice;
mod csv;
mod format;
#[cfg(feature = "images")]
mod images;
mod layout;
mod look;
mod marks;
mod read;
mod request;
mod series;
mod style;
mod svg;
mod swept;
mod text;
mod tiles;
mod timed;
mod write;

use serde::{Deserialize, Serialize};

pub use choice::{AxisChoice, Choice, Chosen};
pub use format::Format;
pub(crate) use look::{Look, PALETTE, looks};
pub(crate) use marks::MARKS;
pub use read::Figures;
pub use request::{Error, Listed, Panels};
pub use style::{Columns, Length, Style};
pub(crate) use swept::{fitting, fitting_symbol};

/// A figure: axes, and one panel or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The name by which [`Figures::figure`] finds the figure.
    pub name: String,
    /// Title of the figure.
    pub title: String,
    /// What the figure draws, beyond its title; may be empty.
    pub detail: String,
    /// The horizontal axis of every panel.
    pub x: FigureAxis,
    /// The vertical axis of every panel.
    pub y: FigureAxis,
    /// What the colours of tiles stand for; `None` without tiles.
    #[serde(default)]
    pub scale: Option<FigureAxis>,
    /// Places on the horizontal axis that have a dashed line.
    pub marks: Vec<f64>,
    /// What distinguishes panels: `law`, `flow`, a key of the scenario; empty for one panel.
    pub apart_by: String,
    /// The panels, in order.
    pub panels: Vec<FigurePanel>,
}

/// An axis: a quantity with its unit, and the range that is drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureAxis {
    /// The quantity.
    pub title: String,
    /// Unit of the values; empty for plain numbers and names.
    pub unit: String,
    /// The smallest value drawn.
    pub low: f64,
    /// The largest value drawn.
    pub high: f64,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Names at 0, 1, 2 and so on, in place of numbers; empty for numbers.
    pub names: Vec<String>,
    /// Whether values beyond the range are left out, and not drawn at its ends.
    #[serde(skip)]
    pub is_cut: bool,
}

/// A panel of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigurePanel {
    /// What distinguishes the panel from others; empty for a single panel.
    pub title: String,
    /// The series, from the back to the front.
    pub series: Vec<FigureSeries>,
}

/// A series of a panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureSeries {
    /// Name in the legend.
    pub name: String,
    /// What distinguishes the series from others of its name: `mean`, `max`; usually empty.
    pub part: String,
    /// Number of the law among those of the page; -1 for none.
    pub g: i64,
    /// Number of the colour; -1 for the colour of text.
    pub hue: i64,
    /// Number of the dash; 0 is a full line.
    pub dash: usize,
    /// Number of the marker.
    pub mark: usize,
    /// How the points are drawn.
    pub kind: SeriesKind,
    /// The points, in order; a point without a value is a gap.
    pub points: Vec<(f64, Option<f64>)>,
    /// By point: half the width of its interval. Empty if no point has one.
    pub margins: Vec<Option<f64>>,
    /// By tile: its value. Empty for other series.
    pub values: Vec<Option<f64>>,
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesKind {
    /// A line, with a marker here and there.
    #[default]
    Line,
    /// Stairs: a value holds until the next.
    Steps,
    /// The area between this series and the next.
    Band,
    /// A small dot each.
    Dots,
    /// A marker each, joined by a line.
    Joined,
    /// A marker each.
    Marks,
    /// An open ring each, larger than markers, which stay visible in it: values of a source.
    Claimed,
    /// A rectangle each, whose colour and number are its value; both axes have names.
    Tiles,
}

impl FigureAxis {
    /// The title with the unit: `Queue (packets)`.
    pub fn label(&self) -> String {
        if self.unit.is_empty() {
            self.title.clone()
        } else {
            format!("{} ({})", self.title, self.unit)
        }
    }

    /// A linear axis from 0 to just above the largest value.
    pub(crate) fn from_zero(title: &str, unit: &str, values: impl Iterator<Item = f64>) -> Self {
        let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let high = if most > 0.0 { most * 1.06 } else { 1.0 };
        FigureAxis { title: title.into(), unit: unit.into(), high, ..FigureAxis::default() }
    }

    /// A logarithmic axis around values above zero.
    pub(crate) fn around(title: &str, unit: &str, values: impl Iterator<Item = f64>) -> Self {
        let known = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) =
            known.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if high > 0.0 { (low / 1.15, high * 1.15) } else { (0.1, 10.0) };
        FigureAxis {
            title: title.into(),
            unit: unit.into(),
            low,
            high,
            log: true,
            ..Self::default()
        }
    }

    /// An axis of names.
    pub(crate) fn of_names(title: &str, names: Vec<String>) -> Self {
        let high = names.len() as f64 - 0.5;
        FigureAxis { title: title.into(), low: -0.5, high, names, ..FigureAxis::default() }
    }
}

impl FigureSeries {
    /// The name with the part: `xcp max`.
    pub fn label(&self) -> String {
        [self.name.as_str(), self.part.as_str()].join(" ").trim().to_string()
    }
}

impl Figure {
    /// Whether the figure draws values that a source claims.
    pub(crate) fn has_claims(&self) -> bool {
        let mut all = self.panels.iter().flat_map(|panel| &panel.series);
        all.any(|series| series.kind == SeriesKind::Claimed)
    }

    /// Whether an axis leaves out values.
    pub(crate) fn is_cut(&self) -> bool {
        self.x.is_cut || self.y.is_cut
    }

    /// Series that a legend names: each name once, in order of appearance.
    pub(crate) fn legend(&self) -> Vec<&FigureSeries> {
        let mut named: Vec<&FigureSeries> = Vec::new();
        for panel in &self.panels {
            for series in panel.series.iter().filter(|series| series.kind != SeriesKind::Band) {
                let is_new = !named.iter().any(|known| known.name == series.name);
                // The title of a panel, or a name on the axis, says what a legend would say.
                let is_shown = series.name == panel.title || self.x.names.contains(&series.name);
                if !series.name.is_empty() && !is_shown && is_new {
                    named.push(series);
                }
            }
        }
        if named.len() > 1 { named } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests;
