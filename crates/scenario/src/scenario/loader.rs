//! Reads a scenario from a file or a text, with the laws and disciplines that it may name.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ratewire_config::nearest;
use ratewire_laws::LawSet;
use ratewire_net::queue::DisciplineSet;

use crate::context::{Context, ReadFile};
use crate::diagnostic::{Diagnostic, Source};
use crate::error::ScenarioError;
use crate::{document, lower, overrides};

use super::Scenario;

/// Reads scenarios that may name the laws and queue disciplines of a set each, including a
/// program's own.
///
/// [`Scenario::load`] and [`Scenario::parse`] know only those of this workspace.
#[derive(Clone, Copy, Debug)]
pub struct Loader<'a> {
    /// Laws that scenarios may name; each scenario keeps them.
    pub laws: &'a LawSet,
    /// Queue disciplines that scenarios may name; each scenario keeps them.
    pub disciplines: &'a DisciplineSet,
}

/// Reads scenarios that name only the laws and disciplines of this workspace.
const IN_TREE: Loader<'static> =
    Loader { laws: &LawSet::in_tree(), disciplines: &DisciplineSet::in_tree() };

/// Scenarios may name these laws, and the disciplines of this workspace.
impl<'a> From<&'a LawSet> for Loader<'a> {
    fn from(laws: &'a LawSet) -> Loader<'a> {
        Loader { laws, ..IN_TREE }
    }
}

/// Scenarios may name these disciplines, and the laws of this workspace.
impl<'a> From<&'a DisciplineSet> for Loader<'a> {
    fn from(disciplines: &'a DisciplineSet) -> Loader<'a> {
        Loader { disciplines, ..IN_TREE }
    }
}

impl Loader<'_> {
    /// Reads the scenario in the file `path` with `overrides` applied, see
    /// [`Scenario::with_overrides`].
    ///
    /// Files that the scenario names are relative to its folder.
    ///
    /// # Errors
    /// All errors in the scenario, in the order of the file.
    pub fn load(
        &self,
        path: &Path,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        let file = path.display().to_string();
        let text = ratewire_inputs::read(path).map_err(|e| {
            let line = e.line.map(|line| format!("line {line} has ")).unwrap_or_default();
            let message = format!("cannot read the scenario: {line}{}", e.found);
            let mut diagnostic = Diagnostic::general(&file, message);
            diagnostic.help = Some(e.remedy.clone());
            if !path.exists() {
                diagnostic.nearest = scenario_near(path);
            }
            ScenarioError::unreadable(diagnostic, e)
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let read_file = |name: &str| read_file(&folder, name);
        let mut scenario = self.read(&file, &text, overrides, &read_file, BTreeMap::new())?;
        scenario.folder = Some(folder.clone());
        Ok(scenario)
    }

    /// Reads a scenario from `text`; diagnostics call it `name`.
    ///
    /// `read_file` reads the files that the scenario names.
    ///
    /// # Errors
    /// All errors in the scenario, in the order of the text.
    pub fn parse(
        &self,
        name: &str,
        text: &str,
        read_file: &dyn Fn(&str) -> io::Result<String>,
    ) -> Result<Scenario, ScenarioError> {
        Ok(self.read(name, text, &[], read_file, BTreeMap::new())?)
    }

    fn read(
        &self,
        name: &str,
        text: &str,
        values: &[(String, String)],
        read_file: ReadFile<'_>,
        files: BTreeMap<String, Arc<str>>,
    ) -> Result<Scenario, Vec<Diagnostic>> {
        let mut sources = vec![Source { name: name.to_string(), text: text.to_string() }];
        let mut root = document::parse(&sources[0])?;
        let mut wrong = Vec::new();
        for (path, value) in values {
            let applied = overrides::apply(&mut root, &mut sources, path, value);
            wrong.extend(applied.err().map(|diagnostic| *diagnostic));
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let context = Context::new(&sources, self.laws, self.disciplines, read_file, files);
        let parts = lower::lower(&context, &root);
        #[cfg(test)]
        crate::tests::note_reads(&context.reads.borrow(), &context.defaults.borrow());
        let users = context.users.take();
        let (diagnostics, files) = context.finish();
        match parts {
            Some(parts) if !diagnostics.iter().any(Diagnostic::is_error) => Ok(Scenario {
                name: parts.name,
                description: parts.description,
                duration: parts.duration,
                seed: parts.seed,
                expectations: parts.expectations,
                source_text: text.to_string(),
                file: name.to_string(),
                warnings: diagnostics,
                bottleneck: parts.bottleneck,
                slowest: parts.slowest,
                rates_at: parts.rates_at,
                loads: parts.loads,
                laws: parts.laws,
                book: parts.book,
                disciplines: self.disciplines.clone(),
                uses: parts.uses,
                starts: parts.starts,
                outages: parts.outages,
                users,
                template: parts.template,
                files,
                folder: None,
                overrides: values.to_vec(),
                document: Arc::new(root),
            }),
            _ if values.is_empty() => Err(diagnostics),
            _ => {
                Err(blamed(diagnostics, values, self.read(name, text, &[], read_file, files).err()))
            }
        }
    }
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
}

/// The scenario beside `path` with the most similar name.
fn scenario_near(path: &Path) -> Option<String> {
    let beside = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let names = beside.read_dir().ok()?.flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(".toml"));
    names.sort();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near).display().to_string())
}

fn read_file(folder: &Path, name: &str) -> io::Result<String> {
    let path = folder.join(name);
    ratewire_inputs::read(&path).map_err(|e| {
        if !path.exists() {
            return io::Error::new(io::ErrorKind::NotFound, e.found);
        }
        let line = e.line.map(|line| format!("line {line} has ")).unwrap_or_default();
        io::Error::other(format!("{line}{}; {}", e.found, e.remedy))
    })
}

/// Adds the overrides to errors that the file alone does not have.
///
/// If the overrides remove an error, nothing is added: an error found now may be in the file
/// itself, hidden before by the first.
fn blamed(
    diagnostics: Vec<Diagnostic>,
    values: &[(String, String)],
    alone: Option<Vec<Diagnostic>>,
) -> Vec<Diagnostic> {
    let alone: Vec<Diagnostic> = alone.into_iter().flatten().filter(Diagnostic::is_error).collect();
    let place = |d: &Diagnostic| (d.file.clone(), d.line, d.column);
    let is_reported = |own: &Diagnostic| {
        diagnostics.iter().any(|d| (place(d), &d.message) == (place(own), &own.message))
    };
    if !alone.iter().all(is_reported) {
        return diagnostics;
    }
    let sets: Vec<String> = values.iter().map(|(path, v)| format!("`{path}={v}`")).collect();
    let blame = |mut d: Diagnostic| {
        let is_own = alone.iter().any(|own| place(own) == place(&d));
        if d.is_error() && !d.is_setting && !is_own {
            d.message = format!("{}, with {} set", d.message, sets.join(" and "));
        }
        d
    };
    diagnostics.into_iter().map(blame).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_said_once() {
        let said = |name| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
            read_file(folder, name).unwrap_err().to_string()
        };
        assert_eq!(said("no-such-file"), "no such file");
        assert_eq!(said("src"), "a folder, not a regular file; name a file in it");
    }
}
