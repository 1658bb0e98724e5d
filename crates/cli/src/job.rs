//! One run of one scenario under one law, and many of them on all cores.

use std::fs::File;
use std::io::{self, BufWriter};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use ratewire_capture::Capture;
use ratewire_emulate::{Options, Shell, Users};
use ratewire_net::CapturedFrame;
use ratewire_net::spec::LinkId;
use ratewire_report::{Expectation, LoadInfo, Run};
use ratewire_run::{Failure, Files, Labels};
use ratewire_scenario::{Basis, Evaluator, Finding, Load, Plan, Scenario};
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, Followed, LinkSample, OverlaySample, PacketSeen,
    Progress as Reached, Recorder,
};
use ratewire_sim::setup::Setup;
use rayon::prelude::*;

use crate::memory::{self, Watched};
use crate::output::ours::PROGRAMS;
use crate::progress::{Progress, Ticker};

/// One run to do.
pub(crate) struct Job<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: Plan,
    pub(crate) world: World,
    /// Where its Parquet files and its capture are made; `None` for none.
    pub(crate) folder: Option<PathBuf>,
    /// Whom programs may run as; `None` where none run.
    pub(crate) users: Option<&'a Users>,
}

/// What follows the name of a law where its run was emulated.
pub(crate) const EMULATED: &str = " (emulated)";

/// Where a run takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum World {
    /// In virtual time, hosts and all modelled.
    Simulate,
    /// In real time: kernels and programs in network namespaces, over a modelled network.
    Emulate,
}

impl World {
    pub(crate) fn name(self) -> &'static str {
        match self {
            World::Simulate => "simulate",
            World::Emulate => "emulate",
        }
    }
}

/// A run that was done.
pub(crate) struct Done {
    pub(crate) run: Run,
    pub(crate) verdicts: Vec<Finding>,
    /// The answer to `--why`, if it was asked and there is one.
    pub(crate) why: Option<String>,
    /// How the shell ended, if there was one.
    pub(crate) shell: Option<ExitStatus>,
}

