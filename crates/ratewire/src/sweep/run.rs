//! Runs the points of a sweep, and writes its results.

use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use ratewire_report::draw::{Figure, Panels};
use ratewire_report::parquet::{sweep_rows, write_sweep};
use ratewire_report::{MeasuredRun, Summary, World, html, table};
use ratewire_units::{Duration, Time};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::store::{Store, write_table};
use super::{Place, PlannedSweep};
use crate::folder::{OutputFolder, SWEEP, write_page};
use crate::listen::{Interrupted, Listener};
use crate::provenance::{ExperimentRecord, Provenance};
use crate::results::Failed;
use crate::{Error, Experiment, Figures, Job, Run};

/// Name of a sweep's table.
const TABLE: &str = "sweep.parquet";

/// A sweep whose folder is open: runs that were finished before are known.
#[derive(Debug)]
pub struct ReadySweep<'a> {
    planned: &'a PlannedSweep<'a>,
    output: Option<Output>,
    /// By run: figures, if it was finished before.
    known: Vec<Option<Summary>>,
    /// Runs to be carried out, by index.
    pending: Vec<usize>,
}

/// The folder of a sweep.
#[derive(Debug)]
struct Output {
    path: PathBuf,
    folder: OutputFolder,
    store: Store,
}

/// A finished run.
struct Done {
    summary: Summary,
    /// Why its figures are not kept for another time, if so.
    lost: Option<Error>,
}

/// A run of a sweep, for a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepTask {
    /// Number of the run in its sweep.
    pub number: usize,
    /// Values of the swept keys.
    pub values: Vec<(String, String)>,
    /// Law of the run.
    pub law: String,
    /// Seed of the run.
    pub seed: u64,
}

/// Figures of a run that a worker has carried out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TaskDone {
    digest: String,
    summary: Summary,
}

impl SweepTask {
    /// Carries out the run on this thread. `experiment` is the one that is swept, with the laws
    /// that its scenario may name.
    ///
    /// # Errors
    /// An error if the run fails, or the listener ends it.
    pub fn run(&self, experiment: &Experiment, listener: &dyn Listener) -> Result<TaskDone, Error> {
        let scenario = experiment.scenario().with_overrides(&self.values);
        let scenario = scenario.map_err(Error::Scenario)?;
        let digest = Provenance::of(&scenario, &self.law, self.seed, World::Simulate).digest;
        let plan = scenario.plan(Some(&self.law), Some(self.seed)).map_err(Error::Scenario)?;
        let run = Job::new(&scenario, plan, World::Simulate).carry_out(0, listener, None)?;
        Ok(TaskDone { digest, summary: whole(run)? })
    }
}

/// The figures of a run, if it was not interrupted: a part of a run cannot stand beside whole runs.
fn whole(run: Run) -> Result<Summary, Error> {
    let summary = run.into_report().summary;
    if summary.planned_duration_s.is_some() {
        let at = Time::ZERO + Duration::from_secs_f64(summary.duration_s);
        return Err(Error::Stopped { at, source: Box::new(Interrupted) });
    }
    Ok(summary)
}

/// Figures of a sweep's runs.
#[derive(Debug)]
pub struct SweepResults {
    sweep: ratewire_report::Sweep,
    record: ExperimentRecord,
    failures: Vec<Failed>,
    unwritten: Option<Error>,
}

/// The schema of `sweep.json`, whose first key is `generator`.
#[derive(Serialize)]
struct SweepFile<'a> {
    experiment: &'a ExperimentRecord,
    #[serde(flatten)]
    sweep: &'a ratewire_report::Sweep,
}

