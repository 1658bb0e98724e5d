//! `ratewire reproduce`: the figures of papers, run again, held against the claims, on one page.

mod tell;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use ratewire_emulate::Users;
use ratewire_report::html::papers::{self, Claims, Line, Panel, Sweep};
use ratewire_report::table;
use ratewire_scenario::{self as scenario, Scenario};
use ratewire_units::Duration;

use super::check::load_all;
use super::run::{fail, missing, tell_ignored, without_repeats};
use super::users::{UserArgs, hold, warn_of_hidden_files};
use super::{complain, print, table_options, unknown};
use crate::Exit;
use crate::emulated::remedies;
use crate::job::{Done, Job, World, expectations, run_all};
use crate::memory::MemoryArgs;
use crate::output::check_page;
use crate::paper::{self, Figure, Name, Paper, is_metric};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The papers, by the names of their folders, or single figures of them; without any, all are listed
    #[arg(value_name = "PAPER[/FIGURE]", group = "what")]
    names: Vec<String>,
    /// Every paper there is
    #[arg(long, group = "what")]
    all: bool,
    /// Worlds to run in: simulate, emulate or both. Emulated, runs take as long as they last, and root
    #[arg(long, value_delimiter = ',', value_enum, default_value = "simulate", requires = "what")]
    world: Vec<World>,
    #[command(flatten)]
    users: UserArgs,
    /// Where the papers are
    #[arg(long = "papers", value_name = "FOLDER", default_value = "papers")]
    folder: PathBuf,
    /// The page [default: out/reproduce/PAPER.html, or out/reproduce/papers.html for several]
    #[arg(long, short, value_name = "FILE", requires = "what")]
    out: Option<PathBuf>,
    /// Print the claims as JSON in place of tables
    #[arg(long, requires = "what")]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    memory: MemoryArgs,
}

pub(crate) fn reproduce(args: &Args) -> Exit {
    args.memory.watch();
    let known = match paper::read_all(&args.folder) {
        Ok(known) => known,
        Err(wrong) => {
            tell!("ratewire: {wrong}");
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
            Err(wrong) => {
                tell!("ratewire: {wrong}");
                return Exit::Wrong;
            }
        }
    };
    let chosen: Vec<&Paper> = chosen.iter().collect();
    // Early, so that nobody waits for runs whose page cannot be written.
    if let Err(failure) = check_page(&tell::page(&chosen, args)) {
        return fail(&failure);
    }
    let short = Cell::new(Exit::Done);
    match run(&chosen, &short, args) {
        Ok(done) => Exit::of([tell::finish(&chosen, &done, args), short.get()]),
        Err(exit) => exit,
    }
}

/// A paper's name as it is listed, of one that a shell completed to its folder.
fn plain(name: &str, folder: &Path) -> String {
    let own = Path::new(name).strip_prefix(folder).ok().and_then(Path::to_str);
    own.unwrap_or(name).to_string()
}

/// The papers of these names, with all their figures or those that are named.
fn choose(mut known: Vec<Paper>, names: &[String]) -> Result<Vec<Paper>, String> {
    let mut wanted: Vec<(usize, Option<&str>)> = Vec::new();
    for name in names {
        let (paper, figure) = match name.split_once('/') {
            Some((paper, figure)) => (paper, Some(figure).filter(|figure| !figure.is_empty())),
            None => (name.as_str(), None),
        };
        let Some(at) = known.iter().position(|one| one.name == paper) else {
            let names: Vec<&str> = known.iter().map(|paper| paper.name.as_str()).collect();
            return Err(unknown("paper", paper, &names));
        };
        if let Some(figure) = figure
            && !known[at].figures.iter().any(|one| one.is_called(figure))
        {
            let figures = &known[at].figures;
            let with_it = figures.iter().filter(|one| one.contains(figure)).map(Figure::handle);
            let with_it: Vec<String> = with_it.collect();
            if !with_it.is_empty() {
                let with_it = with_it.join(" or ");
                return Err(format!("{figure} of {paper} is run as a part of {with_it}"));
            }
            let handles: Vec<String> = figures.iter().map(Figure::handle).collect();
            let handles: Vec<&str> = handles.iter().map(String::as_str).collect();
            return Err(unknown(&format!("figure of {paper}"), figure, &handles));
        }
        wanted.push((at, figure));
    }
    let mut at = 0;
    known.retain_mut(|paper| {
        let mine: Vec<Option<&str>> =
            wanted.iter().filter(|(of, _)| *of == at).map(|(_, figure)| *figure).collect();
        at += 1;
        if !mine.contains(&None) {
            paper.figures.retain(|one| mine.iter().flatten().any(|figure| one.is_called(figure)));
        }
        !mine.is_empty()
    });
    Ok(known)
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
        "`ratewire reproduce PAPER` runs one, `ratewire reproduce PAPER/FIGURE` a figure of it{example}; \
         `ratewire reproduce --all` every one."
    );
    text + &table::wrap(&how, 0, table_options().text_width())
}

