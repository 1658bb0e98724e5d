//! A sweep: an experiment for every point of a grid of values, whose runs share all cores.

#[cfg(feature = "parquet")]
mod data_set;
#[cfg(not(feature = "parquet"))]
#[path = "no_data_set.rs"]
mod data_set;
mod read;
mod results;
mod run;
mod store;
mod values;

use std::path::PathBuf;

use ratewire_report::compare::FigureName;
use ratewire_report::{SweepAxis, World};
use ratewire_scenario::{Diagnostic, Scenario, whole_path};
use rayon::prelude::*;
use serde::Serialize;

use crate::experiment::{whole_name, without_repeats};
use crate::provenance::{self, ExperimentRecord, FileDigest};
use crate::{Error, Experiment};

pub use read::read_sweep;
pub use results::SweepResults;
pub use run::{ReadySweep, SweepTask, TaskDone};
pub use store::SweepStore;
pub use values::expand_values;

/// Most runs of a sweep.
const MOST_RUNS: usize = 100_000;

/// An experiment over a grid: each law and seed at every combination of values.
///
/// Only figures are kept of each run. In a folder they are kept while others run, so a sweep that
/// was stopped goes on where it was.
///
/// ```
/// # let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
/// #   bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";
/// let experiment = ratewire::Experiment::parse("hello.toml", text)?.laws(["xcp", "cubic"]);
/// let results = ratewire::Sweep::of(experiment)
///     .over("bottleneck.rate", "1M..100M:log3")?
///     .over("bottleneck.queue", "0.5bdp,2bdp")?
///     .run()?;
/// assert_eq!(results.sweep().cells().len(), 3 * 2 * 2);
/// println!("{}", results.table());
/// # Ok::<(), ratewire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sweep {
    experiment: Experiment,
    axes: Vec<(String, Vec<String>)>,
    folder: Option<PathBuf>,
}

/// The runs of a sweep.
#[derive(Debug)]
pub struct PlannedSweep<'a> {
    sweep: &'a Sweep,
    points: Vec<Point>,
    /// The runs, in the order of points, laws and seeds.
    runs: Vec<Place>,
    /// Figures that are asked for.
    figures: Vec<FigureName>,
    /// Warnings about the first point of the grid.
    pub warnings: Vec<Diagnostic>,
    /// Whether several seeds were requested that give equal results at every point.
    pub is_repetition: bool,
}

/// A point of the grid.
#[derive(Debug)]
struct Point {
    /// By axis: the value, by index.
    at: Vec<usize>,
    scenario: Scenario,
    files: Vec<FileDigest>,
}

/// A run's place in the grid, and the digest of what makes the run.
#[derive(Clone, Debug)]
struct Place {
    point: usize,
    law: usize,
    seed: u64,
    digest: String,
}

/// The sweep in the metadata of its Parquet file.
#[derive(Serialize)]
struct Metadata<'a> {
    experiment: &'a ExperimentRecord,
    axes: &'a [SweepAxis],
    laws: &'a [String],
    seeds: &'a [u64],
    effective: String,
}

impl Sweep {
    /// A sweep of `experiment`, with its laws, seeds and values; [`Sweep::over`] adds what varies.
    ///
    /// The experiment's folder, captures and question are not used.
    pub fn of(experiment: Experiment) -> Sweep {
        Sweep { experiment, axes: Vec::new(), folder: None }
    }

    /// Varies a key: `bottleneck.rate` over `10M..10G:log7`, or `1bdp,4bdp`.
    ///
    /// [`expand_values`] has all forms of lists and ranges. The grid has every combination of the
    /// values of all keys.
    ///
    /// # Errors
    /// An error if the list is wrong, if the key was varied or set before, or if it is `law` or
    /// `seed`, which the experiment has. Values that do not fit the key are found by
    /// [`Sweep::plan`].
    pub fn over(mut self, key: &str, values: &str) -> Result<Sweep, Error> {
        let refuse =
            |reason: String| Err(Error::Setting { setting: format!("set {key}={values}"), reason });
        let path = whole_path(key);
        if let [first] = &path[..]
            && ["law", "seed"].contains(&first.text.as_str())
        {
            return refuse(format!(
                "laws and seeds are swept by --{0}, as in --{0} A,B",
                first.text
            ));
        }
        let set = self.experiment.scenario().values();
        let mut taken = self.axes.iter().map(|(key, _)| key).chain(set.iter().map(|(key, _)| key));
        if taken.any(|other| whole_path(other) == path) {
            return refuse(format!("{key} is set twice"));
        }
        match expand_values(values) {
            Ok(values) => self.axes.push((key.to_string(), values)),
            Err(why) => return refuse(why),
        }
        Ok(self)
    }

    /// Folder for the page, `sweep.json`, `sweep.parquet`, and the figures of finished runs.
    pub fn folder(self, folder: impl Into<PathBuf>) -> Sweep {
        Sweep { folder: Some(folder.into()), ..self }
    }

