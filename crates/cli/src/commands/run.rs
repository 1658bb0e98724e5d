//! `ratewire run`: runs a scenario, prints tables and writes the report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ratewire::folder::REPORT;
use ratewire::{Error, Experiment, Failed, Planned, Results, World, remedies, without_repeats};
use ratewire_command_line::{Exit, print};
use ratewire_report::table;
use ratewire_units::text::legible_lines;

use super::dry;
use super::load::{LawFileArgs, load_with_laws};
use super::users::{UserArgs, warn_of_hidden_files};
use crate::arguments::{MeasureArgs, Seeds, VAIN_SEEDS, command_line, listed, seeds, worlds};
use crate::interrupt::on_ctrl_c;
use crate::memory::MemoryArgs;
use crate::output::{complain, fail};
use crate::place::{Place, name_of};
use crate::terminal::table_options;
use crate::watch;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scenario's file
    scenario: PathBuf,
    /// Laws or variants to compare, in place of the scenario's own: xcp,cubic,newreno
    #[arg(long, short, alias = "laws", value_delimiter = ',', value_parser = listed)]
    law: Vec<String>,
    /// Worlds to run in: virtual time, or this machine's kernel over a modelled network (as root)
    #[arg(long, value_delimiter = ',', value_parser = worlds(), default_value = "simulate")]
    world: Vec<World>,
    /// Seeds for each law, in place of the scenario's own: 1..5 or 1,2,3
    #[arg(long, value_parser = seeds)]
    seed: Option<Seeds>,
    /// Change a value of the scenario: bottleneck.rate=10Mbit/s
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    measure: MeasureArgs,
    /// Folder for the report and the data [default: out/NAME-OF-THE-FILE, or a folder
    /// beside it if that has results of another experiment]
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Write no files
    #[arg(long, conflicts_with = "out")]
    no_files: bool,
    /// Links whose packets go to packets.pcapng, for Wireshark: bottleneck,bottleneck.reverse
    #[arg(long, value_delimiter = ',', value_parser = listed, value_name = "LINK", conflicts_with = "no_files")]
    capture: Vec<String>,
    /// Explain, hop by hop, what limited a flow's rate at a time: s1-d1@12s, which stands for
    /// 's1->d1@12s'
    #[arg(long, value_name = "FLOW@TIME", conflicts_with = "json")]
    why: Option<String>,
    /// Print the summary as JSON in place of tables
    #[arg(long)]
    json: bool,
    /// Show no progress, and print only claims that do not hold
    #[arg(long, short)]
    quiet: bool,
    /// Print the flows and links of several runs, too, and claims that hold
    #[arg(long, conflicts_with_all = ["quiet", "json"])]
    details: bool,
    #[command(flatten)]
    users: UserArgs,
    /// List the runs, every program and its user, but start and write nothing; needs no root
    #[arg(long, conflicts_with = "json")]
    dry_run: bool,
    #[command(flatten)]
    law_files: LawFileArgs,
    #[command(flatten)]
    memory: MemoryArgs,
}

pub(crate) fn run(args: &Args) -> Exit {
    args.memory.watch();
    carry_out(args).unwrap_or_else(|exit| exit)
}

fn carry_out(args: &Args) -> Result<Exit, Exit> {
    let experiment = experiment(args)?;
    let place = (!args.no_files).then(|| {
        let (out, digest) = (args.out.as_deref(), experiment.digest());
        Place::choose(out, name_of(&args.scenario), REPORT, &digest)
    });
    let experiment = match &place {
        Some(place) => experiment.folder(&place.folder),
        None => experiment,
    };
    let scenario = experiment.scenario();
    let mut warnings = scenario.warnings.clone();
    let chooses_law = |set: &String| set.split('=').next().is_some_and(|path| path.trim() == "law");
    if args.law.is_empty() && !args.set.iter().any(chooses_law) {
        warnings.extend(scenario.unheld());
    }
    let is_emulated = args.world.contains(&World::Emulate);
    let held = if is_emulated { experiment.check_users() } else { Ok(()) };
    let held = held.map_err(|wrong| fail(&wrong));
    if !args.dry_run {
        held?;
    }
    if is_emulated {
        warn_of_hidden_files(scenario);
    }
    // Asking the kernel for a law may load a module, so a dry run does not ask.
    let planned = if args.dry_run { experiment.plan() } else { experiment.plan_here() };
    let planned = planned.map_err(|wrong| {
        let exit = fail(&wrong);
        complain(&without_repeats(warnings.clone()));
        exit
    })?;
    warn_of_plan(&planned);
    warnings.extend(planned.warnings.iter().cloned());
    complain(&without_repeats(warnings));
    if planned.jobs.is_empty() {
        print_stderr!("ratewire: nothing is left to run");
        return Err(Exit::Unable);
    }
    let out = place.as_ref().map(|place| place.folder.as_path());
    if args.dry_run {
        let printed = dry::runs(&planned.jobs, out, experiment.users());
        return Ok(Exit::of([printed, held.err().unwrap_or(Exit::Done)]));
    }
    let show_progress = !args.quiet && !args.json;
    let interrupt = on_ctrl_c();
    let results =
        watch::over(&planned.jobs, show_progress, |listener| planned.run(&(listener, &interrupt)));
    let results = match results {
        Ok(results) => results,
        Err(Error::Incomplete(results)) => *results,
        Err(error) => return Err(fail(&error)),
    };
    if let Some(place) = place.as_ref().filter(|_| results.is_written()) {
        place.note_latest();
    }
    Ok(print_results(&results, planned.jobs.len(), out, args))
}

