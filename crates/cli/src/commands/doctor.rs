//! `ratewire doctor`: checks what this machine supports, and shows remedies.

use std::fmt::Write;
use std::path::PathBuf;

use ratewire_command_line::{Exit, print};
use ratewire_emulate::doctor::{self, Check};
use ratewire_scenario::Scenario;
use ratewire_units::text::legible;

use super::check::load_all;
use super::load::LawFileArgs;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scenarios whose programs to look for
    scenarios: Vec<PathBuf>,
}

/// Checks what the emulated world and laws in the kernel need. Changes nothing.
pub(crate) fn examine(args: &Args) -> Exit {
    let (scenarios, loaded) = load_all(&args.scenarios, &LawFileArgs::default());
    let programs: Vec<(&str, Vec<Check>)> =
        scenarios.iter().map(|scenario| (scenario.file.as_str(), programs(scenario))).collect();
    let (emulation, laws, controls) = (doctor::examine(), of_laws(), doctor::controls());
    let mut text = section("for `run --world emulate` and `shell`", &emulation, "NO");
    text += "\n";
    text += &section("laws with a sender in this kernel itself", &controls, "--");
    text += "\n";
    text += &match &laws {
        Some(checks) => {
            section("for `live`, and emulated senders under laws of bpf/", checks, "NO")
        }
        None => "`live`, and emulated senders under laws of bpf/, are not in this build\n     \
                 help: `make live` builds it with them\n"
            .to_string(),
    };
    for (file, checks) in programs.iter().filter(|(_, checks)| !checks.is_empty()) {
        text += &section(&format!("\nprograms of {}", legible(file)), checks, "NO");
    }
    let printed = print(&text);
    // Missing congestion controls are no failure: a user may not need those laws.
    let programs = programs.iter().flat_map(|(_, checks)| checks);
    let mut all = emulation.iter().chain(laws.iter().flatten()).chain(programs);
    let is_able = all.all(|check| matches!(check.found, Some(Ok(_))));
    Exit::of([loaded, printed, if is_able { Exit::Done } else { Exit::Unable }])
}

/// Looks for the programs of a scenario; they are the same under all its laws.
fn programs(scenario: &Scenario) -> Vec<Check> {
    scenario.setup(None, None).map_or_else(|_| Vec::new(), |setup| doctor::executables(&setup))
}

#[cfg(feature = "live")]
fn of_laws() -> Option<Vec<Check>> {
    use ratewire_live::doctor::Check as Found;
    let checks = ratewire_live::doctor::examine().into_iter();
    let own = |Found { what, found, remedy }| Check { what: what.into(), found, remedy };
    Some(checks.map(own).collect())
}

#[cfg(not(feature = "live"))]
fn of_laws() -> Option<Vec<Check>> {
    None
}

/// One line for each check, with `missing` as the sign of a failed one.
fn section(title: &str, checks: &[Check], missing: &str) -> String {
    let mut text = format!("{title}\n");
    for Check { what, found, remedy } in checks {
        let (sign, said) = match found {
            Some(Ok(found)) => ("ok", found.as_str()),
            Some(Err(wrong)) => (missing, wrong.as_str()),
            None => ("??", "not examined: run `ratewire doctor` as root once"),
        };
        // Messages of the kernel may have several lines.
        let mut lines = said.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(text, "{sign}   {what:<24} {first}");
        for line in lines {
            let _ = writeln!(text, "     {:<24} {line}", "");
        }
        if let Some(Err(_)) = found {
            let _ = writeln!(text, "     {:<24} help: {remedy}", "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_in_its_column() {
        let check = |found| Check { what: "a thing".into(), found, remedy: "mend it".into() };
        let wrong = check(Some(Err("one\n\n  two\n".into())));
        let text = section("things", &[check(Some(Ok("there".into()))), wrong, check(None)], "NO");
        let column = 5 + 24 + 1;
        let starts: Vec<(String, &str)> = text
            .lines()
            .skip(1)
            .map(|line| (line[..4].trim().to_string(), &line[column..]))
            .collect();
        let rows: Vec<(&str, &str)> = starts.iter().map(|(sign, said)| (&**sign, *said)).collect();
        assert_eq!(
            rows,
            [
                ("ok", "there"),
                ("NO", "one"),
                ("", "  two"),
                ("", "help: mend it"),
                ("??", "not examined: run `ratewire doctor` as root once"),
            ]
        );
    }
}
