//! Runs of a paper: which there are, which are kept from before, and what becomes of each.

use std::cell::Cell;

use ratewire::papers::{KeptRuns, Paper, PaperFigure, draw};
use ratewire::{Error, Job, Run, World, remedies, without_repeats};
use ratewire_command_line::Exit;
use ratewire_emulate::Users;
use ratewire_report::html::papers;
use ratewire_scenario::{Diagnostic, Scenario, ScenarioError};
use ratewire_units::Duration;

use crate::output::{complain, fail, missing};
use crate::watch;

/// How papers are run.
pub(super) struct How<'a> {
    pub(super) worlds: Vec<World>,
    /// Users that emulated programs may run as.
    pub(super) users: Option<Users>,
    /// Finished emulated runs.
    pub(super) kept: Option<KeptRuns>,
    /// Whether finished runs are forgotten first.
    pub(super) anew: bool,
    pub(super) show_progress: bool,
    /// Exit code of a run that is missing, or not reliable.
    pub(super) short: &'a Cell<Exit>,
}

/// The runs of one scenario.
struct Planned<'a> {
    jobs: Vec<Job<'a>>,
    /// Laws that no emulated run has, and why.
    refused: Vec<(String, String)>,
    /// Laws and expectations that emulated runs do not have, and why.
    left_out: Vec<String>,
}

impl How<'_> {
    /// Runs a paper. `loaded` are its scenarios, figure by figure, `emulated` the same as emulated
    /// runs have them.
    pub(super) fn run_paper(
        &self,
        paper: &Paper,
        loaded: &[Vec<Scenario>],
        emulated: &[Vec<Scenario>],
    ) -> Result<papers::PaperSection, Exit> {
        let mut planned = Vec::new();
        for (own, emulated) in loaded.iter().zip(emulated) {
            let both = own.iter().zip(emulated);
            let of_figure: Result<Vec<Planned<'_>>, Exit> =
                both.map(|(own, emulated)| self.plan(own, emulated)).collect();
            planned.push(of_figure?);
        }
        let files = loaded.iter().flatten().map(|scenario| scenario.file.as_str());
        for refusal in refusals(files.zip(planned.iter().flatten())) {
            print_stderr!("{refusal}");
        }
        let jobs: Vec<Job<'_>> =
            planned.iter().flatten().flat_map(|scenario| scenario.jobs.clone()).collect();
        let mut runs = self.carry_out(paper, &jobs)?.into_iter();
        let figures = paper.figures.iter().zip(loaded).zip(&planned);
        let figures = figures.map(|((figure, scenarios), planned)| {
            let results = scenarios.iter().zip(planned).map(|(scenario, planned)| {
                // Runs that succeeded are drawn even if others failed.
                let runs = runs.by_ref().take(planned.jobs.len()).flatten();
                (scenario, runs.collect())
            });
            let mut section = draw(figure, results.collect());
            section.real_time.extend(planned.iter().flat_map(|scenario| scenario.left_out.clone()));
            section
        });
        Ok(papers::PaperSection {
            title: paper.title.clone(),
            authors: paper.authors.clone(),
            summary: paper.summary.clone(),
            figures: figures.collect(),
        })
    }

    /// Plans the runs of a scenario, of which emulated runs have a version of their own.
    fn plan<'s>(&'s self, own: &'s Scenario, emulated: &'s Scenario) -> Result<Planned<'s>, Exit> {
        let (mut jobs, mut refused) = (Vec::new(), Vec::new());
        let (mut left_out, mut unmeasured) = (Vec::new(), Vec::new());
        for law in own.laws() {
            for world in &self.worlds {
                let scenario = if *world == World::Emulate { emulated } else { own };
                let plan = scenario.plan(Some(&law), None).map_err(|wrong| {
                    complain(&wrong.diagnostics);
                    Exit::Wrong
                })?;
                if *world == World::Emulate {
                    let able = ratewire_emulate::check(&plan.setup).and_then(|()| {
                        ratewire_emulate::check_machine(&plan.setup, None)
                            .inspect_err(|_| self.note(Exit::Unable))
                    });
                    if let Err(why) = able {
                        left_out.push(format!("{}: {law} is not emulated: {why}.", scenario.name));
                        refused.push((law.clone(), why.to_string()));
                        continue;
                    }
                    unmeasured.extend(scenario.unmeasured_when_emulated(&law));
                }
                let job = Job::new(scenario, plan, *world);
                jobs.push(match &self.users {
                    Some(users) => job.with_users(users),
                    None => job,
                });
            }
        }
        let unmeasured = without_repeats(unmeasured);
        complain(&unmeasured);
        let text = |warning: Diagnostic| format!("{}: {}.", own.name, warning.message);
        left_out.extend(unmeasured.into_iter().map(text));
        Ok(Planned { jobs, refused, left_out })
    }

    /// Carries out jobs, but not those that are kept, and keeps emulated ones.
    ///
    /// Returns a run for each job; `None` for one that failed.
    fn carry_out(&self, paper: &Paper, jobs: &[Job<'_>]) -> Result<Vec<Option<Run>>, Exit> {
        let found: Result<Vec<Option<Run>>, Error> =
            jobs.iter().map(|job| self.find(job)).collect();
        let mut runs = found.map_err(|wrong| fail(&wrong))?;
        let places: Vec<usize> = (0..jobs.len()).filter(|at| runs[*at].is_none()).collect();
        let pending: Vec<Job<'_>> = places.iter().map(|at| jobs[*at].clone()).collect();
        if self.show_progress {
            let emulated = pending.iter().filter(|job| is_emulated(job));
            let total = emulated.fold(Duration::ZERO, |sum, job| sum + job.duration());
            let real =
                if total.is_zero() { String::new() } else { format!(", {total} of real time") };
            let before = match jobs.len() - pending.len() {
                0 => String::new(),
                before => format!("; {before} were finished before"),
            };
            print_stderr!("{}: {} runs{real}{before}", paper.name, pending.len());
        }
        // Each is kept at once: a command that is stopped loses only the run that it is at.
        let kept = self.kept.as_ref();
        let done = watch::all(&pending, self.show_progress, |job, run| {
            let kept = kept.filter(|_| is_emulated(job));
            let written = kept.map_or(Ok(()), |kept| kept.keep(job, &run));
            (run, written)
        });
        for ((at, job), done) in places.into_iter().zip(&pending).zip(done) {
            let (run, written) = match done {
                Ok(done) => done,
                Err(error) => {
                    self.note(missing(&job.scenario().file, &job.name(), &error));
                    continue;
                }
            };
            if let Err(wrong) = written {
                self.note(fail(&wrong));
            }
            self.warn_of_fidelity(job, &run);
            runs[at] = Some(run);
        }
        Ok(runs)
    }

    fn find(&self, job: &Job<'_>) -> Result<Option<Run>, Error> {
        let Some(kept) = self.kept.as_ref().filter(|_| is_emulated(job)) else { return Ok(None) };
        if self.anew {
            kept.forget(job)?;
        }
        kept.find(job)
    }

    /// Prints why an emulated run cannot be relied on.
    fn warn_of_fidelity(&self, job: &Job<'_>, run: &Run) {
        let fidelity = run.summary().fidelity.as_ref();
        let Some(fidelity) = fidelity.filter(|fidelity| !fidelity.holds) else { return };
        print_stderr!("warning: {}, {}: {}", job.scenario().file, run.law(), fidelity.text());
        for remedy in remedies(fidelity) {
            print_stderr!("  help: {remedy}");
        }
        self.note(Exit::Late);
    }

    fn note(&self, exit: Exit) {
        self.short.set(Exit::of([self.short.get(), exit]));
    }
}

