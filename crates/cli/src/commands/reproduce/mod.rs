//! `ratewire reproduce`: runs the figures of papers, checks them against the claims, and writes one
//! page.

mod output;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use ratewire::folder::check_page;
use ratewire::papers::{Paper, choose, draw, read_all};
use ratewire::{Error, Job, World, remedies, without_repeats};
use ratewire_command_line::{Exit, print};
use ratewire_emulate::Users;
use ratewire_report::html::papers;
use ratewire_report::table;
use ratewire_scenario::{Diagnostic, Scenario};
use ratewire_units::Duration;

use super::check::load_all;
use super::load::LawFileArgs;
use super::users::{UserArgs, hold, warn_of_hidden_files};
use crate::arguments::worlds;
use crate::memory::MemoryArgs;
use crate::output::{complain, fail, missing};
use crate::terminal::table_options;
use crate::watch;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Papers, by the names of their folders, or single figures of them; without any, lists all
    #[arg(value_name = "PAPER[/FIGURE]", group = "what")]
    names: Vec<String>,
    /// Run every paper
    #[arg(long, group = "what")]
    all: bool,
    /// Worlds to run in: simulate, emulate or both. Emulated runs take real time and need root
    #[arg(long, value_delimiter = ',', value_parser = worlds(), default_value = "simulate", requires = "what")]
    world: Vec<World>,
    #[command(flatten)]
    users: UserArgs,
    /// Folder of the papers
    #[arg(long = "papers", value_name = "FOLDER", default_value = "papers")]
    folder: PathBuf,
    /// File of the page [default: out/reproduce/PAPER.html, or out/reproduce/papers.html for
    /// several]
    #[arg(long, short, value_name = "FILE", requires = "what")]
    out: Option<PathBuf>,
    /// Print the claims as JSON in place of tables
    #[arg(long, requires = "what")]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    /// Print every claim of several papers, in place of a line a figure
    #[arg(long, conflicts_with = "json")]
    details: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

pub(crate) fn reproduce(args: &Args) -> Exit {
    args.memory.watch();
    let known = match read_all(&args.folder) {
        Ok(known) => known,
        Err(wrong) => {
            fail(&wrong);
            if let Error::Read { .. } = wrong {
                print_stderr!(
                    "  help: run this in Ratewire's own folder, or name the folder of the papers: --papers FOLDER"
                );
            }
            return if args.folder.is_dir() { Exit::Wrong } else { Exit::File };
        }
    };
    if args.names.is_empty() && !args.all {
        return print(&list(&known));
    }
    let chosen = if args.all {
        known
    } else {
        let own = |name: &String| plain(name, &args.folder);
        match choose(known, &args.names.iter().map(own).collect::<Vec<_>>()) {
            Ok(chosen) => chosen,
            Err(wrong) => return fail(&wrong),
        }
    };
    let chosen: Vec<&Paper> = chosen.iter().collect();
    // The page is checked before the runs, so that nobody waits for results that cannot be written.
    if let Err(failure) = check_page(&output::page(&chosen, args)) {
        return fail(&failure);
    }
    let short = Cell::new(Exit::Done);
    match run(&chosen, &short, args) {
        Ok(done) => Exit::of([output::finish(&chosen, &done, args), short.get()]),
        Err(exit) => exit,
    }
}

/// The name of a paper, from a path that a shell completed to the paper's folder.
fn plain(name: &str, folder: &Path) -> String {
    let own = Path::new(name).strip_prefix(folder).ok().and_then(Path::to_str);
    own.unwrap_or(name).to_string()
}

fn list(papers: &[Paper]) -> String {
    let mut text = String::new();
    for paper in papers {
        text += &format!("{}\n  {}\n  {}\n\n", paper.name, paper.title, paper.authors);
        let width = paper.figures.iter().map(|f| f.handle().chars().count()).max().unwrap_or(0);
        for figure in &paper.figures {
            text += &format!("    {:width$}  {}\n", figure.handle(), figure.title);
        }
        text += "\n";
    }
    let example = papers.iter().find_map(|paper| Some((&paper.name, paper.figures.first()?)));
    let example = example
        .map_or_else(String::new, |(paper, figure)| format!(", as {paper}/{}", figure.handle()));
    let how = format!(
        "`ratewire reproduce PAPER` runs a paper, `ratewire reproduce PAPER/FIGURE` one figure{example}; \
         `ratewire reproduce --all` runs all papers."
    );
    text + &table::wrap(&how, 0, table_options().text_width())
}

