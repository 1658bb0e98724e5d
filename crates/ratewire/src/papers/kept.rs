//! Finished runs of papers in real time, kept in files: hours of them go on after a stop.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ratewire_files::RESULTS;
use ratewire_report::World;
use serde::{Deserialize, Serialize};

use crate::folder::pages::make_folder;
use crate::folder::write_whole;
use crate::provenance::{digest, files};
use crate::{Error, Job, Run};

/// A folder with a file for each finished run in real time.
///
/// A file's name is the digest of what made the run and of what was measured. Bounds of
/// expectations do not count: a kept run is held to those that the scenario has when it is read.
#[derive(Clone, Debug)]
pub struct KeptRuns {
    folder: PathBuf,
}

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct KeptRun {
    /// Of each expectation, in the order of the scenario: the value, or why there was none.
    measured: Vec<Result<f64, String>>,
    run: ratewire_report::Run,
}

impl KeptRuns {
    /// Makes the folder, if it is missing.
    ///
    /// # Errors
    /// An error if the folder cannot be made.
    pub fn open(folder: &Path) -> Result<KeptRuns, Error> {
        make_folder(folder)?;
        Ok(KeptRuns { folder: folder.to_path_buf() })
    }

    /// The kept run of a job, if this version of Ratewire has finished it and its figures can be
    /// relied on. A file that is damaged is as good as none.
    ///
    /// # Errors
    /// An error if the file cannot be read.
    pub fn find(&self, job: &Job<'_>) -> Result<Option<Run>, Error> {
        let path = self.file(job);
        let text = match ratewire_files::read(&path, RESULTS).map_err(io::Error::from) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|source| Error::Read { path, source })?,
        };
        let Ok(KeptRun { measured, run }) = serde_json::from_slice(&text) else { return Ok(None) };
        if run.info.version != env!("CARGO_PKG_VERSION") {
            return Ok(None);
        }
        let findings = job.evaluator().judge(&measured);
        let run = findings.map(|findings| Run::new(run, findings, None, None, None));
        Ok(run.filter(Run::is_reliable))
    }

    /// Removes the kept run of a job.
    ///
    /// # Errors
    /// An error if the file cannot be removed.
    pub fn forget(&self, job: &Job<'_>) -> Result<(), Error> {
        let path = self.file(job);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::write(&path, e)),
            _ => Ok(()),
        }
    }

    /// Keeps a run in the place of an earlier one of the job. A run that was interrupted, or whose
    /// figures cannot be relied on, is not kept.
    ///
    /// # Errors
    /// An error if the file cannot be written; an earlier one is then unchanged.
    pub fn keep(&self, job: &Job<'_>, run: &Run) -> Result<(), Error> {
        if run.is_partial() || !run.is_reliable() {
            return Ok(());
        }
        let measured = run.verdicts().iter().map(ratewire_scenario::Finding::value).collect();
        let kept = KeptRun { measured, run: run.report().clone() };
        let path = self.file(job);
        let text = serde_json::to_vec(&kept).map_err(|e| Error::write(&path, e.into()))?;
        write_whole(&path, &text)
    }

    fn file(&self, job: &Job<'_>) -> PathBuf {
        let measured = job.scenario.measured_by_name(&job.plan.law, job.plan.setup.seed);
        let digest = digest(&measured, &files(job.scenario), World::Emulate);
        self.folder.join(format!("{digest}.json"))
    }
}

#[cfg(test)]
mod tests {
    use ratewire_report::FidelitySummary;
    use ratewire_scenario::Scenario;

    use super::*;

    const TEXT: &str = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
        bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n\
        [[flow]]\nfrom = 's1'\nto = 'd1'\nsize = '10 KB'\n";

    /// A scenario with an expectation.
    fn scenario(expect: &str) -> Scenario {
        let text = format!("{TEXT}[[expect]]\n{expect}\n");
        Scenario::parse("a.toml", &text, &|_| Ok(String::new())).expect("a scenario")
    }

