//! `ratewire check`: runs scenarios and checks them against their expectations.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ratewire::papers::PAPER;
use ratewire::{Error, Job, Run, World, remedies, without_repeats};
use ratewire_command_line::{Exit, print};
use ratewire_emulate::Users;
use ratewire_report::{Basis, CheckedExpectation, table};
use ratewire_scenario::Scenario;
use ratewire_units::text::legible;
use serde::Serialize;

use super::load::{LawFileArgs, why_not};
use super::users::{UserArgs, hold};
use crate::arguments::worlds;
use crate::memory::MemoryArgs;
use crate::output::{complain, fail, missing};
use crate::terminal::table_options;
use crate::watch;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scenario files, or folders with `.toml` files at any depth
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Worlds to run in: simulate, emulate or both. Emulated runs take real time and need root
    #[arg(long, value_delimiter = ',', value_parser = worlds(), default_value = "simulate")]
    world: Vec<World>,
    #[command(flatten)]
    users: UserArgs,
    /// Only read the scenarios, and list all their errors
    #[arg(long, conflicts_with = "json")]
    syntax: bool,
    /// Print the results as JSON in place of a table
    #[arg(long)]
    json: bool,
    /// Show no progress, and print only claims that do not hold
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    law_files: LawFileArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

const NOTHING_EXPECTED: &str = "\
The runs had no expectations to be checked against. A scenario states one as

    [[expect]]
    metric = \"utilisation\"
    link   = \"bottleneck\"
    min    = 0.9

docs/learn/tutorial.md, section 5, has more; `ratewire scenario --reference` lists the metrics.
";

/// Results of a scenario, for `--json`.
#[derive(Serialize)]
struct Checked {
    scenario: String,
    expectations: Vec<CheckedExpectation>,
}

pub(crate) fn check(args: &Args) -> Exit {
    args.memory.watch();
    let files = match find(&args.paths) {
        Ok(files) => files,
        Err(exit) => return exit,
    };
    let (scenarios, exit) = load_all(&files, &args.law_files);
    let worlds = without_repeats(args.world.clone());
    let users = match worlds.contains(&World::Emulate).then(|| args.users.users()).transpose() {
        Ok(users) => users,
        Err(exit) => return exit,
    };
    let (users, unable) = (users.as_ref(), Cell::new(Exit::Done));
    let jobs_of = |scenario| jobs(scenario, &worlds, users, &unable);
    let jobs: Vec<Option<Vec<Job<'_>>>> = scenarios.iter().map(jobs_of).collect();
    if args.syntax {
        let wrong = files.len() - jobs.iter().flatten().count();
        let s = if files.len() == 1 { "" } else { "s" };
        print_stderr!("{} scenario{s} read, {wrong} with errors", files.len());
        return if wrong > 0 { exit.max(Exit::Wrong) } else { exit };
    }
    match jobs.into_iter().collect::<Option<Vec<_>>>() {
        Some(jobs) if exit == Exit::Done => {
            let jobs: Vec<Job<'_>> = jobs.into_iter().flatten().collect();
            Exit::of([report(&jobs, args), unable.get()])
        }
        _ => exit.max(Exit::Wrong),
    }
}

