//! `ratewire compare`: compares laws over several seeds, with confidence intervals.

use std::path::{Path, PathBuf};

use ratewire::folder::{COMPARISON, OutputFolder};
use ratewire::{Error, ExperimentRecord, Job, without_repeats};
use ratewire_report::{Comparison, Page, Run, Summary, html, table};
use ratewire_scenario::{Diagnostic, Scenario};
use serde::Serialize;

use super::load::{LawFileArgs, load_with_laws};
use crate::arguments::{listed, whole_number};
use crate::exit::Exit;
use crate::memory::MemoryArgs;
use crate::output::{complain, fail, missing, print};
use crate::place::{Place, name_of};
use crate::terminal::table_options;
use crate::watch;

/// Stands for every law that reacts to the network.
const ALL: &str = "all";
/// The law that sends at a given rate, so that a comparison means nothing.
const NO_CONTENDER: &str = "fixed";
/// The law that is NewReno where no link is paused.
const FOR_PAUSED: &str = "noq";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scenario's file
    scenario: PathBuf,
    /// Laws or variants to compare, in place of the scenario's own: xcp,cubic, or `all`. `all`
    /// leaves out fixed, laws of the kernel, noq where no link is paused, and laws that an ensemble
    /// refuses
    #[arg(long, short, alias = "law", value_delimiter = ',', value_parser = listed)]
    laws: Vec<String>,
    /// Number of seeds for each law: the scenario's own and those that follow
    #[arg(long, default_value_t = 5, value_parser = |text: &str| whole_number(text, 1..=1000))]
    seeds: u64,
    /// Change a value of the scenario: bottleneck.rate=10Mbit/s
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Folder for comparison.html and comparison.json [default: out/NAME-OF-THE-SCENARIO,
    /// or a folder beside it if that has a comparison of another experiment]
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Write no files
    #[arg(long, conflicts_with = "out")]
    no_files: bool,
    /// Print the comparison as JSON in place of a table
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    law_files: LawFileArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// Kept data of a run. The whole run is kept only for the first seed, for the plots.
type Kept = (Summary, Option<Run>);
/// A law and its runs in the order of seeds.
type OfLaw<T> = (String, Vec<T>);

pub(crate) fn compare(args: &Args) -> Exit {
    args.memory.watch();
    let taken = (!args.laws.is_empty()).then_some(("law", "--laws"));
    let loaded =
        load_with_laws(&args.scenario, &args.set, taken.as_slice(), &args.law_files, &args.laws);
    let experiment = match loaded {
        Ok(experiment) => experiment,
        Err(exit) => return exit,
    };
    let laws = match laws(experiment.scenario(), &args.laws) {
        Ok(laws) => laws,
        Err(wrong) => {
            complain(&[*wrong]);
            return Exit::Wrong;
        }
    };
    let seed = experiment.scenario().seed;
    let seeds = (0..args.seeds).map(|offset| seed.wrapping_add(offset));
    let experiment = experiment.laws(laws).seeds(seeds).without_samples();
    let record = experiment.record();
    let scenario = experiment.scenario();
    let planned = match experiment.plan() {
        Ok(planned) => planned,
        Err(wrong) => {
            let exit = fail(&wrong);
            complain(&scenario.warnings);
            return exit;
        }
    };
    complain(&without_repeats([scenario.warnings.clone(), planned.warnings].concat()));
    let mut jobs = planned.jobs;
    let has_chance = jobs.iter().any(|job| job.plan().setup.has_chance());
    if !has_chance {
        jobs.retain(|job| job.plan().setup.seed == seed);
    }
    let place = (!args.no_files).then(|| {
        Place::choose(args.out.as_deref(), name_of(&args.scenario), COMPARISON, &record.digest)
    });
    let out = place.as_ref().map(|place| place.folder.as_path());
    // The folder is opened before the runs, so that nobody waits for results that cannot be
    // written.
    let output = match out.map(|out| OutputFolder::open(out, COMPARISON, &[])).transpose() {
        Ok(output) => output,
        Err(failure) => return fail(&failure),
    };
    let keep = |_: &Job<'_>, run: ratewire::Run| -> Kept {
        let is_first = run.seed() == seed;
        (run.summary().clone(), is_first.then(|| run.into_report()))
    };
    let results = watch::all(&jobs, !args.quiet && !args.json, keep);
    let (whole, failures) = by_law(&jobs, results);
    let told = if whole.is_empty() {
        Exit::Done
    } else {
        let compared = Compared { scenario, record: &record, has_chance };
        tell(&compared, whole, output.as_ref().zip(place.as_ref()), args)
    };
    let missing = failures.iter().map(|(job, failure)| missing(job, failure));
    Exit::of(missing.chain([told]))
}

