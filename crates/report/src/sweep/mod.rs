//! A sweep: figures of runs over a grid of values.
//!
//! An axis is a key of the scenario with the values that it takes. A point of the grid has one
//! value of each axis, and a run for each law and seed.

mod gather;

use std::collections::BTreeMap;

use ratewire_statistics::Estimate;
use serde::{Deserialize, Serialize};

use crate::Summary;
use crate::compare::{About, FigureUnit, Measured, is_extreme, range, shown, shown_with_range};
use crate::figure::{NONE, measured as measured_text};
pub use gather::SweepGatherer;

/// The figures of a sweep's runs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Sweep {
    /// The scenario's name.
    pub scenario: String,
    /// The version of Ratewire that made the runs.
    pub version: String,
    /// What was varied, in order.
    pub axes: Vec<SweepAxis>,
    /// The laws, in order.
    pub laws: Vec<String>,
    /// The seeds of each law at each point.
    pub seeds: Vec<u64>,
    /// What was measured.
    pub figures: Vec<SweepFigure>,
    /// The links that figures of bottlenecks are of, if they are the same at all points; else
    /// empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bottleneck: String,
    /// By point: the links that figures of bottlenecks are of, if they are not the same at all
    /// points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bottlenecks: Vec<SweepBottleneck>,
    /// Beginning and end of the part of each run that figures are about, seconds, if it is the same
    /// in all runs and not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_s: Option<(f64, f64)>,
    /// Number of runs without results: the sweep was interrupted, or they failed.
    pub missing_runs: usize,
    /// The runs that have results, in the order of points, laws and seeds.
    pub runs: Vec<SweepRun>,
}

/// A key of the scenario, and the values that it takes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct SweepAxis {
    /// Path of the key: `bottleneck.rate`.
    pub key: String,
    /// Unit of the values' numbers; empty for plain numbers, and if values are no quantities.
    pub unit: String,
    /// The values, in the order in which they were given.
    pub values: Vec<SweepValue>,
}

/// A value of an axis.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct SweepValue {
    /// The value, as it was given.
    pub text: String,
    /// The value in the axis's unit; `None` if the axis's values are no quantities of one unit.
    pub number: Option<f64>,
}

/// A figure of every run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct SweepFigure {
    /// What programs call the figure.
    pub name: String,
    /// What people call the figure.
    pub title: String,
    /// Where it is taken, in words that follow the title, until the title has them.
    #[serde(skip)]
    at: String,
    /// Unit of the values.
    pub unit: FigureUnit,
    /// What the figure belongs to.
    pub about: About,
}

/// The bottlenecks of a point of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct SweepBottleneck {
    /// By axis: the value, by index.
    pub point: Vec<usize>,
    /// Names of the links, or their number if they are many.
    pub links: String,
}

/// A run of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct SweepRun {
    /// By axis: the value, by index.
    pub point: Vec<usize>,
    /// The law, by index.
    pub law: usize,
    /// The seed of all random streams.
    pub seed: u64,
    /// By figure: the value; `None` where there was nothing to measure.
    pub values: Vec<Option<f64>>,
}

/// The place of a run in a sweep, and its figures.
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    /// By axis: the value, by index.
    pub point: Vec<usize>,
    /// The law, by index.
    pub law: usize,
    /// Figures of the run.
    pub summary: Summary,
}

impl MeasuredRun {
    /// Figures by name that every run of every sweep may have, with the run's own bottlenecks.
    /// `None` where there was nothing to measure.
    #[cfg(feature = "parquet")]
    pub(crate) fn figures(&self) -> Vec<(String, Option<f64>)> {
        let compared = crate::compare::measured_of_run(&self.summary);
        let own = crate::compare::own();
        let all = compared.iter().chain(&own);
        all.map(|one| (one.names().0, one.value(&self.summary))).collect()
    }
}

/// The figures under one law at one point of the grid, over the seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepCell {
    /// By axis: the value, by index.
    pub point: Vec<usize>,
    /// The law, by index.
    pub law: usize,
    /// Number of seeds that have results.
    pub seeds: usize,
    /// By figure: mean and 95 % interval over the seeds, without one for maxima and percentiles.
    /// `None` if a seed has no value: a mean over the others would flatter the law.
    pub estimates: Vec<Option<Estimate>>,
    /// By figure: least and largest value of a seed, for maxima and percentiles, if seeds differ.
    pub ranges: Vec<Option<[f64; 2]>>,
}

