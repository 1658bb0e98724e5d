//! Papers as data: a folder of scenarios, and a file that assigns each to a figure and describes
//! the plots.

mod choose;
mod draw;
mod kept;
mod mutations;
mod simulate;

use std::path::{Path, PathBuf};

use ratewire_report::Plot;
use ratewire_scenario::{Diagnostic, Expectation, Scenario, ScenarioError};
use serde::Deserialize;

use crate::Error;

pub use choose::choose;
pub use draw::draw;
pub use kept::KeptRuns;
pub use mutations::{Mutant, MutantClaim, MutantResult, Mutation};
pub use simulate::simulate;

/// A name in the file, with its place.
pub type Name = toml::Spanned<String>;

/// Name of the file.
pub const PAPER: &str = "paper.toml";

/// A paper as described by its file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Name of the folder, which is the name on the command line.
    #[serde(skip)]
    pub name: String,
    /// Folder of its scenarios.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Text of its file.
    #[serde(skip)]
    text: String,
    /// Title of the paper.
    pub title: String,
    /// Authors, and place of publication.
    pub authors: String,
    /// Claims of the paper, in a paragraph.
    pub summary: String,
    /// Figures and experiments, in the order of the page.
    #[serde(rename = "figure")]
    pub figures: Vec<PaperFigure>,
    /// Constants that `ratewire reproduce --mutate` breaks, in figures without their own.
    #[serde(default, rename = "mutation")]
    pub mutations: Vec<Mutation>,
}

/// A figure or an experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperFigure {
    /// Number in the paper: `Figure 8`.
    pub id: String,
    /// Subject of the figure, in a few words.
    pub title: String,
    /// Caption for the page: what the runs show.
    pub caption: String,
    /// Differences between runs and paper, and their reasons.
    pub note: Option<String>,
    /// Differences between emulated runs and the claims, and their causes.
    pub emulated_note: Option<String>,
    /// File names of the scenarios.
    pub scenarios: Vec<String>,
    /// Plots over time.
    #[serde(default)]
    pub plots: Vec<Plot>,
    /// Scenarios that have `plots`; all if empty.
    #[serde(default)]
    pub drawn: Vec<String>,
    /// Laws that have `plots`; all if empty.
    #[serde(default)]
    pub laws: Vec<Name>,
    /// Links that have `plots`; the bottlenecks if empty.
    #[serde(default)]
    pub links: Vec<Name>,
    /// Whether each law has its own plots.
    #[serde(default)]
    pub apart: bool,
    /// Plot over a parameter, if there is one.
    pub sweep: Option<Sweep>,
    /// What emulated runs have in place of the scenarios' own values.
    #[serde(default)]
    pub emulated: Vec<EmulatedValues>,
    /// Constants that `ratewire reproduce --mutate` breaks, in place of the paper's.
    #[serde(default, rename = "mutation")]
    pub mutations: Vec<Mutation>,
}

/// Values that emulated runs of a figure have, because a machine cannot carry the scenario's rates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulatedValues {
    /// Scenarios that have the values; all of the figure if empty.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// Values as of `--set`: `bottleneck.rate=100 Mbit/s`.
    pub set: Vec<String>,
    /// Why they are others.
    pub why: String,
}

impl EmulatedValues {
    fn is_of(&self, file: &str) -> bool {
        self.scenarios.is_empty() || self.scenarios.iter().any(|own| own == file)
    }
}

impl PaperFigure {
    /// The scenario as emulated runs have it. `file` is its name in [`PaperFigure::scenarios`].
    ///
    /// # Errors
    /// As [`Scenario::with_overrides`].
    pub fn emulated(&self, file: &str, scenario: &Scenario) -> Result<Scenario, ScenarioError> {
        let own = self.emulated.iter().filter(|values| values.is_of(file));
        let pairs = own.flat_map(|values| &values.set).filter_map(|pair| pair.split_once('='));
        let pairs = pairs.map(|(key, value)| (key.trim().to_string(), value.trim().to_string()));
        scenario.with_overrides(&pairs.collect::<Vec<_>>())
    }

