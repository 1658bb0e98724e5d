//! `ratewire reproduce`: runs the figures of papers, checks them against the claims, and writes one
//! page.

mod mutate;
mod output;
mod runs;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use ratewire::folder::check_page;
use ratewire::papers::{KeptRuns, Paper, choose, read_all};
use ratewire::{Error, World, without_repeats};
use ratewire_command_line::{Exit, print};
use ratewire_laws::LawSet;
use ratewire_report::html::papers;
use ratewire_report::table;
use ratewire_scenario::Scenario;

use super::check::load_all;
use super::load::LawFileArgs;
use super::users::{UserArgs, hold, warn_of_hidden_files};
use crate::arguments::worlds;
use crate::memory::MemoryArgs;
use crate::output::{complain, fail};
use crate::terminal::table_options;

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
    /// Folder of finished emulated runs: after a stop, the same command carries out those that are
    /// missing, and those that were not reliable
    #[arg(
        long,
        value_name = "FOLDER",
        default_value = "out/reproduce/emulated",
        requires = "what"
    )]
    runs: PathBuf,
    /// Forget the finished emulated runs of these figures first, as after a change of Ratewire
    /// itself
    #[arg(long, requires = "what")]
    anew: bool,
    /// Run figures again with one constant of a law wrong, as the papers list them
    /// (`[[mutation]]`), and count the claims that notice; writes no page
    #[arg(long, requires = "what", conflicts_with_all = ["world", "out", "runs", "anew"])]
    mutate: bool,
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
    if args.mutate {
        return mutate::mutate(&chosen, args);
    }
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

/// The scenarios of a paper, figure by figure; prints mistakes in them, and in the paper's file.
fn load(paper: &Paper) -> Result<Vec<Vec<Scenario>>, Exit> {
    let mut loaded = Vec::new();
    for figure in &paper.figures {
        let files: Vec<PathBuf> = figure.scenarios.iter().map(|s| paper.folder.join(s)).collect();
        match load_all(&files, &LawFileArgs::default()) {
            (scenarios, Exit::Done) => loaded.push(scenarios),
            (_, exit) => return Err(exit),
        }
    }
    let mut wrong = paper.unknown_names(&loaded);
    wrong.extend(paper.wrong_mutations(&LawSet::in_tree()));
    if wrong.is_empty() {
        return Ok(loaded);
    }
    complain(&wrong);
    Err(Exit::Wrong)
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
        let loaded = load(paper)?;
        let emulated = runs::as_emulated(paper, &loaded)?;
        all.push((paper, loaded, emulated));
    }
    let worlds = without_repeats(args.world.clone());
    let is_emulated = worlds.contains(&World::Emulate);
    let users = if is_emulated { Some(args.users.users()?) } else { None };
    let kept = is_emulated.then(|| KeptRuns::open(&args.runs)).transpose();
    let kept = kept.map_err(|wrong| fail(&wrong))?;
    if let Some(users) = &users {
        for scenario in all.iter().flat_map(|(_, loaded, _)| loaded.iter().flatten()) {
            hold(scenario, users)?;
            warn_of_hidden_files(scenario);
        }
    }
    let show_progress = !args.quiet && !args.json;
    let how = runs::How { worlds, users, kept, anew: args.anew, show_progress, short };
    all.iter().map(|(paper, loaded, emulated)| how.run_paper(paper, loaded, emulated)).collect()
}