/// A paper's scenarios as emulated runs have them, figure by figure.
pub(super) fn as_emulated(
    paper: &Paper,
    loaded: &[Vec<Scenario>],
) -> Result<Vec<Vec<Scenario>>, Exit> {
    let of_figure = |(figure, scenarios): (&PaperFigure, &Vec<Scenario>)| {
        let files = figure.scenarios.iter().zip(scenarios);
        files.map(|(file, scenario)| figure.emulated(file, scenario)).collect()
    };
    let all: Result<_, ScenarioError> = paper.figures.iter().zip(loaded).map(of_figure).collect();
    all.map_err(|wrong| {
        complain(&wrong.diagnostics);
        Exit::Wrong
    })
}

/// A line for each law that is not emulated and each reason, with the first scenario that has it.
fn refusals<'a>(planned: impl Iterator<Item = (&'a str, &'a Planned<'a>)>) -> Vec<String> {
    let mut laws: Vec<(&str, &str, &str, usize)> = Vec::new();
    for (file, planned) in planned {
        for (law, why) in &planned.refused {
            match laws.iter_mut().find(|(_, known, cause, _)| known == law && cause == why) {
                Some((.., more)) => *more += 1,
                None => laws.push((file, law, why, 0)),
            }
        }
    }
    let line = |(file, law, why, more): (&str, &str, &str, usize)| {
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{file}{more}: {law} is not emulated: {why}")
    };
    laws.into_iter().map(line).collect()
}

fn is_emulated(job: &Job<'_>) -> bool {
    job.world() == World::Emulate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_said_once_for_each_law_and_reason() {
        let planned = |whys: &[&str]| Planned {
            jobs: Vec::new(),
            refused: whys.iter().map(|why| ("maxnet".to_string(), why.to_string())).collect(),
            left_out: Vec::new(),
        };
        let all = [planned(&["a"]), planned(&["b"]), planned(&["a"]), planned(&[])];
        let files = ["1.toml", "2.toml", "3.toml", "4.toml"].into_iter();
        let lines =
            ["1.toml and 1 more: maxnet is not emulated: a", "2.toml: maxnet is not emulated: b"];
        assert_eq!(refusals(files.zip(&all)), lines);
    }
}