    fn job(scenario: &Scenario) -> Job<'_> {
        let plan = scenario.plan(None, None).expect("a plan");
        Job::new(scenario, plan, World::Emulate)
    }

    /// A run of a scenario as the emulator would leave it.
    fn finished(scenario: &Scenario, holds: bool) -> Run {
        let plan = scenario.plan(None, None).expect("a plan");
        let run = Job::new(scenario, plan, World::Simulate).run(&()).expect("a run");
        let mut report = run.report().clone();
        report.summary.fidelity = Some(FidelitySummary { holds, ..FidelitySummary::default() });
        Run::new(report, run.verdicts().to_vec(), None, None, None)
    }

    #[test]
    fn a_kept_run_is_the_run_and_is_held_to_the_bounds_of_the_scenario() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptRuns::open(folder.path()).unwrap();
        let own = scenario("link = 'bottleneck'\nmetric = 'utilisation'\nmin = 0.5");
        let run = finished(&own, true);
        assert!(kept.find(&job(&own)).unwrap().is_none());
        kept.keep(&job(&own), &run).unwrap();
        let found = kept.find(&job(&own)).unwrap().expect("a run");
        assert_eq!(format!("{:?}", found.report()), format!("{:?}", run.report()));
        assert_eq!(found.expectations(), run.expectations());
        assert!(found.holds());
        let stricter =
            scenario("link = 'bottleneck'\nmetric = 'utilisation'\nmin = 0.999\nnote = 'more'");
        let found = kept.find(&job(&stricter)).unwrap().expect("the same run");
        assert!(!found.holds() && found.expectations()[0].value == run.expectations()[0].value);
        let emulated = scenario(
            "link = 'bottleneck'\nmetric = 'utilisation'\nmin = 0.999\n\
             emulated = { min = 0.5, basis = 'run', cause = 'a reason' }",
        );
        let found = kept.find(&job(&emulated)).unwrap().expect("the same run");
        let note = found.expectations()[0].note.as_deref();
        assert!(found.holds() && note == Some("a reason"), "{note:?}");
    }

    #[test]
    fn a_run_that_was_not_reliable_measured_something_else_or_is_damaged_is_carried_out_again() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptRuns::open(folder.path()).unwrap();
        let own = scenario("link = 'bottleneck'\nmetric = 'utilisation'\nmin = 0.5");
        kept.keep(&job(&own), &finished(&own, false)).unwrap();
        assert!(kept.find(&job(&own)).unwrap().is_none(), "its verdict refused it");
        kept.keep(&job(&own), &finished(&own, true)).unwrap();
        kept.keep(&job(&own), &finished(&own, false)).unwrap();
        assert!(kept.find(&job(&own)).unwrap().is_some(), "an earlier one stays");
        kept.forget(&job(&own)).unwrap();
        kept.forget(&job(&own)).unwrap();
        assert!(kept.find(&job(&own)).unwrap().is_none(), "it is forgotten");
        kept.keep(&job(&own), &finished(&own, true)).unwrap();
        let other = scenario("link = 'bottleneck'\nmetric = 'queue_mean'\nmax = '100 packets'");
        assert!(kept.find(&job(&other)).unwrap().is_none(), "another metric");
        let file = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let whole = fs::read_to_string(&file).unwrap();
        fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        assert!(kept.find(&job(&own)).unwrap().is_none(), "half a file");
        let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
        fs::write(&file, whole.replace(&version, "\"version\":\"0.0.1\"")).unwrap();
        assert!(kept.find(&job(&own)).unwrap().is_none(), "another version");
        let of_times = scenario("metric = 'rtt_mean'\nmax = '1 s'");
        kept.keep(&job(&of_times), &finished(&of_times, true)).unwrap();
        assert!(kept.find(&job(&of_times)).unwrap().is_none(), "its hosts were late");
    }
}
