//! `ratewire compare`: compares laws over several seeds, with confidence intervals.

use std::path::{Path, PathBuf};

use ratewire::folder::{COMPARISON, OutputFolder};
use ratewire::{Compare, ComparisonResults};
use ratewire_command_line::{Exit, print};
use ratewire_report::{Comparison, table};

use super::load::{LawFileArgs, load_with_laws};
use crate::arguments::{MeasureArgs, Seeds, listed, seeds};
use crate::memory::MemoryArgs;
use crate::output::{complain, fail, missing};
use crate::place::{Place, name_of};
use crate::terminal::table_options;
use crate::watch;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scenario's file
    scenario: PathBuf,
    /// Laws or variants to compare, in place of the scenario's own: xcp,cubic, or `all`. `all`
    /// leaves out fixed, laws of the kernel, noq where no link is paused, and laws that an ensemble
    /// refuses
    #[arg(long, short, alias = "laws", value_delimiter = ',', value_parser = listed)]
    law: Vec<String>,
    /// Seeds for each law: 1..5 or 1,2,3 [default: the scenario's own and the four that follow]
    #[arg(long, value_parser = seeds)]
    seed: Option<Seeds>,
    /// Change a value of the scenario: bottleneck.rate=10Mbit/s
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    measure: MeasureArgs,
    /// Folder for comparison.html and comparison.json [default: out/NAME-OF-THE-FILE,
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

pub(crate) fn compare(args: &Args) -> Exit {
    args.memory.watch();
    let taken = (!args.law.is_empty()).then_some(("law", "--law"));
    let loaded =
        load_with_laws(&args.scenario, &args.set, taken.as_slice(), &args.law_files, &args.law);
    let experiment = match loaded.and_then(|experiment| args.measure.apply(experiment)) {
        Ok(experiment) => experiment,
        Err(exit) => return exit,
    };
    let file = experiment.scenario().file.clone();
    let given = args.seed.as_ref().map_or(&[][..], |Seeds(seeds)| seeds);
    let compare = match Compare::of(experiment, &args.law, given) {
        Ok(compare) => compare,
        Err(wrong) => return fail(&wrong),
    };
    let planned = match compare.plan() {
        Ok(planned) => planned,
        Err(wrong) => {
            let exit = fail(&wrong);
            complain(compare.warnings());
            return exit;
        }
    };
    complain(&planned.warnings);
    let place = (!args.no_files).then(|| {
        let digest = compare.record().digest;
        Place::choose(args.out.as_deref(), name_of(&args.scenario), COMPARISON, &digest)
    });
    let out = place.as_ref().map(|place| place.folder.as_path());
    // The folder is opened before the runs, so that nobody waits for results that cannot be
    // written.
    let output = match out.map(|out| OutputFolder::open(out, COMPARISON, &[])).transpose() {
        Ok(output) => output,
        Err(failure) => return fail(&failure),
    };
    let show_progress = !args.quiet && !args.json;
    let results = watch::over(&planned.jobs, show_progress, |listener| planned.run(listener));
    let printed = if results.comparison().laws.is_empty() {
        Exit::Done
    } else {
        print_results(&results, output.as_ref().zip(place.as_ref()), args)
    };
    let missing =
        results.failures().iter().map(|failed| missing(&file, &failed.run, &failed.error));
    Exit::of(missing.chain([printed]))
}

/// Writes and prints the comparison.
fn print_results(
    results: &ComparisonResults,
    out: Option<(&OutputFolder, &Place)>,
    args: &Args,
) -> Exit {
    if let Some((output, place)) = out {
        if let Err(failure) = results.put_in(output) {
            return fail(&failure);
        }
        place.note_latest();
    }
    if args.json {
        return print(&results.json());
    }
    show(results.comparison(), out.map(|(_, place)| &*place.folder))
}

fn show(comparison: &Comparison, out: Option<&Path>) -> Exit {
    let mut text = table::comparison(comparison, &table_options());
    if let Some(out) = out {
        text += &format!("\nReport: {}\n", out.join("comparison.html").display());
    }
    print(&text)
}
