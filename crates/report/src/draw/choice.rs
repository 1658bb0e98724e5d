//! What a user chooses of a figure: lines and their names, the time, and the axes.

use ratewire_units::{Time, names};

use super::request::{Error, Panels};
use super::{Figure, FigureAxis, FigurePanel, FigureSeries, SeriesKind};

/// What of a figure is drawn, and how.
///
/// Names of laws and flows may be patterns with a `*`, and `s1-d1` stands for `s1->d1`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// Whether a figure over time has several panels.
    pub panels: Panels,
    /// Laws whose lines are drawn, in this order; all if empty.
    pub laws: Vec<String>,
    /// Flows whose lines are drawn, in this order; all if empty.
    pub flows: Vec<String>,
    /// First and last time of a figure over time.
    pub during: Option<(Time, Time)>,
    /// Names of lines, laws and flows as the page has them, and what the figure calls them.
    pub names: Vec<(String, String)>,
    /// The horizontal axis.
    pub x: AxisChoice,
    /// The vertical axis.
    pub y: AxisChoice,
}

/// The range of an axis, and whether it is logarithmic; the figure's own where nothing is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AxisChoice {
    /// The smallest value drawn, in the unit of the axis.
    pub low: Option<f64>,
    /// The largest value drawn, in the unit of the axis.
    pub high: Option<f64>,
    /// Whether the axis is logarithmic.
    pub log: Option<bool>,
}

/// A figure as it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The figure.
    pub figure: Figure,
    /// What the figure leaves out, in sentences for a user.
    pub notes: Vec<String>,
}

/// Places of the names that are wanted, in their order; all places if none is.
///
/// `known` are the names of `what`, each once.
pub(super) fn places(
    what: &'static str,
    wanted: &[String],
    known: &[&str],
) -> Result<Vec<usize>, Error> {
    if wanted.is_empty() {
        return Ok((0..known.len()).collect());
    }
    let mut all = Vec::new();
    for name in wanted {
        let found = names::find(name, known.iter().copied());
        if found.is_empty() {
            return Err(Error::unknown(what, name, known));
        }
        if found.len() > 1 && !name.contains('*') {
            let meant: Vec<&str> = found.iter().map(|at| known[*at]).collect();
            let which = names::ambiguous(name, &meant);
            return Err(Error::Choice(format!("{which}; {}", names::WRITE_ARROW)));
        }
        all.extend(found.into_iter().filter(|at| !all.contains(at)).collect::<Vec<_>>());
    }
    Ok(all)
}

/// As [`places`], for laws as a page labels them: `xcp`, or `xcp (seed 2)`, which `xcp` means, too.
pub(super) fn places_of_laws(wanted: &[String], labels: &[&str]) -> Result<Vec<usize>, Error> {
    let mut all = Vec::new();
    for name in wanted {
        let laws = labels.iter().map(|label| label.split(" (").next().unwrap_or(label));
        let mut found = names::find(name, labels.iter().copied());
        if found.is_empty() {
            found = names::find(name, laws);
        }
        if found.is_empty() {
            return Err(Error::unknown("law", name, labels));
        }
        all.extend(found.into_iter().filter(|at| !all.contains(at)).collect::<Vec<_>>());
    }
    if wanted.is_empty() { Ok((0..labels.len()).collect()) } else { Ok(all) }
}

/// New names of lines, laws and flows.
#[derive(Clone, Copy)]
pub(super) struct Names<'a>(pub(super) &'a [(String, String)]);

impl<'a> Names<'a> {
    /// The new name; `None` if it is the old one.
    pub(super) fn new_of(self, old: &str) -> Option<&'a str> {
        self.0.iter().find(|(known, _)| known == old).map(|(_, new)| new.as_str())
    }

    /// The new name, or the old one.
    pub(super) fn of<'b>(self, old: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.new_of(old).unwrap_or(old)
    }

    /// Checks that there are lines of the old names.
    pub(super) fn check(self, known: &[&str]) -> Result<(), Error> {
        match self.0.iter().find(|(old, _)| !known.contains(&old.as_str())) {
            Some((old, _)) => Err(Error::unknown("line", old, known)),
            None => Ok(()),
        }
    }
}