/// Does the jobs on all cores and keeps of each what `keep` makes of it; results come in the order of
/// the jobs.
pub(crate) fn run_all<T: Send>(
    jobs: &[Job<'_>],
    show_progress: bool,
    keep: impl Fn(&Job<'_>, Done) -> T + Sync,
) -> Vec<Result<T, Failure>> {
    warn_of_memory(jobs);
    let runs: Vec<_> = jobs.iter().map(|job| (job.world, job.plan.setup.duration)).collect();
    let progress = Progress::new(show_progress, &runs);
    let run = |(i, job): (usize, &Job<'_>)| Ok(keep(job, job.run(progress.ticker(i))?));
    let mut done: Vec<Option<Result<T, Failure>>> = jobs
        .par_iter()
        .enumerate()
        .map(|at| (at.1.world == World::Simulate).then(|| run(at)))
        .collect();
    // What runs in real time has the machine to itself.
    for at in jobs.iter().enumerate() {
        done[at.0].get_or_insert_with(|| run(at));
    }
    progress.finish();
    done.into_iter().flatten().collect()
}

/// Warns of runs that will probably need more memory than there may be in use.
fn warn_of_memory(jobs: &[Job<'_>]) {
    let Some(limit) = memory::limit() else { return };
    for job in jobs {
        let needed = ratewire_run::estimate::memory(&job.plan.setup);
        if needed > limit {
            let name = job.name();
            tell!(
                "warning: {}: the run of {name} will need about {needed} of memory, and {limit} are allowed\n  \
                 help: a shorter `duration`, lower rates, limited queues or fewer flows; or allow more: --memory",
                job.scenario.file
            );
        }
    }
}

impl Job<'_> {
    /// By class of arriving traffic: the load that the scenario asks for.
    fn loads(&self) -> Vec<Option<LoadInfo>> {
        let links = &self.plan.setup.network.links;
        let info = |load: &Load| LoadInfo {
            share: load.share,
            link: load.link.map(|id| links[id.index()].name.clone()),
            others: load.others,
        };
        self.scenario.loads.iter().map(|load| load.as_ref().map(info)).collect()
    }

    /// How it is told from the other runs of its scenario.
    pub(crate) fn name(&self) -> String {
        let world = if self.world == World::Emulate { EMULATED } else { "" };
        format!("{}{world}, seed {}", self.plan.law, self.plan.setup.seed)
    }

    fn run(&self, ticker: Ticker<'_>) -> Result<Done, Failure> {
        self.run_with(ticker, None)
    }

    /// Runs it with a shell at a host, until that is left.
    pub(crate) fn run_shell(&self, shell: Shell) -> Result<Done, Failure> {
        let progress = Progress::new(false, &[(self.world, self.plan.setup.duration)]);
        self.run_with(progress.ticker(0), Some(shell))
    }

    fn run_with(&self, ticker: Ticker<'_>, shell: Option<Shell>) -> Result<Done, Failure> {
        let labels = Labels {
            scenario: self.scenario.name.clone(),
            law: self.plan.law.clone(),
            laws: self.plan.law_names.clone(),
            bottleneck: self.scenario.bottleneck,
            slowest: self.scenario.slowest.clone(),
            loads: self.loads(),
        };
        let setup = &self.plan.setup;
        let files = self.folder.as_deref().map(|folder| make_files(folder, setup)).transpose()?;
        let capture = match &self.folder {
            Some(folder) if !setup.captured_links.is_empty() => {
                Some(PacketFile::create(folder.join("packets.pcapng"), setup)?)
            }
            _ => None,
        };
        let evaluator = self.scenario.evaluator(&self.plan);
        let evaluator = match self.world {
            World::Simulate => evaluator,
            World::Emulate => evaluator.emulated(),
        };
        let watched = Watched::begin(self.name());
        let mut also = Also { evaluator, ticker, watched, capture, asked: None };
        let ran = match self.world {
            World::Simulate => ratewire_run::run(setup, &labels, files, &mut also)
                .map(|(run, outcome)| (run, outcome, None)),
            World::Emulate => {
                let logs = self.folder.as_ref().filter(|_| !setup.programs.is_empty());
                let logs = logs.map(|folder| folder.join(PROGRAMS));
                let users = self.users.cloned().unwrap_or_default();
                let options = Options { logs, shell, users };
                crate::emulated::run(setup, &labels, files, &options, &mut also)
                    .map(|emulated| (emulated.run, emulated.outcome, emulated.shell))
            }
        };
        let (run, outcome, left) = ran.map_err(|e| also.watched.failure.take().unwrap_or(e))?;
        also.ticker.finish();
        if let Some(capture) = also.capture {
            capture.finish()?;
        }
        let why = also.asked.map(|followed| ratewire_run::explain(&followed, setup, &labels));
        let verdicts = also.evaluator.finish(&outcome);
        Ok(Done { run, verdicts, why, shell: left })
    }
}

fn make_files(folder: &Path, setup: &Setup) -> Result<Files, Failure> {
    std::fs::create_dir_all(folder).map_err(|e| cannot_write(folder, &e))?;
    Files::create(folder, setup)
}

pub(crate) fn cannot_write(path: &Path, e: &io::Error) -> Failure {
    Failure::File { path: path.to_path_buf(), reason: e.to_string() }
}

/// A capture being written, and the first thing that went wrong with it.
struct PacketFile<'a> {
    path: PathBuf,
    setup: &'a Setup,
    capture: Capture<BufWriter<File>>,
    failed: Option<io::Error>,
}

impl<'a> PacketFile<'a> {
    fn create(path: PathBuf, setup: &'a Setup) -> Result<PacketFile<'a>, Failure> {
        let name = |id: &LinkId| (*id, setup.network.links[id.index()].name.as_str());
        let links: Vec<(LinkId, &str)> = setup.captured_links.iter().map(name).collect();
        let start = || {
            let mut capture = Capture::new(BufWriter::new(File::create(&path)?), &links)?;
            for id in setup.frame_links() {
                let link = &setup.network.links[id.index()];
                capture.frames_come_by(id, &link.name, link.from)?;
            }
            Ok(capture)
        };
        let capture = start().map_err(|e| cannot_write(&path, &e))?;
        Ok(PacketFile { path, setup, capture, failed: None })
    }

    fn flow(&mut self, started: &FlowStarted<'_>) {
        let law = &self.setup.laws[started.law];
        self.capture.flow(started.flow, started.from, started.to, law);
    }

    fn packet(&mut self, seen: &PacketSeen) {
        let is_kept = self.setup.captured_links.contains(&seen.packet.link);
        if is_kept && self.failed.is_none() {
            self.failed = self.capture.packet(seen).err();
        }
    }

    fn frame(&mut self, seen: &CapturedFrame) {
        if self.failed.is_none() {
            self.failed = self.capture.frame(seen).err();
        }
    }

    fn finish(self) -> Result<(), Failure> {
        let finished = match self.failed {
            Some(e) => Err(e),
            None => self.capture.finish().map(drop),
        };
        finished.map_err(|e| cannot_write(&self.path, &e))
    }
}

/// What the page and the table say of a run's verdicts.
pub(crate) fn expectations(done: &Done) -> impl Iterator<Item = Expectation> {
    done.verdicts.iter().map(|verdict| expectation(verdict, &done.run))
}

fn expectation(verdict: &Finding, run: &Run) -> Expectation {
    let measured = match &verdict.reason {
        Some(reason) => reason.clone(),
        None => verdict.measured_text.clone(),
    };
    Expectation {
        law: verdict.law.clone(),
        seed: run.summary.seed,
        world: run.summary.world.clone(),
        claim: verdict.claim.clone(),
        measured,
        bound: verdict.bound.clone(),
        passed: verdict.pass,
        metric: verdict.metric.to_string(),
        value: verdict.measured,
        min: verdict.range.0,
        max: verdict.range.1,
        unit: verdict.unit.symbol().to_string(),
        target: verdict.target.clone(),
        window_s: verdict.during.map(|(from, to)| (from.secs(), to.secs())),
        basis: match verdict.basis {
            Basis::Claim => ratewire_report::Basis::Claim,
            Basis::Derived => ratewire_report::Basis::Derived,
            Basis::Run => ratewire_report::Basis::Run,
            Basis::Differs => ratewire_report::Basis::Differs,
        },
        source: verdict.source.clone(),
        note: verdict.note.clone(),
    }
}

/// Who else listens to a run.
struct Also<'a> {
    evaluator: Evaluator,
    ticker: Ticker<'a>,
    watched: Watched,
    capture: Option<PacketFile<'a>>,
    /// The packet that was asked about.
    asked: Option<Followed>,
}

impl Recorder for Also<'_> {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        self.evaluator.flow_started(started);
        if let Some(capture) = &mut self.capture {
            capture.flow(started);
        }
    }
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.evaluator.flow_sample(sample);
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        self.evaluator.link_sample(sample);
    }
    fn overlay_sample(&mut self, sample: &OverlaySample<'_>) {
        self.evaluator.overlay_sample(sample);
    }
    fn flow_completed(&mut self, completed: &FlowCompleted) {
        self.evaluator.flow_completed(completed);
    }
    fn followed(&mut self, followed: &Followed) {
        if followed.asked {
            self.asked = Some(followed.clone());
        }
    }
    fn packet(&mut self, seen: &PacketSeen) {
        self.evaluator.packet(seen);
        if let Some(capture) = &mut self.capture {
            capture.packet(seen);
        }
    }
    fn frame(&mut self, seen: &CapturedFrame) {
        if let Some(capture) = &mut self.capture {
            capture.frame(seen);
        }
    }
    fn progress(&mut self, progress: &Reached) -> ControlFlow<()> {
        self.ticker.reached(progress.now);
        self.watched.reached(progress)
    }
}
