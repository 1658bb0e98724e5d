//! `ratewire reproduce --mutate`: which claims of a figure notice that a law is wrong.

use std::collections::BTreeSet;

use ratewire::papers::{Mutant, MutantResult, Paper};
use ratewire::{Job, World};
use ratewire_command_line::{Exit, print};
use ratewire_report::{CheckedExpectation, table};
use ratewire_scenario::{Scenario, ScenarioError};
use ratewire_table::{Column, Grid, Style};
use serde::Serialize;

use super::{Args, load};
use crate::output::{complain, missing};
use crate::terminal::table_options;
use crate::watch;

/// A figure and its mutants' results, as `--json` prints them.
#[derive(Serialize)]
struct Figure<'a> {
    paper: &'a str,
    figure: &'a str,
    #[serde(skip)]
    title: &'a str,
    /// Claims that hold under the right laws.
    claims: usize,
    mutants: Vec<MutantResult>,
}

/// What is planned for a figure.
struct Planned<'a> {
    /// Runs of the right laws in each scenario.
    right: Vec<Vec<Job<'a>>>,
    /// The mutants, each with its runs.
    mutants: Vec<(&'a Mutant, Vec<Job<'a>>)>,
}

/// Claims of a run; `None` for a run that failed.
type Claims = Option<Vec<CheckedExpectation>>;

/// Runs the papers' figures under right and wrong laws, and prints what notices.
pub(super) fn mutate(papers: &[&Paper], args: &Args) -> Exit {
    let mut done = Vec::new();
    let mut exit = Exit::Done;
    for paper in papers {
        match mutate_paper(paper, args, &mut exit) {
            Ok(figures) => done.extend(figures),
            Err(exit) => return exit,
        }
    }
    let text = if args.json {
        serde_json::to_string_pretty(&done).unwrap_or_default() + "\n"
    } else {
        tables(&done, papers.len() == 1 || args.details)
    };
    Exit::of([print(&text), exit])
}

fn mutate_paper<'a>(
    paper: &'a Paper,
    args: &Args,
    exit: &mut Exit,
) -> Result<Vec<Figure<'a>>, Exit> {
    let loaded = load(paper)?;
    let wrong = |e: ScenarioError| {
        complain(&e.diagnostics);
        Exit::Wrong
    };
    let figures = paper.figures.iter().zip(&loaded);
    let mutants = figures.map(|(figure, scenarios)| figure.mutants(paper, scenarios));
    let mutants: Vec<Vec<Mutant>> = mutants.collect::<Result<_, _>>().map_err(wrong)?;
    let mut planned = Vec::new();
    for (scenarios, mutants) in loaded.iter().zip(&mutants) {
        let right = scenarios.iter().map(right_jobs).collect::<Result<_, _>>().map_err(wrong)?;
        let mutants = mutants.iter().map(|mutant| (mutant, mutant.jobs().collect())).collect();
        planned.push(Planned { right, mutants });
    }
    let show_progress = !args.quiet && !args.json;
    let (right, wrong) = carry_out(paper, &planned, show_progress, exit);
    let (mut right, mut wrong) = (right.into_iter(), wrong.into_iter());
    let figures = paper.figures.iter().zip(&planned).map(|(figure, planned)| {
        let mut claims =
            |jobs: &Vec<Job<'_>>| right.by_ref().take(jobs.len()).flatten().flatten().collect();
        let own: Vec<Vec<CheckedExpectation>> = planned.right.iter().map(&mut claims).collect();
        let failed = own.iter().flatten().filter(|claim| !claim.passed).count();
        if failed > 0 {
            let s = if failed == 1 { "claim does" } else { "claims do" };
            let (paper, figure) = (&paper.name, &figure.id);
            print_stderr!("warning: {paper}, {figure}: {failed} {s} not hold under the right laws");
            *exit = Exit::of([*exit, Exit::NotMet]);
        }
        let results = planned.mutants.iter().map(|(mutant, jobs)| {
            let runs: Vec<Claims> = wrong.by_ref().take(jobs.len()).collect();
            MutantResult::of(mutant, &own, &runs)
        });
        Figure {
            paper: &paper.name,
            figure: &figure.id,
            title: &figure.title,
            mutants: results.collect(),
            claims: own.iter().flatten().count() - failed,
        }
    });
    Ok(figures.collect())
}

fn right_jobs(scenario: &Scenario) -> Result<Vec<Job<'_>>, ScenarioError> {
    let laws = scenario.laws();
    let jobs = laws.iter().map(|law| {
        let plan = scenario.plan(Some(law), None)?;
        Ok(Job::new(scenario, plan, World::Simulate))
    });
    jobs.collect()
}