impl SweepFigure {
    fn of(figure: &Measured) -> SweepFigure {
        let ((name, title), (unit, about)) = (figure.names(), figure.kind());
        // Titles stand alone in the page's list.
        let title = match about {
            About::Chosen | About::Run | About::Flows => title,
            About::Sizes if unit == FigureUnit::Count => {
                format!("completed flows, {}", title.trim_end_matches(", n"))
            }
            About::Sizes => format!("slowdown, {title}"),
            About::Changes => format!("fair after: {title}"),
        };
        SweepFigure { name, title, at: figure.at().to_string(), unit, about }
    }
}

impl Sweep {
    /// What figures of bottlenecks are of, if that is the same at all points.
    pub(crate) fn bottleneck_text(&self) -> Option<String> {
        let links = Some(self.bottleneck.as_str()).filter(|links| !links.is_empty())?;
        Some(format!("utilisation and queue (packets) of {links}"))
    }

    /// Figures for tables, by index: those that are asked for, else those of runs as a whole.
    pub(crate) fn of_table(&self) -> Vec<usize> {
        let of = |about: About| -> Vec<usize> {
            (0..self.figures.len()).filter(|at| self.figures[*at].about == about).collect()
        };
        let chosen = of(About::Chosen);
        if chosen.is_empty() { of(About::Run) } else { chosen }
    }

    /// A cell as texts: the value of each axis, the law, and these figures.
    pub(crate) fn row(&self, cell: &SweepCell, figures: &[usize]) -> Vec<String> {
        let values =
            self.axes.iter().zip(&cell.point).map(|(axis, at)| axis.values[*at].text.clone());
        let law = self.laws[cell.law].clone();
        let links = self.bottlenecks.iter().find(|of| of.point == cell.point);
        let links = links.map(|of| of.links.clone());
        values
            .chain([law])
            .chain(links)
            .chain(figures.iter().map(|at| self.text(cell, *at)))
            .collect()
    }

    /// The part of the runs that is measured, `measured 5 s to 30 s`; `None` for all of them.
    pub(crate) fn measured_text(&self) -> Option<String> {
        self.measured_s.map(|(from, to)| measured_text(from, to))
    }

    /// A figure of a cell with its margin or range, as people read it.
    pub(crate) fn text(&self, cell: &SweepCell, figure: usize) -> String {
        let unit = self.figures[figure].unit;
        match (&cell.estimates[figure], cell.ranges[figure]) {
            (Some(estimate), Some(range)) => shown_with_range(unit, estimate.mean, range),
            (Some(estimate), None) => shown(unit, estimate.mean, estimate.margin),
            (None, _) => NONE.to_string(),
        }
    }

    /// The figures over the seeds, one cell a point and law, in the order of points and laws.
    pub fn cells(&self) -> Vec<SweepCell> {
        let mut of: BTreeMap<(&[usize], usize), Vec<&SweepRun>> = BTreeMap::new();
        for run in &self.runs {
            of.entry((&run.point, run.law)).or_default().push(run);
        }
        let cell = |((point, law), runs): ((&[usize], usize), Vec<&SweepRun>)| {
            let values = |figure: usize| -> Option<Vec<f64>> {
                runs.iter().map(|run| run.values[figure]).collect()
            };
            let is_extreme = |figure: usize| is_extreme(&self.figures[figure].name);
            let estimate = |figure: usize| {
                let estimate = values(figure).and_then(|values| Estimate::of(&values))?;
                let margin = estimate.margin.filter(|_| !is_extreme(figure));
                Some(Estimate { margin, ..estimate })
            };
            let range = |figure: usize| values(figure).and_then(|values| range(&values));
            let range = |figure: usize| is_extreme(figure).then(|| range(figure)).flatten();
            SweepCell {
                point: point.to_vec(),
                law,
                seeds: runs.len(),
                estimates: (0..self.figures.len()).map(estimate).collect(),
                ranges: (0..self.figures.len()).map(range).collect(),
            }
        };
        of.into_iter().map(cell).collect()
    }

    /// The seeds as people read them: `seed 1`, `seeds 1, 2, 5`.
    pub(crate) fn seeds_text(&self) -> String {
        let all: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        format!("seed{} {}", if all.len() == 1 { "" } else { "s" }, all.join(", "))
    }
}

#[cfg(test)]
pub(crate) mod tests;