/// Runs the papers, one after the other: a paper's samples are let go of before the next begins.
/// `short` is set to what is wrong where a run is missing, or an emulated one cannot be relied on.
fn run(papers: &[&Paper], short: &Cell<Exit>, args: &Args) -> Result<Vec<papers::Paper>, Exit> {
    let mut all = Vec::new();
    for paper in papers {
        let mut loaded = Vec::new();
        for figure in &paper.figures {
            let files: Vec<PathBuf> =
                figure.scenarios.iter().map(|s| paper.folder.join(s)).collect();
            match load_all(&files) {
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
) -> Result<papers::Paper, Exit> {
    let mut jobs = Vec::new();
    let mut counts = Vec::new();
    let mut told = Vec::new();
    for scenario in loaded.iter().flatten() {
        let before = jobs.len();
        for law in scenario.laws() {
            for world in worlds {
                let mut plan = scenario.plan(Some(&law), None).map_err(|wrong| {
                    complain(&wrong);
                    Exit::Wrong
                })?;
                if *world == World::Emulate {
                    let able = ratewire_emulate::check(&plan.setup).and_then(|()| {
                        ratewire_emulate::check_kernel(&plan.setup, None)
                            .inspect_err(|_| note(short, Exit::Unable))
                    });
                    if let Err(why) = able {
                        tell!("{}: {law} is not emulated: {why}", scenario.file);
                        continue;
                    }
                    tell_ignored(scenario, &plan, &mut told);
                    plan = plan.emulated();
                }
                jobs.push(Job { scenario, plan, world: *world, folder: None, users });
            }
        }
        counts.push(jobs.len() - before);
    }
    if show_progress {
        let emulated = jobs.iter().filter(|job| job.world == World::Emulate);
        let total = emulated.fold(Duration::ZERO, |sum, job| sum + job.plan.setup.duration);
        let real = if total.is_zero() { String::new() } else { format!(", {total} of real time") };
        tell!("{}: {} runs{real}", paper.name, jobs.len());
    }
    let mut counts = counts.into_iter();
    let done = run_all(&jobs, show_progress, |_, done| done);
    for (job, done) in jobs.iter().zip(&done) {
        let done = match done {
            Ok(done) => done,
            Err(failure) => {
                note(short, missing(job, failure));
                continue;
            }
        };
        let fidelity = done.run.summary.fidelity.as_ref().filter(|fidelity| !fidelity.holds);
        if let Some(fidelity) = fidelity {
            tell!("warning: {}, {}: {}", job.scenario.file, job.plan.law, fidelity.text());
            for remedy in remedies(fidelity) {
                tell!("  help: {remedy}");
            }
            note(short, Exit::Late);
        }
    }
    let mut done = done.into_iter();
    let figures = paper.figures.iter().zip(loaded).map(|(figure, scenarios)| {
        let results = scenarios.iter().map(|scenario| {
            let runs = done.by_ref().take(counts.next().unwrap_or(0));
            // What was run is not lost for what could not be.
            (scenario, runs.filter_map(Result::ok).collect())
        });
        make(figure, results.collect())
    });
    Ok(papers::Paper {
        title: paper.title.clone(),
        authors: paper.authors.clone(),
        summary: paper.summary.clone(),
        figures: figures.collect(),
    })
}

/// Adds to what is wrong.
fn note(short: &Cell<Exit>, exit: Exit) {
    short.set(Exit::of([short.get(), exit]));
}

/// A figure for the page: of the runs, only what is drawn is kept.
fn make(figure: &Figure, results: Vec<(&Scenario, Vec<Done>)>) -> papers::Figure {
    let sweeps = figure.sweep.iter().flat_map(|sweep| {
        let metrics = sweep.metrics.iter().map(Name::get_ref);
        metrics.map(|metric| sweep_of(sweep, metric, figure, &results))
    });
    let sweeps = sweeps.collect();
    let claims = results.iter().map(|(scenario, runs)| Claims {
        scenario: scenario.name.clone(),
        file: scenario.file.clone(),
        expectations: runs.iter().flat_map(expectations).collect(),
    });
    let claims = claims.collect();
    let panels = figure.scenarios.iter().zip(results).filter(|(file, _)| figure.draws(file));
    let panels = panels.map(|(_, (scenario, runs))| Panel {
        title: scenario.name.clone(),
        runs: runs
            .into_iter()
            .map(|done| done.run)
            .filter(|run| figure.draws_law(&run.info.law))
            .collect(),
        plots: figure.plots.clone(),
        links: figure.links.iter().map(|link| link.get_ref().clone()).collect(),
        apart: figure.apart,
    });
    papers::Figure {
        id: figure.id.clone(),
        title: figure.title.clone(),
        caption: figure.caption.clone(),
        note: figure.note.clone(),
        panels: panels.collect(),
        sweeps,
        claims,
    }
}

/// What the expectations of one metric measured, law by law.
fn sweep_of(
    sweep: &paper::Sweep,
    metric: &str,
    figure: &Figure,
    results: &[(&Scenario, Vec<Done>)],
) -> Sweep {
    let is_of = |v: &scenario::Finding| is_metric(metric, v.metric, &v.target);
    // What varies is another scenario, or another flow or link of the same one.
    let value_of = |scenario: usize, v: &scenario::Finding| {
        let place = match sweep.of.is_empty() {
            true => Some(scenario),
            false => sweep.of.iter().position(|target| *target.get_ref() == v.target),
        };
        place.and_then(|place| sweep.values.get(place)).copied()
    };
    let mut lines: Vec<Line> = Vec::new();
    let mut claimed: Vec<(f64, f64)> = Vec::new();
    let mut unit = None;
    for (i, (_, runs)) in results.iter().enumerate() {
        let of = |done| expectations(done).map(|e| e.run(&[])).zip(&done.verdicts);
        let verdicts = runs.iter().flat_map(of);
        for (law, verdict) in verdicts.filter(|(_, v)| is_of(v) && figure.draws_law(&v.law)) {
            let (Some(x), Some(y)) = (value_of(i, verdict), verdict.measured) else { continue };
            let at = lines.iter().position(|line| line.law == law).unwrap_or_else(|| {
                lines.push(Line { law, points: Vec::new() });
                lines.len() - 1
            });
            // Two expectations of the same thing draw it once, over the time of the first.
            if lines[at].points.iter().all(|(known, _)| *known != x) {
                lines[at].points.push((x, y));
            }
            if let Some(y) = verdict.equals
                && claimed.iter().all(|(known, _)| *known != x)
            {
                claimed.push((x, y));
            }
            unit = Some(verdict.unit);
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Sweep {
        title: metric.replace('_', " "),
        over: sweep.over.clone(),
        logarithmic: sweep.logarithmic,
        show: Box::new(move |value| unit.map_or_else(String::new, |unit| unit.show(value))),
        lines,
        claimed,
    }
}