    /// Name on the command line: `Figure 5, left` is figure-5-left.
    pub fn handle(&self) -> String {
        handle(&self.id)
    }

    /// Whether `name` is the figure's name or its beginning: figure-5, or 5, matches each part of
    /// figure 5.
    pub fn is_called(&self, name: &str) -> bool {
        let (own, name) = (self.handle() + "-", handle(name) + "-");
        own.starts_with(&name) || own.starts_with(&format!("figure-{name}"))
    }

    /// Whether `name` is one of several figures here: figure-23 of `Figures 22 to 24`, 4 of
    /// `Figures 4, 5`.
    pub fn contains(&self, name: &str) -> bool {
        let (own, name) = (self.handle(), handle(name));
        let number = name.strip_prefix("figure-").unwrap_or(&name).parse::<u32>();
        let (Some(own), Ok(number)) = (own.strip_prefix("figures-"), number) else { return false };
        let numbers: Vec<u32> = own.split('-').filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [first, last] if own.contains("-to-") => (first..=last).contains(&number),
            _ => numbers.contains(&number),
        }
    }
}

/// The words of letters and digits, joined by `-`.
fn handle(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    words.join("-")
}

/// A plot over a parameter, with points measured by expectations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Name of the parameter, with its unit.
    pub over: String,
    /// Values of the parameter: one for each scenario, or for each of `of`.
    pub values: Vec<f64>,
    /// Plotted metrics: `utilisation`, or `throughput of r2->d1` for one target.
    pub metrics: Vec<Name>,
    /// Flows or links that differ in the parameter, if each scenario has all of them.
    #[serde(default)]
    pub of: Vec<Name>,
    #[serde(default)]
    /// Whether the parameter's axis is logarithmic.
    pub logarithmic: bool,
}

impl PaperFigure {
    /// Whether a scenario has `plots`.
    pub fn draws(&self, scenario: &str) -> bool {
        !self.plots.is_empty()
            && (self.drawn.is_empty() || self.drawn.iter().any(|s| s == scenario))
    }
    /// Whether a law has `plots`.
    pub fn draws_law(&self, law: &str) -> bool {
        self.laws.is_empty() || self.laws.iter().any(|l| l.get_ref() == law)
    }
}

/// Reads the papers in a folder, in the order of their names.
///
/// # Errors
/// An error if the folder cannot be read, has no paper, or if a paper's file has errors.
pub fn read_all(folder: &Path) -> Result<Vec<Paper>, Error> {
    let entries = std::fs::read_dir(folder)
        .map_err(|source| Error::Read { path: folder.to_path_buf(), source })?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.join(PAPER).is_file());
    folders.sort();
    if folders.is_empty() {
        return Err(Error::Papers(format!("no folder in {} has a {PAPER}", folder.display())));
    }
    folders.iter().map(|folder| read(folder)).collect()
}

fn read(folder: &Path) -> Result<Paper, Error> {
    let file = folder.join(PAPER);
    let wrong = |what: String| Error::Papers(format!("{}: {what}", file.display()));
    let text =
        ratewire_inputs::read(&file).map_err(|e| wrong(format!("{}; {}", e.found, e.remedy)))?;
    let mut paper: Paper = toml::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    paper.name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paper.folder = folder.to_path_buf();
    paper.text = text;
    check(&paper).map_err(wrong)?;
    Ok(paper)
}

