//! Congestion control laws in simulated and emulated networks: an [`Experiment`] goes in, [`Results`] come
//! out.
//!
//! ```
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! use ratewire::Experiment;
//!
//! let results = Experiment::load("scenarios/three-flows.toml")?.laws(["xcp", "cubic"]).run()?;
//! for run in results.runs() {
//!     println!("{}: {:.3}", run.law(), run.utilisation("bottleneck")?);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod capture;
mod emulated;
mod error;
mod experiment;
pub mod folder;
mod job;
mod listen;
mod observe;
pub mod papers;
mod question;
mod results;

pub use emulated::remedies;
pub use error::{Error, unknown};
pub use experiment::{Experiment, Planned, ignored, without_repeats};
pub use job::{Job, run_all};
pub use listen::{Cancel, Cancelled, Listener, Progress, Reason, Running, Warning};
pub use ratewire_report::World;
pub use results::{Failed, OfLaw, Results, Run, Samples};

pub use ratewire_report as report;
pub use ratewire_scenario as scenario;
pub use ratewire_units as units;
