//! Reads scenarios with the values of the command line.

use std::path::Path;

use ratewire::{Error, Experiment};
use ratewire_command_line::Exit;
use ratewire_scenario::whole_path;

use crate::output::fail;

/// Reads a scenario, or prints its errors.
///
/// `taken` are keys with an option of their own, which `set` may not give as well.
pub(crate) fn load(
    path: &Path,
    set: &[String],
    taken: &[(&str, &str)],
) -> Result<Experiment, Exit> {
    load_with_laws(path, set, taken, &LawFileArgs::default(), &[])
}

/// Whether a scenario may name files of laws.
#[derive(clap::Args, Default)]
pub(crate) struct LawFileArgs {
    /// Load the shared objects that a scenario names as laws, whose code then runs with your rights
    #[arg(long)]
    trust_laws: bool,
}

impl LawFileArgs {
    pub(super) fn load(
        &self,
        path: &Path,
        values: &[(String, String)],
        named: &[String],
    ) -> Result<Experiment, Error> {
        Experiment::load_after(named, path, values, self.trust_laws)
    }
}

/// As [`load`], with the laws of those of `named` that are files.
pub(super) fn load_with_laws(
    path: &Path,
    set: &[String],
    taken: &[(&str, &str)],
    laws: &LawFileArgs,
    named: &[String],
) -> Result<Experiment, Exit> {
    laws.load(path, &pairs(set, taken)?, named).map_err(|wrong| match wrong {
        Error::Scenario(_) => {
            fail(&wrong);
            why_not(path)
        }
        other => fail(&other),
    })
}

/// The paths and values of `--set`, or prints what is wrong with them.
pub(super) fn pairs(set: &[String], taken: &[(&str, &str)]) -> Result<Vec<(String, String)>, Exit> {
    let mut overrides: Vec<(String, String)> = Vec::new();
    for pair in set {
        let wrong = |why: String| {
            print_stderr!("ratewire: --set {pair}: {why}");
            Err(Exit::Wrong)
        };
        let Some((key, value)) = pair.split_once('=') else {
            return wrong("write KEY=VALUE, as in bottleneck.rate=10Mbit/s".to_string());
        };
        let key = key.trim();
        let path = whole_path(key);
        if overrides.iter().any(|(other, _)| whole_path(other) == path) {
            return wrong(format!("{key} is set twice"));
        }
        let is_taken = |at: &&(&str, &str)| path[0].text == at.0;
        if let Some((_, option)) = taken.iter().find(is_taken) {
            return wrong(format!("{option} sets the same value: leave one of them out"));
        }
        overrides.push((key.to_string(), value.trim().to_string()));
    }
    Ok(overrides)
}

/// Exit code for a file that could not be read as a scenario. A folder can be opened but not read.
pub(super) fn why_not(path: &Path) -> Exit {
    // Opening a pipe would block until something writes to it.
    if !path.is_file() || std::fs::File::open(path).is_err() { Exit::File } else { Exit::Wrong }
}
