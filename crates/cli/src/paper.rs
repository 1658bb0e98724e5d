//! Papers as data: a folder of scenarios, and a file that says which figure each belongs to and
//! what the figure plots.

use std::path::{Path, PathBuf};

use ratewire_report::html::Plot;
use serde::Deserialize;

/// What the file is called.
pub(crate) const PAPER: &str = "paper.toml";

/// A paper, as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paper {
    /// The folder's name, which is what one calls it.
    #[serde(skip)]
    pub(crate) name: String,
    #[serde(skip)]
    pub(crate) folder: PathBuf,
    pub(crate) title: String,
    /// Who wrote it, and where it appeared.
    pub(crate) authors: String,
    pub(crate) summary: String,
    #[serde(rename = "figure")]
    pub(crate) figures: Vec<Figure>,
}

/// A figure or an experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Figure {
    /// `Figure 8`.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) caption: String,
    /// Where runs and paper differ, and why.
    pub(crate) note: Option<String>,
    pub(crate) scenarios: Vec<String>,
    /// What is drawn over time.
    #[serde(default)]
    pub(crate) plots: Vec<Plot>,
    /// The scenarios that `plots` are drawn of; all if empty.
    #[serde(default)]
    pub(crate) drawn: Vec<String>,
    /// The laws that `plots` are drawn of; all if empty.
    #[serde(default)]
    pub(crate) laws: Vec<String>,
    /// The links that `plots` are drawn of; the bottlenecks if empty.
    #[serde(default)]
    pub(crate) links: Vec<String>,
    /// Whether each law has plots of its own.
    #[serde(default)]
    pub(crate) apart: bool,
    pub(crate) sweep: Option<Sweep>,
}

/// What is drawn over a parameter: points are measured by expectations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sweep {
    /// What varies, with its unit.
    pub(crate) over: String,
    /// Its values: one a scenario, or one for each of `of`.
    pub(crate) values: Vec<f64>,
    /// What is measured: `utilisation`, or `throughput of r2->d1` to be exact.
    pub(crate) metrics: Vec<String>,
    /// Flows or links that differ in what varies, where all are in each scenario.
    #[serde(default)]
    pub(crate) of: Vec<String>,
    #[serde(default)]
    pub(crate) logarithmic: bool,
}

impl Figure {
    pub(crate) fn draws(&self, scenario: &str) -> bool {
        !self.plots.is_empty()
            && (self.drawn.is_empty() || self.drawn.iter().any(|s| s == scenario))
    }
    pub(crate) fn draws_law(&self, law: &str) -> bool {
        self.laws.is_empty() || self.laws.iter().any(|l| l == law)
    }
}

/// The papers in a folder, in the order of their names.
///
/// # Errors
/// In words, when the folder cannot be read, holds no paper, or a paper's file is wrong.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Paper>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| {
        format!(
            "cannot read {}: {e}\nRun this in Ratewire's own folder, or say where its `papers` are \
             with --papers FOLDER.",
            folder.display()
        )
    })?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.join(PAPER).is_file());
    folders.sort();
    if folders.is_empty() {
        return Err(format!("no folder in {} has a {PAPER}", folder.display()));
    }
    folders.iter().map(|folder| read(folder)).collect()
}

fn read(folder: &Path) -> Result<Paper, String> {
    let file = folder.join(PAPER);
    let wrong = |what: String| format!("{}: {what}", file.display());
    let text = std::fs::read_to_string(&file).map_err(|e| wrong(e.to_string()))?;
    let mut paper: Paper = toml::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    paper.name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paper.folder = folder.to_path_buf();
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
        let points = if sweep.of.is_empty() { &figure.scenarios } else { &sweep.of };
        if points.len() != sweep.values.len() {
            let (points, values) = (points.len(), sweep.values.len());
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
