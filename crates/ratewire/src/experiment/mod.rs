//! An experiment: a scenario with chosen laws, seeds, values and worlds.

mod plan;

use std::path::{Path, PathBuf};

use ratewire_emulate::Users;
use ratewire_laws::{ExternalLaw, LawSet, Named};
use ratewire_report::World;
use ratewire_scenario::{Loader, Scenario};

pub use plan::{Planned, ignored};

use crate::listen::Listener;
use crate::{Error, Results};

/// A scenario with chosen laws, seeds, values and worlds; running it gives [`Results`].
///
/// Settings return the experiment, so that they can be chained. An experiment is a value: it can be
/// cloned, changed, and run as often as one likes. The same experiment gives the same results, byte for
/// byte, on any machine and any number of threads, except in real time.
///
/// ```
/// use ratewire::Experiment;
///
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let results = Experiment::load("scenarios/three-flows.toml")?
///     .laws(["xcp", "cubic"])
///     .seeds(1..=2)
///     .set("bottleneck.rate", "5 Mbit/s")?
///     .run()?;
/// assert_eq!(results.runs().len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Experiment {
    scenario: Scenario,
    laws: Vec<String>,
    seeds: Vec<u64>,
    worlds: Vec<World>,
    folder: Option<PathBuf>,
    captured: Vec<String>,
    why: Option<String>,
    users: Users,
    keeps_samples: bool,
}

impl Experiment {
    /// Reads the scenario in the file `path`; the files that it names are relative to its folder.
    ///
    /// # Errors
    /// Everything that is wrong with the scenario.
    pub fn load(path: impl AsRef<Path>) -> Result<Experiment, Error> {
        Experiment::load_with(path, &[])
    }

    /// Reads the scenario in the file `path` and puts values in, all at once: pairs of a key's path and a
    /// value, as in [`Experiment::set`].
    ///
    /// # Errors
    /// Everything that is wrong with the scenario with these values.
    pub fn load_with(
        path: impl AsRef<Path>,
        values: &[(String, String)],
    ) -> Result<Experiment, Error> {
        let scenario = Scenario::load_with(path.as_ref(), values).map_err(Error::Scenario)?;
        Ok(Experiment::of(scenario))
    }

    /// Reads the scenario in the file `path`, which may name the laws of `laws`, a program's own among them.
    ///
    /// # Errors
    /// Everything that is wrong with the scenario.
    pub fn load_using(laws: &LawSet, path: impl AsRef<Path>) -> Result<Experiment, Error> {
        let scenario = Loader { laws }.load(path.as_ref(), &[]).map_err(Error::Scenario)?;
        Ok(Experiment::of(scenario))
    }

    /// Reads a scenario from `text`, called `name` in messages. It can name no files.
    ///
    /// # Errors
    /// Everything that is wrong with the scenario.
    pub fn parse(name: &str, text: &str) -> Result<Experiment, Error> {
        let no_files = |_: &str| {
            let why = "a scenario that is not read from a file has no folder to find files in";
            Err(std::io::Error::new(std::io::ErrorKind::NotFound, why))
        };
        let scenario = Scenario::parse(name, text, &no_files).map_err(Error::Scenario)?;
        Ok(Experiment::of(scenario))
    }

    /// An experiment with a scenario that was read or built: its own laws, its own seed, simulated.
    pub fn of(scenario: Scenario) -> Experiment {
        Experiment {
            laws: scenario.laws(),
            seeds: vec![scenario.seed],
            scenario,
            worlds: vec![World::Simulate],
            folder: None,
            captured: Vec::new(),
            why: None,
            users: Users::default(),
            keeps_samples: true,
        }
    }

    /// The laws or variants to run, in place of the scenario's own. One that is named twice runs once.
    pub fn laws<L: Into<String>>(self, laws: impl IntoIterator<Item = L>) -> Experiment {
        let laws = laws.into_iter().map(Into::into).collect();
        Experiment { laws: without_repeats(laws), ..self }
    }

    /// The seeds to run each law from, in place of the scenario's own.
    pub fn seeds(self, seeds: impl IntoIterator<Item = u64>) -> Experiment {
        Experiment { seeds: without_repeats(seeds.into_iter().collect()), ..self }
    }

    /// The worlds to run each law in; [`World::Simulate`] where nothing is said.
    pub fn worlds(self, worlds: impl IntoIterator<Item = World>) -> Experiment {
        Experiment { worlds: without_repeats(worlds.into_iter().collect()), ..self }
    }

