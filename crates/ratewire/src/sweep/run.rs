//! Runs the points of a sweep, and writes its results.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use ratewire_report::{MeasuredRun, Summary, SweepGatherer, World, html};
use ratewire_units::{Duration, Time};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::PlannedSweep;
use super::data_set::DataSet;
use super::results::{SweepFile, SweepResults};
use super::store::{Folder, SweepStore, put};
use crate::folder::{OutputFolder, SWEEP};
use crate::listen::{Interrupted, Listener};
use crate::observe::files::check_feature;
use crate::provenance::Provenance;
use crate::results::Failed;
use crate::{Error, Experiment, Job, Run};

/// A sweep whose folder is open: runs that were finished before are known.
#[derive(Debug)]
pub struct ReadySweep<'a> {
    planned: &'a PlannedSweep<'a>,
    output: Option<Output>,
    gatherer: Mutex<SweepGatherer>,
    /// By run: whether it is finished.
    is_done: Vec<bool>,
}

/// Where a sweep's results go.
#[derive(Debug)]
struct Output {
    store: Arc<dyn SweepStore>,
    runs: DataSet,
    /// The lock of a folder of this machine, which replaces all pages or none.
    folder: Option<OutputFolder>,
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
        let scenario = experiment.scenario().with_overrides(&self.values)?;
        let digest = Provenance::of(&scenario, &self.law, self.seed, World::Simulate).digest;
        let plan = scenario.plan(Some(&self.law), Some(self.seed))?;
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
            check_feature("folder")?;
            let folder = OutputFolder::open(path, SWEEP, &[])?;
            self.output(Arc::new(Folder(path.to_path_buf())), Some(folder))
        };
        self.ready(folder.map(open).transpose()?)
    }

    /// As [`PlannedSweep::open`], with results in a place that is no folder of this machine.
    ///
    /// Nothing keeps another process from writing there at the same time; finished runs of both are
    /// kept.
    ///
    /// # Errors
    /// An error if the place cannot be read or written.
    pub fn open_at(&'a self, store: Arc<dyn SweepStore>) -> Result<ReadySweep<'a>, Error> {
        self.ready(Some(self.output(store, None)?))
    }

    fn output(
        &self,
        store: Arc<dyn SweepStore>,
        folder: Option<OutputFolder>,
    ) -> Result<Output, Error> {
        let (laws, ..) = self.sweep.experiment.chosen();
        let runs = DataSet::open(Arc::clone(&store), self.sweep.axes(), laws.to_vec())?;
        Ok(Output { store, runs, folder })
    }

    fn ready(&'a self, output: Option<Output>) -> Result<ReadySweep<'a>, Error> {
        if let Some(output) = &output {
            self.claim(output)?;
        }
        // Two values of an axis may make the same run.
        let mut of_digest: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, run) in self.runs.iter().enumerate() {
            of_digest.entry(&run.digest).or_default().push(index);
        }
        let known = Mutex::new((self.gatherer(), vec![false; self.runs.len()]));
        let give = |digest: String, summary: Summary| {
            let (gatherer, is_done) = &mut *known.lock().expect("no holder panics");
            for index in of_digest.get(&*digest).into_iter().flatten() {
                gatherer.add(self.measured(*index, summary.clone()));
                is_done[*index] = true;
            }
        };
        if let Some(output) = &output {
            output.runs.each(|digest| of_digest.contains_key(digest), give)?;
        }
        let (gatherer, is_done) = known.into_inner().expect("no holder panics");
        Ok(ReadySweep { planned: self, output, gatherer: Mutex::new(gatherer), is_done })
    }

    /// Writes `sweep.json` without runs into a place that has none: the place is this sweep's even
    /// if the process is killed, and one that cannot be written is found before anything runs.
    fn claim(&self, output: &Output) -> Result<(), Error> {
        if output.store.read(SWEEP[1])?.is_some() {
            return Ok(());
        }
        let (sweep, experiment) = (&self.gatherer().finish(), &self.record());
        let empty = ratewire_report::json(&SweepFile { experiment, sweep });
        output.store.write(SWEEP[1], empty.as_bytes())
    }
}

