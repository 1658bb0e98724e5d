//! One run of a scenario under one law, and many runs on all cores.

#[cfg(feature = "emulate")]
mod hosts;

use std::borrow::Cow;
use std::path::PathBuf;

use ratewire_report::compare::FigureName;
use ratewire_report::{LoadInfo, RunInfo, World};
use ratewire_scenario::{Evaluator, Load, Plan, Scenario};
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, Followed, LinkSample, Recorder,
};
use ratewire_sim::setup::Setup;
use ratewire_units::{Bytes, Duration};
use rayon::prelude::*;

use crate::capture::PacketFile;
use crate::emulated::{Shell, Users};
use crate::folder::name_of_folder;
use crate::folder::ours::{RUN_FILE, SCENARIO_FILE};
use crate::listen::{Listener, Running, name_of_run};
use crate::observe::{Files, Labels, Place, describe, estimate, explain, queueing, watch};
use crate::provenance::OriginFiles;
use crate::{Error, Provenance, Run, emulated, question};

/// A planned run: one scenario under one law, from one seed, in one world.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: Plan,
    pub(crate) world: World,
    /// Folder for its tables and its capture; `None` for none.
    pub(crate) folder: Option<PathBuf>,
    /// Name that its folder has, or would have among those of its experiment.
    pub(crate) folder_name: String,
    /// Figures that are asked for.
    pub(crate) figures: Vec<FigureName>,
    /// Whether samples stay in memory if they are not written to a folder.
    pub(crate) keeps_samples: bool,
    /// Users that programs may run as.
    pub(crate) users: Option<&'a Users>,
    /// Command line that asked for the run; empty if a program did.
    pub(crate) command: &'a [String],
}

impl<'a> Job<'a> {
    /// A run of `plan`, which belongs to `scenario`, in a world. It writes no files and keeps no
    /// samples.
    pub fn new(scenario: &'a Scenario, plan: Plan, world: World) -> Job<'a> {
        let plan = match world {
            World::Emulate => emulated::renamed(plan),
            _ => plan,
        };
        let folder_name = name_of_folder(&plan.law, plan.setup.seed, std::iter::empty());
        let (folder, figures, command) = (None, Vec::new(), &[][..]);
        let (keeps_samples, users) = (false, None);
        Job { scenario, plan, world, folder, folder_name, figures, keeps_samples, users, command }
    }

    /// The run's scenario.
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// The run's setup, in numbers and indices.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The run's world.
    pub fn world(&self) -> World {
        self.world
    }

    /// What makes the run.
    pub fn provenance(&self) -> Provenance {
        Provenance::of(self.scenario, &self.plan.law, self.plan.setup.seed, self.world)
    }

    /// Duration in the run's own time.
    pub fn duration(&self) -> Duration {
        self.plan.setup.duration
    }

    /// Final folder of the run's files, if it writes any.
    pub fn folder(&self) -> Option<PathBuf> {
        self.folder.as_deref().map(crate::folder::at_last)
    }

    /// Name among the runs of the scenario: `xcp, seed 1`.
    pub fn name(&self) -> String {
        name_of_run(&self.plan.law, self.world, self.plan.setup.seed)
    }

    /// Estimate of the memory needed, within a factor of two if it is large.
    pub fn memory_estimate(&self) -> Bytes {
        estimate::memory(&self.plan.setup)
    }

    /// Runs on this thread.
    ///
    /// # Errors
    /// An error if the run fails, the listener ends it, or a file cannot be written.
    ///
    /// Written files then stay aside, and earlier results are unchanged.
    pub fn run(&self, listener: &dyn Listener) -> Result<Run, Error> {
        self.carry_out(0, listener, None)
    }

    /// Runs as number `index` of the runs that run together, with a shell if there is one.
    pub(crate) fn carry_out(
        &self,
        index: usize,
        listener: &dyn Listener,
        shell: Option<Shell>,
    ) -> Result<Run, Error> {
        let setup = &self.plan.setup;
        let is_alone = shell.as_ref().is_some_and(emulated::is_alone);
        let described =
            if is_alone { Cow::Owned(without_flows(setup)) } else { Cow::Borrowed(setup) };
        // What makes the run is only needed where samples are kept.
        let keeps = self.folder.is_some() || self.keeps_samples;
        let made = keeps.then(|| self.provenance());
        let labels = self.labels(made.as_ref());
        let info = describe(self.world, &described, &labels);
        let running = Running { index, info: &info };
        listener.begins(&running);
        let origin = made.as_ref().map(|made| self.origin(made));
        let placed = origin.as_ref().map_or(Ok(()), |origin| self.write_origin(origin));
        let done = placed.and_then(|()| self.run_as(running, listener, &described, &labels, shell));
        listener.ends(&running);
        done.map(|run| run.with_origin(origin))
    }

    /// Runs the job. `described` is the setup that results describe: without its flows if a shell
    /// is alone.
    fn run_as(
        &self,
        running: Running<'_>,
        listener: &dyn Listener,
        described: &Setup,
        labels: &Labels,
        shell: Option<Shell>,
    ) -> Result<Run, Error> {
        let setup = &self.plan.setup;
        let files = self.files(running.info)?;
        let mut also = (self.evaluator(), (self.capture()?, Asked(None)));
        let audience = (running, listener);
        let (watched, left) = match self.world {
            World::Emulate => {
                let hosts = (self.folder.as_deref(), self.users, shell);
                emulated::run(setup, described, labels, audience, files, hosts, &mut also)?
            }
            _ => {
                let watched = watch(described, labels, audience, files, &mut also, |observer| {
                    Ok(ratewire_sim::run(setup, observer)?)
                });
                let watched = watched?;
                let summary = &watched.run.summary;
                if let Some(warning) = queueing::warning(&running.name(), setup, summary) {
                    listener.warning(&running, &warning);
                }
                (watched, None)
            }
        };
        let (evaluator, (capture, asked)) = also;
        capture.map_or(Ok(()), PacketFile::finish)?;
        let why = setup.follow.asked.map(|question| match &asked.0 {
            Some(followed) => explain(followed, setup, labels),
            None => question::no_answer(question, &watched.run),
        });
        // Windows of expectations may not be over.
        let verdicts = match watched.run.summary.planned_duration_s {
            Some(_) => Vec::new(),
            None => evaluator.finish(&watched.outcome),
        };
        Ok(Run::new(watched.run, verdicts, why, left, watched.held))
    }

    /// The checks of the run's expectations.
    pub(crate) fn evaluator(&self) -> Evaluator {
        let evaluator = self.scenario.evaluator(&self.plan);
        match self.world {
            World::Emulate => evaluator.emulated(),
            _ => evaluator,
        }
    }

    pub(crate) fn labels(&self, made: Option<&Provenance>) -> Labels {
        Labels {
            scenario: self.scenario.name.clone(),
            law: self.plan.law.clone(),
            laws: self.plan.law_names.clone(),
            bottleneck: self.scenario.bottleneck,
            slowest: self.scenario.slowest.clone(),
            rates_at: self.scenario.rates_at.filter(|_| self.world == World::Simulate),
            values: self.scenario.values(),
            made_by: made.map(Provenance::metadata).unwrap_or_default(),
            figures: self.figures.clone(),
            loads: self.loads(),
        }
    }

    /// Requested load of each class of arriving traffic.
    fn loads(&self) -> Vec<Option<LoadInfo>> {
        let links = &self.plan.setup.network.links;
        let info = |load: &Load| LoadInfo {
            share: load.share,
            link: load.link.map(|id| links[id.index()].name.clone()),
            others: load.others,
        };
        self.scenario.loads.iter().map(|load| load.as_ref().map(info)).collect()
    }

    /// What makes the run, as the files in its folder say it.
    pub(crate) fn origin(&self, made: &Provenance) -> OriginFiles {
        OriginFiles {
            folder: self.folder_name.clone(),
            run: made.run_file(&self.scenario.file, self.command),
            scenario: made.scenario_file(),
        }
    }

    /// Writes what makes the run into its folder, if it has one.
    fn write_origin(&self, origin: &OriginFiles) -> Result<(), Error> {
        let Some(folder) = &self.folder else { return Ok(()) };
        std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
        for (name, text) in [(RUN_FILE, &origin.run), (SCENARIO_FILE, &origin.scenario)] {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|e| Error::write(&path, e))?;
        }
        Ok(())
    }

