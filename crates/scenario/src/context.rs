//! What the reading of a scenario shares: its texts, its diagnostics, its files.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use ratewire_inputs::InputError;

use crate::diagnostic::{Diagnostic, Severity, Source, Span, nearest};
use crate::document::Entry;
use crate::ignored::{GivenOption, Of};

/// Reads a file that a scenario names, by the name it gives.
pub(crate) type Loader<'a> = &'a dyn Fn(&str) -> io::Result<String>;

/// No more errors than this are kept, and no more warnings: nobody reads on.
const MOST: usize = 200;

/// The texts of a scenario and what was found wrong with them.
pub(crate) struct Context<'a> {
    sources: &'a [Source],
    loader: Loader<'a>,
    files: RefCell<BTreeMap<String, Arc<str>>>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    errors: Cell<usize>,
    /// Errors and warnings that are too many to be kept.
    unkept: Cell<(usize, usize)>,
    /// Whether the network that all is about is a guess, because what describes it is wrong.
    pub guesses_network: Cell<bool>,
    /// Options of laws, in the order in which they were met.
    pub options: RefCell<Vec<GivenOption>>,
    /// Table and name of each key that was asked for.
    pub reads: RefCell<BTreeSet<(&'static str, &'static str)>>,
}

impl<'a> Context<'a> {
    pub fn new(
        sources: &'a [Source],
        loader: Loader<'a>,
        files: BTreeMap<String, Arc<str>>,
    ) -> Context<'a> {
        Context {
            sources,
            loader,
            files: RefCell::new(files),
            diagnostics: RefCell::default(),
            errors: Cell::new(0),
            unkept: Cell::new((0, 0)),
            guesses_network: Cell::new(false),
            options: RefCell::default(),
            reads: RefCell::default(),
        }
    }

    /// Everything found wrong, in the order of the file, and the files that were read.
    pub fn finish(self) -> (Vec<Diagnostic>, BTreeMap<String, Arc<str>>) {
        let mut diagnostics = self.diagnostics.into_inner();
        diagnostics.sort_by_key(|d| (d.file != self.sources[0].name, d.line, d.column));
        diagnostics.dedup();
        let (errors, warnings) = self.unkept.get();
        for (severity, count, what) in
            [(Severity::Error, errors, "error"), (Severity::Warning, warnings, "warning")]
        {
            let s = if count == 1 { "" } else { "s" };
            let more = format!("and {count} more {what}{s}, too many to list");
            let general = Diagnostic::general(&self.sources[0].name, more);
            diagnostics.extend((count > 0).then_some(Diagnostic { severity, count, ..general }));
        }
        (diagnostics, self.files.into_inner())
    }

    /// The line on which `span` starts, from 1.
    pub fn line(&self, span: Span) -> usize {
        let source = self.sources.get(span.source).unwrap_or(&self.sources[0]);
        source.diagnostic(Severity::Error, span, String::new()).line
    }

    /// The scenario's file name without folder and extension.
    pub fn stem(&self) -> String {
        let name = &self.sources[0].name;
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        file.strip_suffix(".toml").unwrap_or(file).to_string()
    }

    /// The number of errors so far.
    pub fn errors(&self) -> usize {
        self.errors.get()
    }

    fn add(&self, severity: Severity, span: Span, message: String) -> Added<'_, 'a> {
        let mut diagnostics = self.diagnostics.borrow_mut();
        if severity == Severity::Error {
            self.errors.set(self.errors.get() + 1);
        }
        let source = self.sources.get(span.source).unwrap_or(&self.sources[0]);
        let is_alike = |other: &&Diagnostic| other.severity == severity;
        let kept = diagnostics.iter().filter(is_alike).count() < MOST;
        let (errors, warnings) = self.unkept.get();
        match severity {
            _ if kept => diagnostics.push(source.diagnostic(severity, span, message)),
            Severity::Error => self.unkept.set((errors + 1, warnings)),
            Severity::Warning => self.unkept.set((errors, warnings + 1)),
        }
        Added { context: self, at: kept.then(|| diagnostics.len() - 1) }
    }

    /// Notes that an option is given to a law.
    pub fn option(&self, of: &Of, entry: &Entry) {
        let source = self.sources.get(entry.key_span.source).unwrap_or(&self.sources[0]);
        let at = source.diagnostic(Severity::Warning, entry.key_span, String::new());
        let option = GivenOption { of: of.clone(), option: entry.key.clone(), at };
        self.options.borrow_mut().push(option);
    }

    /// Notes an error.
    pub fn error(&self, span: Span, message: impl Into<String>) -> Added<'_, 'a> {
        self.add(Severity::Error, span, message.into())
    }

    /// Notes a warning.
    pub fn warning(&self, span: Span, message: impl Into<String>) -> Added<'_, 'a> {
        self.add(Severity::Warning, span, message.into())
    }

    /// Notes that `found` is none of `candidates`.
    pub fn unknown<'c>(
        &self,
        span: Span,
        message: impl Into<String>,
        found: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) {
        let candidates: Vec<&str> = candidates.into_iter().collect();
        let mut added =
            self.error(span, message).nearest(nearest(found, candidates.iter().copied()));
        let help = if candidates.is_empty() {
            "there are none".to_string()
        } else {
            format!("known: {}", listing(&candidates))
        };
        added = added.help(help);
        let _ = added;
    }

    /// The text of the file called `name` at `span`, or an error.
    pub fn file(&self, name: &str, span: Span) -> Option<Arc<str>> {
        if let Some(text) = self.files.borrow().get(name) {
            return Some(text.clone());
        }
        match (self.loader)(name) {
            Ok(text) => {
                let text: Arc<str> = text.into();
                self.files.borrow_mut().insert(name.to_string(), text.clone());
                Some(text)
            }
            Err(e) => {
                self.error(span, format!("cannot read the file {name:?}: {e}"))
                    .help("file names are relative to the scenario's own folder");
                None
            }
        }
    }

    /// Reads the file called `name` with `parse`.
    pub fn read<T>(
        &self,
        name: &str,
        span: Span,
        parse: impl Fn(&str, &str) -> Result<T, InputError>,
    ) -> Option<T> {
        let text = self.file(name, span)?;
        match parse(name, &text) {
            Ok(value) => Some(value),
            Err(e) => {
                let line = e.line.map(|line| format!(":{line}")).unwrap_or_default();
                self.error(span, format!("{}{line}: found {}", e.file, e.found))
                    .help(format!("allowed: {}; {}", e.allowed, e.remedy));
                None
            }
        }
    }
}

/// A diagnostic just noted, to be completed.
pub(crate) struct Added<'c, 'a> {
    context: &'c Context<'a>,
    at: Option<usize>,
}

impl Added<'_, '_> {
    /// Adds what is allowed, or what to do.
    pub fn help(self, help: impl Into<String>) -> Self {
        if let Some(at) = self.at {
            self.context.diagnostics.borrow_mut()[at].help = Some(help.into());
        }
        self
    }
    /// Says that it is of the run's end, and does not hold where there is none.
    pub fn of_end(self) -> Self {
        if let Some(at) = self.at {
            self.context.diagnostics.borrow_mut()[at].is_of_end = true;
        }
        self
    }
    /// Adds what was probably meant.
    pub fn nearest(self, nearest: Option<String>) -> Self {
        if let Some(at) = self.at {
            self.context.diagnostics.borrow_mut()[at].nearest = nearest;
        }
        self
    }
}

/// A comma-separated list, cut where it would be long.
pub(crate) fn listing(words: &[&str]) -> String {
    const SHOWN: usize = 24;
    let mut text = words.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if words.len() > SHOWN {
        text.push_str(&format!(" and {} more", words.len() - SHOWN));
    }
    text
}
