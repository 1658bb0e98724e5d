//! A scenario, and how it becomes a run.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratewire_config::nearest;
use ratewire_laws::{LawFile, LawSet};
use ratewire_net::queue::DisciplineSet;
use ratewire_net::spec::LinkId;
use ratewire_sim::setup::Setup;
use ratewire_units::{Bytes, Duration};

use crate::diagnostic::{Diagnostic, Severity};
use crate::document::{Item, Value};
use crate::error::ScenarioError;
use crate::expect::{Evaluator, Expectation};
use crate::ignored::GivenOption;
use crate::laws::LawBook;
use crate::loader::{IN_TREE, Loader, read_file};
use crate::traffic::Load;
use crate::traffic::starts::{self, RandomStart};
use crate::users::NamedUser;
use crate::uses::Uses;
use crate::{effective, ensemble, missing_ports, overrides, phases, readers, requirements, trust};

/// A scenario that was read and checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name of the scenario.
    pub name: String,
    /// What the scenario shows.
    pub description: Option<String>,
    /// Simulated duration.
    pub duration: Duration,
    /// Seed of the random streams.
    pub seed: u64,
    /// Expectations that runs are checked against.
    pub expectations: Vec<Expectation>,
    /// Text that the scenario was read from.
    pub source_text: String,
    /// Display name of the file.
    pub file: String,
    /// Warnings found while reading.
    pub warnings: Vec<Diagnostic>,
    /// The link called `bottleneck`.
    pub bottleneck: Option<LinkId>,
    /// Slowest links that traffic crosses, to be shown where not all links can be.
    pub slowest: Vec<LinkId>,
    /// The link at which the rates of flows are sampled.
    pub rates_at: Option<LinkId>,
    /// Requested load of each class of traffic, if it has one.
    pub loads: Vec<Option<Load>>,
    pub(crate) laws: Vec<String>,
    pub(crate) book: LawBook,
    /// Queue disciplines that the scenario may name.
    pub(crate) disciplines: DisciplineSet,
    pub(crate) uses: Uses,
    /// Options given to laws.
    pub(crate) options: Vec<GivenOption>,
    /// Users named for programs.
    pub(crate) users: Vec<NamedUser>,
    /// Flows that start at a random time.
    pub(crate) starts: Vec<RandomStart>,
    /// The run without its laws, in which such flows start as early as they may.
    pub(crate) template: Setup,
    pub(crate) files: BTreeMap<String, Arc<str>>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) overrides: Vec<(String, String)>,
    /// The document with the overrides applied.
    pub(crate) document: Arc<Item>,
}

/// A run, and the names of its laws.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The run.
    pub setup: Setup,
    /// Name of the law or variant, by index into [`Setup::laws`].
    pub law_names: Vec<String>,
    /// The law of the run.
    pub law: String,
    /// Warnings about the run.
    pub warnings: Vec<Diagnostic>,
}

impl Plan {
    /// Adapts the plan to kernel senders, which have no weights.
    pub fn emulated(mut self) -> Plan {
        self.setup.weights.clear();
        self
    }
}

/// Results of reading, beside the fields that a scenario gets from its text.
pub(crate) struct Parts {
    pub name: String,
    pub description: Option<String>,
    pub duration: Duration,
    pub seed: u64,
    pub expectations: Vec<Expectation>,
    pub bottleneck: Option<LinkId>,
    pub slowest: Vec<LinkId>,
    pub rates_at: Option<LinkId>,
    pub loads: Vec<Option<Load>>,
    pub laws: Vec<String>,
    pub book: LawBook,
    pub uses: Uses,
    pub starts: Vec<RandomStart>,
    pub template: Setup,
}

impl Scenario {
    /// Reads the scenario in the file `path`; files that it names are relative to its folder.
    ///
    /// # Errors
    /// All errors in the scenario, in the order of the file.
    pub fn load(path: &Path) -> Result<Scenario, ScenarioError> {
        Scenario::load_with(path, &[])
    }

    /// Reads the scenario in the file `path`, with values set as in [`Scenario::with_overrides`].
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn load_with(
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        IN_TREE.load(path, overrides)
    }

    /// Reads a scenario from `text`; diagnostics call it `name`, and `loader` reads its files.
    ///
    /// # Errors
    /// All errors in the scenario, in the order of the text.
    pub fn parse(
        name: &str,
        text: &str,
        loader: &dyn Fn(&str) -> io::Result<String>,
    ) -> Result<Scenario, ScenarioError> {
        IN_TREE.parse(name, text, loader)
    }

    /// The scenario with values applied: pairs of a path and a value.
    ///
    /// A path is for example `bottleneck.rate` or `flow.2.start`. A value is TOML where it can be,
    /// or else text: `xcp` needs no quotes.
    ///
    /// # Errors
    /// As for [`Scenario::load`]; errors in the values show the values.
    pub fn with_overrides(
        &self,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        let all: Vec<(String, String)> = self.overrides.iter().chain(overrides).cloned().collect();
        self.read_again(self.known(), &all)
    }

