//! Figures over time, as the data of a page describe them. The page's script does the same.

mod lines;

use std::collections::BTreeMap;

use ratewire_units::{Duration, Time};
use serde::Deserialize;
use serde_json::Value;

use super::choice::Choice;
use super::request::{Error, Panels};
use super::{Figure, FigureAxis, FigurePanel, FigureSeries, SeriesKind};

/// Most flows that have a panel each.
const MOST_FLOWS: usize = 12;
/// Most lines of a panel that holds several laws or flows.
const FEW: usize = 3;

/// The data of a page's plots over time.
#[derive(Debug, Deserialize)]
pub(super) struct Timed {
    mode: Mode,
    apart: bool,
    end: f64,
    changes: Vec<f64>,
    /// Points of a moving mean, and their time in words.
    smooth: usize,
    smoothed: String,
    groups: Vec<Group>,
    flows: Vec<Line>,
    totals: Vec<Line>,
    links: Vec<LinkRuns>,
    overlay: Vec<Line>,
    plots: Vec<PlotData>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Runs,
    Mixed,
    Flows,
}

#[derive(Debug, Deserialize)]
struct Group {
    name: String,
    hue: usize,
    dash: usize,
    mark: usize,
}

#[derive(Debug, Deserialize)]
struct LinkRuns {
    name: String,
    runs: Vec<Line>,
}

/// Series of a flow, a link under a law, or the like.
#[derive(Debug, Deserialize)]
struct Line {
    g: i64,
    #[serde(default)]
    name: String,
    dt: f64,
    #[serde(flatten)]
    series: BTreeMap<String, Value>,
}

/// A plot, as the registry of plots describes it.
#[derive(Debug, Deserialize)]
pub(super) struct PlotData {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) detail: String,
    quantity: String,
    pub(super) unit: String,
    of: Source,
    draws: Vec<DrawnSeries>,
    shape: ShapeData,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Source {
    Flow,
    All,
    Link,
    Overlay,
}

#[derive(Debug, Deserialize)]
struct DrawnSeries {
    key: String,
    name: String,
    mean: bool,
    band: bool,
}

#[derive(Debug, Deserialize)]
struct ShapeData {
    steps: bool,
    top: Option<f64>,
}

impl Line {
    /// The points of a series: the index of the first, and the values.
    fn values(&self, key: &str) -> Option<(usize, Vec<Option<f64>>)> {
        let (first, values) = self.series.get(key)?.as_array()?.split_first()?;
        Some((first.as_u64()? as usize, values.iter().map(Value::as_f64).collect()))
    }
}

/// The mean of up to `points` values around each, an odd number.
fn moving_mean(values: &[Option<f64>], points: usize) -> Vec<Option<f64>> {
    let half = points / 2;
    let mean = |(k, value): (usize, &Option<f64>)| {
        (*value)?;
        let around = k.saturating_sub(half)..values.len().min(k + half + 1);
        let known: Vec<f64> = values[around].iter().flatten().copied().collect();
        Some(known.iter().sum::<f64>() / known.len() as f64)
    };
    values.iter().enumerate().map(mean).collect()
}

impl Timed {
    /// The plots that have lines of any link, flow or the like.
    pub(super) fn plots(&self) -> impl Iterator<Item = &PlotData> {
        self.plots.iter().filter(|plot| {
            let has_lines = |link: usize| !self.lines(plot, link).is_empty();
            let is_sampled = plot.name == "sampled" && self.smooth == 1;
            !is_sampled
                && if plot.of == Source::Link {
                    (0..self.links.len()).any(has_lines)
                } else {
                    has_lines(0)
                }
        })
    }

    /// Names of the links, the most interesting first.
    pub(super) fn links(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(|link| link.name.as_str())
    }

    /// Whether a plot is of a link.
    pub(super) fn is_of_link(&self, plot: &PlotData) -> bool {
        plot.of == Source::Link
    }