impl ReadySweep<'_> {
    /// Forgets all finished runs in the sweep's folder, so that all are carried out: by a program
    /// of the same version that has been changed since, they may have other results.
    ///
    /// # Errors
    /// An error if their files cannot be removed.
    pub fn anew(mut self) -> Result<Self, Error> {
        if let Some(output) = &mut self.output {
            output.runs.forget()?;
        }
        let gatherer = Mutex::new(self.planned.gatherer());
        Ok(ReadySweep { gatherer, is_done: vec![false; self.is_done.len()], ..self })
    }

    /// Indices of the runs that are not finished.
    fn unfinished(&self) -> impl Iterator<Item = usize> {
        (0..self.is_done.len()).filter(|index| !self.is_done[*index])
    }

    /// The runs that are still to be carried out, for workers elsewhere.
    pub fn tasks(&self) -> Vec<SweepTask> {
        let (laws, ..) = self.planned.sweep.experiment.chosen();
        let task = |index: usize| {
            let place = &self.planned.runs[index];
            let at = self.planned.points[place.point].at.iter();
            let axes = self.planned.sweep.axes.iter().zip(at);
            SweepTask {
                number: index,
                values: axes.map(|((key, all), at)| (key.clone(), all[*at].clone())).collect(),
                law: laws[place.law].clone(),
                seed: place.seed,
            }
        };
        self.unfinished().map(task).collect()
    }

    /// Takes the figures of a run that was carried out elsewhere, as those of a run of its own.
    /// They are kept with those of later runs, or by [`ReadySweep::flush`].
    ///
    /// # Errors
    /// [`Error::Setting`] if they are of another run, which may be one of another version of
    /// Ratewire or of other files.
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
        let run = self.planned.measured(number, done.summary);
        self.keep(digest, &run);
        self.gatherer.get_mut().expect("no holder panics").add(run);
        self.is_done[number] = true;
        Ok(())
    }

    /// Keeps a finished run. If it cannot be written now, [`ReadySweep::flush`] tries again and
    /// reports why.
    fn keep(&self, digest: &str, run: &MeasuredRun) {
        if let Some(output) = &self.output {
            _ = output.runs.put(digest, run);
        }
    }

    /// Writes finished runs that wait for others, as short ones do.
    ///
    /// # Errors
    /// An error if they cannot be written.
    pub fn flush(&self) -> Result<(), Error> {
        self.output.as_ref().map_or(Ok(()), |output| output.runs.flush())
    }

    /// World and duration of each run that is still to be carried out.
    ///
    /// Listeners get the run's index in this list.
    pub fn pending(&self) -> Vec<(World, Duration)> {
        let duration = |index: usize| {
            let place = &self.planned.runs[index];
            self.planned.points[place.point].scenario.duration
        };
        self.unfinished().map(|index| (World::Simulate, duration(index))).collect()
    }

    /// Carries out the runs on all cores with a listener, and writes the sweep's folder.
    ///
    /// A listener that ends runs loses none that was finished.
    pub fn run(self, listener: &dyn Listener) -> SweepResults {
        let pending: Vec<usize> = self.unfinished().collect();
        let one = |(number, index): (usize, &usize)| self.carry_out(number, *index, listener);
        let done: Vec<Result<(), Error>> = pending.par_iter().enumerate().map(one).collect();
        let failures = pending.into_iter().zip(done).filter_map(|(index, done)| {
            Some(Failed { run: self.planned.name(index), error: done.err()? })
        });
        let failures = failures.collect();
        let flushed = self.flush();
        let sweep = self.gatherer.into_inner().expect("no holder panics").finish();
        let results =
            SweepResults { sweep, record: self.planned.record(), failures, unwritten: None };
        let written = self.output.map_or(Ok(()), |output| self.planned.write(&output, &results));
        SweepResults { unwritten: flushed.and(written).err(), ..results }
    }

    /// Carries out a run, and keeps its figures.
    fn carry_out(&self, number: usize, index: usize, listener: &dyn Listener) -> Result<(), Error> {
        let place = &self.planned.runs[index];
        let scenario = &self.planned.points[place.point].scenario;
        let (laws, ..) = self.planned.sweep.experiment.chosen();
        let plan = scenario.plan(Some(&laws[place.law]), Some(place.seed))?;
        let job = Job::new(scenario, plan, World::Simulate);
        let summary = whole(job.carry_out(number, listener, None)?)?;
        let run = self.planned.measured(index, summary);
        self.keep(&place.digest, &run);
        self.gatherer.lock().expect("no holder panics").add(run);
        Ok(())
    }
}

impl Output {
    /// Whether the place has the results of a sweep without missing runs.
    fn has_whole_sweep(&self) -> Result<bool, Error> {
        let text = self.store.read(SWEEP[1])?.unwrap_or_default();
        let read = serde_json::from_slice::<serde_json::Value>(&text);
        Ok(read.is_ok_and(|sweep| sweep["missing_runs"] == 0))
    }
}

impl PlannedSweep<'_> {
    /// Gathers the figures of this sweep's runs.
    fn gatherer(&self) -> SweepGatherer {
        let (laws, seeds, _) = self.sweep.experiment.chosen();
        let gatherer = SweepGatherer::new(self.sweep.axes(), laws.to_vec(), seeds.to_vec());
        gatherer.figures(&self.figures)
    }

    /// A run with its place in the grid.
    fn measured(&self, index: usize, summary: Summary) -> MeasuredRun {
        let place = &self.runs[index];
        MeasuredRun { point: self.points[place.point].at.clone(), law: place.law, summary }
    }

    fn write(&self, output: &Output, results: &SweepResults) -> Result<(), Error> {
        if results.sweep.missing_runs > 0 && output.has_whole_sweep()? {
            let why = "it has the results of a whole sweep, which a part does not replace; finished \
                       runs are kept, and the sweep goes on from them";
            return Err(Error::refused(output.store.place(), why));
        }
        let made_by = self.metadata(&results.record);
        output.runs.write_table(&results.sweep, &made_by)?;
        let scenario = self.sweep.experiment.scenario();
        let page = html::render_sweep(&results.sweep, &scenario.values(), &scenario.source_text);
        match &output.folder {
            Some(folder) => folder.put_in_place(&[], [page, results.json()]),
            None => SWEEP
                .iter()
                .zip([page, results.json()])
                .try_for_each(|(name, text)| put(&*output.store, name, text.as_bytes())),
        }
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