/// Carries out the runs of all figures of a paper: returns those of the right laws and those of the
/// mutants, in the order in which they are planned. Sets `exit` where a run of the right law fails;
/// under a wrong law, a run that fails is noticed.
fn carry_out(
    paper: &Paper,
    planned: &[Planned<'_>],
    show_progress: bool,
    exit: &mut Exit,
) -> (Vec<Claims>, Vec<Claims>) {
    let right = planned.iter().flat_map(|planned| planned.right.iter().flatten());
    let wrong = planned.iter().flat_map(|planned| &planned.mutants).flat_map(|(_, jobs)| jobs);
    let count = right.clone().count();
    let jobs: Vec<Job<'_>> = right.chain(wrong).cloned().collect();
    if show_progress {
        let mutated = jobs.len() - count;
        print_stderr!("{}: {count} runs of the right laws, {mutated} of wrong ones", paper.name);
    }
    let done =
        watch::all_without_warnings(&jobs, show_progress, |_, run| run.expectations().to_vec());
    let runs = jobs.iter().zip(done).enumerate().map(|(at, (job, done))| {
        done.map_err(|wrong| {
            let code = missing(&job.scenario().file, &job.name(), &wrong);
            if at < count {
                *exit = Exit::of([*exit, code]);
            }
        })
        .ok()
    });
    let mut right: Vec<Claims> = runs.collect();
    let wrong = right.split_off(count);
    (right, wrong)
}

/// The mutants of each figure, or a line a figure of several papers, and the figures that notice
/// nothing.
fn tables(figures: &[Figure<'_>], is_long: bool) -> String {
    let options = table_options();
    let style = Style { width: options.width, colour: options.colour, ..Style::default() };
    let mut text = String::new();
    for figure in figures.iter().filter(|figure| is_long && !figure.mutants.is_empty()) {
        text += &format!("{}, {}: {}\n", figure.paper, figure.figure, figure.title);
        text += &(mutants(&figure.mutants).render(&style) + "\n");
    }
    text += &(summary(figures).render(&style) + "\n");
    for (what, kind) in Kind::ALL {
        let all: Vec<&Figure<'_>> = figures.iter().filter(|figure| figure.kind() == kind).collect();
        let names: Vec<String> =
            all.iter().map(|figure| format!("{}, {}", figure.paper, figure.figure)).collect();
        let colon = if names.is_empty() { "" } else { ": " };
        let line =
            format!("{what}: {} of {}{colon}{}", names.len(), figures.len(), names.join("; "));
        text += &table::wrap(&line, 0, options.text_width());
    }
    text
}

/// A line a mutant of one figure.
fn mutants(results: &[MutantResult]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::text("constant").shrinks(),
        Column::number("becomes"),
        Column::number("claims"),
        Column::number("notice"),
        Column::number("the source's"),
        Column::number("notice"),
    ]);
    for result in results {
        let own = || result.claims.iter().filter(|claim| claim.is_of_source());
        let by_own = own().filter(|claim| claim.notices()).count();
        let counts = [result.claims.len(), result.noticed().count(), own().count(), by_own];
        let names = [result.constant.clone(), result.change.clone()];
        grid.row(names.into_iter().chain(counts.map(|n| n.to_string())));
    }
    grid
}

/// A line a figure.
fn summary(figures: &[Figure<'_>]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::text("paper").left_out(1).shrinks(),
        Column::text("figure").shrinks(),
        Column::number("claims"),
        Column::number("that notice"),
        Column::number("mutants"),
        Column::number("noticed"),
        Column::number("by the source's"),
    ]);
    for figure in figures {
        let noticed = figure.mutants.iter().filter(|m| m.noticed().count() > 0).count();
        let by_source = figure.mutants.iter().filter(|m| m.is_noticed_by_source()).count();
        let counts = [figure.claims, figure.noticing(), figure.mutants.len(), noticed, by_source];
        let names = [figure.paper, figure.figure].map(str::to_string);
        grid.row(names.into_iter().chain(counts.map(|n| n.to_string())));
    }
    grid
}

/// What a figure notices.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    NoMutant,
    Nothing,
    OnlyRuns,
    Something,
}

impl Kind {
    /// The kinds that are counted, with their headings.
    const ALL: [(&str, Kind); 3] = [
        ("Figures without a mutant", Kind::NoMutant),
        ("Figures that notice nothing", Kind::Nothing),
        ("Figures that notice by bounds alone that are not the source's", Kind::OnlyRuns),
    ];
}

impl Figure<'_> {
    fn kind(&self) -> Kind {
        match () {
            () if self.mutants.is_empty() => Kind::NoMutant,
            () if self.mutants.iter().all(|mutant| mutant.noticed().count() == 0) => Kind::Nothing,
            () if !self.mutants.iter().any(MutantResult::is_noticed_by_source) => Kind::OnlyRuns,
            () => Kind::Something,
        }
    }

    /// How many claims notice at least one mutant.
    fn noticing(&self) -> usize {
        let noticed = self.mutants.iter().flat_map(MutantResult::noticed);
        let all: BTreeSet<(&str, &str, &str, &str)> = noticed
            .map(|one| {
                let claim = &one.wrong;
                (&*one.scenario, &*claim.law, &*claim.claim, &*claim.bound)
            })
            .collect();
        all.len()
    }
}
