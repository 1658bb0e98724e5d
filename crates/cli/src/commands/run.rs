//! `ratewire run`: simulate, print, write the report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ratewire_emulate::{Shell, Users};
use ratewire_net::spec::LinkId;
use ratewire_report::{LeftOut, Page, Run, html, table};
use ratewire_run::Failure;
use ratewire_scenario::{Diagnostic, Plan, Scenario};
use ratewire_units::text::legible_lines;
use serde::Serialize;

use super::load::load;
use super::users::{UserArgs, hold, warn_of_hidden_files};
use super::why::{no_answer, question_of};
use super::{complain, dry, listed, print, table_options, unknown, whole_number};
use crate::Exit;
use crate::emulated::remedies;
use crate::job::{self, Done, Job, World, run_all};
use crate::memory::MemoryArgs;
use crate::output::{Output, REPORT, made_in};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The scenario's file
    scenario: PathBuf,
    /// Laws or variants to compare, in place of the scenario's own: xcp,cubic,newreno
    #[arg(long, short, alias = "laws", value_delimiter = ',', value_parser = listed)]
    law: Vec<String>,
    /// Worlds to run in: virtual time, or this machine's kernel over a modelled network (needs root)
    #[arg(long, value_delimiter = ',', value_enum, default_value = "simulate")]
    world: Vec<World>,
    /// Seeds to run each law from, in place of the scenario's own: 1,2,3
    #[arg(long, value_delimiter = ',', value_parser = |text: &str| whole_number(text, 0..=u64::MAX))]
    seed: Vec<u64>,
    /// Change a value of the scenario: bottleneck.rate=10Mbit/s
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where the report and the data go [default: out/NAME-OF-THE-SCENARIO]
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Write no files
    #[arg(long, conflicts_with = "out")]
    no_files: bool,
    /// Links whose packets go to packets.pcapng, for Wireshark: bottleneck,bottleneck.reverse
    #[arg(long, value_delimiter = ',', value_parser = listed, value_name = "LINK", conflicts_with = "no_files")]
    capture: Vec<String>,
    /// Tell, hop by hop, what bound a flow's rate at a time: flow-1@12s
    #[arg(long, value_name = "FLOW@TIME", conflicts_with = "json")]
    why: Option<String>,
    /// Print the summary as JSON in place of tables
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    users: UserArgs,
    /// List what would be run, every program and its user, and start and write nothing; needs no
    /// root
    #[arg(long, conflicts_with = "json")]
    dry_run: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// What `summary.json` holds.
#[derive(Serialize)]
struct Summaries<'a> {
    runs: Vec<&'a ratewire_report::Summary>,
    /// The links whose utilisation and queue the verdict has.
    verdict_links: Vec<String>,
    expectations: &'a [ratewire_report::Expectation],
    /// Laws that could not run in a world that was asked for, and why.
    left_out: &'a [LeftOut],
}

pub(crate) fn run(args: &Args) -> Exit {
    args.memory.watch();
    let given =
        [(!args.law.is_empty(), ("law", "--law")), (!args.seed.is_empty(), ("seed", "--seed"))];
    let taken: Vec<_> = given.into_iter().filter_map(|(is, taken)| is.then_some(taken)).collect();
    let scenario = match load(&args.scenario, &args.set, &taken) {
        Ok(scenario) => scenario,
        Err(exit) => return exit,
    };
    let out = (!args.no_files).then(|| args.out.clone().unwrap_or_else(|| folder(&args.scenario)));
    let mut warnings = scenario.warnings.clone();
    let chooses_law = |set: &String| set.split('=').next().is_some_and(|path| path.trim() == "law");
    if args.law.is_empty() && !args.set.iter().any(chooses_law) {
        warnings.extend(scenario.unheld());
    }
    let users = match args.users.users() {
        Ok(users) => users,
        Err(exit) => return exit,
    };
    let is_emulated = args.world.contains(&World::Emulate);
    let held = if is_emulated { hold(&scenario, &users) } else { Ok(()) };
    if let (Err(exit), false) = (held, args.dry_run) {
        return exit;
    }
    if is_emulated {
        warn_of_hidden_files(&scenario);
    }
    let found = jobs(&scenario, args, out.as_deref(), &users, &mut warnings);
    complain(&without_repeats(warnings));
    let (jobs, left_out) = match found {
        Ok((jobs, _)) if jobs.is_empty() => {
            tell!("ratewire: nothing is left to run");
            return Exit::Unable;
        }
        Ok(jobs) => jobs,
        Err(exit) => return exit,
    };
    if args.dry_run {
        let printed = dry::runs(&jobs, out.as_deref(), &users);
        return Exit::of([printed, held.err().unwrap_or(Exit::Done)]);
    }
    let folders: Vec<PathBuf> = jobs.iter().filter_map(|job| job.folder.clone()).collect();
    let output = match out.as_deref().map(|out| Output::open(out, REPORT, &folders)).transpose() {
        Ok(output) => output,
        Err(failure) => return fail(&failure),
    };
    let mut whole = Vec::new();
    let mut runs = Vec::new();
    let mut expectations = Vec::new();
    let mut answers = Vec::new();
    let mut failures = Vec::new();
    let mut is_true = true;
    for (job, done) in jobs.iter().zip(run_all(&jobs, !args.quiet && !args.json, |_, done| done)) {
        match done {
            Ok(done) => {
                expectations.extend(job::expectations(&done));
                let Done { run, why, .. } = done;
                is_true &= run.summary.fidelity.as_ref().is_none_or(|fidelity| fidelity.holds);
                let asked = job.plan.setup.follow.asked;
                answers.extend(asked.map(|asked| why.unwrap_or_else(|| no_answer(asked, &run))));
                runs.push(run);
                whole.extend(job.folder.as_deref());
            }
            Err(failure) => failures.push((job, failure)),
        }
    }
    let not_emulated: Vec<String> = left_out.iter().map(|left| left.law.clone()).collect();
    let scenario_text = Some(scenario.source_text.clone());
    let description = scenario.description.clone();
    let page = Page { runs, expectations, scenario_text, description, left_out };
    // What was run is not lost for what could not be.
    let told = if page.runs.is_empty() {
        Exit::Done
    } else {
        let written = output.map_or(Ok(()), |output| {
            output.put_in_place(&whole, [html::render(&page), json(&page)])
        });
        tell(&page, &answers, written, out.as_deref(), args)
    };
    let mut exits = vec![told];
    for (job, failure) in &failures {
        if jobs.len() > 1 {
            tell!("ratewire: the run of {} is missing:", job.name());
        }
        exits.push(fail(failure));
    }
    if !not_emulated.is_empty() {
        tell!("ratewire: not emulated, as said above: {}", not_emulated.join(", "));
        exits.push(Exit::Unable);
    }
    if !is_true {
        exits.push(Exit::Late);
    }
    Exit::of(exits)
}