    /// The scenario with these values in place of all that were set before.
    ///
    /// # Errors
    /// As for [`Scenario::with_overrides`].
    pub fn with_values(&self, values: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        self.read_again(self.known(), values)
    }

    /// The scenario, read again with `laws` as the laws that it may name.
    ///
    /// # Errors
    /// As for [`Scenario::load`]: a variant may have the name of a new law.
    pub fn with_laws(&self, laws: &LawSet) -> Result<Scenario, ScenarioError> {
        self.read_again(Loader { laws, ..self.known() }, &self.overrides)
    }

    /// The scenario, read again with `disciplines` as the queue disciplines that it may name.
    ///
    /// # Errors
    /// As for [`Scenario::load`].
    pub fn with_disciplines(&self, disciplines: &DisciplineSet) -> Result<Scenario, ScenarioError> {
        self.read_again(Loader { disciplines, ..self.known() }, &self.overrides)
    }

    /// Laws that the scenario may name.
    pub fn known_laws(&self) -> &LawSet {
        self.book.laws()
    }

    /// Queue disciplines that the scenario may name.
    pub fn known_disciplines(&self) -> &DisciplineSet {
        &self.disciplines
    }

    fn known(&self) -> Loader<'_> {
        Loader { laws: self.book.laws(), disciplines: &self.disciplines }
    }

    fn read_again(
        &self,
        loader: Loader<'_>,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        let read_file = |name: &str| match &self.folder {
            Some(folder) => read_file(folder, name),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "the scenario has no folder")),
        };
        let (file, text, files) = (&self.file, &self.source_text, self.files.clone());
        let mut scenario = loader.read(file, text, overrides, &read_file, files)?;
        scenario.folder.clone_from(&self.folder);
        Ok(scenario)
    }

    /// Values set in place of the scenario's own: pairs of a path and a value.
    ///
    /// Of values for one path only the last is listed, because it replaces the others.
    pub fn values(&self) -> Vec<(String, String)> {
        let paths: Vec<_> =
            self.overrides.iter().map(|(path, _)| overrides::whole_path(path)).collect();
        let is_last = |at: &usize| !paths[at + 1..].contains(&paths[*at]);
        (0..paths.len()).filter(is_last).map(|at| self.overrides[at].clone()).collect()
    }

    /// Files that the scenario names: each name as the scenario has it, and the file's text.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(name, text)| (name.as_str(), text.as_ref()))
    }

    /// The scenario that a run takes, as TOML: with values set, and one law and seed.
    ///
    /// Read from the scenario's folder, the text gives an equal [`Setup`]. Comments are not kept.
    pub fn effective(&self, law: &str, seed: u64) -> String {
        self.text_with(self.written(law), seed)
    }

    /// As [`Scenario::effective`], with the law's name wherever its file is, so that equal runs
    /// have equal texts.
    pub fn effective_by_name(&self, law: &str, seed: u64) -> String {
        self.text_with(law, seed)
    }

    fn text_with(&self, law: &str, seed: u64) -> String {
        let mut root = Item::clone(&self.document);
        effective::put(&mut root, "seed", Value::Integer(seed.into()));
        effective::put(&mut root, "law", Value::Text(law.to_string()));
        effective::text(&root)
    }

    /// The files of laws that the scenario knows, each law once.
    pub fn law_files(&self) -> impl Iterator<Item = &LawFile> {
        let files = self.known_laws().files();
        let is_first = |at: &usize| !files[..*at].iter().any(|file| file.law == files[*at].law);
        (0..files.len()).filter(is_first).map(|at| &files[at])
    }

    /// The folder that files which the scenario names are relative to; empty without a file.
    pub fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new(""))
    }

    /// A law as a scenario or a command line names it: by its file, if it comes from one.
    pub fn written<'a>(&'a self, law: &'a str) -> &'a str {
        let mut files = self.known_laws().files().iter();
        files.find(|file| file.law == law).map_or(law, |file| &file.path)
    }

    /// The scenario with values set and these laws, as TOML: the file that a run of these laws
    /// needs no further values for.
    ///
    /// The text is to be read from the scenario's folder. Comments are not kept.
    pub fn effective_for(&self, laws: &[String]) -> String {
        let mut root = Item::clone(&self.document);
        let text = |law: &String| Value::Text(self.written(law).to_string());
        let law = |law: &String| Item { value: text(law), span: root.span };
        let all = match laws {
            [one] => text(one),
            several => Value::List(several.iter().map(law).collect()),
        };
        effective::put(&mut root, "law", all);
        effective::text(&root)
    }

    /// Names that may stand for a law: laws, then the scenario's variants.
    pub fn law_names(&self) -> Vec<String> {
        self.book.names().iter().map(ToString::to_string).collect()
    }

    /// Whether any link is paused while its far end has no room.
    pub fn has_pauses(&self) -> bool {
        self.template.network.links.iter().any(|link| link.pause.is_some())
    }

    /// Whether an emulated run starts programs.
    pub fn has_programs(&self) -> bool {
        !self.template.programs.is_empty()
    }

    /// Names of the laws to run, in order.
    pub fn laws(&self) -> Vec<String> {
        self.laws.clone()
    }

    /// Names of the links.
    pub fn links(&self) -> impl Iterator<Item = String> {
        self.template.network.links.iter().map(|link| link.name.clone())
    }

    /// Checks that `law` is a law or variant.
    ///
    /// # Errors
    /// An error without a place in the file if there is no such law or variant.
    pub fn check_law(&self, law: &str) -> Result<(), ScenarioError> {
        if self.book.info(law).is_some() {
            return Ok(());
        }
        let message = match law {
            "" => "a law's name is missing".to_string(),
            _ => format!("no law or variant is called {law:?}"),
        };
        let names = self.book.names();
        Err(ScenarioError::from(Diagnostic {
            help: Some(format!("known: {}", names.join(", "))),
            nearest: nearest(law, names.iter().copied()),
            ..Diagnostic::of_setting("law", message)
        }))
    }

    /// Setup of a run; `law` and `seed`, if given, replace the scenario's own.
    ///
    /// # Errors
    /// An error if there is no such law or variant, or if its options do not fit.
    pub fn setup(&self, law: Option<&str>, seed: Option<u64>) -> Result<Setup, ScenarioError> {
        self.plan(law, seed).map(|plan| plan.setup)
    }

    /// As [`Scenario::setup`], with the names of the laws and the warnings.
    ///
    /// # Errors
    /// As [`Scenario::setup`].
    pub fn plan(&self, law: Option<&str>, seed: Option<u64>) -> Result<Plan, ScenarioError> {
        let law = law.unwrap_or(&self.laws[0]);
        let refuse = |message: String, help: Option<String>| {
            ScenarioError::from(Diagnostic { help, ..Diagnostic::general(&self.file, message) })
        };
        self.check_law(law)?;
        let made = self
            .uses
            .make(&self.book, law)
            .map_err(|e| refuse(format!("options of {law}: {e}"), None))?;
        let mut setup = self.template.clone();
        setup.seed = seed.unwrap_or(self.seed);
        starts::draw(&self.starts, &mut setup);
        if let Some((message, help)) = ensemble::refuse(&setup, &made, self.book.laws()) {
            return Err(refuse(message, Some(help)));
        }
        let mut warnings = Vec::new();
        for one in &made {
            for option in &one.left_out {
                let message = format!("{} has no option `{option}`: it is left out", one.name);
                let mut warning = Diagnostic::general(&self.file, message);
                warning.severity = Severity::Warning;
                warnings.push(warning);
            }
        }
        let flows = setup.flows.iter().map(|flow| (&flow.name, flow.law, &flow.transport));
        let classes = setup.traffic.iter().map(|class| (&class.name, class.law, &class.transport));
        for (name, law, transport) in flows.chain(classes) {
            let header = made.get(law).map_or(Bytes::ZERO, |made| made.law.header_len());
            if transport.packet <= transport.headers + header {
                let message = format!(
                    "packets of {} leave {name:?} no payload: {} are headers, {header} the \
                     congestion header of {}",
                    transport.packet, transport.headers, made[law].name
                );
                return Err(refuse(message, Some("use larger packets".to_string())));
            }
        }
        trust::check(&self.file, &setup, &made, &mut warnings);
        missing_ports::check(&self.file, &setup, &made, &mut warnings);
        warnings.extend(requirements::unmarked(&self.file, &setup, &made));
        warnings.extend(requirements::unreached(&self.file, &setup, &made, &self.slowest));
        let law_names = made.iter().map(|made| made.name.clone()).collect();
        setup.told_laws = made.iter().map(|made| made.told.clone()).collect();
        setup.laws = made.into_iter().map(|made| made.law).collect();
        setup.weights =
            setup.flows.iter().map(|flow| setup.laws[flow.law].properties().weight).collect();
        Ok(Plan { setup, law_names, law: law.to_string(), warnings })
    }

    /// Warns of settings that do nothing, or harm, in a simulated run of `plan`.
    pub fn vain_when_simulated(&self, plan: &Plan) -> Vec<Diagnostic> {
        let (file, setup) = (&self.file, &plan.setup);
        let all = [
            missing_ports::silent(file, setup),
            readers::check(file, setup),
            requirements::unhindered(file, setup),
            phases::check(file, setup),
        ];
        all.into_iter().flatten().collect()
    }

    /// The evaluator that checks a run of `plan` against the expectations.
    pub fn evaluator(&self, plan: &Plan) -> Evaluator {
        Evaluator::new(&self.expectations, &plan.setup, &plan.law)
    }
}