    /// Puts a value into the scenario: `bottleneck.rate` or `flow.2.start`, and a value with its unit. A
    /// value is TOML where it can be, else text: `xcp` needs no quotes.
    ///
    /// # Errors
    /// When there is no such key, or the scenario is wrong with this value.
    pub fn set(self, key: &str, value: &str) -> Result<Experiment, Error> {
        let values = [(key.to_string(), value.to_string())];
        let scenario = self.scenario.with_overrides(&values).map_err(Error::Scenario)?;
        let laws =
            if self.laws == self.scenario.laws() { scenario.laws() } else { self.laws.clone() };
        let seeds = match self.seeds[..] {
            [seed] if seed == self.scenario.seed => vec![scenario.seed],
            _ => self.seeds.clone(),
        };
        Ok(Experiment { scenario, laws, seeds, ..self })
    }

    /// Makes a law of one's own known by its name, so that [`Experiment::laws`] and values can name it. A
    /// scenario that names it in its text is read with [`Experiment::load_using`].
    ///
    /// # Errors
    /// When the law's name is taken, or the law is wrong: see [`LawSet::register`].
    pub fn register<L: Named + ExternalLaw>(self) -> Result<Experiment, Error> {
        let mut laws = self.scenario.known_laws().clone();
        laws.register::<L>()?;
        let scenario = self.scenario.with_laws(&laws).map_err(Error::Scenario)?;
        Ok(Experiment { scenario, ..self })
    }

    /// The folder that all results go to: the page, `summary.json`, and a folder of Parquet files a run.
    /// Results replace earlier ones there, all or none.
    pub fn folder(self, folder: impl Into<PathBuf>) -> Experiment {
        Experiment { folder: Some(folder.into()), ..self }
    }

    /// Links whose packets are written to `packets.pcapng` in the folder of each run.
    pub fn capture<L: Into<String>>(self, links: impl IntoIterator<Item = L>) -> Experiment {
        Experiment { captured: links.into_iter().map(Into::into).collect(), ..self }
    }

    /// Asks, of each run, what bound a flow's rate at a time: `flow-1@12s`. [`Run::why`](crate::Run::why)
    /// has the answer.
    pub fn why(self, question: impl Into<String>) -> Experiment {
        Experiment { why: Some(question.into()), ..self }
    }

    /// Users of this machine that the scenario's programs may run as, where the scenario says so.
    ///
    /// # Errors
    /// When this machine has no such user.
    pub fn allow_users(self, names: &[String]) -> Result<Experiment, Error> {
        let users = Users::allowing(names)
            .map_err(|source| Error::Unable { world: World::Emulate, source })?;
        Ok(Experiment { users, ..self })
    }

    /// Keeps no samples in memory, as suits many runs of which only figures matter. Samples are then found
    /// in the files of [`Experiment::folder`] alone. Kept, a sample takes about 20 bytes.
    pub fn without_samples(self) -> Experiment {
        Experiment { keeps_samples: false, ..self }
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The users that programs may run as.
    pub fn users(&self) -> &Users {
        &self.users
    }

    /// Which runs it comes to. Nothing is run, written or asked of the kernel.
    ///
    /// # Errors
    /// When a law, link or flow that was asked for is none of the scenario's.
    pub fn plan(&self) -> Result<Planned<'_>, Error> {
        plan::plan(self, plan::Kernel::NotAsked)
    }

    /// Which runs it comes to, as far as this machine's kernel can carry them out: it may load modules for
    /// that.
    ///
    /// # Errors
    /// As [`Experiment::plan`].
    pub fn plan_here(&self) -> Result<Planned<'_>, Error> {
        plan::plan(self, plan::Kernel::Asked)
    }

    /// Runs it on all cores.
    ///
    /// # Errors
    /// When nothing can be run, or, as [`Error::Incomplete`], when some results are missing.
    pub fn run(&self) -> Result<Results, Error> {
        self.run_with(&())
    }

    /// Runs it on all cores while `listener` hears of it.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn run_with(&self, listener: &dyn Listener) -> Result<Results, Error> {
        self.plan_here()?.run(listener)
    }
}

/// Each value once, in the order of first appearance: a law given twice is one run, not two that write the
/// same files.
pub fn without_repeats<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut once: Vec<T> = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}
