//! What runs are asked for: laws, seeds, a measured part, and figures.

use pyo3::prelude::*;
use ratewire::report::compare::FigureName;
use ratewire::{Experiment, expand_values};

use crate::errors::exception;
use crate::quantity::setting;
use crate::scenario::Scenario;

/// The attributes of a `ratewire._asked.Asked`.
#[derive(FromPyObject)]
pub struct Asked {
    /// Names of laws, or paths of their files; `None` stands for the scenario's own.
    pub laws: Option<Vec<String>>,
    /// Seeds; `None` stands for the scenario's own.
    pub seeds: Option<Vec<u64>>,
    /// The part of each run that figures are about: `5s..30s`.
    during: Option<String>,
    /// Lists of figures by name.
    figures: Vec<String>,
}

impl Asked {
    /// The experiment that asks this of a scenario.
    pub fn of(&self, py: Python<'_>, scenario: &Scenario) -> PyResult<Experiment> {
        let lists = self.figures.iter().map(|list| FigureName::list(list));
        let figures = lists.collect::<Result<Vec<_>, String>>();
        let figures = figures.map_err(|why| exception(py, setting("figures", why)))?;
        let made = py.detach(|| {
            let names = self.laws.iter().flatten();
            let mut experiment = Experiment::of(scenario.0.clone()).law_files(names)?;
            if let Some(laws) = &self.laws {
                experiment = experiment.laws(laws);
            }
            if let Some(seeds) = &self.seeds {
                experiment = experiment.seeds(seeds.iter().copied());
            }
            if let Some(part) = &self.during {
                experiment = experiment.during(part)?;
            }
            Ok(experiment.figures(figures.into_iter().flatten()))
        });
        made.map_err(|e| exception(py, e))
    }
}

/// Seeds from the command's text: `1..5` or `1,2,3`.
#[pyfunction]
pub fn seeds(py: Python<'_>, text: &str) -> PyResult<Vec<u64>> {
    let all = expand_values(text).map_err(|why| exception(py, setting("seed", why)))?;
    let number = |seed: &String| {
        let allowed = format!("{seed:?} is none; allowed: whole numbers from 0 to {}", u64::MAX);
        seed.parse().map_err(|_| exception(py, setting("seed", allowed)))
    };
    all.iter().map(number).collect()
}
