//! State shared while a scenario is read: its texts, its diagnostics, its files.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use ratewire_config::nearest;
use ratewire_inputs::{InputError, Note};
use ratewire_laws::LawSet;
use ratewire_net::queue::DisciplineSet;

use crate::diagnostic::{Diagnostic, Severity, Source, Span, listing};
use crate::document::At;

/// Reads a file by the name that the scenario gives it.
pub(crate) type ReadFile<'a> = &'a dyn Fn(&str) -> io::Result<String>;

/// Most diagnostics that are kept of each kind: errors, warnings, and warnings about the run's end.
const MOST: usize = 200;

/// The texts of a scenario and the diagnostics found in them.
pub(crate) struct Context<'a> {
    sources: &'a [Source],
    /// Laws that the scenario may name.
    pub laws: &'a LawSet,
    /// Queue disciplines that the scenario may name.
    pub disciplines: &'a DisciplineSet,
    read_file: ReadFile<'a>,
    /// Texts of files that were read before, which the scenario may not name any more.
    known: BTreeMap<String, Arc<str>>,
    files: RefCell<BTreeMap<String, Arc<str>>>,
    diagnostics: RefCell<Vec<Diagnostic>>,
    errors: Cell<usize>,
    /// Diagnostics already noted. A repeat, for example of another flow of the same table, is
    /// dropped and not counted.
    noted: RefCell<BTreeSet<(Severity, Span, String)>>,
    /// Counts of the diagnostics beyond [`MOST`], to be reported at the end. Errors have one entry,
    /// other warnings have one, and warnings about the run's end have one for each remedy.
    unkept: RefCell<Vec<Diagnostic>>,
    /// Whether the network is a guess, because its description has errors.
    pub guesses_network: Cell<bool>,
    /// Users of the programs, in the order in which they were read.
    pub users: RefCell<Vec<NamedUser>>,
    /// Table and name of each key that was read.
    pub reads: RefCell<BTreeSet<(&'static str, &'static str)>>,
    /// Table and name of each key whose default was taken.
    pub defaults: RefCell<BTreeSet<(&'static str, &'static str)>>,
}