/// Runs the papers one after the other, so that only one paper's samples are in memory.
///
/// Sets `short` to an exit code if a run is missing, or if an emulated run is not reliable.
fn run(
    papers: &[&Paper],
    short: &Cell<Exit>,
    args: &Args,
) -> Result<Vec<papers::PaperSection>, Exit> {
    let mut all = Vec::new();
    for paper in papers {
        let mut loaded = Vec::new();
        for figure in &paper.figures {
            let files: Vec<PathBuf> =
                figure.scenarios.iter().map(|s| paper.folder.join(s)).collect();
            match load_all(&files, &LawFileArgs::default()) {
                (scenarios, Exit::Done) => loaded.push(scenarios),
                (_, exit) => return Err(exit),
            }
        }
        let wrong = paper.unknown_names(&loaded);
        if !wrong.is_empty() {
            complain(&wrong);
            return Err(Exit::Wrong);
        }
        all.push((paper, loaded));
    }
    let show_progress = !args.quiet && !args.json;
    let worlds = without_repeats(args.world.clone());
    let users = if worlds.contains(&World::Emulate) { Some(args.users.users()?) } else { None };
    if let Some(users) = &users {
        for scenario in all.iter().flat_map(|(_, loaded)| loaded.iter().flatten()) {
            hold(scenario, users)?;
            warn_of_hidden_files(scenario);
        }
    }
    let users = users.as_ref();
    all.iter()
        .map(|(paper, loaded)| run_paper(paper, loaded, &worlds, users, short, show_progress))
        .collect()
}

fn run_paper(
    paper: &Paper,
    loaded: &[Vec<Scenario>],
    worlds: &[World],
    users: Option<&Users>,
    short: &Cell<Exit>,
    show_progress: bool,
) -> Result<papers::PaperSection, Exit> {
    let mut jobs = Vec::new();
    let mut counts = Vec::new();
    let mut printed = Vec::new();
    for scenario in loaded.iter().flatten() {
        let before = jobs.len();
        for law in scenario.laws() {
            for world in worlds {
                let plan = scenario.plan(Some(&law), None).map_err(|wrong| {
                    complain(&wrong.diagnostics);
                    Exit::Wrong
                })?;
                if *world == World::Emulate {
                    let able = ratewire_emulate::check(&plan.setup).and_then(|()| {
                        ratewire_emulate::check_machine(&plan.setup, None)
                            .inspect_err(|_| note(short, Exit::Unable))
                    });
                    if let Err(why) = able {
                        print_stderr!("{}: {law} is not emulated: {why}", scenario.file);
                        continue;
                    }
                    print_unmeasured(scenario, &law, &mut printed);
                }
                let job = Job::new(scenario, plan, *world);
                jobs.push(users.map_or_else(|| job.clone(), |users| job.clone().with_users(users)));
            }
        }
        counts.push(jobs.len() - before);
    }
    if show_progress {
        let emulated = jobs.iter().filter(|job| job.world() == World::Emulate);
        let total = emulated.fold(Duration::ZERO, |sum, job| sum + job.duration());
        let real = if total.is_zero() { String::new() } else { format!(", {total} of real time") };
        print_stderr!("{}: {} runs{real}", paper.name, jobs.len());
    }
    let mut counts = counts.into_iter();
    let done = watch::all(&jobs, show_progress, |_, run| run);
    for (job, done) in jobs.iter().zip(&done) {
        let run = match done {
            Ok(run) => run,
            Err(error) => {
                note(short, missing(&job.scenario().file, &job.name(), error));
                continue;
            }
        };
        let fidelity = run.summary().fidelity.as_ref().filter(|fidelity| !fidelity.holds);
        if let Some(fidelity) = fidelity {
            print_stderr!("warning: {}, {}: {}", job.scenario().file, run.law(), fidelity.text());
            for remedy in remedies(fidelity) {
                print_stderr!("  help: {remedy}");
            }
            note(short, Exit::Late);
        }
    }
    let mut done = done.into_iter();
    let figures = paper.figures.iter().zip(loaded).map(|(figure, scenarios)| {
        let results = scenarios.iter().map(|scenario| {
            let runs = done.by_ref().take(counts.next().unwrap_or(0));
            // Runs that succeeded are drawn even if others failed.
            (scenario, runs.filter_map(Result::ok).collect())
        });
        draw(figure, results.collect())
    });
    Ok(papers::PaperSection {
        title: paper.title.clone(),
        authors: paper.authors.clone(),
        summary: paper.summary.clone(),
        figures: figures.collect(),
    })
}

/// Adds an exit code to `short`.
fn note(short: &Cell<Exit>, exit: Exit) {
    short.set(Exit::of([short.get(), exit]));
}

/// Prints a warning for each expectation that an emulated run leaves out, once.
fn print_unmeasured(scenario: &Scenario, law: &str, printed: &mut Vec<Diagnostic>) {
    let mut unmeasured = scenario.unmeasured_when_emulated(law);
    unmeasured.retain(|warning| !printed.contains(warning));
    complain(&unmeasured);
    printed.extend(unmeasured);
}