/// What was compared.
struct Compared<'a> {
    scenario: &'a Scenario,
    record: &'a ExperimentRecord,
    has_chance: bool,
}

/// The schema of `comparison.json`, whose first key is `generator`.
#[derive(Serialize)]
struct ComparisonFile<'a> {
    experiment: &'a ExperimentRecord,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

/// Writes and prints the comparison.
fn tell(
    compared: &Compared<'_>,
    laws: Vec<OfLaw<Kept>>,
    out: Option<(&OutputFolder, &Place)>,
    args: &Args,
) -> Exit {
    let Compared { scenario, record, has_chance } = *compared;
    let mut runs = Vec::new();
    let mut summaries = Vec::new();
    for (law, done) in laws {
        let (own, drawn): (Vec<Summary>, Vec<Option<Run>>) = done.into_iter().unzip();
        summaries.push((law, own));
        runs.extend(drawn.into_iter().flatten());
    }
    let comparison = Comparison::of(&summaries, has_chance);
    let file = ComparisonFile { experiment: record, comparison: &comparison };
    let json = ratewire_report::json(&file);
    if let Some((output, place)) = out {
        let page = Page { scenario_text: Some(scenario.source_text.clone()), ..Page::new(runs) };
        let html = html::render_comparison(&comparison, &page);
        if let Err(failure) = output.put_in_place(&[], [html, json.clone()]) {
            return fail(&failure);
        }
        place.note_latest();
    }
    if args.json { print(&json) } else { show(&comparison, out.map(|(_, place)| &*place.folder)) }
}

/// The requested laws.
fn laws(scenario: &Scenario, asked: &[String]) -> Result<Vec<String>, Box<Diagnostic>> {
    let named = asked.iter().filter(|name| *name != ALL);
    named.into_iter().try_for_each(|name| {
        scenario.check_law(name).map_err(|mut wrong| {
            wrong.file = "laws".to_string();
            wrong
        })
    })?;
    let registry = || ratewire_laws::list().iter().map(|info| info.name.to_string());
    // Laws of the kernel are other laws again, in integers.
    let contends = |name: &String| {
        name != NO_CONTENDER
            && !name.contains('@')
            && (name != FOR_PAUSED || scenario.has_pauses())
            // An ensemble refuses laws whose headers a switch cannot split.
            && scenario.plan(Some(name), None).is_ok()
    };
    let contenders = || registry().filter(contends).collect();
    let expand = |name: &String| if name == ALL { contenders() } else { vec![name.clone()] };
    Ok(if asked.is_empty() { scenario.laws() } else { asked.iter().flat_map(expand).collect() })
}

/// Groups results by law, and separates the runs that failed.
///
/// Laws are compared seed by seed, so a law that lacks a run is left out. The other laws remain.
fn by_law<'a, 'b, T>(
    jobs: &'b [Job<'a>],
    results: Vec<Result<T, Error>>,
) -> (Vec<OfLaw<T>>, Vec<(&'b Job<'a>, Error)>) {
    let law = |job: &Job<'_>| job.plan().law.clone();
    let mut whole = Vec::new();
    let mut failures = Vec::new();
    let mut results = results.into_iter();
    for of_law in jobs.chunk_by(|one, next| law(one) == law(next)) {
        let mut own = Vec::new();
        for (job, result) in of_law.iter().zip(results.by_ref()) {
            match result {
                Ok(done) => own.push(done),
                Err(failure) => failures.push((job, failure)),
            }
        }
        if own.len() == of_law.len() {
            whole.push((law(&of_law[0]), own));
        }
    }
    (whole, failures)
}

fn show(comparison: &Comparison, out: Option<&Path>) -> Exit {
    let mut text = table::comparison(comparison, &table_options());
    if let Some(out) = out {
        text += &format!("\nReport: {}\n", out.join("comparison.html").display());
    }
    print(&text)
}

#[cfg(test)]
mod tests {
    use ratewire::Experiment;

    use super::*;

    #[test]
    fn a_law_that_lacks_a_run_is_left_out_alone() {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let experiment = Experiment::load(scenarios.join("three-flows.toml")).expect("a scenario");
        let experiment = experiment.laws(["xcp", "cubic", "newreno"]).seeds([1, 2]);
        let jobs = experiment.plan().expect("a plan").jobs;
        let results = (0..6).map(|n| if n == 3 { Err(Error::Papers("no".into())) } else { Ok(n) });
        let (whole, failures) = by_law(&jobs, results.collect());
        let expected = [("xcp".to_string(), vec![0, 1]), ("newreno".to_string(), vec![4, 5])];
        assert_eq!(whole, expected);
        let failed: Vec<String> = failures.iter().map(|(job, _)| job.name()).collect();
        assert_eq!(failed, ["cubic, seed 2"]);
    }
}
