//! The executables that a scenario's commands begin with.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use ratewire_sim::setup::Setup;

use crate::Error;

/// How to get an executable that is missing.
pub(crate) const REMEDY: &str =
    "install it; programs keep the PATH of the command that starts the run";

/// Checks that this machine has the executables of a setup's programs.
pub(crate) fn check(setup: &Setup) -> Result<(), Error> {
    let missing = needed(setup).into_iter().find(|(name, _)| find(name).is_none());
    missing.map_or(Ok(()), |(name, host)| {
        Err(Error::new(format!("{name}, which runs at {host}, is not on this machine"), REMEDY))
    })
}

/// Names of executables, each with a host that runs it.
pub(crate) fn needed(setup: &Setup) -> BTreeMap<&str, &str> {
    let host = |program: &ratewire_sim::setup::ProgramSpec| {
        setup.network.nodes[program.host.index()].name.as_str()
    };
    setup.programs.iter().filter_map(|p| Some((first(&p.run)?, host(p)))).collect()
}

/// The word that a shell command begins with, if it must be the name of an executable or of a
/// command of the shell. Commands that go on after a failure, and words with a path, may find
/// something else when they run.
fn first(run: &str) -> Option<&str> {
    let word = run.split_whitespace().find(|word| *word != "exec")?;
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c));
    let goes_on = run.trim().replace("&&", " ").contains(['|', '&', ';', '\n']);
    (is_plain && !word.starts_with('-') && !goes_on).then_some(word)
}

/// What the shell of programs finds by this name.
pub(crate) fn find(name: &str) -> Option<String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", r#"command -v -- "$1""#, "sh", name]).stdin(Stdio::null());
    let done = shell.stderr(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&done.stdout).trim().to_string();
    (done.status.success() && !said.is_empty()).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_begins_with_its_executable_where_that_is_plain() {
        assert_eq!(first("iperf3 -s"), Some("iperf3"));
        assert_eq!(first(" exec python3.11 -m http.server"), Some("python3.11"));
        assert_eq!(first("curl http://d1/ && cmp a b"), Some("curl"));
        let goes_on = ["iperf3 -s || nc -l 1", "a; b", "a & b", "a\nb", "a | b", "exec -a b a"];
        let others = ["", "./server", "A=1 iperf3", "(a; b)", "$SERVER"];
        for unknown in goes_on.into_iter().chain(others) {
            assert_eq!(first(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_shells_own_commands_count_as_found() {
        assert!(find("sh").is_some_and(|path| path.ends_with("/sh")));
        assert!(find("cd").is_some() && find("while").is_some());
        assert_eq!(find("no-such-executable"), None);
    }
}
