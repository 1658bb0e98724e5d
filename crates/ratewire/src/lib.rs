//! Runs congestion control laws in simulated and emulated networks: from an [`Experiment`] to its
//! [`Results`].
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
//! # Where to start
//!
//! | to | use |
//! |---|---|
//! | choose laws, seeds, worlds, and set values of a scenario | [`Experiment`] |
//! | make a network, flows and expectations in code | [`scenario::Scenario::builder`] |
//! | read figures and expectations, write the page | [`Results`], [`Run`] |
//! | read samples over time as Parquet, or as Arrow batches | [`Samples`] |
//! | write results into a folder later, and read them again | [`Results::save`], [`SavedResults`] |
//! | draw a figure for a paper: SVG, PDF, PNG, CSV | [`Results::plot`], [`Figures`] |
//! | follow progress and samples during runs | [`Listener`] |
//! | stop a run between steps, look into it, and change links | [`Simulation`] |
//! | be the congestion control of a flow, as a learner is | [`ControlledFlow`] |
//! | end runs, and keep what they have measured or not | [`Interrupt`], [`Cancel`] |
//! | distinguish a difference of laws from noise, over several seeds | [`Compare`] |
//! | vary values over a grid, and go on after a stop | [`Sweep`], [`read_sweep`] |
//! | add a law of your own, in Rust | [`Experiment::register`], [`laws`] |
//! | add a queue discipline of your own, in Rust | [`Experiment::register_discipline`], [`queue`] |
//! | add a law of a shared object | [`Experiment::law_files`], [`load_law`], `ratewire_law.h` |
//! | check that a law keeps the rules and its promises | [`LawCheck`] |
//! | run many experiments together, and keep chosen data of each | [`Job`], [`run_all`] |
//! | run the figures of papers again | [`papers`] |
//!
//! `examples/` has five programs: `one_run`, `own_network`, `sweep`, `own_law` and
//! `own_discipline`.
//!
//! # Features
//!
//! Without any, the library simulates, compares, sweeps, checks expectations, and writes pages and
//! figures as SVG and CSV. Features add to this and take nothing away.
//!
//! | feature | adds | default | crates |
//! |---|---|---|---|
//! | `emulate` | [`World::Emulate`]: runs in real time, with users and shells | yes | 20 |
//! | `images` | figures as PDF and PNG | yes | 50 |
//! | `parquet` | [`Samples`], [`SavedResults`], folders of results and of sweeps | yes | 20 |
//! | `plugin` | laws of shared objects | yes | 2 |
//! | `arrow` | `Samples::batches`, `SweepResults::rows`; enables `parquet` | no | 30 |
//! | `live` | laws of this machine's kernel at emulated hosts; enables `emulate` | no | 4 |
//!
//! The last column says about how many crates a feature brings; the library itself takes 70. Where
//! a scenario or a program asks for what a build lacks, an error names the feature.
//!
//! # Rules of the whole library
//!
//! - Equal experiments give equal results, byte for byte, on any machine and any number of threads,
//!   except in real time.
//! - Packets are conserved: a run that loses count of one fails.
//! - An [`Error`] says what happened to results. It never changes an experiment.
//! - Figures have units in their names (`goodput_bps`, `rtt_mean_s`); arguments have types
//!   ([`units`]).
//!
//! # The crates behind this one
//!
//! | crate | is |
//! |---|---|
//! | [`ratewire_units`] | time, rates and sizes as types |
//! | [`ratewire_laws`] | each law: source, port, sink, options, explanation |
//! | [`ratewire_plugin`] | laws of shared objects, in C; feature `plugin` |
//! | `ratewire_transport` | both ends of a flow, sans-IO |
//! | `ratewire_anypoint` | the split/merge switch, sans-IO |
//! | `ratewire_overlay` | cost-benefit multicast, sans-IO |
//! | `ratewire_backpressure` | pauses and the queues of switches, sans-IO |
//! | `ratewire_net` | links, queues and their disciplines, routes, ports |
//! | `ratewire_sim` | virtual time over `ratewire_net` |
//! | `ratewire_emulate` | real time: real hosts over `ratewire_net`; feature `emulate` |
//! | `ratewire_live` | laws in this machine's kernel; feature `live` |
//! | `ratewire_inputs` | topologies, distributions of sizes, and other files to read |
//! | `ratewire_capture` | packet captures (pcapng) |
//! | [`ratewire_scenario`] | the scenario language and expectations |
//! | `ratewire_statistics` | means, percentiles, intervals, Jain's index |
//! | [`ratewire_report`] | figures, tables, pages, Parquet |
//!
//! A panic in a run is a bug. A program can catch it and continue if panics unwind, as they do by
//! default. In this workspace the profile `release` aborts and the profile `embed` unwinds.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod capture;
mod compare;
mod control;
#[cfg(feature = "emulate")]
mod emulated;
#[cfg(not(feature = "emulate"))]
#[path = "not_emulated.rs"]
mod emulated;
mod experiment;
mod figures;
pub mod folder;
mod job;
mod law_check;
mod law_cost;
mod law_files;
mod law_text;
mod listen;
mod observe;
pub mod papers;
mod provenance;
mod question;
mod results;
#[cfg(feature = "parquet")]
mod samples;
#[cfg(feature = "parquet")]
mod saved;
mod simulation;
mod sweep;

pub use compare::{Compare, ComparisonResults, PlannedComparison};
pub use control::{ControlledFlow, Measured};
#[cfg(feature = "emulate")]
pub use emulated::remedies;
#[doc(hidden)]
pub use experiment::without_repeats;
pub use experiment::{Experiment, Planned};
pub use figures::Figures;
pub use job::{Job, run_all};
pub use law_check::LawCheck;
pub use law_cost::{BenchedPort, TimeSpread, port_costs};
pub use law_files::{add_law, know_law_files, load_law};
pub use law_text::explain;
pub use listen::{
    Cancel, Cancelled, Interrupt, Interrupted, Listener, Progress, Running, StopReason, Warning,
};
pub use provenance::{ExperimentRecord, FileDigest, Provenance, SetValue};
pub use ratewire_report::World;
pub use ratewire_report::draw::{
    AxisChoice, Choice, Chosen, Columns, Figure, Length, Listed, Panels, Style,
};
#[doc(hidden)]
pub use results::error::unknown;
pub use results::{Error, Failed, OfLaw, Results, Run};
#[cfg(feature = "parquet")]
pub use samples::Samples;
#[cfg(feature = "parquet")]
pub use saved::SavedResults;
pub use simulation::Simulation;
pub use sweep::{
    PlannedSweep, ReadySweep, Sweep, SweepResults, SweepStore, SweepTask, TaskDone, expand_values,
    read_sweep,
};

#[cfg(feature = "arrow")]
pub use arrow_array;
pub use ratewire_laws as laws;
pub use ratewire_net::Observation as LinkState;
pub use ratewire_net::queue;
#[cfg(feature = "plugin")]
pub use ratewire_plugin as plugin;
pub use ratewire_report as report;
pub use ratewire_scenario as scenario;
pub use ratewire_sim::FlowState;
pub use ratewire_units as units;

/// Compiles the programs of the book.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/draw-a-figure.md")]
struct Book;

/// Compiles the programs of the book that read record batches.
#[cfg(all(doctest, feature = "arrow"))]
#[doc = include_str!("../../../docs/how-to/use-the-library.md")]
struct BookOfBatches;
