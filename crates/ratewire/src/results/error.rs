//! Errors of an experiment.

use std::io;
use std::path::{Path, PathBuf};

use ratewire_scenario::{ScenarioError, nearest};
use ratewire_sim::RunError;
use ratewire_units::text::legible;
use ratewire_units::{Time, names};

use super::Results;

/// Most names that [`Error::unknown`] lists.
const LISTED: usize = 20;

/// Why an experiment, or one of its runs, failed.
///
/// Each variant says what happened to results. An error never changes an experiment, which can be
/// run again. The text for users is its [`Display`](std::fmt::Display) form; `Debug` shows the
/// variant.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The scenario, or a value set in it, has errors: all of them, in the order of the file.
    ///
    /// Nothing was run and nothing was written.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A law of the program cannot be registered. Nothing was run, and the experiment does not know
    /// the law.
    #[error(transparent)]
    Law(#[from] ratewire_laws::RegisterError),
    /// A queue discipline of the program cannot be registered. Nothing was run, and the experiment
    /// does not know the discipline.
    #[error(transparent)]
    Discipline(#[from] ratewire_net::queue::RegisterDisciplineError),
    /// A shared object gives no law. Nothing was run, and the experiment does not know the law.
    #[cfg(feature = "plugin")]
    #[error(transparent)]
    LawFile(#[from] ratewire_plugin::LoadError),
    /// A scenario names a shared object as a law, whose code nobody has allowed to run. Nothing was
    /// run: see [`Experiment::load_trusting`](crate::Experiment::load_trusting).
    #[error("{}: the law {file} is code that would run with your rights", scenario.display())]
    UntrustedLaw {
        /// The file, as the scenario names it.
        file: String,
        /// The scenario's file.
        scenario: PathBuf,
    },
    /// A setting of the experiment does not fit its scenario.
    ///
    /// Nothing was run and nothing was written.
    #[error("{setting}: {reason}")]
    Setting {
        /// The setting, with the value that it has: `why flow-1@12s`.
        setting: String,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// No law can run in the requested worlds: each law, with the reason.
    ///
    /// Nothing was run and nothing was written.
    #[error("nothing is left to run{}", left_out(.0))]
    Nothing(Vec<ratewire_report::LeftOut>),
    /// This machine cannot run a law in a world. Other runs of the experiment are not affected.
    #[cfg(feature = "emulate")]
    #[error("{source}")]
    Unable {
        /// The world.
        world: crate::World,
        /// What the machine lacks.
        source: ratewire_emulate::Error,
    },
    /// The simulator cannot carry out a run. Other runs of the experiment are not affected.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A [`Listener`](crate::Listener) ended a run.
    ///
    /// The run's samples are dropped; other runs are not affected. A simulated run that was
    /// [`Interrupted`](crate::Interrupted) after its first sample has results instead.
    #[error("stopped at {} of its time: {source}", at.since(Time::ZERO))]
    Stopped {
        /// The run's own time at its end.
        at: Time,
        /// The listener's reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file or folder cannot be written.
    ///
    /// Earlier results in the folder are unchanged, unless `source` says otherwise.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// What is at a path keeps Ratewire from writing there. Another path can be chosen.
    ///
    /// What is there is unchanged.
    #[error("cannot write {}: {reason}", path.display())]
    Refused {
        /// The file or folder.
        path: PathBuf,
        /// What is there, and the remedy.
        reason: &'static str,
    },
    /// A file cannot be read. Nothing was changed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// There is no such figure, or it cannot be drawn. Nothing was written.
    #[error("{0}")]
    Figure(String),
    /// A folder of papers has errors, or lacks the paper or figure. Nothing was run.
    #[error("{0}")]
    Papers(String),
    /// Some results are missing: runs failed, laws could not run, or the folder could not be
    /// written.
    ///
    /// The value contains the results of all other runs.
    #[error("{}", .0.shortfall())]
    Incomplete(Box<Results>),
}

impl Error {
    /// An error that no `what` is called `name`, with the nearest name and the known names.
    pub fn unknown(setting: &str, what: &str, name: &str, known: &[&str]) -> Error {
        Error::Setting { setting: setting.to_string(), reason: unknown(what, name, known) }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Error {
        Error::Write { path: path.to_path_buf(), source }
    }

    pub(crate) fn refused(path: &Path, reason: &'static str) -> Error {
        Error::Refused { path: path.to_path_buf(), reason }
    }
}

/// The place of the name that `wanted` means, see [`names::find`].
///
/// # Errors
/// A message that no `what`, or more than one, is meant.
pub(crate) fn find(what: &str, wanted: &str, known: &[&str]) -> Result<usize, String> {
    match names::find(wanted, known.iter().copied())[..] {
        [at] => Ok(at),
        [] => Err(unknown(what, wanted, known)),
        ref several => {
            let meant: Vec<&str> = several.iter().map(|at| known[*at]).collect();
            let help = match wanted.contains('*') {
                true => "name one of them",
                false => names::WRITE_ARROW,
            };
            Err(format!("{}\n  help: {help}", names::ambiguous(wanted, &meant)))
        }
    }
}

/// An error that this build of the library lacks a feature that a setting needs.
#[cfg(not(all(feature = "emulate", feature = "parquet", feature = "plugin")))]
pub(crate) fn lacking(setting: &str, what: &str, feature: &str) -> Error {
    let help = format!("enable the feature `{feature}` of the crate `ratewire`");
    Error::Setting { setting: setting.to_string(), reason: format!("{what}\n  help: {help}") }
}

/// A message that no `what` is called `name`, with the nearest name and the known names.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("no {what} is called {name:?}: there is none");
    }
    let near = nearest(name, known.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean {near:?}? "));
    let more = match known.len() {
        0..=LISTED => String::new(),
        all => format!(" and {} more", all - LISTED),
    };
    let shown: Vec<String> = known.iter().take(LISTED).map(|name| legible(name)).collect();
    let shown = shown.join(", ");
    format!("no {what} is called {name:?}; {near}known: {shown}{more}")
}

fn left_out(all: &[ratewire_report::LeftOut]) -> String {
    all.iter().map(|left| format!("\n{} in {}: {}", left.law, left.world, left.why)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_variant_and_display_the_text() {
        let error = Error::Figure("no figure is called \"x\"".to_string());
        assert_eq!(format!("{error:?}"), r#"Figure("no figure is called \"x\"")"#);
        assert_eq!(error.to_string(), "no figure is called \"x\"");
    }
}