    /// Plans the runs. Runs and writes nothing.
    ///
    /// # Errors
    /// An error if nothing is varied, the grid is too large, a point's values have errors, or the
    /// scenario lacks a law.
    pub fn plan(&self) -> Result<PlannedSweep<'_>, Error> {
        let refuse = |setting: &str, reason: String| {
            Err(Error::Setting { setting: setting.to_string(), reason })
        };
        let (laws, seeds, worlds) = self.experiment.chosen();
        if worlds != [World::Simulate] {
            return refuse("world", "a sweep is simulated".to_string());
        }
        if self.axes.is_empty() {
            let reason =
                "nothing is swept: give a key several values, as in bottleneck.rate=10M,100M";
            return refuse("set", reason.to_string());
        }
        let lengths = self.axes.iter().map(|(_, values)| values.len());
        let lengths = lengths.chain([laws.len(), seeds.len()]);
        let runs = lengths.fold(1, usize::saturating_mul);
        if runs > MOST_RUNS {
            return refuse(
                "set",
                format!("the grid has {runs} runs; at most {MOST_RUNS} are allowed"),
            );
        }
        let grid = self.grid();
        let points: Vec<Point> =
            grid.into_par_iter().map(|at| self.point(at)).collect::<Result<_, Error>>()?;
        let figures = self.figures(&points)?;
        let mut warnings = Vec::new();
        let mut is_repetition = seeds.len() > 1;
        for law in laws {
            // A law's options may depend on the point.
            for (index, point) in points.iter().enumerate() {
                let plan = point.scenario.plan(Some(law), seeds.first().copied())?;
                is_repetition = is_repetition && !plan.setup.has_chance();
                if index == 0 {
                    warnings.extend(point.scenario.warnings.iter().cloned().chain(plan.warnings));
                }
            }
        }
        let places = (0..points.len()).flat_map(|point| {
            let of_law = move |law| seeds.iter().map(move |seed| (point, law, *seed));
            (0..laws.len()).flat_map(of_law)
        });
        let places: Vec<(usize, usize, u64)> = places.collect();
        let place = |(point, law, seed): (usize, usize, u64)| {
            let Point { scenario, files, .. } = &points[point];
            let effective = scenario.effective_by_name(&laws[law], seed);
            let digest = provenance::digest(&effective, files, World::Simulate);
            Place { point, law, seed, digest }
        };
        let runs = places.into_par_iter().map(place).collect();
        // Results of expectations are not shown, so their windows do not matter.
        warnings.retain(|warning: &Diagnostic| !warning.is_of_end);
        let warnings = without_repeats(warnings);
        Ok(PlannedSweep { sweep: self, points, runs, figures, warnings, is_repetition })
    }

    /// Runs the sweep on all cores.
    ///
    /// # Errors
    /// As [`Sweep::plan`] and [`PlannedSweep::open`]. Runs that fail are in
    /// [`SweepResults::failures`].
    pub fn run(&self) -> Result<SweepResults, Error> {
        Ok(self.plan()?.open()?.run(&()))
    }

    /// The points of the grid: indices of values, the last key's varying fastest.
    fn grid(&self) -> Vec<Vec<usize>> {
        let mut grid = vec![Vec::new()];
        for (_, values) in &self.axes {
            let with_all =
                |at: Vec<usize>| (0..values.len()).map(move |i| [&at[..], &[i]].concat());
            grid = grid.into_iter().flat_map(with_all).collect();
        }
        grid
    }

    fn point(&self, at: Vec<usize>) -> Result<Point, Error> {
        let value = |(axis, index): (&(String, Vec<String>), &usize)| {
            (axis.0.clone(), axis.1[*index].clone())
        };
        let values: Vec<(String, String)> = self.axes.iter().zip(&at).map(value).collect();
        let scenario = self.experiment.scenario().with_overrides(&values)?;
        Ok(Point { at, files: provenance::files(&scenario), scenario })
    }

    /// The figures that are asked for. A link or flow need not be there at every point.
    fn figures(&self, points: &[Point]) -> Result<Vec<FigureName>, Error> {
        let (laws, seeds, _) = self.experiment.chosen();
        let asked = self.experiment.figures_asked();
        let whole = |name: &FigureName| {
            let at = |point: &Point| {
                let law = laws.first().map(String::as_str);
                let plan = point.scenario.plan(law, seeds.first().copied())?;
                whole_name(&plan, name)
            };
            let first = at(&points[0]);
            let others = || points[1..].iter().find_map(|point| at(point).ok());
            first.or_else(|refused| others().ok_or(refused))
        };
        asked.iter().map(whole).collect()
    }

    fn axes(&self) -> Vec<SweepAxis> {
        self.axes.iter().map(|(key, values)| values::axis(key, values)).collect()
    }
}

impl PlannedSweep<'_> {
    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// SHA-256 of all that determines the runs, as [`Experiment::digest`].
    pub fn digest(&self) -> String {
        self.record().digest
    }

    fn record(&self) -> ExperimentRecord {
        let digests = self.runs.iter().map(|run| run.digest.as_str());
        ExperimentRecord::of(self.sweep.experiment.scenario(), digests)
    }

    /// What made the runs, for the metadata of the Parquet file.
    fn metadata(&self, record: &ExperimentRecord) -> String {
        let (laws, seeds, _) = self.sweep.experiment.chosen();
        let scenario = self.sweep.experiment.scenario();
        let law = laws.first().map_or("", String::as_str);
        let effective = scenario.effective(law, seeds.first().copied().unwrap_or(scenario.seed));
        let axes = self.sweep.axes();
        ratewire_report::json(&Metadata { experiment: record, axes: &axes, laws, seeds, effective })
    }
}
