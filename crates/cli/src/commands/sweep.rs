//! `ratewire sweep`: runs a scenario over a grid of values.

use std::path::{Path, PathBuf};

use ratewire::folder::SWEEP;
use ratewire::{Sweep, SweepResults, expand_values};
use ratewire_command_line::{Exit, print};
use ratewire_report::table;

use super::load::{LawFileArgs, load_with_laws};
use crate::arguments::{MeasureArgs, Seeds, VAIN_SEEDS, listed, seeds};
use crate::interrupt::on_ctrl_c;
use crate::memory::MemoryArgs;
use crate::output::{complain, fail};
use crate::place::{Place, name_of};
use crate::terminal::table_options;
use crate::watch;

/// Failed runs that are listed one by one.
const MOST_LISTED: usize = 10;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scenario's file
    scenario: PathBuf,
    /// Values of a key: a list (bottleneck.queue=0.5bdp,1bdp), equal ratios
    /// (bottleneck.rate=10M..10G:log7) or equal steps (pairs=2..10:lin5). The grid has every
    /// combination of the values of all keys
    #[arg(long, value_name = "KEY=VALUES")]
    set: Vec<String>,
    /// Laws or variants, in place of the scenario's own: xcp,cubic
    #[arg(long, short, alias = "laws", value_delimiter = ',', value_parser = listed)]
    law: Vec<String>,
    /// Seeds for each law at each point, in place of the scenario's own: 1..5 or 1,2,3
    #[arg(long, value_parser = seeds)]
    seed: Option<Seeds>,
    #[command(flatten)]
    measure: MeasureArgs,
    /// Folder for the page and the data; a sweep that was stopped goes on in its folder [default:
    /// out/NAME-OF-THE-FILE-sweep, or a folder beside it if that has another sweep]
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Write no files
    #[arg(long, conflicts_with = "out")]
    no_files: bool,
    /// Remove all finished runs in the folder first, as after a change of Ratewire itself
    #[arg(long, conflicts_with = "no_files")]
    anew: bool,
    /// Print every run as JSON in place of a table
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

pub(crate) fn sweep(args: &Args) -> Exit {
    args.memory.watch();
    carry_out(args).unwrap_or_else(|exit| exit)
}

fn carry_out(args: &Args) -> Result<Exit, Exit> {
    let failed = |wrong| fail(&wrong);
    let sweep = swept(args)?;
    let planned = sweep.plan().map_err(failed)?;
    complain(&planned.warnings);
    if planned.is_repetition {
        print_stderr!("{VAIN_SEEDS}");
    }
    let digest = planned.digest();
    let place = (!args.no_files).then(|| {
        let name = format!("{}-sweep", name_of(&args.scenario).display());
        Place::choose(args.out.as_deref(), Path::new(&name), SWEEP, &digest)
    });
    let out = place.as_ref().map(|place| place.folder.as_path());
    let mut ready = planned.open_in(out).map_err(failed)?;
    if args.anew {
        ready = ready.anew().map_err(failed)?;
    }
    let pending = ready.pending();
    let before = planned.runs() - pending.len();
    if before > 0 {
        print_stderr!(
            "ratewire: {before} of {} runs were finished before and are kept",
            planned.runs()
        );
    }
    let interrupt = on_ctrl_c();
    let results = watch::over_runs(&pending, !args.quiet && !args.json, |listener| {
        ready.run(&(listener, &interrupt))
    });
    if let Some(place) = place.as_ref().filter(|_| results.unwritten().is_none()) {
        place.note_latest();
    }
    Ok(print_results(&results, out, args))
}

/// The sweep that the command line describes.
fn swept(args: &Args) -> Result<Sweep, Exit> {
    let (mut single, mut varied) = (Vec::new(), Vec::new());
    for set in &args.set {
        match set.split_once('=') {
            Some((key, values)) => match expand_values(values) {
                // One value, also of a range such as 5..5.
                Ok(all) if all.len() == 1 => single.push(format!("{}={}", key.trim(), all[0])),
                _ => varied.push((key.trim(), values.trim())),
            },
            None => single.push(set.clone()),
        }
    }
    let given =
        [(!args.law.is_empty(), ("law", "--law")), (args.seed.is_some(), ("seed", "--seed"))];
    let taken: Vec<_> = given.into_iter().filter_map(|(is, taken)| is.then_some(taken)).collect();
    let mut experiment =
        load_with_laws(&args.scenario, &single, &taken, &args.law_files, &args.law)?;
    if !args.law.is_empty() {
        experiment = experiment.laws(&args.law);
    }
    experiment = args.measure.apply(experiment)?;
    if let Some(Seeds(seeds)) = &args.seed {
        experiment = experiment.seeds(seeds.iter().copied());
    }
    let over = |sweep: Sweep, (key, values): &(&str, &str)| sweep.over(key, values);
    varied.iter().try_fold(Sweep::of(experiment), over).map_err(|wrong| fail(&wrong))
}

/// Prints the table and the places of the files, and the runs that are missing.
fn print_results(results: &SweepResults, out: Option<&Path>, args: &Args) -> Exit {
    let mut text = match args.json {
        true => results.json(),
        false => table::sweep(results.sweep(), &table_options()),
    };
    if let Some(out) = out.filter(|_| !args.json && results.unwritten().is_none()) {
        let [page, table] = ["sweep.html", "sweep.parquet"].map(|name| out.join(name));
        text += &format!("\nReport: {}\nTable: {}\n", page.display(), table.display());
    }
    let mut exits = vec![print(&text)];
    exits.extend(results.unwritten().map(fail));
    let (interrupted, failures): (Vec<_>, Vec<_>) =
        results.failures().iter().partition(|failed| failed.is_interrupted());
    if !interrupted.is_empty() {
        let all = results.sweep().runs.len() + results.sweep().missing_runs;
        print_stderr!(
            "ratewire: interrupted: {} of {all} runs are missing, and the results are partial{}",
            results.sweep().missing_runs,
            if out.is_some() {
                "\n  help: the same command goes on from here, without --anew"
            } else {
                ""
            }
        );
        exits.push(Exit::Interrupted);
    }
    for failed in failures.iter().take(MOST_LISTED) {
        print_stderr!("ratewire: the run of {} is missing:", failed.run);
        exits.push(fail(&failed.error));
    }
    if let Some(more) = failures.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
        print_stderr!("ratewire: {more} more runs are missing");
    }
    Exit::of(exits)
}