/// The runs of a scenario under each of its laws; prints warnings. `None` if one cannot be planned.
/// Sets `unable` where a law cannot be emulated.
fn jobs<'a>(
    scenario: &'a Scenario,
    worlds: &[World],
    users: Option<&'a Users>,
    unable: &Cell<Exit>,
) -> Option<Vec<Job<'a>>> {
    if users.is_some_and(|users| hold(scenario, users).is_err()) {
        return None;
    }
    let mut said = scenario.unheld();
    let mut plans = Vec::new();
    for law in scenario.laws() {
        match scenario.plan(Some(&law), None) {
            Ok(plan) => plans.push(Some(plan)),
            Err(wrong) => {
                said.extend(wrong.diagnostics);
                plans.push(None);
            }
        }
    }
    let mut all = Vec::new();
    for (plan, world) in plans.iter().flatten().flat_map(|p| worlds.iter().map(move |w| (p, *w))) {
        said.extend(plan.warnings.iter().cloned());
        if world == World::Emulate {
            let setup = &plan.setup;
            let able = ratewire_emulate::check(setup)
                .and_then(|()| ratewire_emulate::check_machine(setup, None));
            if let Err(why) = able {
                print_stderr!("{}: {} is not emulated: {why}", scenario.file, plan.law);
                unable.set(Exit::Unable);
                continue;
            }
            said.extend(scenario.unmeasured_when_emulated(&plan.law));
        } else {
            said.extend(scenario.vain_when_simulated(plan));
        }
        let job = Job::new(scenario, plan.clone(), world);
        all.push(users.map_or_else(|| job.clone(), |users| job.clone().with_users(users)));
    }
    complain(&without_repeats(said));
    plans.iter().all(Option::is_some).then_some(all)
}

/// Runs the jobs and prints the results, scenario by scenario.
fn report(jobs: &[Job<'_>], args: &Args) -> Exit {
    let is_late = AtomicBool::new(false);
    let keep = |job: &Job<'_>, run: Run| {
        if let Some(fidelity) = run.summary().fidelity.as_ref().filter(|fidelity| !fidelity.holds) {
            is_late.store(true, Relaxed);
            print_stderr!("warning: {}, {}: {}", job.scenario().file, run.law(), fidelity.text());
            for remedy in remedies(fidelity) {
                print_stderr!("  help: {remedy}");
            }
        }
        run.expectations().to_vec()
    };
    let done = watch::all(jobs, !args.quiet && !args.json, keep);
    let (checked, failures) = by_scenario(jobs, done);
    let text = if args.json {
        serde_json::to_string_pretty(&checked).unwrap_or_default() + "\n"
    } else {
        let tables = if args.quiet { String::new() } else { tables(&checked) };
        tables + &totals(&checked, failures.is_empty())
    };
    let is_met = checked.iter().flat_map(|c| &c.expectations).all(|e| e.passed);
    let printed = match print(&text) {
        Exit::Done if !is_met => Exit::NotMet,
        exit => exit,
    };
    let missing =
        failures.iter().map(|(job, failure)| missing(&job.scenario().file, &job.name(), failure));
    let late = is_late.load(Relaxed).then_some(Exit::Late);
    Exit::of(missing.chain([printed]).chain(late))
}

/// Groups results by scenario, and separates the runs that failed, so that they do not hide the
/// others.
fn by_scenario<'a, 'b>(
    jobs: &'b [Job<'a>],
    results: Vec<Result<Vec<CheckedExpectation>, Error>>,
) -> (Vec<Checked>, Vec<(&'b Job<'a>, Error)>) {
    let mut checked: Vec<Checked> = Vec::new();
    let mut failures = Vec::new();
    for (job, result) in jobs.iter().zip(results) {
        let scenario = &job.scenario().file;
        match (result, checked.last_mut()) {
            (Ok(expectations), Some(last)) if last.scenario == *scenario => {
                last.expectations.extend(expectations);
            }
            (Ok(expectations), _) => {
                checked.push(Checked { scenario: scenario.clone(), expectations });
            }
            (Err(failure), _) => failures.push((job, failure)),
        }
    }
    (checked, failures)
}

/// The claims of each scenario.
fn tables(checked: &[Checked]) -> String {
    let mut text = String::new();
    for one in checked {
        text += &(legible(&one.scenario) + "\n");
        text += &match one.expectations[..] {
            [] => "no expectations\n".to_string(),
            _ => table::expectations(&one.expectations, &table_options()),
        };
        text += "\n";
    }
    text
}

