//! A scenario, and how it becomes a run.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratewire_laws::LawSet;
use ratewire_net::spec::LinkId;
use ratewire_sim::setup::Setup;
use ratewire_units::{Bytes, Duration};

use crate::diagnostic::{Diagnostic, Severity, nearest};
use crate::expect::{Evaluator, Expectation};
use crate::ignored::GivenOption;
use crate::laws::LawBook;
use crate::loader::{IN_TREE, Loader, read_file};
use crate::traffic::Load;
use crate::users::NamedUser;
use crate::uses::Uses;
use crate::{ensemble, readers, trust, unheard, unmet};

/// A scenario that was read and checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called.
    pub name: String,
    /// What it shows.
    pub description: Option<String>,
    /// How long it simulates.
    pub duration: Duration,
    /// Seed of its random streams.
    pub seed: u64,
    /// What must come out.
    pub expectations: Vec<Expectation>,
    /// The text it was read from.
    pub source_text: String,
    /// The display name of its file.
    pub file: String,
    /// What is probably not meant.
    pub warnings: Vec<Diagnostic>,
    /// The link called `bottleneck`.
    pub bottleneck: Option<LinkId>,
    /// The slowest links that traffic crosses: worth showing where not all can be.
    pub slowest: Vec<LinkId>,
    /// By class of traffic: the load that was asked for, if one was.
    pub loads: Vec<Option<Load>>,
    pub(crate) laws: Vec<String>,
    pub(crate) book: LawBook,
    pub(crate) uses: Uses,
    /// The options it gives to laws.
    pub(crate) options: Vec<GivenOption>,
    /// The users that its programs are to run as, where it names them.
    pub(crate) users: Vec<NamedUser>,
    /// The run, all but its laws.
    pub(crate) template: Setup,
    pub(crate) files: BTreeMap<String, Arc<str>>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) overrides: Vec<(String, String)>,
}

/// A run, and how its laws are called.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The run.
    pub setup: Setup,
    /// By index into [`Setup::laws`]: the name of the law or variant.
    pub law_names: Vec<String>,
    /// The law of the run.
    pub law: String,
    /// What is probably not meant.
    pub warnings: Vec<Diagnostic>,
}

impl Plan {
    /// For senders that are the kernel's, which know of no weights.
    pub fn emulated(mut self) -> Plan {
        self.setup.weights.clear();
        self
    }
}

/// What reading gives beside the scenario's own fields.
pub(crate) struct Parts {
    pub name: String,
    pub description: Option<String>,
    pub duration: Duration,
    pub seed: u64,
    pub expectations: Vec<Expectation>,
    pub bottleneck: Option<LinkId>,
    pub slowest: Vec<LinkId>,
    pub loads: Vec<Option<Load>>,
    pub laws: Vec<String>,
    pub book: LawBook,
    pub uses: Uses,
    pub template: Setup,
}

impl Scenario {
    /// Reads the scenario in the file `path`; the files it names are relative to its folder.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the file.
    pub fn load(path: &Path) -> Result<Scenario, Vec<Diagnostic>> {
        Scenario::load_with(path, &[])
    }

    /// Reads the scenario in the file `path`, with values from the command line put in.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn load_with(
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Scenario, Vec<Diagnostic>> {
        IN_TREE.load(path, overrides)
    }

    /// Reads a scenario from `text`, called `name` in diagnostics; `loader` reads the files it names.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text.
    pub fn parse(
        name: &str,
        text: &str,
        loader: &dyn Fn(&str) -> io::Result<String>,
    ) -> Result<Scenario, Vec<Diagnostic>> {
        IN_TREE.parse(name, text, loader)
    }

    /// The same scenario with values put in: pairs of a path such as `bottleneck.rate` or
    /// `flow.2.start` and a value. A value is TOML where it can be, else text: `xcp` needs no quotes.
    ///
    /// # Errors
    /// As [`Scenario::load`], with the values shown where they are wrong.
    pub fn with_overrides(
        &self,
        overrides: &[(String, String)],
    ) -> Result<Scenario, Vec<Diagnostic>> {
        let all: Vec<(String, String)> = self.overrides.iter().chain(overrides).cloned().collect();
        self.read_again(self.book.laws(), &all)
    }

    /// The same scenario, which may name the laws of `laws` from here on.
    ///
    /// # Errors
    /// As [`Scenario::load`]: a variant may have the name of a law that is new.
    pub fn with_laws(&self, laws: &LawSet) -> Result<Scenario, Vec<Diagnostic>> {
        self.read_again(laws, &self.overrides)
    }