impl<'a> PlannedSweep<'a> {
    /// Opens the sweep's folder, if it has one, and finds the runs that were finished before.
    ///
    /// # Errors
    /// An error if the folder cannot be written, or another process writes there.
    pub fn open(&'a self) -> Result<ReadySweep<'a>, Error> {
        self.open_in(self.sweep.folder.as_deref())
    }

    /// As [`PlannedSweep::open`], with a folder that may depend on [`PlannedSweep::digest`].
    ///
    /// # Errors
    /// As [`PlannedSweep::open`].
    pub fn open_in(&'a self, folder: Option<&Path>) -> Result<ReadySweep<'a>, Error> {
        let open = |path: &Path| -> Result<Output, Error> {
            let folder = OutputFolder::open(path, SWEEP, &[])?;
            Ok(Output { path: path.to_path_buf(), folder, store: Store::open(path)? })
        };
        let output = folder.map(open).transpose()?;
        let store = output.as_ref().map(|output| &output.store);
        let known = |place: &Place| store?.get(&place.digest);
        let known: Vec<Option<Summary>> = self.runs.par_iter().map(known).collect();
        let pending = (0..known.len()).filter(|index| known[*index].is_none()).collect();
        Ok(ReadySweep { planned: self, output, known, pending })
    }
}

impl ReadySweep<'_> {
    /// Carries out all runs, also those that were finished before: by a program of the same version
    /// that has been changed since, they may have other results.
    pub fn anew(self) -> Self {
        let pending = (0..self.known.len()).collect();
        ReadySweep { known: vec![None; self.known.len()], pending, ..self }
    }

    /// The runs that are still to be carried out, for workers elsewhere.
    pub fn tasks(&self) -> Vec<SweepTask> {
        let (laws, ..) = self.planned.sweep.experiment.chosen();
        let task = |index: &usize| {
            let place = &self.planned.runs[*index];
            let at = self.planned.points[place.point].at.iter();
            let axes = self.planned.sweep.axes.iter().zip(at);
            SweepTask {
                number: *index,
                values: axes.map(|((key, all), at)| (key.clone(), all[*at].clone())).collect(),
                law: laws[place.law].clone(),
                seed: place.seed,
            }
        };
        self.pending.iter().map(task).collect()
    }

    /// Takes the figures of a run that was carried out elsewhere, and keeps them as those of a run
    /// of its own.
    ///
    /// # Errors
    /// [`Error::Setting`] if they are of another run, which may be one of another version of
    /// Ratewire or of other files; [`Error::Write`] if they cannot be kept.
    pub fn take(&mut self, number: usize, done: TaskDone) -> Result<(), Error> {
        let refuse = |reason: String| {
            let setting = self.planned.runs.get(number).map(|_| self.planned.name(number));
            let setting = setting.unwrap_or_else(|| format!("run {number}"));
            Err(Error::Setting { setting, reason })
        };
        let digest = match self.planned.runs.get(number) {
            Some(place) => &place.digest,
            None => return refuse("there is no such run".to_string()),
        };
        if done.digest != *digest || done.summary.version != env!("CARGO_PKG_VERSION") {
            return refuse(
                "a worker has run another experiment\n  help: workers need this version of \
                 Ratewire, and the files that the scenario names"
                    .to_string(),
            );
        }
        if let Some(output) = &self.output {
            output.store.put(digest, &done.summary)?;
        }
        self.known[number] = Some(done.summary);
        self.pending.retain(|index| *index != number);
        Ok(())
    }

    /// World and duration of each run that is still to be carried out.
    ///
    /// Listeners get the run's index in this list.
    pub fn pending(&self) -> Vec<(World, Duration)> {
        let duration = |index: &usize| {
            let place = &self.planned.runs[*index];
            self.planned.points[place.point].scenario.duration
        };
        self.pending.iter().map(|index| (World::Simulate, duration(index))).collect()
    }

    /// Carries out the runs on all cores with a listener, and writes the sweep's folder.
    ///
    /// A run is kept when it is finished; a listener that ends the others loses none of it.
    pub fn run(mut self, listener: &dyn Listener) -> SweepResults {
        let mut unwritten = self.claim().err();
        let one = |(number, index): (usize, &usize)| self.carry_out(number, *index, listener);
        let done: Vec<Result<Done, Error>> = self.pending.par_iter().enumerate().map(one).collect();
        let mut failures = Vec::new();
        for (index, done) in self.pending.iter().zip(done) {
            match done {
                Ok(Done { summary, lost }) => {
                    self.known[*index] = Some(summary);
                    unwritten = unwritten.or(lost);
                }
                Err(error) => failures.push(Failed { run: self.planned.name(*index), error }),
            }
        }
        let mut runs = Vec::new();
        for (place, summary) in self.planned.runs.iter().zip(std::mem::take(&mut self.known)) {
            let point = self.planned.points[place.point].at.clone();
            runs.extend(summary.map(|summary| MeasuredRun { point, law: place.law, summary }));
        }
        let sweep = self.planned.sweep_of(&runs);
        let record = self.planned.record();
        let mut results = SweepResults { sweep, record, failures, unwritten: None };
        results.unwritten = unwritten.or(self.write(&results).err());
        results
    }

    /// Writes `sweep.json` without runs into a folder that has none, so that the folder is this
    /// sweep's even if the process is killed.
    fn claim(&self) -> Result<(), Error> {
        let path = self.output.as_ref().map(|output| output.path.join(SWEEP[1]));
        let Some(path) = path.filter(|path| !path.exists()) else { return Ok(()) };
        let (sweep, experiment) = (&self.planned.sweep_of(&[]), &self.planned.record());
        write_page(&path, &ratewire_report::json(&SweepFile { experiment, sweep }))
    }

    /// Carries out a run, and keeps its figures.
    fn carry_out(
        &self,
        number: usize,
        index: usize,
        listener: &dyn Listener,
    ) -> Result<Done, Error> {
        let place = &self.planned.runs[index];
        let scenario = &self.planned.points[place.point].scenario;
        let (laws, ..) = self.planned.sweep.experiment.chosen();
        let plan = scenario.plan(Some(&laws[place.law]), Some(place.seed));
        let job = Job::new(scenario, plan.map_err(Error::Scenario)?, World::Simulate);
        let summary = whole(job.carry_out(number, listener, None)?)?;
        let put = |output: &Output| output.store.put(&place.digest, &summary).err();
        let lost = self.output.as_ref().and_then(put);
        Ok(Done { summary, lost })
    }

    fn write(&self, results: &SweepResults) -> Result<(), Error> {
        let Some(output) = &self.output else { return Ok(()) };
        if results.sweep.missing_runs > 0 && output.has_whole_sweep() {
            let why = "it has the results of a whole sweep, which a part does not replace; finished \
                       runs are kept: the same command goes on";
            return Err(Error::refused(&output.path, why));
        }
        let made_by = self.planned.metadata(&results.record);
        results.write_parquet_as(&output.path.join(TABLE), &made_by)?;
        let scenario = self.planned.sweep.experiment.scenario();
        let page = html::render_sweep(&results.sweep, &scenario.values(), &scenario.source_text);
        output.folder.put_in_place(&[], [page, results.json()])
    }
}

impl Output {
    /// Whether the folder has the results of a sweep without missing runs.
    fn has_whole_sweep(&self) -> bool {
        let text = std::fs::read(self.path.join(SWEEP[1])).unwrap_or_default();
        let read = serde_json::from_slice::<serde_json::Value>(&text);
        read.is_ok_and(|sweep| sweep["missing_runs"] == 0)
    }
}

impl PlannedSweep<'_> {
    /// Figures of runs.
    fn sweep_of(&self, runs: &[MeasuredRun]) -> ratewire_report::Sweep {
        let (laws, seeds, _) = self.sweep.experiment.chosen();
        ratewire_report::Sweep::of(self.sweep.axes(), laws.to_vec(), seeds.to_vec(), runs)
    }

