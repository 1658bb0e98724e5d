//! Papers as data: a folder of scenarios, and a file that says which figure each belongs to and
//! what the figure plots.

mod choose;
mod draw;

use std::path::{Path, PathBuf};

use ratewire_report::Plot;
use ratewire_scenario::{Diagnostic, Expectation, Scenario};
use serde::Deserialize;

use crate::Error;

pub use choose::choose;
pub use draw::draw;

/// A name in the file, and where it stands.
pub type Name = toml::Spanned<String>;

/// What the file is called.
pub const PAPER: &str = "paper.toml";

/// A paper, as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The folder's name, which is what one calls it.
    #[serde(skip)]
    pub name: String,
    /// The folder that its scenarios are in.
    #[serde(skip)]
    pub folder: PathBuf,
    /// What its file says.
    #[serde(skip)]
    text: String,
    /// Its title.
    pub title: String,
    /// Who wrote it, and where it appeared.
    pub authors: String,
    /// What it claims, in a paragraph.
    pub summary: String,
    /// Its figures and experiments, in the order of the page.
    #[serde(rename = "figure")]
    pub figures: Vec<Figure>,
}

/// A figure or an experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// `Figure 8`.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// What the runs show, for the page.
    pub caption: String,
    /// Where runs and paper differ, and why.
    pub note: Option<String>,
    /// The names of its scenarios' files.
    pub scenarios: Vec<String>,
    /// What is drawn over time.
    #[serde(default)]
    pub plots: Vec<Plot>,
    /// The scenarios that `plots` are drawn of; all if empty.
    #[serde(default)]
    pub drawn: Vec<String>,
    /// The laws that `plots` are drawn of; all if empty.
    #[serde(default)]
    pub laws: Vec<Name>,
    /// The links that `plots` are drawn of; the bottlenecks if empty.
    #[serde(default)]
    pub links: Vec<Name>,
    /// Whether each law has plots of its own.
    #[serde(default)]
    pub apart: bool,
    /// What is drawn over a parameter, if anything.
    pub sweep: Option<Sweep>,
}

impl Figure {
    /// How one calls it on the command line: `Figure 5, left` is figure-5-left.
    pub fn handle(&self) -> String {
        handle(&self.id)
    }

    /// Whether this is a name of it, or the beginning of one: figure-5, or 5, is each part of figure 5.
    pub fn is_called(&self, name: &str) -> bool {
        let (own, name) = (self.handle() + "-", handle(name) + "-");
        own.starts_with(&name) || own.starts_with(&format!("figure-{name}"))
    }

    /// Whether it is several figures, of which this is one: figure-23 of `Figures 22 to 24`, 4 of `Figures 4, 5`.
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

/// Letters and digits, in words that are joined by `-`.
fn handle(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_lowercase).collect();
    words.join("-")
}

/// What is drawn over a parameter: points are measured by expectations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// What varies, with its unit.
    pub over: String,
    /// Its values: one a scenario, or one for each of `of`.
    pub values: Vec<f64>,
    /// What is measured: `utilisation`, or `throughput of r2->d1` to be exact.
    pub metrics: Vec<Name>,
    /// Flows or links that differ in what varies, where all are in each scenario.
    #[serde(default)]
    pub of: Vec<Name>,
    #[serde(default)]
    /// Whether the parameter's axis is logarithmic.
    pub logarithmic: bool,
}

impl Figure {
    /// Whether `plots` are drawn of a scenario.
    pub fn draws(&self, scenario: &str) -> bool {
        !self.plots.is_empty()
            && (self.drawn.is_empty() || self.drawn.iter().any(|s| s == scenario))
    }
    /// Whether `plots` are drawn of a law.
    pub fn draws_law(&self, law: &str) -> bool {
        self.laws.is_empty() || self.laws.iter().any(|l| l.get_ref() == law)
    }
}

/// The papers in a folder, in the order of their names.
///
/// # Errors
/// When the folder cannot be read, holds no paper, or a paper's file is wrong.
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

/// Every scenario of the folder in exactly one figure, or a claim would count twice or not at all.
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
    /// The names that nothing in a figure's scenarios has: they would draw nothing, and say nothing.
    /// `loaded` are the scenarios, figure by figure.
    pub fn unknown_names(&self, loaded: &[Vec<Scenario>]) -> Vec<Diagnostic> {
        let figures = self.figures.iter().zip(loaded);
        figures.flat_map(|(figure, scenarios)| self.unknown_in(figure, scenarios)).collect()
    }

    fn unknown_in(&self, figure: &Figure, scenarios: &[Scenario]) -> Vec<Diagnostic> {
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

/// Whether a sweep's `name` is a metric, or a metric of just this target.
pub fn is_metric(name: &str, metric: &str, target: &str) -> bool {
    name == metric || name.strip_prefix(metric).and_then(|n| n.strip_prefix(" of ")) == Some(target)
}