impl Figure {
    /// Names of the laws whose lines the figure draws, each once.
    fn laws(&self) -> Vec<String> {
        let mut laws: Vec<String> = Vec::new();
        let all = self.panels.iter().flat_map(|panel| &panel.series);
        for series in all.filter(|series| series.kind != SeriesKind::Claimed) {
            if !laws.contains(&series.name) {
                laws.push(series.name.clone());
            }
        }
        laws
    }

    /// A figure whose lines are laws, with only the laws that are wanted, in their order.
    pub(super) fn of_laws(&self, wanted: &[String]) -> Result<Figure, Error> {
        let laws = self.laws();
        let known: Vec<&str> = laws.iter().map(String::as_str).collect();
        if wanted.is_empty() {
            return Ok(self.clone());
        }
        let places = places_of_laws(wanted, &known)?;
        let mut figure = self.clone();
        // Where the names of the horizontal axis are laws, those of others go.
        let are_laws = self.x.names == laws;
        if are_laws {
            let names = places.iter().map(|at| laws[*at].clone()).collect();
            figure.x = FigureAxis::of_names(&self.x.title, names);
        }
        for panel in &mut figure.panels {
            let all = std::mem::take(&mut panel.series);
            let of = |law: &str| all.iter().filter(|one| one.name == law).cloned().collect();
            panel.series =
                places.iter().flat_map(|at| -> Vec<FigureSeries> { of(known[*at]) }).collect();
            panel.series.extend(all.into_iter().filter(|one| one.kind == SeriesKind::Claimed));
            for series in panel.series.iter_mut().filter(|_| are_laws) {
                let place = places.iter().position(|at| laws[*at] == series.name).unwrap_or(0);
                series.points.iter_mut().for_each(|point| point.0 = place as f64);
            }
        }
        figure.panels.retain(|panel| !panel.series.is_empty());
        let place_of = |panel: &FigurePanel| {
            places.iter().position(|at| panel.series.iter().any(|one| one.name == laws[*at]))
        };
        figure.panels.sort_by_key(place_of);
        (figure.x, figure.y) = (refitted(self, &figure, X), refitted(self, &figure, Y));
        Ok(figure)
    }

    /// The figure with new names of its lines.
    pub(super) fn renamed(mut self, names: &[(String, String)]) -> Result<Figure, Error> {
        let names = Names(names);
        let series = || self.panels.iter().flat_map(|panel| &panel.series);
        let mut known: Vec<&str> = series().map(|series| series.name.as_str()).collect();
        known.dedup();
        names.check(&known)?;
        for panel in &mut self.panels {
            panel.title = names.of(&panel.title).to_string();
            panel.series.iter_mut().for_each(|one| one.name = names.of(&one.name).to_string());
        }
        self.x.names.iter_mut().for_each(|name| *name = names.of(name).to_string());
        Ok(self)
    }

    /// The figure on the axes that are chosen.
    pub(super) fn on_axes(mut self, choice: &Choice) -> Result<Chosen, Error> {
        let mut notes = Vec::new();
        for (axis, chosen) in [(X, choice.x), (Y, choice.y)] {
            if chosen != AxisChoice::default() {
                notes.extend(self.choose_axis(axis, chosen)?);
            }
        }
        Ok(Chosen { figure: self, notes })
    }

