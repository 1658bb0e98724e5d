//! An experiment: a scenario with chosen laws, seeds, values and worlds.

mod plan;
#[cfg(feature = "emulate")]
mod users;
#[cfg(not(feature = "emulate"))]
#[path = "no_users.rs"]
mod users;

use std::path::{Path, PathBuf};

use ratewire_laws::{ExternalLaw, LawSet, Named};
use ratewire_net::queue::{DisciplineSet, NamedDiscipline};
use ratewire_report::World;
use ratewire_report::compare::FigureName;
use ratewire_scenario::{Loader, Scenario, is_law_file};

pub use plan::Planned;
pub(crate) use plan::whole_name;

use crate::emulated::Users;
use crate::listen::{Cancel, Listener};
use crate::provenance::{ExperimentRecord, Provenance};
use crate::{Error, Results, law_files};

/// What a scenario may name without laws and disciplines of the program.
const IN_TREE: Loader<'static> =
    Loader { laws: &LawSet::in_tree(), disciplines: &DisciplineSet::in_tree() };

/// A scenario with chosen laws, seeds, values and worlds; running it gives [`Results`].
///
/// Settings return the experiment, so that calls can be chained. An experiment is a value: it can
/// be cloned, changed, and run any number of times.
///
/// Equal experiments give equal results, byte for byte, on any machine and any number of threads,
/// except in real time.
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
    figures: Vec<FigureName>,
    users: Users,
    keeps_samples: bool,
    command: Vec<String>,
}

impl Experiment {
    /// Reads the scenario in the file `path`; the files that it names are relative to its folder.
    ///
    /// # Errors
    /// All errors in the scenario.
    pub fn load(path: impl AsRef<Path>) -> Result<Experiment, Error> {
        Experiment::load_with(path, &[])
    }

    /// Reads the scenario in the file `path` with values set, all at once.
    ///
    /// The values are pairs of a key's path and a value, as in [`Experiment::set`].
    ///
    /// # Errors
    /// All errors in the scenario with these values.
    pub fn load_with(
        path: impl AsRef<Path>,
        values: &[(String, String)],
    ) -> Result<Experiment, Error> {
        Experiment::read(IN_TREE, path.as_ref(), values, false)
    }

    /// As [`Experiment::load_with`], for a scenario whose laws may be files: shared objects that it
    /// names by `law = "./mylaw.so"`, relative to its folder.
    ///
    /// Their code runs in this process, with all its rights. [`Experiment::load`] refuses such a
    /// scenario, because a scenario that is only simulated is harmless otherwise.
    ///
    /// # Errors
    /// All errors in the scenario with these values; an error if a file is no law.
    pub fn load_trusting(
        path: impl AsRef<Path>,
        values: &[(String, String)],
    ) -> Result<Experiment, Error> {
        Experiment::read(IN_TREE, path.as_ref(), values, true)
    }

    /// As [`Experiment::load_with`], after the laws of those of these names that are files: as
    /// [`Experiment::law_files`], for values that are about such laws.
    ///
    /// # Errors
    /// As [`Experiment::load_trusting`], if `trusts_laws`, else as [`Experiment::load_with`]; as
    /// [`Experiment::law_files`].
    pub fn load_after<L: AsRef<str>>(
        names: impl IntoIterator<Item = L>,
        path: impl AsRef<Path>,
        values: &[(String, String)],
        trusts_laws: bool,
    ) -> Result<Experiment, Error> {
        let mut laws = LawSet::default();
        law_files::add_all(&mut laws, Path::new(""), files_among(names))?;
        Experiment::read((&laws).into(), path.as_ref(), values, trusts_laws)
    }