/// Prints tables and answers, and where the report is if it could be written.
fn tell(
    page: &Page,
    answers: &[String],
    written: Result<(), Failure>,
    out: Option<&Path>,
    args: &Args,
) -> Exit {
    for answer in answers {
        if let Exit::File = print(&legible_lines(&format!("{answer}\n"))) {
            return Exit::File;
        }
    }
    // The tables too where the page cannot be written: the runs may have taken minutes.
    let out = out.filter(|_| written.is_ok());
    let shown = show(page, args.json, out, !args.capture.is_empty());
    written.map_or_else(|failure| fail(&failure), |()| shown)
}

pub(crate) fn fail(failure: &Failure) -> Exit {
    tell!("ratewire: {failure}");
    match failure {
        Failure::Run(_) => Exit::Failed,
        Failure::World(_) => Exit::Unable,
        Failure::Memory { .. } => Exit::Memory,
        Failure::File { .. } => Exit::File,
    }
}

/// Tells which run there is none of, and why; how a command ends that lacks it.
pub(crate) fn missing(job: &Job<'_>, failure: &Failure) -> Exit {
    tell!("ratewire: {}: the run of {} is missing:", job.scenario.file, job.name());
    fail(failure)
}

/// Whether a run can be emulated, here and now.
pub(crate) fn can_emulate(
    plan: &Plan,
    shell: Option<Shell>,
) -> Result<(), ratewire_emulate::Error> {
    ratewire_emulate::check(&plan.setup)?;
    ratewire_emulate::check_kernel(&plan.setup, shell)
}

/// What a scenario says for nothing where it is emulated: options that nobody reads, expectations that cannot be measured.
fn ignored(scenario: &Scenario, plan: &Plan) -> Vec<Diagnostic> {
    let mut ignored = scenario.ignored_options(plan, ratewire_emulate::ignores);
    ignored.extend(scenario.unmeasured_when_emulated(&plan.law));
    ignored
}

/// Tells of what does nothing in an emulated run, each once.
pub(crate) fn tell_ignored(scenario: &Scenario, plan: &Plan, told: &mut Vec<Diagnostic>) {
    let mut ignored = ignored(scenario, plan);
    ignored.retain(|warning| !told.contains(warning));
    complain(&ignored);
    told.extend(ignored);
}

