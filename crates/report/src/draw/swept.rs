//! Figures of a sweep: a measured value against a swept key, a line a law.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::choice::places_of_laws;
use super::request::{Error, MAP};
use super::tiles::scale;
use super::{Figure, FigureAxis, FigurePanel, FigureSeries, Listed, Look, SeriesKind, looks};
use crate::compare::FigureUnit;
use crate::markup::capital;

/// Ratio of the ends from which an axis of numbers is logarithmic, and of neighbouring steps.
const WIDE: f64 = 20.0;
const GROWS: f64 = 2.5;
/// Part of an axis that stays free at both ends.
const FREE: f64 = 0.03;

/// The data of a sweep's page.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Swept {
    axes: Vec<Axis>,
    laws: Vec<String>,
    /// Look of each law.
    #[serde(skip)]
    looks: Vec<Look>,
    figures: Vec<Measure>,
    cells: Vec<Cell>,
}

#[derive(Clone, Debug, Deserialize)]
struct Axis {
    key: String,
    unit: String,
    values: Vec<AxisValue>,
}

#[derive(Clone, Debug, Deserialize)]
struct AxisValue {
    text: String,
    number: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
struct Measure {
    name: String,
    title: String,
    unit: FigureUnit,
}

/// Point, law, number of seeds; by figure mean and margin.
#[derive(Clone, Debug, Deserialize)]
struct Cell(Vec<usize>, usize, usize, Vec<Option<(f64, Option<f64>)>>);

/// A unit that fits a value: its name and size.
pub(crate) fn fitting(unit: FigureUnit, most: f64) -> (&'static str, f64) {
    let units: &[(&str, f64)] = match unit {
        FigureUnit::Share => return ("%", 0.01),
        FigureUnit::Packets => return ("packets", 1.0),
        FigureUnit::Ratio => return ("times", 1.0),
        FigureUnit::Index | FigureUnit::Count => return ("", 1.0),
        FigureUnit::Seconds => &[("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)],
        FigureUnit::Rate => RATES,
        FigureUnit::Power => POWERS,
    };
    fit(units, most)
}

/// As [`fitting`], for a symbol: `bit/s`, `s`, `B`; `share` for shares of one. Other symbols stay.
pub(crate) fn fitting_symbol(symbol: &'static str, most: f64) -> (&'static str, f64) {
    match symbol {
        "share" => fitting(FigureUnit::Share, most),
        "bit/s" => fitting(FigureUnit::Rate, most),
        "s" => fitting(FigureUnit::Seconds, most),
        "B" => fit(&[("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)], most),
        other => (other, 1.0),
    }
}

const RATES: &[(&str, f64)] = &[("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)];
const POWERS: &[(&str, f64)] =
    &[("Gbit/s²", 1e9), ("Mbit/s²", 1e6), ("kbit/s²", 1e3), ("bit/s²", 1.0)];

/// The largest unit that the value has at least one of, else the smallest.
fn fit(units: &[(&'static str, f64)], most: f64) -> (&'static str, f64) {
    let fits = units.iter().find(|unit| most >= unit.1).or(units.last());
    fits.copied().unwrap_or(("", 1.0))
}

impl Swept {
    /// The sweep with the looks of its laws.
    pub(super) fn coloured(mut self) -> Swept {
        self.looks = looks(self.laws.iter().map(String::as_str));
        self
    }

    /// The sweep with only the laws that are wanted, in their order; all if none is.
    pub(super) fn of_laws(&self, wanted: &[String]) -> Result<Swept, Error> {
        let laws: Vec<&str> = self.laws.iter().map(String::as_str).collect();
        let places = places_of_laws(wanted, &laws)?;
        let cells = self.cells.iter().filter_map(|cell| {
            let law = places.iter().position(|place| *place == cell.1)?;
            Some(Cell(cell.0.clone(), law, cell.2, cell.3.clone()))
        });
        Ok(Swept {
            axes: self.axes.clone(),
            laws: places.iter().filter_map(|place| self.laws.get(*place).cloned()).collect(),
            looks: places.iter().filter_map(|place| self.looks.get(*place).copied()).collect(),
            figures: self.figures.clone(),
            cells: cells.collect(),
        })
    }

    pub(super) fn list(&self) -> impl Iterator<Item = Listed> {
        let maps = self.two_axes().into_iter().flat_map(move |[x, y]| {
            self.figures.iter().enumerate().map(move |(place, measure)| Listed {
                name: format!("{MAP}{}", measure.name),
                title: format!(
                    "{} by {} and {}",
                    measure.title, self.axes[x].key, self.axes[y].key
                ),
                unit: fitting(measure.unit, self.most(place)).0.into(),
            })
        });
        let lines = self.figures.iter().enumerate().map(|(place, measure)| Listed {
            name: measure.name.clone(),
            title: format!("{} against {}", measure.title, self.axes[self.usual()].key),
            unit: fitting(measure.unit, self.most(place)).0.into(),
        });
        lines.chain(maps)
    }

    /// The two axes with the most values; `None` if fewer than two have several.
    fn two_axes(&self) -> Option<[usize; 2]> {
        let mut order: Vec<usize> =
            (0..self.axes.len()).filter(|axis| self.axes[*axis].values.len() > 1).collect();
        order.sort_by_key(|axis| Reverse(self.axes[*axis].values.len()));
        Some([*order.first()?, *order.get(1)?])
    }

    /// The heat map of a figure over the two axes with the most values, a panel a law; other keys
    /// have their first values. `None` without two axes or such a figure.
    pub(super) fn map(&self, name: &str) -> Option<Figure> {
        let (place, [x, y]) = (self.place(name)?, self.two_axes()?);
        let measure = &self.figures[place];
        let (unit, size) = fitting(measure.unit, self.most(place));
        let is_shown = |cell: &&Cell| {
            let mut others = cell.0.iter().enumerate().filter(|(axis, _)| ![x, y].contains(axis));
            others.all(|(_, value)| *value == 0)
        };
        let panels = self.laws.iter().enumerate().map(|(law, name)| {
            let mut cells: Vec<&Cell> =
                self.cells.iter().filter(|cell| cell.1 == law).filter(is_shown).collect();
            cells.sort_by_key(|cell| (cell.0[y], cell.0[x]));
            let value = |cell: &&Cell| Some((*cell.3.get(place)?)?.0 / size);
            let series = FigureSeries {
                name: name.clone(),
                g: law as i64,
                kind: SeriesKind::Tiles,
                points: cells.iter().map(|c| (c.0[x] as f64, Some(c.0[y] as f64))).collect(),
                values: cells.iter().map(value).collect(),
                ..FigureSeries::default()
            };
            FigurePanel { title: name.clone(), series: vec![series] }
        });
        let axis = |axis: usize| {
            let values = self.axes[axis].values.iter().map(|value| value.text.clone());
            FigureAxis::of_names(&self.axes[axis].key, values.collect())
        };
        let title = capital(&measure.title);
        Some(Figure {
            name: format!("{MAP}{}", measure.name),
            title: format!("{title} by {} and {}", self.axes[x].key, self.axes[y].key),
            detail: String::new(),
            scale: Some(scale(&title, measure.unit, unit, self.means(place).map(|v| v / size))),
            x: axis(x),
            y: axis(y),
            marks: Vec::new(),
            apart_by: "law".into(),
            panels: panels.collect(),
        })
    }

    /// The swept keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = String> {
        self.axes.iter().map(|axis| axis.key.clone())
    }

    /// Index of the figure of a name.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.figures.iter().position(|measure| measure.name == name)
    }

    /// The axis that a figure is drawn against unless another is asked for: that with most values.
    fn usual(&self) -> usize {
        let most = self.axes.iter().map(|axis| axis.values.len()).max();
        self.axes.iter().position(|axis| Some(axis.values.len()) == most).unwrap_or(0)
    }

    /// The means of a figure, at all points under all laws.
    fn means(&self, figure: usize) -> impl Iterator<Item = f64> {
        self.cells.iter().filter_map(move |cell| Some((*cell.3.get(figure)?)?.0))
    }

    /// The largest mean of a figure.
    fn most(&self, figure: usize) -> f64 {
        self.means(figure).fold(0.0, f64::max)
    }

    /// A figure against an axis, with a panel for each combination of the other axes' values.
    pub(super) fn figure(&self, place: usize, axis: Option<usize>) -> Figure {
        let measure = &self.figures[place];
        let across = axis.unwrap_or_else(|| self.usual());
        let (unit, size) = fitting(measure.unit, self.most(place));
        let (x, at) = self.across(across);
        let others = |point: &[usize]| -> Vec<usize> {
            let other = point.iter().enumerate().filter(|(axis, _)| *axis != across);
            other.map(|(_, value)| *value).collect()
        };
        // By the other axes' values and the law: points by place on the axis.
        let mut found: BTreeMap<Vec<usize>, BTreeMap<usize, Vec<&Cell>>> = BTreeMap::new();
        for cell in &self.cells {
            found.entry(others(&cell.0)).or_default().entry(cell.1).or_default().push(cell);
        }
        let panels = found.iter().map(|(others, laws)| FigurePanel {
            title: self.held(across, others),
            series: laws
                .iter()
                .map(|(law, cells)| self.series(place, *law, cells, across, (&at, size, &x)))
                .collect(),
        });
        let panels: Vec<FigurePanel> = panels.collect();
        let ends = panels.iter().flat_map(|panel| &panel.series).flat_map(|series| {
            let margins = series.margins.iter().map(|margin| margin.unwrap_or(0.0));
            let margins = margins.chain(std::iter::repeat(0.0));
            series.points.iter().zip(margins).filter_map(|((_, y), margin)| Some((*y)? + margin))
        });
        let y = FigureAxis::from_zero(&capital(&measure.title), unit, ends);
        let several = self.axes.iter().enumerate().filter(|(axis, _)| *axis != across);
        let apart_by: Vec<&str> = several.map(|(_, axis)| axis.key.as_str()).collect();
        let key = &self.axes[across].key;
        Figure {
            name: match axis {
                Some(_) => format!("{}/{key}", measure.name),
                None => measure.name.clone(),
            },
            title: format!("{} against {key}", capital(&measure.title)),
            detail: String::new(),
            x,
            y,
            scale: None,
            marks: Vec::new(),
            apart_by: apart_by.join(", "),
            panels,
        }
    }

    /// What a panel holds: `bottleneck.queue 2bdp`.
    fn held(&self, across: usize, others: &[usize]) -> String {
        let axes = self.axes.iter().enumerate().filter(|(axis, _)| *axis != across);
        let held = axes.zip(others).map(|((_, axis), value)| {
            let text = axis.values.get(*value).map_or("", |value| &value.text);
            format!("{} {text}", axis.key)
        });
        held.collect::<Vec<_>>().join(", ")
    }

    fn series(
        &self,
        figure: usize,
        law: usize,
        cells: &[&Cell],
        across: usize,
        (at, size, x): (&[f64], f64, &FigureAxis),
    ) -> FigureSeries {
        let is_named = !x.names.is_empty();
        // Laws at one name stand beside each other.
        let middle = (self.laws.len() as f64 - 1.0) / 2.0;
        let shift =
            if is_named { (law as f64 - middle) * 0.6 / self.laws.len() as f64 } else { 0.0 };
        let mut points: Vec<(f64, f64, Option<f64>)> = Vec::new();
        for cell in cells {
            let (Some(place), Some(Some((mean, margin)))) =
                (cell.0.get(across), cell.3.get(figure))
            else {
                continue;
            };
            let x = at.get(*place).copied().unwrap_or(0.0) + shift;
            points.push((x, mean / size, margin.map(|margin| margin / size)));
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let has_margins = points.iter().any(|point| point.2.is_some());
        let Look { hue, dash, mark } = self.looks.get(law).copied().unwrap_or_default();
        FigureSeries {
            name: self.laws.get(law).cloned().unwrap_or_default(),
            g: law as i64,
            hue: hue as i64,
            dash,
            mark,
            kind: if is_named { SeriesKind::Marks } else { SeriesKind::Joined },
            points: points.iter().map(|point| (point.0, Some(point.1))).collect(),
            margins: points.iter().map(|point| point.2).filter(|_| has_margins).collect(),
            ..FigureSeries::default()
        }
    }

    /// A swept axis, and the place of each of its values on it.
    fn across(&self, axis: usize) -> (FigureAxis, Vec<f64>) {
        let Axis { key, unit, values } = &self.axes[axis];
        let numbers: Option<Vec<f64>> = values.iter().map(|value| value.number).collect();
        let Some(numbers) = numbers.filter(|numbers| numbers.len() > 1) else {
            let names = values.iter().map(|value| value.text.clone()).collect();
            let at = (0..values.len()).map(|i| i as f64).collect();
            return (FigureAxis::of_names(key, names), at);
        };
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
        let (unit, size) = match unit.as_str() {
            "bit/s" => fit(RATES, high),
            "s" => fit(&[("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)], high),
            other => (other, 1.0),
        };
        let gaps = || sorted.windows(2).map(|pair| pair[1] - pair[0]);
        let grows = gaps().fold(0.0, f64::max) > GROWS * gaps().fold(f64::INFINITY, f64::min);
        let log = low > 0.0 && (grows || high / low >= WIDE);
        let (low, high) = (low / size, high / size);
        let (low, high) = if log {
            let free = libm::exp(libm::log(high / low) * FREE);
            (low / free, high * free)
        } else {
            let free = ((high - low) * FREE).max(f64::MIN_POSITIVE);
            (low - free, high + free)
        };
        let x = FigureAxis {
            title: key.clone(),
            unit: unit.into(),
            low,
            high,
            log,
            ..FigureAxis::default()
        };
        (x, numbers.into_iter().map(|number| number / size).collect())
    }
}