    /// Name of a run: `bottleneck.rate=10M, xcp, seed 1`.
    fn name(&self, index: usize) -> String {
        let place = &self.runs[index];
        let at = &self.points[place.point].at;
        let axes = self.sweep.axes.iter().zip(at);
        let values: Vec<String> =
            axes.map(|((key, values), at)| format!("{key}={}", values[*at])).collect();
        let (laws, ..) = self.sweep.experiment.chosen();
        format!("{}, {}, seed {}", values.join(", "), laws[place.law], place.seed)
    }
}

impl SweepResults {
    /// Figures of the runs that finished.
    pub fn sweep(&self) -> &ratewire_report::Sweep {
        &self.sweep
    }

    /// Runs that failed, or were interrupted.
    pub fn failures(&self) -> &[Failed] {
        &self.failures
    }

    /// Why the sweep's folder could not be written, if so.
    pub fn unwritten(&self) -> Option<&Error> {
        self.unwritten.as_ref()
    }

    /// The figures of the page, to be drawn for a paper.
    pub fn figures(&self) -> Figures {
        Figures::of_page("results".into(), &self.page())
    }

    /// A figure of the page by its name: `utilisation`, against the key with the most values, or
    /// `utilisation/KEY`, against that key.
    ///
    /// # Errors
    /// [`Error::Figure`] if no figure has this name.
    pub fn plot(&self, figure: &str) -> Result<Figure, Error> {
        self.figures().figure(figure, Panels::Auto)
    }

    /// Figures as a table, in the width of the terminal.
    pub fn table(&self) -> String {
        table::sweep(&self.sweep, &table::TableOptions::default())
    }

    /// Figures of every run, as in `sweep.json`.
    pub fn json(&self) -> String {
        ratewire_report::json(&SweepFile { experiment: &self.record, sweep: &self.sweep })
    }

    /// Figures of every run as an Arrow record batch, a row a run: `sweep.parquet`.
    ///
    /// # Errors
    /// An error if the runs do not fit a table.
    pub fn rows(&self) -> Result<RecordBatch, Error> {
        let wrong = |e| Error::Read { path: "the sweep".into(), source: io::Error::other(e) };
        sweep_rows(&self.sweep).map_err(wrong)
    }

    /// The page: the text of `sweep.html`, without the scenario.
    pub fn page(&self) -> String {
        html::render_sweep(&self.sweep, &[], "")
    }

    fn write_parquet_as(&self, path: &Path, made_by: &str) -> Result<(), Error> {
        let bytes = write_sweep(&self.sweep, made_by, Vec::new());
        let bytes = bytes.map_err(|e| Error::write(path, std::io::Error::other(e)))?;
        write_table(path, &bytes)
    }
}