/// The claims that do not hold, and how many do.
fn totals(checked: &[Checked], is_all: bool) -> String {
    let mut text = String::new();
    for one in checked {
        for e in one.expectations.iter().filter(|e| !e.passed) {
            let (file, law) = (&one.scenario, e.run(&[]));
            let fail = format!("FAIL  {file}, {law}: {}: {}, not {}", e.claim, e.measured, e.bound);
            text += &(legible(&fail) + "\n");
        }
    }
    let all = || checked.iter().flat_map(|c| &c.expectations);
    let (count, failed) = (all().count(), all().filter(|e| !e.passed).count());
    let (hold, not) = match count {
        0 if is_all => return text + NOTHING_EXPECTED,
        0 => return text,
        1 => ("expectation holds", "does not"),
        _ => ("expectations hold", "do not"),
    };
    text + &format!(
        "{} of {count} {hold}, {failed} {not}{}\n",
        count - failed,
        by_basis(count, all())
    )
}

/// Number of expectations on each basis, if not all are claims.
fn by_basis<'a>(count: usize, all: impl Iterator<Item = &'a CheckedExpectation> + Clone) -> String {
    if all.clone().all(|e| e.basis == Basis::Claim) {
        return String::new();
    }
    let kinds = [
        (Basis::Claim, "stated by a source"),
        (Basis::Derived, "derived from one"),
        (Basis::Fit, "fitted to one"),
        (Basis::Run, "set after a run"),
        (Basis::Differs, "different from the source"),
    ];
    let counts = kinds.map(|(basis, what)| {
        format!("{} {what}", all.clone().filter(|e| e.basis == basis).count())
    });
    format!("\nOf all {count}: {}", counts.join(", "))
}

pub(super) fn load_all(files: &[PathBuf], laws: &LawFileArgs) -> (Vec<Scenario>, Exit) {
    let mut exit = Exit::Done;
    let mut scenarios = Vec::new();
    for file in files {
        match laws.load(file, &[], &[]) {
            Ok(experiment) => {
                let scenario = experiment.scenario().clone();
                complain(&scenario.warnings);
                scenarios.push(scenario);
            }
            Err(wrong) => {
                fail(&wrong);
                exit = exit.max(why_not(file));
            }
        }
    }
    (scenarios, exit)
}

/// The scenario files under the paths, in the order of their names.
fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Exit> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        if !path.exists() {
            // Reading the path gives the error, with the nearest name.
            files.push(path.clone());
            continue;
        }
        collect(path, &mut files).map_err(|e| {
            print_stderr!("ratewire: cannot read {}: {e}", path.display());
            Exit::File
        })?;
        if files.len() == before {
            print_stderr!("ratewire: no scenario (.toml) under {}", path.display());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_fail_take_nothing_of_the_others() {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let files = ["three-flows.toml", "link-down.toml"].map(|name| scenarios.join(name));
        let (scenarios, _) = load_all(&files, &LawFileArgs::default());
        let unable = Cell::new(Exit::Done);
        let jobs = |scenario| jobs(scenario, &[World::Simulate], None, &unable);
        let all: Vec<Job<'_>> = scenarios.iter().filter_map(jobs).flatten().collect();
        let fails_after = |done: usize| {
            let result =
                |n| if n < done { Ok(Vec::new()) } else { Err(Error::Papers("no".into())) };
            by_scenario(&all, (0..all.len()).map(result).collect())
        };
        let (checked, failures) = fails_after(1);
        assert_eq!((checked.len(), failures.len()), (1, all.len() - 1));
        assert_eq!(checked[0].scenario, scenarios[0].file);
        assert_eq!(failures[0].0.name(), all[1].name());
        // A failed run may have had expectations.
        assert!(!totals(&checked, false).contains("no expectations to be checked against"));
        assert!(totals(&checked, true).contains("no expectations to be checked against"));
        let (checked, failures) = fails_after(all.len());
        assert_eq!((checked.len(), failures.len()), (2, 0));
    }
}
