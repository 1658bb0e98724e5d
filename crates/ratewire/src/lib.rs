//! Congestion control laws in simulated and emulated networks: an [`Experiment`] goes in, [`Results`] come
//! out.
//!
//! ```
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! let experiment = ratewire::Experiment::load("scenarios/three-flows.toml")?;
//! let results = experiment.laws(["xcp", "cubic"]).run()?;
//! for run in results.runs() {
//!     println!("{}: {:.3}", run.law(), run.utilisation("bottleneck")?);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What to reach for
//!
//! | to | use |
//! |---|---|
//! | choose laws, seeds, worlds, and put values into a scenario | [`Experiment`] |
//! | make a network, flows and expectations in code | [`scenario::Scenario::builder`] |
//! | read figures and expectations, write the page | [`Results`], [`Run`] |
//! | read samples over time as Arrow batches or Parquet | [`Samples`] |
//! | follow progress and samples as runs go on, and end runs | [`Listener`], [`Cancel`] |
//! | bring a law of one's own | [`Experiment::register`], [`laws`] |
//! | run many experiments together, and keep of each what matters | [`Job`], [`run_all`] |
//! | run the figures of papers again | [`papers`] |
//!
//! `examples/` has a program for each of the first six: `one_run`, `own_network`, `sweep`, `own_law`.
//!
//! # Rules that hold for everything here
//!
//! - The same experiment gives the same results, byte for byte, on any machine and any number of threads;
//!   runs in real time do not.
//! - Packets are conserved: a run that loses count of one fails.
//! - An [`Error`] says what became of results. It never changes an experiment.
//! - Figures carry their units in their names (`goodput_bps`, `rtt_mean_s`); arguments have types for them
//!   ([`units`]).
//!
//! # The crates behind this one
//!
//! | crate | is |
//! |---|---|
//! | [`ratewire_units`](units) | time, rates and sizes as types |
//! | [`ratewire_laws`](laws) | each law: source, port, sink, options, explanation |
//! | `ratewire_transport`, `ratewire_anypoint`, `ratewire_overlay`, `ratewire_backpressure` | cores without clocks or sockets: ends of flows, the split/merge switch, cost-benefit multicast, pauses |
//! | `ratewire_net` | links, queues and their disciplines, routes, ports |
//! | `ratewire_sim` | virtual time over `ratewire_net` |
//! | `ratewire_emulate`, `ratewire_live` | real hosts over `ratewire_net`, and laws in this machine's kernel |
//! | [`ratewire_scenario`](scenario) | the scenario language and expectations |
//! | [`ratewire_report`](report) | figures, tables, pages, Parquet |
//!
//! A panic in a run is a bug. To go on after one, build with unwinding panics: this workspace has a profile
//! for it, `--profile embed`.

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

pub use ratewire_laws as laws;
pub use ratewire_report as report;
pub use ratewire_scenario as scenario;
pub use ratewire_units as units;