/// The runs to do, and the laws that cannot be emulated.
fn jobs<'a>(
    scenario: &'a Scenario,
    args: &Args,
    out: Option<&Path>,
    users: &'a Users,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(Vec<Job<'a>>, Vec<LeftOut>), Exit> {
    let laws = if args.law.is_empty() { scenario.laws() } else { args.law.clone() };
    let seeds = if args.seed.is_empty() { vec![scenario.seed] } else { args.seed.clone() };
    let (laws, seeds) = (without_repeats(laws), without_repeats(seeds));
    let mut jobs = Vec::new();
    let worlds = without_repeats(args.world.clone());
    if worlds.contains(&World::Emulate) && args.why.is_some() {
        tell!("ratewire: --why follows simulated packets\n  help: leave `emulate` out of --world");
        return Err(Exit::Wrong);
    }
    if worlds.contains(&World::Emulate) && !args.capture.is_empty() {
        tell!(
            "ratewire: --capture is for simulated packets\n  help: run tcpdump in `ratewire shell`"
        );
        return Err(Exit::Wrong);
    }
    let several = worlds.len() > 1;
    let mut left_out: Vec<LeftOut> = Vec::new();
    for (law, world) in laws.iter().flat_map(|law| worlds.iter().map(move |world| (law, *world))) {
        for seed in &seeds {
            let mut plan = scenario.plan(Some(law), Some(*seed)).map_err(|wrong| {
                complain(&wrong);
                Exit::Wrong
            })?;
            plan.setup.captured_links = links(&plan, &args.capture)?;
            if let Some(question) = &args.why {
                plan.setup.follow.asked = Some(question_of(&plan, question)?);
            }
            // A kernel that is asked for a law may load a module: a dry run does not ask.
            let can_emulate = || match args.dry_run {
                true => ratewire_emulate::check(&plan.setup),
                false => can_emulate(&plan, None),
            };
            if world == World::Emulate
                && let Err(why) = can_emulate()
            {
                // Of arriving flows there may be too many from one seed, and not from another.
                if !left_out.iter().any(|left| left.law == *law) {
                    tell!("warning: {law} is not emulated: {why}");
                    let world = world.name().to_string();
                    left_out.push(LeftOut { law: law.clone(), world, why: why.to_string() });
                }
                continue;
            }
            if *seed == seeds[0] {
                warnings.extend(plan.warnings.iter().cloned());
            }
            match world {
                World::Simulate => warnings.extend(scenario.vain_when_simulated(&plan)),
                World::Emulate => {
                    warnings.extend(ignored(scenario, &plan));
                    plan = plan.emulated();
                }
            }
            let name = if several { format!("{law}-{}", world.name()) } else { law.clone() };
            let others = jobs.iter().filter_map(|job: &Job<'_>| job.folder.as_deref());
            let folder = out.map(|out| made_in(out, &name, *seed, others));
            jobs.push(Job { scenario, plan, world, folder, users: Some(users) });
        }
    }
    let is_simulated = |job: &&Job<'_>| job.world == World::Simulate;
    let mut simulated = jobs.iter().filter(is_simulated).peekable();
    if seeds.len() > 1
        && simulated.peek().is_some()
        && !simulated.any(|job| job.plan.setup.has_chance())
    {
        tell!(
            "warning: nothing here is left to chance when simulated: every seed gives the same figures"
        );
    }
    Ok((jobs, left_out))
}

/// A law given twice is one run, not two that write the same files.
pub(crate) fn without_repeats<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut once: Vec<T> = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// The links to capture, by their names.
fn links(plan: &Plan, names: &[String]) -> Result<Vec<LinkId>, Exit> {
    let known = &plan.setup.network.links;
    let find = |name: &String| match known.iter().position(|l| l.name == *name) {
        Some(at) => Ok(LinkId(at as u32)),
        None => {
            let all: Vec<&str> = known.iter().map(|l| l.name.as_str()).collect();
            tell!("ratewire: --capture: {}", unknown("link", name, &all));
            Err(Exit::Wrong)
        }
    };
    names.iter().map(find).collect()
}

pub(crate) fn folder(scenario: &Path) -> PathBuf {
    Path::new("out").join(scenario.file_stem().unwrap_or_default())
}

fn json(page: &Page) -> String {
    let summaries = Summaries {
        runs: page.runs.iter().map(|run: &Run| &run.summary).collect(),
        verdict_links: ratewire_report::verdict_links(&page.runs),
        expectations: &page.expectations,
        left_out: &page.left_out,
    };
    ratewire_report::json(&summaries)
}

fn show(page: &Page, as_json: bool, out: Option<&Path>, captured: bool) -> Exit {
    if as_json {
        return print(&json(page));
    }
    let mut options = table_options();
    if page.runs.len() > 1 {
        // With several laws the comparison comes first, and is most of what one wants to see.
        options.links = 4;
        options.flows = 8;
    }
    let mut text = table::render(&page.runs, &options);
    let remedies: BTreeSet<_> = page
        .runs
        .iter()
        .filter_map(|run| run.summary.fidelity.as_ref())
        .flat_map(remedies)
        .collect();
    if !page.expectations.is_empty() {
        text += "\n";
        text += &table::expectations(&page.expectations, &options);
    }
    if !remedies.is_empty() {
        text += "\nNot all emulated runs can be relied on: see `fidelity` above.\n";
        text.extend(remedies.iter().map(|remedy| format!("  help: {remedy}\n")));
    }
    if let Some(out) = out {
        text += &format!("\nReport: {}\n", out.join("report.html").display());
        if captured {
            text += &format!("Packets: {}\n", out.join("*/packets.pcapng").display());
        }
    }
    print(&text)
}
