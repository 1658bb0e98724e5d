//! What a page is about.

use std::fmt;
use std::sync::Arc;

use ratewire::{Experiment, Listener};
use ratewire_report::Sweep;

/// What a page is about: a scenario to run, or a sweep to look into.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A scenario, which each change runs again.
    Scenario(Box<Explored>),
    /// The results of a sweep; nothing is run.
    Sweep(Box<Sweep>),
}

/// A scenario, and how the page begins.
#[derive(Clone)]
pub struct Explored {
    /// The scenario, without values set.
    pub experiment: Experiment,
    /// Path of the scenario's file, for command lines.
    pub file: String,
    /// Values that are set at the beginning.
    pub values: Vec<(String, String)>,
    /// Laws that are ticked at the beginning; the scenario's own if there is none.
    pub laws: Vec<String>,
    /// Observes every run, and may end it: a watch of the memory, for example.
    pub listener: Arc<dyn Listener + Send + Sync>,
}

impl fmt::Debug for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explored { file, values, laws, .. } = self;
        let mut out = f.debug_struct("Explored");
        out.field("file", file).field("values", values).field("laws", laws);
        out.finish_non_exhaustive()
    }
}