/// Checks that each scenario is in exactly one figure; otherwise a claim would count twice or
/// never.
fn check(paper: &Paper) -> Result<(), String> {
    let mut named: Vec<&String> = Vec::new();
    for figure in &paper.figures {
        for scenario in &figure.scenarios {
            if named.contains(&scenario) {
                return Err(format!("{scenario} is in two figures"));
            }
            if !paper.folder.join(scenario).is_file() {
                return Err(format!("{}: there is no {scenario}", figure.id));
            }
            named.push(scenario);
        }
        if let Some(drawn) = figure.drawn.iter().find(|s| !figure.scenarios.contains(s)) {
            return Err(format!("{}: {drawn} is drawn, but not among its scenarios", figure.id));
        }
        for values in &figure.emulated {
            if let Some(other) = values.scenarios.iter().find(|s| !figure.scenarios.contains(s)) {
                return Err(format!("{}: {other} is not among its scenarios", figure.id));
            }
            if let Some(other) = values.set.iter().find(|pair| !pair.contains('=')) {
                return Err(format!("{}: {other:?} is not KEY=VALUE", figure.id));
            }
        }
        let Some(sweep) = &figure.sweep else { continue };
        let points = if sweep.of.is_empty() { figure.scenarios.len() } else { sweep.of.len() };
        let values = sweep.values.len();
        if points != values {
            return Err(format!("{}: a sweep over {points} has {values} values", figure.id));
        }
    }
    let files = std::fs::read_dir(&paper.folder).map_err(|e| e.to_string())?;
    for file in files.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        if file.ends_with(".toml") && file != PAPER && !named.contains(&&file) {
            return Err(format!("{file} is in no figure"));
        }
    }
    Ok(())
}

impl Paper {
    /// Names in figures that their scenarios do not have, and that would silently draw nothing.
    ///
    /// `loaded` are the scenarios, figure by figure.
    pub fn unknown_names(&self, loaded: &[Vec<Scenario>]) -> Vec<Diagnostic> {
        let figures = self.figures.iter().zip(loaded);
        figures.flat_map(|(figure, scenarios)| self.unknown_in(figure, scenarios)).collect()
    }

    fn unknown_in(&self, figure: &PaperFigure, scenarios: &[Scenario]) -> Vec<Diagnostic> {
        let laws: Vec<String> = scenarios.iter().flat_map(Scenario::laws).collect();
        let drawn = figure.scenarios.iter().zip(scenarios).filter(|(file, _)| figure.draws(file));
        let links = drawn.flat_map(|(_, scenario)| scenario.links()).collect();
        let mut wrong = self.unknown("law", "scenario of this figure", &figure.laws, laws);
        wrong.extend(self.unknown("link", "scenario drawn here", &figure.links, links));
        let Some(sweep) = &figure.sweep else { return wrong };
        let (mut metrics, mut exact, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        let is_drawn =
            |e: &&Expectation| e.laws.is_empty() || e.laws.iter().any(|law| figure.draws_law(law));
        for expectation in scenarios.iter().flat_map(|s| &s.expectations).filter(is_drawn) {
            let (metric, target) = (expectation.metric, &expectation.target);
            metrics.push(metric.to_string());
            exact.push(format!("{metric} of {target}"));
            if sweep.metrics.iter().any(|m| is_metric(m.get_ref(), metric, target)) {
                targets.push(target.clone());
            }
        }
        let place = "expectation that this figure draws";
        let (with_target, alone): (Vec<Name>, Vec<Name>) =
            sweep.metrics.iter().cloned().partition(|name| name.get_ref().contains(" of "));
        wrong.extend(self.unknown("metric", place, &alone, metrics));
        wrong.extend(self.unknown("metric", place, &with_target, exact));
        wrong.extend(self.unknown("target", place, &sweep.of, targets));
        wrong
    }

    fn unknown(
        &self,
        what: &str,
        place: &str,
        names: &[Name],
        mut known: Vec<String>,
    ) -> Vec<Diagnostic> {
        known.sort();
        known.dedup();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let file = self.folder.join(PAPER).display().to_string();
        let missing = names.iter().filter(|name| !known.contains(&name.get_ref().as_str()));
        let wrong = missing.map(|name| {
            let message = format!("no {place} has the {what} {:?}", name.get_ref());
            Diagnostic::about(&file, &self.text, name.span(), message)
                .knowing(name.get_ref(), &known)
        });
        wrong.collect()
    }
}

/// Whether a sweep's `name` is a metric, or a metric of this target.
pub fn is_metric(name: &str, metric: &str, target: &str) -> bool {
    name == metric || name.strip_prefix(metric).and_then(|n| n.strip_prefix(" of ")) == Some(target)
}
