//! One run of a scenario: the engine, what watches it, and what is left of it.
//!
//! Between the simulator, which knows numbers and indices, and the report, which knows names and
//! figures. [`run`] drives the engine, hands each sample to the report's collector and to whoever
//! else wants it, and puts the outcome into a [`ratewire_report::Run`].

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod describe;
pub mod estimate;
mod files;
mod observe;
mod overlay;
mod shares;
mod summarise;
mod transfers;
mod why;

pub use describe::Labels;
pub use files::Files;
pub use observe::{Failure, Observer};
pub use why::explain;

use ratewire_report::{Run, World};
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::Recorder;
use ratewire_sim::setup::Setup;

/// Runs a setup in virtual time. `files` takes every sample, if given; `also` is told everything the engine tells.
///
/// # Errors
/// When the setup cannot run, the engine loses count of packets, or a file cannot be written.
pub fn run(
    setup: &Setup,
    labels: &Labels,
    files: Option<Files>,
    also: &mut dyn Recorder,
) -> Result<(Run, Outcome), Failure> {
    run_in(World::Simulate, setup, labels, files, also, |observer| {
        ratewire_sim::run(setup, observer).map_err(Failure::Run)
    })
}

/// Runs a setup in `world`, where `run` carries it out.
///
/// # Errors
/// What `run` returns, or when a file cannot be written.
pub fn run_in(
    world: World,
    setup: &Setup,
    labels: &Labels,
    files: Option<Files>,
    also: &mut dyn Recorder,
    run: impl FnOnce(&mut Observer<'_>) -> Result<Outcome, Failure>,
) -> Result<(Run, Outcome), Failure> {
    let info = describe::describe(world, setup, labels);
    let mut observer = Observer::new(setup, labels, &info, files, also);
    let outcome = run(&mut observer)?;
    let seen = observer.finish(&outcome)?;
    let summary = summarise::summarise(setup, &info, &outcome, &seen);
    Ok((Run { info, summary, collected: seen.collected }, outcome))
}
