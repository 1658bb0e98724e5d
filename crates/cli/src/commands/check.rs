//! `ratewire check`: run scenarios, hold them against their expectations.

use std::path::{Path, PathBuf};

use ratewire_report::{Expectation, table};
use ratewire_scenario::Scenario;
use serde::Serialize;

use super::run::{fail, why_not, without_repeats};
use super::{complain, print, table_options};
use crate::Exit;
use crate::job::{Job, World, expectation, run_all};
use crate::paper::PAPER;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scenario files, or folders with `.toml` files at any depth
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Only read the scenarios, and say everything that is wrong with them
    #[arg(long)]
    syntax: bool,
    /// Print the results as JSON in place of a table
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

const NOTHING_EXPECTED: &str = "\
It ran, and there was nothing to hold it against. What must come out a scenario says as

    [[expect]]
    metric = \"utilisation\"
    link   = \"bottleneck\"
    min    = 0.9

docs/tutorial.md, section 5, has more; `ratewire scenario --reference` lists the metrics.
";

/// A scenario's results, for `--json`.
#[derive(Serialize)]
struct Checked {
    scenario: String,
    expectations: Vec<Expectation>,
}

pub(crate) fn check(args: &Args) -> Exit {
    let files = match find(&args.paths) {
        Ok(files) => files,
        Err(exit) => return exit,
    };
    let (scenarios, exit) = load_all(&files);
    let jobs: Vec<Option<Vec<Job<'_>>>> = scenarios.iter().map(jobs).collect();
    if args.syntax {
        let wrong = files.len() - jobs.iter().flatten().count();
        let s = if files.len() == 1 { "" } else { "s" };
        tell!("{} scenario{s} read, {wrong} with errors", files.len());
        return if wrong > 0 { exit.max(Exit::Wrong) } else { exit };
    }
    match jobs.into_iter().collect::<Option<Vec<_>>>() {
        Some(jobs) if exit == Exit::Done => {
            report(&jobs.into_iter().flatten().collect::<Vec<_>>(), args)
        }
        _ => exit.max(Exit::Wrong),
    }
}

/// A scenario's run under each of its laws, with what is said of them; `None` if one cannot be.
fn jobs(scenario: &Scenario) -> Option<Vec<Job<'_>>> {
    let mut said = Vec::new();
    let plan = |law: String| match scenario.plan(Some(&law), None) {
        Ok(plan) => {
            said.extend(plan.warnings.iter().cloned());
            Some(Job { scenario, plan, world: World::Simulate, folder: None })
        }
        Err(wrong) => {
            said.extend(wrong);
            None
        }
    };
    let plans: Vec<_> = scenario.laws().into_iter().map(plan).collect();
    complain(&without_repeats(said));
    plans.into_iter().collect()
}

/// Runs the jobs and prints what came out, scenario by scenario.
fn report(jobs: &[Job<'_>], args: &Args) -> Exit {
    let mut checked: Vec<Checked> = Vec::new();
    for (job, done) in jobs.iter().zip(run_all(jobs, !args.quiet && !args.json, |_, done| done)) {
        let done = match done {
            Ok(done) => done,
            Err(failure) => {
                tell!("{} under {}:", job.scenario.file, job.plan.law);
                return fail(&failure);
            }
        };
        let scenario = &job.scenario.file;
        if checked.last().is_none_or(|c| c.scenario != *scenario) {
            checked.push(Checked { scenario: scenario.clone(), expectations: Vec::new() });
        }
        if let Some(last) = checked.last_mut() {
            last.expectations.extend(done.verdicts.iter().map(expectation));
        }
    }
    let all = || checked.iter().flat_map(|c| &c.expectations);
    let failed = all().filter(|e| !e.passed).count();
    let text = if args.json {
        serde_json::to_string_pretty(&checked).unwrap_or_default() + "\n"
    } else {
        let mut text = String::new();
        for one in &checked {
            text += &format!("{}\n", one.scenario);
            text += &match one.expectations[..] {
                [] => "no expectations\n".to_string(),
                _ => table::expectations(&one.expectations, &table_options()),
            };
            text += "\n";
        }
        for one in &checked {
            for e in one.expectations.iter().filter(|e| !e.passed) {
                let (file, law) = (&one.scenario, &e.law);
                text +=
                    &format!("FAIL  {file}, {law}: {}: {}, not {}\n", e.claim, e.measured, e.bound);
            }
        }
        let count = all().count();
        let (hold, not) = match count {
            0 => return print(&(text + NOTHING_EXPECTED)),
            1 => ("expectation holds", "does not"),
            _ => ("expectations hold", "do not"),
        };
        text + &format!("{} of {count} {hold}, {failed} {not}\n", count - failed)
    };
    match print(&text) {
        Exit::Done if failed > 0 => Exit::NotMet,
        exit => exit,
    }
}

pub(super) fn load_all(files: &[PathBuf]) -> (Vec<Scenario>, Exit) {
    let mut exit = Exit::Done;
    let mut scenarios = Vec::new();
    for file in files {
        match Scenario::load(file) {
            Ok(scenario) => {
                complain(&scenario.warnings);
                scenarios.push(scenario);
            }
            Err(wrong) => {
                complain(&wrong);
                exit = exit.max(why_not(file));
            }
        }
    }
    (scenarios, exit)
}

/// The scenario files under the paths, in order of their names.
fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Exit> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        if !path.exists() {
            // Reading it says what is wrong, and which is meant.
            files.push(path.clone());
            continue;
        }
        collect(path, &mut files).map_err(|e| {
            tell!("ratewire: cannot read {}: {e}", path.display());
            Exit::File
        })?;
        if files.len() == before {
            tell!("ratewire: no scenario (.toml) under {}", path.display());
            return Err(Exit::Wrong);
        }
    }
    Ok(files)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !std::fs::metadata(path)?.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for entry in entries {
        let is_scenario = entry.extension().is_some_and(|e| e == "toml") && !entry.ends_with(PAPER);
        if entry.is_dir() || is_scenario {
            collect(&entry, files)?;
        }
    }
    Ok(())
}
