//! One module a command.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod cost;
pub(crate) mod doctor;
pub(crate) mod dry;
pub(crate) mod generate;
pub(crate) mod lists;
#[cfg(feature = "live")]
pub(crate) mod live;
pub(crate) mod load;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod shell;
pub(crate) mod users;
mod why;

use std::convert::Infallible;
use std::io::Write;
use std::ops::RangeInclusive;

use ratewire_scenario::{Diagnostic, nearest};
use ratewire_units::text::legible;

use crate::Exit;

/// Prints to standard output. A reader that has gone away, as `head` does, is no error.
pub(crate) fn print(text: &str) -> Exit {
    print_on(text).unwrap_or_else(|exit| exit)
}

/// Likewise, for who would print on: an error tells how to end.
fn print_on(text: &str) -> Result<Exit, Exit> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Exit::Done),
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Err(Exit::Done),
        Err(e) => {
            tell!("ratewire: cannot write to standard output: {e}");
            Err(Exit::File)
        }
    }
}

/// A name in a list that is given as an argument, which may have spaces after its commas.
pub(crate) fn listed(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().to_string())
}

/// A whole number in these bounds, given as an argument or in a list.
pub(crate) fn whole_number(text: &str, allowed: RangeInclusive<u64>) -> Result<u64, String> {
    let number = text.trim().parse().ok().filter(|number| allowed.contains(number));
    number.ok_or_else(|| {
        format!("allowed: whole numbers from {} to {}", allowed.start(), allowed.end())
    })
}

/// Prints diagnostics to standard error: errors, then warnings; with a count when there are several errors.
pub(crate) fn complain(diagnostics: &[Diagnostic]) {
    let (errors, warnings): (Vec<_>, Vec<_>) = diagnostics.iter().partition(|d| d.is_error());
    for error in &errors {
        tell!("{error}\n");
    }
    for warning in shortened(&warnings) {
        tell!("{warning}\n");
    }
    let count: usize = errors.iter().map(|error| error.count).sum();
    if count > 1 {
        tell!("{count} errors");
    }
}

/// Warnings, but of many that a run's end makes, of which one remedy takes care, two and how many more. All others are told:
/// each is something that one wants to know.
fn shortened(warnings: &[&Diagnostic]) -> Vec<String> {
    let mut groups: Vec<Vec<&Diagnostic>> = Vec::new();
    for warning in warnings {
        let is_mine = |group: &&mut Vec<&Diagnostic>| {
            warning.is_of_end
                && group[0].is_of_end
                && (&group[0].file, &group[0].help) == (&warning.file, &warning.help)
        };
        match groups.iter_mut().find(is_mine) {
            Some(group) => group.push(warning),
            None => groups.push(vec![warning]),
        }
    }
    let text = |group: &Vec<&Diagnostic>| match group[..] {
        [first, second, _, _, ..] => {
            // The last may say how many more there are.
            let count = group.iter().map(|warning| warning.count).sum();
            vec![together(first, second, count)]
        }
        _ => group.iter().map(ToString::to_string).collect(),
    };
    groups.iter().flat_map(text).collect()
}

fn together(first: &Diagnostic, second: &Diagnostic, count: usize) -> String {
    let one = |warning: &Diagnostic| match warning.line {
        0 => warning.message.clone(),
        line => format!("{} (line {line})", warning.message),
    };
    let (file, help) = (&first.file, first.help.as_deref().unwrap_or_default());
    let (first, second, more) = (one(first), one(second), count - 2);
    format!("warning: {first}, {second} and {more} more\n --> {file}\n  = help: {help}")
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
    let shown: Vec<String> = known.iter().take(SHOWN).map(|name| legible(name)).collect();
    let shown = shown.join(", ");
    format!("no {what} is called {name:?}; {near}known: {shown}{more}")
}

/// Width of the terminal, if standard output is one.
pub(crate) fn table_options() -> ratewire_report::table::Options {
    let terminal = console::Term::stdout();
    let width = terminal.is_term().then(|| usize::from(terminal.size().1));
    let colour = terminal.is_term() && takes_escapes();
    ratewire_report::table::Options { width, colour, ..Default::default() }
}

/// Whether the user's terminal is to get escape sequences: not where `NO_COLOR` is set, or `TERM`
/// is `dumb`.
pub(crate) fn takes_escapes() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use ratewire_scenario::Severity;

    use super::*;

    #[test]
    fn only_what_the_end_of_a_run_makes_is_shortened() {
        let told = |is_of_end| {
            let warning = |n| Diagnostic {
                severity: Severity::Warning,
                help: Some("one remedy".into()),
                is_of_end,
                ..Diagnostic::about("one.toml", "text", 0..4, format!("warning {n}"))
            };
            let warnings: Vec<Diagnostic> = (1..=5).map(warning).collect();
            shortened(&warnings.iter().collect::<Vec<_>>())
        };
        let at_end = told(true);
        assert!(at_end.len() == 1 && at_end[0].contains(" and 3 more\n"), "{at_end:?}");
        let others = told(false);
        assert_eq!(others.len(), 5);
        assert!(others[4].contains("warning 5"), "{others:?}");
    }
}
