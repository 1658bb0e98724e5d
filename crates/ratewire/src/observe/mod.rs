//! Observes a run, and makes its report.
//!
//! A world records numbers and indices; the report has names and figures. [`watch`] connects the
//! two: it passes each sample to the report's collector, to files and to listeners, and makes a
//! [`ratewire_report::Run`] of the outcome.

mod arrived;
mod bottleneck;
mod changes;
mod crossing;
mod demand;
mod describe;
pub(crate) mod estimate;
#[cfg(feature = "parquet")]
pub(crate) mod files;
#[cfg(not(feature = "parquet"))]
#[path = "no_files.rs"]
pub(crate) mod files;
mod observer;
mod overlay;
pub(crate) mod queueing;
mod shares;
mod summarise;
mod transfers;
mod why;
mod window;

pub(crate) use describe::{Labels, describe};
pub(crate) use files::{Files, Place};
pub(crate) use observer::{Observer, Seen};
pub(crate) use why::explain;

use ratewire_report::RunInfo;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::Recorder;
use ratewire_sim::setup::Setup;
use ratewire_units::Time;

use crate::Error;
use crate::listen::{Interrupted, Listener, Running};
use crate::results::tables::KeptTables;

/// Results of an observed run.
pub(crate) struct Watched {
    pub(crate) run: ratewire_report::Run,
    pub(crate) outcome: Outcome,
    pub(crate) held: Option<KeptTables>,
}

/// Observes a run that `carry_out` runs in its world.
///
/// `files` takes every sample, if given; `also` receives everything that the world records.
///
/// # Errors
/// The error of `carry_out`, or an error if the listener ends the run or a file cannot be written.
pub(crate) fn watch(
    setup: &Setup,
    labels: &Labels,
    (running, listener): (Running<'_>, &dyn Listener),
    files: Option<Files>,
    also: &mut dyn Recorder,
    carry_out: impl FnOnce(&mut Observer<'_>) -> Result<Outcome, Error>,
) -> Result<Watched, Error> {
    let mut observer = Observer::new(setup, labels, running, listener, files, Box::new(also));
    let carried_out = observer.begin().and_then(|()| carry_out(&mut observer));
    let is_interrupted = match &observer.stopped {
        Some((_, source)) => source.is::<Interrupted>() && carried_out.is_ok(),
        None => false,
    };
    if !is_interrupted && let Some((at, source)) = observer.stopped {
        return Err(Error::Stopped { at, source });
    }
    let outcome = carried_out?;
    let seen = observer.finish(&outcome)?;
    let mut info = running.info.clone();
    if is_interrupted {
        info.duration = outcome.ended.since(Time::ZERO);
    }
    let (mut run, held) = report(setup, info, &outcome, seen);
    run.summary.planned_duration_s = is_interrupted.then(|| setup.duration.secs());
    Ok(Watched { run, outcome, held })
}

/// The report of a run, and its tables if they were kept in memory.
pub(crate) fn report(
    setup: &Setup,
    info: RunInfo,
    outcome: &Outcome,
    seen: Seen,
) -> (ratewire_report::Run, Option<KeptTables>) {
    let summary = summarise::summarise(setup, &info, outcome, &seen);
    (ratewire_report::Run { info, summary, collected: seen.collected }, seen.held)
}
