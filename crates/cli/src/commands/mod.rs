//! One module a command.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod cost;
pub(crate) mod doctor;
pub(crate) mod lists;
#[cfg(feature = "live")]
pub(crate) mod live;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod shell;

use std::io::Write;

use ratewire_scenario::{Diagnostic, nearest};

use crate::Exit;

/// Prints to standard output. A reader that has gone away, as `head` does, is no error.
pub(crate) fn print(text: &str) -> Exit {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            tell!("ratewire: cannot write to standard output: {e}");
            Exit::File
        }
        _ => Exit::Done,
    }
}

/// Prints diagnostics to standard error, with a count when there are several.
pub(crate) fn complain(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        tell!("{diagnostic}\n");
    }
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    if errors > 1 {
        tell!("{errors} errors");
    }
}

/// That no `what` has this name; which is nearest, and which there are.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    const SHOWN: usize = 20;
    let near = nearest(name, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean {near:?}? "));
    let more = match known.len() {
        0..=SHOWN => String::new(),
        all => format!(" and {} more", all - SHOWN),
    };
    let shown = known[..known.len().min(SHOWN)].join(", ");
    format!("no {what} is called {name:?}; {near}known: {shown}{more}")
}

/// Width of the terminal, if standard output is one.
pub(crate) fn table_options() -> ratewire_report::table::Options {
    let terminal = console::Term::stdout();
    let width = terminal.is_term().then(|| usize::from(terminal.size().1));
    ratewire_report::table::Options { width, colour: terminal.is_term(), ..Default::default() }
}