    /// Reads the scenario in the file `path`, which may name what is `known`: the laws of a
    /// [`LawSet`], the queue disciplines of a [`DisciplineSet`](crate::queue::DisciplineSet), or
    /// those of a [`Loader`].
    ///
    /// The sets may contain a program's own laws and disciplines.
    ///
    /// # Errors
    /// All errors in the scenario.
    pub fn load_using<'a>(
        known: impl Into<Loader<'a>>,
        path: impl AsRef<Path>,
    ) -> Result<Experiment, Error> {
        Experiment::read(known.into(), path.as_ref(), &[], false)
    }

    /// Reads a scenario, after the laws whose files it names, if these are trusted.
    fn read(
        known: Loader<'_>,
        path: &Path,
        values: &[(String, String)],
        trusts_laws: bool,
    ) -> Result<Experiment, Error> {
        let mut laws = known.laws.clone();
        law_files::know_law_files(&mut laws, path, values);
        // A file that cannot be read is refused below.
        let text = ratewire_inputs::read(path).unwrap_or_default();
        let mut files = ratewire_scenario::law_files(&text, values);
        files.retain(|file| laws.find(file).is_none());
        // A file that only a value names is the caller's choice, not the scenario's.
        let of_scenario = ratewire_scenario::law_files(&text, &[]);
        if let Some(file) = files.iter().find(|file| !trusts_laws && of_scenario.contains(*file)) {
            return Err(Error::UntrustedLaw { file: file.clone(), scenario: path.to_path_buf() });
        }
        law_files::add_all(&mut laws, path.parent().unwrap_or(Path::new("")), files)?;
        let scenario = Loader { laws: &laws, ..known }.load(path, values)?;
        Ok(Experiment::of(scenario))
    }

    /// Reads a scenario from `text`; messages call it `name`. The scenario cannot name files.
    ///
    /// # Errors
    /// All errors in the scenario.
    pub fn parse(name: &str, text: &str) -> Result<Experiment, Error> {
        let no_files = |_: &str| {
            let why = "a scenario that is not read from a file has no folder to find files in";
            Err(std::io::Error::new(std::io::ErrorKind::NotFound, why))
        };
        let scenario = Scenario::parse(name, text, &no_files)?;
        Ok(Experiment::of(scenario))
    }

    /// An experiment with a given scenario: the scenario's laws and seed, simulated.
    pub fn of(scenario: Scenario) -> Experiment {
        Experiment {
            laws: scenario.laws(),
            seeds: vec![scenario.seed],
            scenario,
            worlds: vec![World::Simulate],
            folder: None,
            captured: Vec::new(),
            why: None,
            figures: Vec::new(),
            users: Users::default(),
            keeps_samples: true,
            command: Vec::new(),
        }
    }

    /// Laws or variants to run, in place of the scenario's own. A repeated name is run once.
    ///
    /// The file of a law stands for its name once [`Experiment::law_files`] has loaded it.
    pub fn laws<L: Into<String>>(self, laws: impl IntoIterator<Item = L>) -> Experiment {
        let known = self.scenario.known_laws();
        // A file of a law, and a short name, stand for the law's name.
        let name = |law: String| known.find(&law).map_or(law, |info| info.name.to_string());
        let laws = laws.into_iter().map(Into::into).map(name).collect();
        Experiment { laws: without_repeats(laws), ..self }
    }

    /// Loads those of these names that are files of laws, shared objects with a table as
    /// `ratewire_law.h` describes it. Relative names are of the working folder.
    ///
    /// Their code runs in this process, with all its rights. For a scenario that names such files
    /// itself, see [`Experiment::load_trusting`].
    ///
    /// # Errors
    /// An error if a file is no law, or has the name of another law.
    pub fn law_files<L: AsRef<str>>(
        self,
        names: impl IntoIterator<Item = L>,
    ) -> Result<Experiment, Error> {
        self.knowing(Path::new(""), files_among(names))
    }

    /// The experiment, whose scenario may name the laws of these files.
    fn knowing(
        self,
        folder: &Path,
        files: impl IntoIterator<Item = String>,
    ) -> Result<Experiment, Error> {
        let mut laws = self.scenario.known_laws().clone();
        let before = laws.files().len();
        law_files::add_all(&mut laws, folder, files)?;
        if laws.files().len() == before {
            return Ok(self);
        }
        let scenario = self.scenario.with_laws(&laws)?;
        Ok(Experiment { scenario, ..self })
    }

    /// Seeds for each law, in place of the scenario's own.
    pub fn seeds(self, seeds: impl IntoIterator<Item = u64>) -> Experiment {
        Experiment { seeds: without_repeats(seeds.into_iter().collect()), ..self }
    }

    /// Worlds for each law; the default is [`World::Simulate`].
    pub fn worlds(self, worlds: impl IntoIterator<Item = World>) -> Experiment {
        Experiment { worlds: without_repeats(worlds.into_iter().collect()), ..self }
    }

    /// Sets a value of the scenario: `bottleneck.rate` or `flow.2.start`, and a value with its
    /// unit.
    ///
    /// A value is TOML where it can be, or else text: `xcp` needs no quotes.
    ///
    /// # Errors
    /// An error if there is no such key, or if the scenario has errors with this value.
    pub fn set(self, key: &str, value: &str) -> Result<Experiment, Error> {
        let values = [(key.to_string(), value.to_string())];
        let files = ratewire_scenario::law_files(&self.scenario.source_text, &values);
        let folder = self.scenario.folder().to_path_buf();
        let this = self.knowing(&folder, files)?;
        this.set_known(&values)
    }

    fn set_known(self, values: &[(String, String)]) -> Result<Experiment, Error> {
        let scenario = self.scenario.with_overrides(values)?;
        let laws =
            if self.laws == self.scenario.laws() { scenario.laws() } else { self.laws.clone() };
        let seeds = match self.seeds[..] {
            [seed] if seed == self.scenario.seed => vec![scenario.seed],
            _ => self.seeds.clone(),
        };
        Ok(Experiment { scenario, laws, seeds, ..self })
    }

    /// Registers a law of the program, so that [`Experiment::laws`] and values can name it.
    ///
    /// A scenario that names the law in its text is read with [`Experiment::load_using`].
    ///
    /// # Errors
    /// An error if the law's name is taken, or the law is invalid: see [`LawSet::register`].
    pub fn register<L: Named + ExternalLaw>(self) -> Result<Experiment, Error> {
        let mut laws = self.scenario.known_laws().clone();
        laws.register::<L>()?;
        let scenario = self.scenario.with_laws(&laws)?;
        Ok(Experiment { scenario, ..self })
    }

    /// Registers a queue discipline of the program, so that values can name it.
    ///
    /// A scenario that names the discipline in its text is read with [`Experiment::load_using`].
    ///
    /// # Errors
    /// An error if the discipline's name is taken, or the discipline is invalid: see
    /// [`DisciplineSet::register`](crate::queue::DisciplineSet::register).
    pub fn register_discipline<D>(self) -> Result<Experiment, Error>
    where
        D: NamedDiscipline + Send + Sync + 'static,
    {
        let mut disciplines = self.scenario.known_disciplines().clone();
        disciplines.register::<D>()?;
        let scenario = self.scenario.with_disciplines(&disciplines)?;
        Ok(Experiment { scenario, ..self })
    }

    /// Folder for all results: the page, `summary.json`, and a folder of Parquet files for each
    /// run.
    ///
    /// The folder and its parents are created if they are missing. Results replace earlier ones
    /// there, all or none; [`own_folder`](crate::folder::own_folder) finds a folder without results
    /// of other experiments.
    pub fn folder(self, folder: impl Into<PathBuf>) -> Experiment {
        Experiment { folder: Some(folder.into()), ..self }
    }

    /// Command line that asks for the experiment, for `run.json` in the folder of each run.
    pub fn command<W: Into<String>>(self, words: impl IntoIterator<Item = W>) -> Experiment {
        Experiment { command: words.into_iter().map(Into::into).collect(), ..self }
    }

    /// Captures packets of these links in `packets.pcapng` in the folder of each run.
    pub fn capture<L: Into<String>>(self, links: impl IntoIterator<Item = L>) -> Experiment {
        Experiment { captured: links.into_iter().map(Into::into).collect(), ..self }
    }

    /// Asks each run what limited a flow's rate at a time: `flow-1@12s`.
    ///
    /// [`Run::why`](crate::Run::why) has the answer.
    pub fn why(self, question: impl Into<String>) -> Experiment {
        Experiment { why: Some(question.into()), ..self }
    }

    /// Asks for figures of links, flows and runs, in place of the usual ones: `queue/hop2`,
    /// `goodput/long`, `fct_p99`.
    ///
    /// Tables show these alone; pages and files have them before all others.
    pub fn figures(self, figures: impl IntoIterator<Item = FigureName>) -> Experiment {
        Experiment { figures: figures.into_iter().collect(), ..self }
    }

    /// Measures only a part of each run: `"5 s .. 30 s"`, `"5 s .."` up to its end, or `".. 30 s"`.
    ///
    /// Its ends must be multiples of the sampling interval, which the scenario chooses so if it
    /// does not give one. Of flows that complete, those that start in it count.
    ///
    /// # Errors
    /// An error if this is no such part of the run.
    pub fn during(self, part: &str) -> Result<Experiment, Error> {
        self.set("during", part)
    }

    /// Keeps no samples in memory, for many runs of which only figures matter.
    ///
    /// The samples are then only in the files of [`Experiment::folder`]. In memory a flow's sample
    /// takes about 30 bytes and a link's about 4 (measured: `scenarios/three-flows.toml` under
    /// XCP).
    pub fn without_samples(self) -> Experiment {
        Experiment { keeps_samples: false, ..self }
    }

    /// SHA-256 of all that determines the runs, in hexadecimal digits.
    ///
    /// Equal experiments have equal digests, whatever their files are called and whichever version
    /// of Ratewire runs them. Laws of a program count by name.
    pub fn digest(&self) -> String {
        self.record().digest
    }

    /// What makes the results: the digest, values that were set, and digests of files.
    pub fn record(&self) -> ExperimentRecord {
        let mut runs = Vec::new();
        for (law, world) in self.laws.iter().flat_map(|l| self.worlds.iter().map(move |w| (l, *w)))
        {
            let digest = |seed: &u64| Provenance::of(&self.scenario, law, *seed, world).digest;
            runs.extend(self.seeds.iter().map(digest));
        }
        ExperimentRecord::of(&self.scenario, runs.iter().map(String::as_str))
    }

    /// Figures that are asked for.
    pub(crate) fn figures_asked(&self) -> &[FigureName] {
        &self.figures
    }

    /// Laws, seeds and worlds.
    pub(crate) fn chosen(&self) -> (&[String], &[u64], &[World]) {
        (&self.laws, &self.seeds, &self.worlds)
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Plans the runs. Runs and writes nothing, and does not ask the kernel.
    ///
    /// # Errors
    /// An error if the scenario lacks a requested law, link or flow.
    pub fn plan(&self) -> Result<Planned<'_>, Error> {
        self.plan_unless(&Cancel::default())
    }

    /// As [`Experiment::plan`], until `cancel` is set: planning is given up before the next run.
    ///
    /// # Errors
    /// As [`Experiment::plan`]; [`Error::Stopped`] if `cancel` is set.
    pub fn plan_unless(&self, cancel: &Cancel) -> Result<Planned<'_>, Error> {
        plan::plan(self, plan::Kernel::NotAsked, cancel)
    }

    /// Plans the runs that this machine's kernel supports.
    ///
    /// The kernel may load modules for this.
    ///
    /// # Errors
    /// As [`Experiment::plan`].
    pub fn plan_here(&self) -> Result<Planned<'_>, Error> {
        plan::plan(self, plan::Kernel::Asked, &Cancel::default())
    }

    /// Runs the experiment on all cores.
    ///
    /// # Errors
    /// An error if nothing can be run; [`Error::Incomplete`] if some results are missing.
    pub fn run(&self) -> Result<Results, Error> {
        self.run_with(&())
    }

    /// Runs the experiment on all cores, with a listener.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn run_with(&self, listener: &dyn Listener) -> Result<Results, Error> {
        self.plan_here()?.run(listener)
    }
}

/// Those of these names of laws that are files.
fn files_among<L: AsRef<str>>(names: impl IntoIterator<Item = L>) -> Vec<String> {
    let names = names.into_iter().map(|name| name.as_ref().to_string());
    names.filter(|name| is_law_file(name)).collect()
}

/// Each value once, in the order of first appearance.
///
/// A law given twice is one run, not two runs that write the same files.
pub fn without_repeats<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut once: Vec<T> = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}
