//! Errors of experiments, and their exit codes.

use ratewire::{Error, Interrupted};
use ratewire_command_line::Exit;
use ratewire_scenario::Diagnostic;

use crate::memory::OutOfMemory;

/// Prints an error, and returns the exit code.
pub(crate) fn fail(error: &Error) -> Exit {
    match error {
        Error::Scenario(wrong) => complain(&wrong.diagnostics),
        // The command line has settings of an experiment as options.
        Error::Setting { setting, reason } => {
            print_stderr!("ratewire: --{setting}: {reason}");
        }
        Error::Refused { .. } => {
            print_stderr!("ratewire: {error} (--out)");
        }
        Error::UntrustedLaw { .. } => {
            print_stderr!("ratewire: {error}\n  help: --trust-laws lets the scenario load it");
        }
        _ => {
            print_stderr!("ratewire: {error}");
        }
    }
    exit_of(error)
}

/// Exit code of a single error.
fn exit_of(error: &Error) -> Exit {
    match error {
        Error::Run(_) => Exit::Failed,
        Error::Unable { .. } | Error::Nothing(_) => Exit::Unable,
        Error::Stopped { source, .. } if source.is::<OutOfMemory>() => Exit::Memory,
        Error::Stopped { source, .. } if source.is::<Interrupted>() => Exit::Interrupted,
        Error::Stopped { .. } => Exit::Failed,
        Error::Write { .. } | Error::Refused { .. } | Error::Read { .. } => Exit::File,
        _ => Exit::Wrong,
    }
}

/// Prints that a run of a scenario is missing, and why; returns the exit code.
pub(crate) fn missing(scenario: &str, run: &str, error: &Error) -> Exit {
    print_stderr!("ratewire: {scenario}: the run of {run} is missing:");
    fail(error)
}

/// Prints diagnostics to standard error: errors, then warnings, then the number of errors if there
/// are several.
pub(crate) fn complain(diagnostics: &[Diagnostic]) {
    let diagnostics: Vec<Diagnostic> = diagnostics.iter().map(with_option).collect();
    let (errors, warnings): (Vec<_>, Vec<_>) = diagnostics.iter().partition(|d| d.is_error());
    for error in &errors {
        print_stderr!("{error}\n");
    }
    for warning in shortened(&warnings) {
        print_stderr!("{warning}\n");
    }
    let count: usize = errors.iter().map(|error| error.count).sum();
    if count > 1 {
        print_stderr!("{count} errors");
    }
}

/// The diagnostic with a setting called as the option that gives it.
fn with_option(diagnostic: &Diagnostic) -> Diagnostic {
    let mut diagnostic = diagnostic.clone();
    if diagnostic.is_setting {
        diagnostic.file = format!("--{}", diagnostic.file);
        // A shell takes the quotes off a name in a path: `link."a.b".rate`.
        let is_quoted = |text: &Option<String>| text.as_ref().is_some_and(|t| t.contains(".\""));
        if is_quoted(&diagnostic.help) || is_quoted(&diagnostic.nearest) {
            let help = diagnostic.help.get_or_insert_default();
            *help += "; in a shell, write the path in single quotes";
        }
    }
    diagnostic
}

/// Warnings as texts, with many of the run's end shortened.
///
/// Of warnings about the run's end that share a remedy, two are shown with the number of the
/// others. All other warnings are shown, because each has its own cause.
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
            // The last warning may stand for several.
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

#[cfg(test)]
mod tests {
    use ratewire_scenario::Severity;

    use super::*;

    #[test]
    fn only_what_the_end_of_a_run_makes_is_shortened() {
        let shortened_of = |is_of_end| {
            let warning = |n| Diagnostic {
                severity: Severity::Warning,
                help: Some("one remedy".into()),
                is_of_end,
                ..Diagnostic::about("one.toml", "text", 0..4, format!("warning {n}"))
            };
            let warnings: Vec<Diagnostic> = (1..=5).map(warning).collect();
            shortened(&warnings.iter().collect::<Vec<_>>())
        };
        let at_end = shortened_of(true);
        assert!(at_end.len() == 1 && at_end[0].contains(" and 3 more\n"), "{at_end:?}");
        let others = shortened_of(false);
        assert_eq!(others.len(), 5);
        assert!(others[4].contains("warning 5"), "{others:?}");
    }
}
