//! The native module of the Python package `ratewire`, below its classes in `python/ratewire`.
//!
//! | part | is |
//! |---|---|
//! | `scenario` | a scenario that was read and checked |
//! | `asked` | laws, seeds, the measured part and figures that runs are asked for |
//! | `experiment` | runs of a scenario, and the question why a flow sends as it does |
//! | `results` | results in memory or in a folder |
//! | `simulation` | a run in steps |
//! | `environments` | many runs in steps, in each of which a learner controls a flow |
//! | `compare`, `sweep`, `papers` | the other ways to run many scenarios |
//! | `store` | a place for a sweep's files that Python knows |
//! | `table` | samples as Arrow streams |
//! | `law` | laws that are classes in Python |
//! | `figures` | figures to draw |
//! | `work` | work without Python's lock: threads, Ctrl-C, progress |
//! | `raised` | exceptions of laws, until their run's error is raised |
//! | `errors` | errors as exceptions, warnings as warnings |
//!
//! Classes here hold what they are given and say what it holds. Defaults, documentation and forms
//! of arguments are written in Python.

mod asked;
mod compare;
mod environments;
mod errors;
mod experiment;
mod figures;
mod law;
mod papers;
mod quantity;
mod raised;
mod results;
mod scenario;
mod simulation;
mod store;
mod sweep;
mod table;
mod work;

use pyo3::prelude::*;

/// The native module of the package `ratewire`.
#[pymodule]
mod _ratewire {
    #[pymodule_export]
    use super::asked::seeds;
    #[pymodule_export]
    use super::compare::{Comparison, compare};
    #[pymodule_export]
    use super::environments::Environments;
    #[pymodule_export]
    use super::experiment::run;
    #[pymodule_export]
    use super::figures::Figures;
    #[pymodule_export]
    use super::law::{
        Ack, Congestion, Flow, Interval, LawInfo, Link, Sending, check_law, explain, law_cost,
    };
    #[pymodule_export]
    use super::papers::{Reproduction, list_papers, reproduce};
    #[pymodule_export]
    use super::quantity::seconds;
    #[pymodule_export]
    use super::results::Results;
    #[pymodule_export]
    use super::scenario::Scenario;
    #[pymodule_export]
    use super::simulation::Simulation;
    #[pymodule_export]
    use super::sweep::{Sweep, run_tasks, sweep};
    #[pymodule_export]
    use super::table::Table;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
