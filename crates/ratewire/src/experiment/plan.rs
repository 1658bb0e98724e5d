//! The runs of an experiment, and how they run together.

use std::path::Path;

use ratewire_net::spec::LinkId;
use ratewire_report::compare::{FigureName, Subject};
use ratewire_report::{LeftOut, Page, World, html};
use ratewire_scenario::{Diagnostic, Plan};
use ratewire_sim::setup::TrafficSpec;
use ratewire_units::Time;

use super::{Experiment, without_repeats};
use crate::folder::{OutputFolder, REPORT, made_in, name_of_folder};
use crate::job::run_all;
use crate::listen::{Cancel, Cancelled, Listener};
use crate::observe::files::check_feature;
use crate::question::question_of;
use crate::results::error::find;
use crate::results::{Failed, Results, summary_json};
use crate::{Error, Job, emulated};

/// Whether to ask the kernel what it supports; it may load modules for this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    Asked,
    NotAsked,
}

/// The runs of an experiment.
#[derive(Debug)]
pub struct Planned<'a> {
    experiment: &'a Experiment,
    /// The runs, in the order of laws, worlds and seeds.
    pub jobs: Vec<Job<'a>>,
    /// Laws that cannot run in a requested world, and why.
    pub left_out: Vec<LeftOut>,
    /// Warnings about the runs.
    pub warnings: Vec<Diagnostic>,
    /// Whether several seeds were requested that give equal simulated results.
    pub is_repetition: bool,
}

pub(super) fn plan<'a>(
    experiment: &'a Experiment,
    kernel: Kernel,
    cancel: &Cancel,
) -> Result<Planned<'a>, Error> {
    let Experiment { laws, seeds, worlds, .. } = experiment;
    check_worlds(experiment)?;
    let mut planned = Planned {
        experiment,
        jobs: Vec::new(),
        left_out: Vec::new(),
        warnings: Vec::new(),
        is_repetition: false,
    };
    for (law, world) in laws.iter().flat_map(|law| worlds.iter().map(move |world| (law, *world))) {
        for seed in seeds {
            if cancel.is_cancelled() {
                return Err(Error::Stopped { at: Time::ZERO, source: Box::new(Cancelled) });
            }
            planned.add(law, world, *seed, kernel)?;
        }
    }
    planned.warnings = without_repeats(planned.warnings);
    let mut simulated = planned.jobs.iter().filter(|job| job.world == World::Simulate).peekable();
    planned.is_repetition = seeds.len() > 1
        && simulated.peek().is_some()
        && !simulated.any(|job| job.plan.setup.has_chance());
    Ok(planned)
}

/// Refuses requests about simulated packets in a world with real hosts.
fn check_worlds(experiment: &Experiment) -> Result<(), Error> {
    if !experiment.worlds.contains(&World::Emulate) {
        return Ok(());
    }
    emulated::check_feature()?;
    let refuse = |setting: &str, reason: &str| {
        Err(Error::Setting { setting: setting.to_string(), reason: reason.to_string() })
    };
    if experiment.why.is_some() {
        let reason = "only simulated packets are followed\n  help: leave out the world `emulate`";
        return refuse("why", reason);
    }
    if !experiment.captured.is_empty() {
        let reason = "only simulated packets are captured\n  help: run tcpdump in `ratewire shell`";
        return refuse("capture", reason);
    }
    Ok(())
}

impl<'a> Planned<'a> {
    fn add(&mut self, law: &str, world: World, seed: u64, kernel: Kernel) -> Result<(), Error> {
        let experiment = self.experiment;
        let scenario = &experiment.scenario;
        let mut plan = scenario.plan(Some(law), Some(seed))?;
        plan.setup.captured_links = links(&plan, &experiment.captured)?;
        let figures = experiment.figures.iter().map(|name| whole_name(&plan, name));
        let figures = figures.collect::<Result<Vec<FigureName>, Error>>()?;
        if let Some(question) = &experiment.why {
            plan.setup.follow.asked = Some(question_of(&plan, question)?);
        }
        if world == World::Emulate
            && let Err(why) = emulated::check(&plan, kernel == Kernel::Asked)
        {
            // The number of arriving flows depends on the seed, so some seeds may be too large and
            // others not.
            if !self.left_out.iter().any(|left| left.law == law) {
                self.left_out.push(LeftOut { law: law.to_string(), world, why });
            }
            return Ok(());
        }
        if seed == experiment.seeds[0] {
            self.warnings.extend(plan.warnings.iter().cloned());
        }
        self.warnings.extend(match world {
            World::Emulate => scenario.unmeasured_when_emulated(&plan.law),
            _ => scenario.vain_when_simulated(&plan),
        });
        let name = match experiment.worlds.len() {
            1 => law.to_string(),
            _ => format!("{law}-{world}"),
        };
        let others = self.jobs.iter().map(|job| job.folder_name.as_str());
        let folder_name = name_of_folder(&name, seed, others);
        let folder = experiment.folder.as_deref();
        let folder = folder.map(|folder| made_in(folder, &folder_name));
        let job = Job::new(scenario, plan, world);
        let (keeps_samples, command) = (experiment.keeps_samples, &experiment.command[..]);
        let users = Some(&experiment.users);
        self.jobs.push(Job { folder, folder_name, figures, keeps_samples, users, command, ..job });
        Ok(())
    }