    /// Chooses the range and the kind of an axis; returns what it leaves out.
    fn choose_axis(&mut self, which: Which, choice: AxisChoice) -> Result<Option<String>, Error> {
        let Which { name, of, .. } = which;
        let wrong =
            |why: String| Err(Error::Choice(format!("the {name} axis of {}", self.name) + &why));
        let mut axis = (which.axis)(self).clone();
        if !axis.names.is_empty() {
            return wrong(" has names, and no range or logarithm".into());
        }
        let points =
            || self.panels.iter().flat_map(|panel| &panel.series).flat_map(|one| &one.points);
        let values: Vec<f64> = points().filter_map(|(x, y)| y.map(|y| of(*x, y))).collect();
        let mut note = None;
        match choice.log {
            Some(true) if !axis.log => {
                let left_out = values.iter().filter(|value| **value <= 0.0).count();
                if left_out == values.len() {
                    return wrong(" has no value above 0, and cannot be logarithmic".into());
                }
                if left_out > 0 {
                    note = Some(format!(
                        "{left_out} of {} points of {} are not above 0, and its logarithmic \
                         {name} axis leaves them out",
                        values.len(),
                        self.name
                    ));
                    axis.is_cut = true;
                }
                axis.low = FigureAxis::around("", "", values.iter().copied()).low;
                axis.log = true;
            }
            Some(false) if axis.log => {
                axis.low = 0.0;
                axis.log = false;
            }
            _ => {}
        }
        if choice.low.is_some() || choice.high.is_some() {
            axis.low = choice.low.unwrap_or(axis.low);
            axis.high = choice.high.unwrap_or(axis.high);
            axis.is_cut = true;
        }
        let (low, high) = (axis.low, axis.high);
        let range = format!("{low}..{high} {}", axis.unit).trim_end().to_string();
        if !(low < high && low.is_finite() && high.is_finite()) {
            return wrong(format!(" cannot have the range {range}; the lesser number comes first"));
        }
        if axis.log && low <= 0.0 {
            return wrong(format!(" is logarithmic, so its range {range} must be above 0"));
        }
        if !values.iter().any(|value| (low..=high).contains(value)) {
            let ends = |(low, high): (f64, f64), v: &f64| (low.min(*v), high.max(*v));
            let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
            return wrong(format!(" has no value in {range}; they are in {least}..{most}"));
        }
        if axis.log {
            let all = self.panels.iter_mut().flat_map(|panel| &mut panel.series);
            for (x, y) in all.flat_map(|series| &mut series.points) {
                *y = y.filter(|y| of(*x, *y) > 0.0);
            }
        }
        *(which.axis_mut)(self) = axis;
        Ok(note)
    }
}

/// One of the two axes.
#[derive(Clone, Copy)]
struct Which {
    name: &'static str,
    axis: fn(&Figure) -> &FigureAxis,
    axis_mut: fn(&mut Figure) -> &mut FigureAxis,
    /// The value of a point along the axis.
    of: fn(f64, f64) -> f64,
}

const X: Which = Which { name: "horizontal", axis: |f| &f.x, axis_mut: |f| &mut f.x, of: |x, _| x };
const Y: Which = Which { name: "vertical", axis: |f| &f.y, axis_mut: |f| &mut f.y, of: |_, y| y };

/// The axis of a figure with fewer lines than `before`: fitted to their values if it was before.
fn refitted(before: &Figure, figure: &Figure, which: Which) -> FigureAxis {
    let axis = (which.axis)(figure);
    let fitted = |figure: &Figure| {
        let series = figure.panels.iter().flat_map(|panel| &panel.series);
        let values = series.flat_map(|series| {
            let margins = series.margins.iter().map(|margin| margin.unwrap_or(0.0));
            let margins = margins.chain(std::iter::repeat(0.0));
            // A margin stands on the vertical axis.
            let both = series.points.iter().zip(margins);
            both.filter_map(|((x, y), margin)| y.map(|y| [(*x, y - margin), (*x, y + margin)]))
        });
        let values = values.flatten().map(|(x, y)| (which.of)(x, y));
        match axis.log {
            true => FigureAxis::around(&axis.title, &axis.unit, values),
            false => FigureAxis::from_zero(&axis.title, &axis.unit, values),
        }
    };
    let was = fitted(before);
    let is_near = |a: f64, b: f64| (a - b).abs() <= 0.002 * b.abs();
    let is_fitted =
        axis.names.is_empty() && is_near(was.low, axis.low) && is_near(was.high, axis.high);
    if is_fitted { fitted(figure) } else { axis.clone() }
}