    pub(crate) fn files(&self, info: &RunInfo) -> Result<Option<Files>, Error> {
        let place = match &self.folder {
            Some(folder) => Place::Folder(folder),
            None if self.keeps_samples => Place::Memory,
            None => return Ok(None),
        };
        Files::create(place, &self.plan.setup, info)
    }

    fn capture(&self) -> Result<Option<PacketFile<'_>>, Error> {
        let setup = &self.plan.setup;
        let folder = self.folder.as_ref().filter(|_| !setup.captured_links.is_empty());
        folder.map(|folder| PacketFile::create(folder.join("packets.pcapng"), setup)).transpose()
    }
}

/// Runs the jobs on all cores, and keeps what `keep` makes of each run, in the order of the jobs.
///
/// Emulated runs follow the others, one after the other.
pub fn run_all<T: Send>(
    jobs: &[Job<'_>],
    listener: &dyn Listener,
    keep: impl Fn(&Job<'_>, Run) -> T + Sync,
) -> Vec<Result<T, Error>> {
    let run = |index: usize| {
        let job: &Job<'_> = &jobs[index];
        Ok(keep(job, job.carry_out(index, listener, None)?))
    };
    let is_simulated = |index: &usize| jobs[*index].world != World::Emulate;
    let mut done: Vec<Option<Result<T, Error>>> = (0..jobs.len())
        .into_par_iter()
        .map(|index| is_simulated(&index).then(|| run(index)))
        .collect();
    // An emulated run has the machine to itself.
    for (index, done) in done.iter_mut().enumerate() {
        done.get_or_insert_with(|| run(index));
    }
    done.into_iter().flatten().collect()
}

/// The setup that results of a shell alone describe.
fn without_flows(setup: &Setup) -> Setup {
    Setup {
        flows: Vec::new(),
        traffic: Vec::new(),
        programs: Vec::new(),
        overlay: None,
        ..setup.clone()
    }
}

/// Keeps the packet that the experiment's question is about.
struct Asked(Option<Followed>);

impl Recorder for Asked {
    fn flow_started(&mut self, _: &FlowStarted<'_>) {}
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, _: &LinkSample) {}
    fn flow_completed(&mut self, _: &FlowCompleted) {}
    fn followed(&mut self, followed: &Followed) {
        if followed.asked {
            self.0 = Some(followed.clone());
        }
    }
}