    /// The figure of a plot; of a link's plot, of the link with this index. `None` without lines.
    pub(super) fn figure(
        &self,
        plot: &PlotData,
        link: usize,
        choice: &Choice,
    ) -> Result<Option<Figure>, Error> {
        let (names, panels) = (self.names(plot, link, choice)?, choice.panels);
        let lines = self.chosen(plot, link, choice)?;
        let (begin, end) = self.during(choice)?;
        let mut laws: Vec<i64> = Vec::new();
        for (_, line) in lines.iter().filter(|(_, line)| line.g >= 0) {
            if !laws.contains(&line.g) {
                laws.push(line.g);
            }
        }
        let many = lines.len() > FEW;
        let by_law = laws.len() > 1
            && match panels {
                Panels::Auto => many || self.apart,
                Panels::One => false,
                Panels::Each => true,
            };
        let by_flow = laws.len() <= 1
            && match panels {
                Panels::Auto => many && lines.len() <= MOST_FLOWS && plot.of == Source::Flow,
                Panels::One => false,
                Panels::Each => lines.len() > 1,
            };
        let unit = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)].into_iter();
        let (unit, size) = unit.clone().find(|(_, size)| end >= *size).unwrap_or(("ns", 1e-9));
        let mut by_panel: Vec<FigurePanel> = Vec::new();
        for (nth, line) in &lines {
            let title = if by_law {
                names.of(self.law(line)).to_string()
            } else if by_flow {
                self.name(plot, line, names)
            } else {
                String::new()
            };
            let series = plot.draws.iter().filter_map(|drawn| {
                let mut points = self.points(line, drawn, size)?;
                points.retain(|(x, _)| (begin / size..=end / size).contains(x));
                Some(FigureSeries {
                    name: match by_law && plot.of != Source::All && !line.name.is_empty() {
                        true => names.of(&line.name).to_string(),
                        false => self.name(plot, line, names),
                    },
                    part: drawn.name.clone(),
                    kind: match (drawn.band, plot.shape.steps) {
                        (true, _) => SeriesKind::Band,
                        (false, true) => SeriesKind::Steps,
                        (false, false) => SeriesKind::Line,
                    },
                    points,
                    ..self.look(plot, line, *nth, by_law)
                })
            });
            let series: Vec<FigureSeries> = series.collect();
            match by_panel.iter_mut().find(|panel| panel.title == title) {
                Some(panel) => panel.series.extend(series),
                None => by_panel.push(FigurePanel { title, series }),
            }
        }
        let values = by_panel.iter().flat_map(|panel| &panel.series);
        let values = values.flat_map(|series| &series.points).filter_map(|point| point.1);
        let is_mean = self.smooth > 1 && plot.draws.iter().any(|drawn| drawn.mean);
        let quantity = match is_mean {
            true => format!("{}, mean over {}", plot.quantity, self.smoothed),
            false => plot.quantity.clone(),
        };
        let y = FigureAxis::from_zero(&quantity, &plot.unit, values);
        let (name, title) = match (plot.of, self.links.get(link)) {
            (Source::Link, Some(of)) if link > 0 => {
                (format!("{}/{}", plot.name, of.name), format!("{} of {}", plot.title, of.name))
            }
            (Source::Link, Some(of)) => {
                (plot.name.clone(), format!("{} of {}", plot.title, of.name))
            }
            _ => (plot.name.clone(), plot.title.clone()),
        };
        let apart_by = match (by_law, by_flow) {
            (true, _) => "law",
            (_, true) => "flow",
            _ => "",
        };
        let is_empty =
            by_panel.iter().all(|panel| panel.series.iter().all(|s| s.points.is_empty()));
        if is_empty && choice.during.is_some() {
            let why = format!("{} has no values in the time that is chosen", plot.name);
            return Err(Error::Choice(why));
        }
        Ok((!by_panel.is_empty()).then(|| Figure {
            name,
            title,
            detail: plot.detail.clone(),
            x: FigureAxis {
                title: "Time".into(),
                unit: unit.into(),
                low: begin / size,
                high: end / size,
                ..FigureAxis::default()
            },
            y: FigureAxis { high: plot.shape.top.unwrap_or(y.high), ..y },
            scale: None,
            marks: self.changes.iter().map(|at| at / size).collect(),
            apart_by: apart_by.into(),
            panels: by_panel,
        }))
    }

    /// The first and the last time that are drawn, in seconds.
    fn during(&self, choice: &Choice) -> Result<(f64, f64), Error> {
        let end = if self.end > 0.0 { self.end } else { 1.0 };
        let Some((from, to)) = choice.during else { return Ok((0.0, end)) };
        let to = if to == Time::NEVER { Time::ZERO + Duration::from_secs_f64(end) } else { to };
        // The page rounds the end.
        if to.secs() > end * 1.001 {
            let lasted = Duration::from_secs_f64(end);
            let why = format!("at {to} the run has ended; its duration is {lasted}");
            return Err(Error::Choice(why));
        }
        if from >= to {
            return Err(Error::Choice(format!("the time from {from} to {to} is empty")));
        }
        Ok((from.secs(), to.secs()))
    }

    /// The points of a drawn series, in the middles of their intervals.
    fn points(
        &self,
        line: &Line,
        drawn: &DrawnSeries,
        unit: f64,
    ) -> Option<Vec<(f64, Option<f64>)>> {
        let (first, mut values) = line.values(&drawn.key)?;
        if drawn.mean {
            values = moving_mean(&values, self.smooth);
        }
        let time = |k: usize| ((first + k) as f64 + 0.5) * line.dt / unit;
        Some(values.into_iter().enumerate().map(|(k, value)| (time(k), value)).collect())
    }
}
