//! What a page is about.

use std::fmt;
use std::sync::Arc;

use ratewire::{Experiment, Listener};
use ratewire_report::Sweep;
use ratewire_scenario::whole_path;

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
    /// The scenario, with the values that are set at the beginning.
    pub experiment: Experiment,
    /// Path of the scenario's file, for command lines.
    pub file: String,
    /// Laws that are ticked at the beginning; the scenario's own if there is none.
    pub laws: Vec<String>,
    /// Observes every run, and may end it: a watch of the memory, for example.
    pub listener: Arc<dyn Listener + Send + Sync>,
}

impl Explored {
    /// Values that are set at the beginning. Laws have boxes.
    pub(crate) fn values(&self) -> Vec<(String, String)> {
        let mut values = self.experiment.scenario().values();
        values.retain(|(path, _)| !is_law(path));
        values
    }

    /// Whether `law` is one of the values that are set, because the file alone has no valid one.
    pub(crate) fn sets_law(&self) -> bool {
        self.experiment.scenario().values().iter().any(|(path, _)| is_law(path))
    }
}

fn is_law(path: &str) -> bool {
    whole_path(path)[0].text == "law"
}

impl fmt::Debug for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Explored { file, laws, .. } = self;
        let mut out = f.debug_struct("Explored");
        out.field("file", file).field("values", &self.values()).field("laws", laws);
        out.finish_non_exhaustive()
    }
}