/// The experiment that the command line describes.
fn experiment(args: &Args) -> Result<Experiment, Exit> {
    let given =
        [(!args.law.is_empty(), ("law", "--law")), (args.seed.is_some(), ("seed", "--seed"))];
    let taken: Vec<_> = given.into_iter().filter_map(|(is, taken)| is.then_some(taken)).collect();
    let mut experiment =
        load_with_laws(&args.scenario, &args.set, &taken, &args.law_files, &args.law)?
            .worlds(args.world.iter().copied())
            .capture(&args.capture)
            .without_samples()
            .command(command_line());
    if !args.law.is_empty() {
        experiment = experiment.laws(&args.law);
    }
    if let Some(Seeds(seeds)) = &args.seed {
        experiment = experiment.seeds(seeds.iter().copied());
    }
    experiment = args.measure.apply(experiment)?;
    if let Some(question) = &args.why {
        experiment = experiment.why(question);
    }
    args.users.apply(experiment)
}

/// Warns of laws that are left out, and of seeds that change nothing.
fn warn_of_plan(planned: &Planned<'_>) {
    for left in &planned.left_out {
        print_stderr!("warning: {} is not {}d: {}", left.law, left.world, left.why);
    }
    if planned.is_repetition {
        print_stderr!("{VAIN_SEEDS}");
    }
}

/// Prints tables, answers and the place of the report, and the runs that are missing of `asked`.
fn print_results(results: &Results, asked: usize, out: Option<&Path>, args: &Args) -> Exit {
    let mut exits = Vec::new();
    if !results.runs().is_empty() {
        exits.push(print_runs(results, out, args));
    }
    let (interrupted, failures): (Vec<_>, Vec<_>) =
        results.failures().iter().partition(|failed| failed.is_interrupted());
    if results.is_partial() {
        print_partial(results, &interrupted);
        exits.push(Exit::Interrupted);
    }
    for failed in failures {
        if asked > 1 {
            print_stderr!("ratewire: the run of {} is missing:", failed.run);
        }
        exits.push(fail(&failed.error));
    }
    if !results.left_out().is_empty() {
        let laws: Vec<&str> = results.left_out().iter().map(|left| left.law.as_str()).collect();
        print_stderr!("ratewire: not emulated, as said above: {}", laws.join(", "));
        exits.push(Exit::Unable);
    }
    let fidelities = results.runs().iter().filter_map(|run| run.summary().fidelity.as_ref());
    if fidelities.into_iter().any(|fidelity| !fidelity.holds) {
        exits.push(Exit::Late);
    }
    Exit::of(exits)
}

/// Prints which results of an interrupted command are partial, and which are missing.
fn print_partial(results: &Results, missing: &[&Failed]) {
    for run in results.runs() {
        if let Some(part) = run.summary().partial() {
            print_stderr!("ratewire: the results of {} are partial: {part}", run.name());
        }
    }
    let names: Vec<&str> = missing.iter().map(|failed| failed.run.as_str()).collect();
    match names[..] {
        [] => {}
        [first] => _ = print_stderr!("ratewire: the run of {first} is missing: it was interrupted"),
        [first, ref rest @ ..] => {
            print_stderr!(
                "ratewire: {} runs are missing, from {first} on: they were interrupted",
                rest.len() + 1
            );
        }
    }
}

fn print_runs(results: &Results, out: Option<&Path>, args: &Args) -> Exit {
    for answer in results.runs().iter().filter_map(|run| run.why()) {
        if let Exit::File = print(&legible_lines(&format!("{answer}\n"))) {
            return Exit::File;
        }
    }
    // The tables are printed even if the page cannot be written: the runs may have taken minutes.
    let shown = show(results, args, out.filter(|_| results.unwritten().is_none()));
    results.unwritten().map_or(shown, fail)
}

fn show(results: &Results, args: &Args, out: Option<&Path>) -> Exit {
    if args.json {
        return print(&results.json());
    }
    let page = results.page();
    let options = table_options();
    let has_details = args.details || page.runs.len() == 1;
    let mut text = match has_details {
        _ if args.quiet => page.runs.iter().map(|run| table::doubts(run, &options)).collect(),
        true => table::render(&page.runs, &options),
        false => table::overview(&page.runs, &options),
    };
    let remedies: BTreeSet<_> = page
        .runs
        .iter()
        .filter_map(|run| run.summary.fidelity.as_ref())
        .flat_map(remedies)
        .collect();
    let claims = match args.details {
        true => table::expectations(&page.expectations, &options),
        false => table::failed_claims(&page.expectations, &options),
    };
    let shows_claims = !args.quiet || page.expectations.iter().any(|claim| !claim.passed);
    if shows_claims && !claims.is_empty() {
        text += &format!("\n{claims}");
    }
    if !remedies.is_empty() {
        text += "\nNot all emulated runs can be relied on: see `fidelity` above.\n";
        text.extend(remedies.iter().map(|remedy| format!("  help: {remedy}\n")));
    }
    if !has_details && !args.quiet {
        text += "\nFlows and links of each run: --details\n";
    }
    if let Some(out) = out.filter(|_| !args.quiet) {
        text += &format!("\nReport: {}\n", out.join("report.html").display());
        if !args.capture.is_empty() {
            text += &format!("Packets: {}\n", out.join("*/packets.pcapng").display());
        }
    }
    print(&text)
}
