//! One run of one scenario under one law, and many of them on all cores.

use std::path::Path;

use ratewire_report::{Expectation, Run};
use ratewire_run::{Failure, Files, Labels};
use ratewire_scenario::{Evaluator, Plan, Scenario, Verdict};
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, LinkSample, PacketSeen, Recorder,
};
use ratewire_units::Time;
use rayon::prelude::*;

use crate::progress::{Progress, Ticker};

/// One run to do.
pub(crate) struct Job<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: Plan,
    /// Where its Parquet files go; `None` for none.
    pub(crate) folder: Option<std::path::PathBuf>,
}

/// A run that was done.
pub(crate) struct Done {
    pub(crate) run: Run,
    pub(crate) verdicts: Vec<Verdict>,
}

/// Does the jobs on all cores; results come in the order of the jobs.
pub(crate) fn run_all(jobs: &[Job<'_>], show_progress: bool) -> Vec<Result<Done, Failure>> {
    let durations = jobs.iter().map(|job| job.plan.setup.duration);
    let progress = Progress::new(show_progress, durations.collect());
    let done = jobs.par_iter().enumerate().map(|(i, job)| job.run(progress.ticker(i))).collect();
    progress.finish();
    done
}

impl Job<'_> {
    fn run(&self, ticker: Ticker<'_>) -> Result<Done, Failure> {
        let labels = Labels {
            scenario: self.scenario.name.clone(),
            law: self.plan.law.clone(),
            laws: self.plan.law_names.clone(),
            bottlenecks: self.scenario.bottlenecks.clone(),
        };
        let files = self.folder.as_deref().map(make_files).transpose()?;
        let mut also = Also { evaluator: self.scenario.evaluator(&self.plan), ticker };
        let (run, outcome) = ratewire_run::run(&self.plan.setup, &labels, files, &mut also)?;
        also.ticker.finish();
        Ok(Done { run, verdicts: also.evaluator.finish(&outcome) })
    }
}

fn make_files(folder: &Path) -> Result<Files, Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|e| Failure::File { path: folder.to_path_buf(), reason: e.to_string() })?;
    Files::create(folder)
}

/// What the page and the table say of a verdict.
pub(crate) fn expectation(verdict: &Verdict) -> Expectation {
    let measured = match &verdict.reason {
        Some(reason) => reason.clone(),
        None => verdict.measured_text.clone(),
    };
    Expectation {
        law: verdict.law.clone(),
        claim: verdict.claim.clone(),
        measured,
        bound: verdict.bound.clone(),
        passed: verdict.pass,
        source: verdict.source.clone(),
    }
}

/// Who else listens to a run.
struct Also<'a> {
    evaluator: Evaluator,
    ticker: Ticker<'a>,
}

impl Recorder for Also<'_> {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        self.evaluator.flow_started(started);
    }
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.evaluator.flow_sample(sample);
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        self.evaluator.link_sample(sample);
    }
    fn flow_completed(&mut self, completed: &FlowCompleted) {
        self.evaluator.flow_completed(completed);
    }
    fn packet(&mut self, seen: &PacketSeen) {
        self.evaluator.packet(seen);
    }
    fn progress(&mut self, now: Time) {
        self.ticker.reached(now);
    }
}