    /// Runs all jobs on all cores with a listener, and writes the experiment's folder.
    ///
    /// # Errors
    /// Nothing is run if there is no job, the folder cannot be written, or the scenario's programs
    /// may not run as their users. [`Error::Incomplete`] if some results are missing.
    pub fn run(&self, listener: &dyn Listener) -> Result<Results, Error> {
        let Planned { experiment, jobs, left_out, .. } = self;
        if jobs.is_empty() {
            return Err(Error::Nothing(left_out.clone()));
        }
        if experiment.folder.is_some() {
            check_feature("folder")?;
        }
        if jobs.iter().any(|job| job.world == World::Emulate) {
            experiment.check_users()?;
        }
        let folders: Vec<_> = jobs.iter().filter_map(|job| job.folder.clone()).collect();
        let folder = experiment.folder.as_deref();
        let output =
            folder.map(|folder| OutputFolder::open(folder, REPORT, &folders)).transpose()?;
        let mut results = Results {
            left_out: left_out.clone(),
            ..Results::none_of(experiment.record(), &experiment.scenario)
        };
        let mut whole: Vec<&Path> = Vec::new();
        for (job, done) in jobs.iter().zip(run_all(jobs, listener, |_, run| run)) {
            match done {
                Ok(run) => {
                    results.runs.push(run);
                    whole.extend(job.folder.as_deref());
                }
                Err(error) => results.failures.push(Failed { run: job.name(), error }),
            }
        }
        // Results of finished runs are written even if other runs failed.
        if let Some(output) = output.filter(|_| !results.runs.is_empty()) {
            let page: Page = results.page();
            let pages = [html::render(&page), summary_json(&results.experiment, &page)];
            results.unwritten = match results.is_partial() {
                true => output.put_partial(&whole, pages),
                false => output.put_in_place(&whole, pages),
            }
            .err();
        }
        if results.is_complete() { Ok(results) } else { Err(Error::Incomplete(Box::new(results))) }
    }
}

/// A figure with the whole name of its link, flow or class of traffic.
pub(crate) fn whole_name(plan: &Plan, name: &FigureName) -> Result<FigureName, Error> {
    let Some((subject, of)) = name.subject() else { return Ok(name.clone()) };
    let setup = &plan.setup;
    let (what, known): (&str, Vec<&str>) = match subject {
        Subject::Link => ("link", setup.network.links.iter().map(|link| &*link.name).collect()),
        Subject::Flow => ("flow", setup.flows.iter().map(|flow| &*flow.name).collect()),
        Subject::Class => {
            let with = |class: &&TrafficSpec| !name.is_of_incasts() || class.fan_in > 1;
            let what =
                if name.is_of_incasts() { "class with `fan_in`" } else { "class of traffic" };
            (what, setup.traffic.iter().filter(with).map(|class| &*class.name).collect())
        }
    };
    match find(what, of, &known) {
        Ok(at) => Ok(name.clone().of(known[at])),
        Err(reason) => {
            let other = of.rsplit_once(',').map_or(String::new(), |(_, other)| {
                format!(", and no figure is called {:?}", other.trim())
            });
            let reason = format!("{reason}{other}");
            Err(Error::Setting { setting: format!("figure {name}"), reason })
        }
    }
}

/// The links to capture, found by name.
fn links(plan: &Plan, names: &[String]) -> Result<Vec<LinkId>, Error> {
    let known = &plan.setup.network.links;
    let all: Vec<&str> = known.iter().map(|link| link.name.as_str()).collect();
    let place = |name: &String| match find("link", name, &all) {
        Ok(at) => Ok(LinkId(at as u32)),
        Err(reason) => Err(Error::Setting { setting: "capture".to_string(), reason }),
    };
    names.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planning_ends_when_it_is_cancelled() {
        let text = "duration = '2 s'\nlaw = 'xcp'\n[topology]\nkind = 'dumbbell'\n\
                    bottleneck = { rate = '10 Mbit/s', delay = '10 ms' }\n[[flow]]\nfrom = 's1'\nto = 'd1'\n";
        let experiment = Experiment::parse("one.toml", text).expect("a scenario");
        let cancel = Cancel::default();
        assert_eq!(experiment.plan_unless(&cancel).expect("a plan").jobs.len(), 1);
        cancel.cancel();
        let stopped = experiment.plan_unless(&cancel).expect_err("no plan");
        assert_eq!(stopped.to_string(), "stopped at 0 s of its time: it was cancelled");
    }
}