impl<'a> Context<'a> {
    pub fn new(
        sources: &'a [Source],
        laws: &'a LawSet,
        disciplines: &'a DisciplineSet,
        read_file: ReadFile<'a>,
        known: BTreeMap<String, Arc<str>>,
    ) -> Context<'a> {
        Context {
            sources,
            laws,
            disciplines,
            read_file,
            known,
            files: RefCell::default(),
            diagnostics: RefCell::default(),
            errors: Cell::new(0),
            noted: RefCell::default(),
            unkept: RefCell::default(),
            guesses_network: Cell::new(false),
            users: RefCell::default(),
            reads: RefCell::default(),
            defaults: RefCell::default(),
        }
    }

    /// All diagnostics in the order of the file, and the files that were read.
    pub fn finish(self) -> (Vec<Diagnostic>, BTreeMap<String, Arc<str>>) {
        let mut diagnostics = self.diagnostics.into_inner();
        diagnostics.sort_by_key(|d| (d.file != self.sources[0].name, d.line, d.column));
        let mut unkept = self.unkept.into_inner();
        unkept.sort_by_key(|d| d.severity);
        for more in &mut unkept {
            let what = if more.is_error() { "error" } else { "warning" };
            let s = if more.count == 1 { "" } else { "s" };
            more.message = format!("and {} more {what}{s}, too many to list", more.count);
        }
        diagnostics.append(&mut unkept);
        (diagnostics, self.files.into_inner())
    }

    /// The line on which `span` starts, from 1.
    pub fn line(&self, span: Span) -> usize {
        self.source(span).diagnostic(Severity::Error, span, String::new()).line
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

    fn source(&self, span: Span) -> &'a Source {
        self.sources.get(span.source).unwrap_or(&self.sources[0])
    }

    fn add(&self, severity: Severity, span: Span, message: String) -> Added<'_, 'a> {
        if severity == Severity::Error {
            self.errors.set(self.errors.get() + 1);
        }
        Added {
            context: self,
            severity,
            span,
            message,
            help: None,
            nearest: None,
            is_of_end: false,
        }
    }

    /// Notes a completed diagnostic.
    fn note(&self, added: &mut Added<'_, '_>) {
        let &mut Added { severity, span, is_of_end, .. } = added;
        let message = std::mem::take(&mut added.message);
        if !self.noted.borrow_mut().insert((severity, span, message.clone())) {
            return;
        }
        let (help, nearest) = (added.help.take(), added.nearest.take());
        let mut diagnostics = self.diagnostics.borrow_mut();
        let is_alike = |d: &&Diagnostic| {
            (d.severity, d.is_of_end) == (severity, is_of_end) && (!is_of_end || d.help == help)
        };
        if diagnostics.iter().filter(is_alike).count() < MOST {
            let found = self.source(span).diagnostic(severity, span, message);
            diagnostics.push(Diagnostic { help, nearest, is_of_end, ..found });
            return;
        }
        let (source, help) =
            if is_of_end { (self.source(span), help) } else { (&self.sources[0], None) };
        let mut unkept = self.unkept.borrow_mut();
        let is_mine = |more: &&mut Diagnostic| {
            (more.severity, more.is_of_end) == (severity, is_of_end)
                && (&more.file, &more.help) == (&source.name, &help)
        };
        match unkept.iter_mut().find(is_mine) {
            Some(more) => more.count += 1,
            None => {
                let more = Diagnostic::general(&source.name, String::new());
                let is_setting = is_of_end && span.is_set();
                unkept.push(Diagnostic { severity, help, is_of_end, is_setting, ..more });
            }
        }
    }

    /// Notes the user that a program is to run as.
    pub fn user(&self, user: At<&str>) {
        let at = self.source(user.span).diagnostic(Severity::Error, user.span, String::new());
        self.users.borrow_mut().push(NamedUser { name: user.value.to_string(), at });
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
        let known = self.known.get(name).cloned();
        match known.map_or_else(|| (self.read_file)(name).map(Into::into), Ok) {
            Ok(text) => {
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
        self.read_noting(name, span, |name, text, _| parse(name, text))
    }

    /// Warns of what the file called `name` says and is not used.
    pub fn warn_of(&self, notes: &[Note], name: &str, span: Span) {
        for Note { line, text, help } in notes {
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            self.warning(span, format!("{name}{line}: {text}")).help(help);
        }
    }

    /// Reads the file called `name` with `parse`, whose notes are warnings.
    pub fn read_noting<T>(
        &self,
        name: &str,
        span: Span,
        parse: impl Fn(&str, &str, &mut Vec<Note>) -> Result<T, InputError>,
    ) -> Option<T> {
        let text = self.file(name, span)?;
        let mut notes = Vec::new();
        match parse(name, &text, &mut notes) {
            Ok(value) => {
                self.warn_of(&notes, name, span);
                Some(value)
            }
            Err(e) => {
                let line = e.line.map(|line| format!(":{line}")).unwrap_or_default();
                self.error(span, format!("{}{line}: found {}", e.file, e.found))
                    .help(format!("allowed: {}; {}", e.allowed, e.remedy));
                None
            }
        }
    }
}

/// A user that a scenario names, and the place.
#[derive(Clone, Debug)]
pub(crate) struct NamedUser {
    pub name: String,
    /// An error at the place, without a message yet.
    pub at: Diagnostic,
}

/// A diagnostic under construction; dropping it notes it.
pub(crate) struct Added<'c, 'a> {
    context: &'c Context<'a>,
    severity: Severity,
    span: Span,
    message: String,
    help: Option<String>,
    nearest: Option<String>,
    is_of_end: bool,
}

impl Added<'_, '_> {
    /// Adds the allowed values, or the remedy.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Marks the diagnostic as due to the run's end, so that it does not hold in a run without an
    /// end.
    pub fn of_end(mut self) -> Self {
        self.is_of_end = true;
        self
    }

    /// Adds the word that was probably meant.
    pub fn nearest(mut self, nearest: Option<String>) -> Self {
        self.nearest = nearest;
        self
    }
}

impl Drop for Added<'_, '_> {
    fn drop(&mut self) {
        self.context.note(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(find: impl Fn(&Context<'_>)) -> Vec<Diagnostic> {
        let sources = [Source { name: "a.toml".into(), text: "x = 1\ny = 2\n".into() }];
        let loader = |_: &str| Err(io::ErrorKind::NotFound.into());
        let (laws, disciplines) = (LawSet::in_tree(), DisciplineSet::in_tree());
        let context = Context::new(&sources, &laws, &disciplines, &loader, BTreeMap::new());
        find(&context);
        context.finish().0
    }

    const X: Span = Span { source: 0, start: 0, end: 1 };
    const Y: Span = Span { source: 0, start: 6, end: 7 };

    #[test]
    fn what_is_found_again_takes_no_place_and_is_not_counted() {
        let all = found(|context| {
            for _ in 0..2 * MOST {
                context.error(X, "the same").help("of all");
            }
            assert_eq!(context.errors(), 2 * MOST, "each is a reason not to go on");
            context.error(Y, "the same");
            context.warning(X, "the same");
        });
        let counted: Vec<_> = all.iter().map(|d| (d.severity, d.line, d.count)).collect();
        let (error, warning) = (Severity::Error, Severity::Warning);
        assert_eq!(counted, [(error, 1, 1), (warning, 1, 1), (error, 2, 1)]);
        assert_eq!(all[0].help.as_deref(), Some("of all"));
    }

    /// A shell has no end and leaves out all diagnostics about the run's end.
    #[test]
    fn warnings_of_the_end_are_counted_apart() {
        let all = found(|context| {
            for i in 0..MOST + 3 {
                context.warning(X, format!("never {i}")).help("run for longer").of_end();
            }
            for i in 0..MOST + 2 {
                context.warning(Y, format!("odd {i}")).help("mend it");
            }
            context.warning(Y, "left out").help("end it later").of_end();
        });
        let (apart, all): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|d| d.help.as_deref() == Some("end it later"));
        assert_eq!(apart.len(), 1, "another remedy is counted by itself");
        assert_eq!(apart[0].message, "left out");
        let (of_end, others): (Vec<_>, Vec<_>) = all.iter().partition(|d| d.is_of_end);
        for (kind, count) in [(&of_end, MOST + 3), (&others, MOST + 2)] {
            assert_eq!(kind.len(), MOST + 1);
            assert_eq!(kind.iter().map(|d| d.count).sum::<usize>(), count);
        }
        assert_eq!(of_end[MOST].message, "and 3 more warnings, too many to list");
        assert_eq!(of_end[MOST].help, of_end[0].help, "one remedy takes care of all");
        assert_eq!(others[MOST].help, None);
    }
}
