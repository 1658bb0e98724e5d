//! A scenario that was read.

mod effective;
mod loader;
mod plan;
mod unheld;
mod users;
mod wrong;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratewire_laws::{LawFile, LawSet};
use ratewire_net::queue::DisciplineSet;
use ratewire_net::spec::LinkId;
use ratewire_sim::setup::Setup;
use ratewire_units::Duration;

use crate::context::NamedUser;
use crate::diagnostic::Diagnostic;
use crate::document::Item;
use crate::expect::Expectation;
use crate::laws::{LawBook, Uses};
use crate::network::outages::RandomOutages;
use crate::overrides;
use crate::traffic::Load;
use crate::traffic::starts::RandomStart;

pub use loader::Loader;
pub use plan::Plan;

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
    laws: Vec<String>,
    book: LawBook,
    /// Queue disciplines that the scenario may name.
    disciplines: DisciplineSet,
    uses: Uses,
    /// Users named for programs.
    users: Vec<NamedUser>,
    /// Flows that start at a random time.
    starts: Vec<RandomStart>,
    outages: Vec<RandomOutages>,
    /// The run without its laws, in which such flows start as early as they may.
    template: Setup,
    files: BTreeMap<String, Arc<str>>,
    folder: Option<PathBuf>,
    pub(crate) overrides: Vec<(String, String)>,
    /// The document with the overrides applied.
    pub(crate) document: Arc<Item>,
}

impl Scenario {
    /// Laws that the scenario may name.
    pub fn known_laws(&self) -> &LawSet {
        self.book.laws()
    }

    /// Queue disciplines that the scenario may name.
    pub fn known_disciplines(&self) -> &DisciplineSet {
        &self.disciplines
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
}