    /// The laws that the scenario may name.
    pub fn known_laws(&self) -> &LawSet {
        self.book.laws()
    }

    fn read_again(
        &self,
        laws: &LawSet,
        overrides: &[(String, String)],
    ) -> Result<Scenario, Vec<Diagnostic>> {
        let read_file = |name: &str| match &self.folder {
            Some(folder) => read_file(folder, name),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "the scenario has no folder")),
        };
        let (file, text, files) = (&self.file, &self.source_text, self.files.clone());
        let mut scenario = Loader { laws }.read(file, text, overrides, &read_file, files)?;
        scenario.folder.clone_from(&self.folder);
        Ok(scenario)
    }

    /// Whether any link is paused when what it fills has no room.
    pub fn has_pauses(&self) -> bool {
        self.template.network.links.iter().any(|link| link.pause.is_some())
    }

    /// Whether it runs programs, where it is emulated.
    pub fn has_programs(&self) -> bool {
        !self.template.programs.is_empty()
    }

    /// The laws it is to run under, one after the other.
    pub fn laws(&self) -> Vec<String> {
        self.laws.clone()
    }

    /// The names of its links.
    pub fn links(&self) -> impl Iterator<Item = String> {
        self.template.network.links.iter().map(|link| link.name.clone())
    }

    /// Whether there is a law or variant called `law`, which the command line gives by `option`.
    ///
    /// # Errors
    /// That there is none; no place of the scenario's file is to blame.
    pub fn check_law(&self, law: &str, option: &str) -> Result<(), Box<Diagnostic>> {
        if self.book.info(law).is_some() {
            return Ok(());
        }
        let message = match law {
            "" => "a law's name is missing".to_string(),
            _ => format!("no law or variant is called {law:?}"),
        };
        let names = self.book.names();
        Err(Box::new(Diagnostic {
            help: Some(format!("known: {}", names.join(", "))),
            nearest: nearest(law, names.iter().copied()),
            ..Diagnostic::general(option, message)
        }))
    }

    /// What to simulate, under `law` in place of the scenario's own, from `seed` in place of its own.
    ///
    /// # Errors
    /// When there is no such law or variant, or its options do not fit it.
    pub fn setup(&self, law: Option<&str>, seed: Option<u64>) -> Result<Setup, Vec<Diagnostic>> {
        self.plan(law, seed).map(|plan| plan.setup)
    }

    /// As [`Scenario::setup`], with the names of the laws and what is probably not meant.
    ///
    /// # Errors
    /// As [`Scenario::setup`].
    pub fn plan(&self, law: Option<&str>, seed: Option<u64>) -> Result<Plan, Vec<Diagnostic>> {
        let law = law.unwrap_or(&self.laws[0]);
        let refuse = |message: String, help: Option<String>| {
            vec![Diagnostic { help, ..Diagnostic::general(&self.file, message) }]
        };
        self.check_law(law, "--law").map_err(|wrong| vec![*wrong])?;
        let made = self
            .uses
            .make(&self.book, law)
            .map_err(|e| refuse(format!("options of {law}: {e}"), None))?;
        let mut setup = self.template.clone();
        setup.seed = seed.unwrap_or(self.seed);
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
        unheard::check(&self.file, &setup, &made, &mut warnings);
        warnings.extend(unmet::unmarked(&self.file, &setup, &made));
        warnings.extend(unmet::unreached(&self.file, &setup, &made, &self.slowest));
        let law_names = made.iter().map(|made| made.name.clone()).collect();
        setup.laws = made.into_iter().map(|made| made.law).collect();
        setup.weights =
            setup.flows.iter().map(|flow| setup.laws[flow.law].properties().weight).collect();
        Ok(Plan { setup, law_names, law: law.to_string(), warnings })
    }

    /// Warns of what does nothing, or harm, in a run of `plan` that is simulated.
    pub fn vain_when_simulated(&self, plan: &Plan) -> Vec<Diagnostic> {
        let (file, setup) = (&self.file, &plan.setup);
        let all = [
            unheard::silent(file, setup),
            readers::check(file, setup),
            unmet::unhindered(file, setup),
        ];
        all.into_iter().flatten().collect()
    }

    /// What holds a run of `plan` against the expectations.
    pub fn evaluator(&self, plan: &Plan) -> Evaluator {
        Evaluator::new(&self.expectations, &plan.setup, &plan.law)
    }
}
