//! Work without Python's lock: on threads of its own, which Ctrl-C ends.

// The calling thread has to look for signals while others work, or between parts of its own work.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use ratewire::units::Duration as Simulated;
use ratewire::{Cancel, Listener, Progress, Running, StopReason, Warning};

use crate::errors::warn;

/// Time between two looks for Ctrl-C, and two calls of `progress`.
const TICK: Duration = Duration::from_millis(50);

/// Observes runs for the thread that waits for them.
#[derive(Default)]
struct Watch {
    cancel: Cancel,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// By run: seconds of its time.
    reached: Vec<f64>,
    warnings: Vec<String>,
}

impl Watch {
    fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn reach(&self, run: &Running<'_>, seconds: f64) {
        self.note(|seen| {
            if seen.reached.len() <= run.index {
                seen.reached.resize(run.index + 1, 0.0);
            }
            seen.reached[run.index] = seconds;
        });
    }

    /// Looks for signals, and calls `progress` with the seconds of all runs so far.
    fn look(&self, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let mut sum = 0.0;
        self.note(|seen| sum = seen.reached.iter().sum());
        Python::attach(|py| {
            py.check_signals()?;
            progress.map_or(Ok(()), |progress| progress.call1(py, (sum,)).map(drop))
        })
    }
}

impl Listener for Watch {
    fn reached(&self, run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
        self.reach(run, progress.now.secs());
        self.cancel.reached(run, progress)
    }

    fn warning(&self, _run: &Running<'_>, warning: &Warning) {
        self.note(|seen| seen.warnings.push(warning.to_string()));
    }

    fn ends(&self, run: &Running<'_>) {
        self.reach(run, run.info.duration.secs());
    }
}

/// Calls `work` with a listener, on all cores and without Python's lock.
///
/// The calling thread calls `progress` with the seconds of all runs, and looks for signals. Where a
/// handler raises, as Ctrl-C's does, the runs are ended and the exception is returned.
///
/// Threads are made for each call: a pool that outlived it would be missing in a process that was
/// forked.
pub fn work<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&dyn Listener) -> T + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let done = py.detach(|| {
        thread::scope(|scope| {
            let (ends, end) = channel::<()>();
            let worker = scope.spawn(|| {
                // Dropped at the end, also by a panic.
                let _ends = ends;
                let run = |pool: &rayon::ThreadPool| pool.install(|| work(&watch));
                rayon::ThreadPoolBuilder::new().build_scoped(known, run)
            });
            let mut looked = Ok(());
            while end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if looked.is_ok() {
                    looked = watch.look(progress);
                    if looked.is_err() {
                        watch.cancel.cancel();
                    }
                }
            }
            let done = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            let last = if looked.is_ok() { watch.look(progress) } else { looked };
            last.and(done.map_err(|e| PyOSError::new_err(e.to_string())))
        })
    })?;
    let mut warnings = Vec::new();
    watch.note(|seen| warnings = std::mem::take(&mut seen.warnings));
    warnings.iter().try_for_each(|text| warn(py, text))?;
    Ok(done)
}

/// Runs a thread that Python knows for the thread's whole life. If Python got to know it at each
/// call of a law anew, each would map and unmap memory.
fn known(thread: rayon::ThreadBuilder) {
    Python::attach(|py| py.detach(|| thread.run()));
}

/// As [`work`] for work that does not run scenarios.
pub fn quietly<T: Send>(py: Python<'_>, quiet: impl FnOnce() -> T + Send) -> PyResult<T> {
    work(py, None, |_| quiet())
}

/// Simulates from `now` to `until` in slices, and looks for signals between them.
///
/// `reach` runs up to a time. How long a slice takes decides how much the next one simulates.
pub fn in_slices(
    py: Python<'_>,
    now: Simulated,
    until: Simulated,
    mut reach: impl FnMut(Simulated) -> PyResult<()>,
) -> PyResult<()> {
    let mut at = now;
    let mut slice = Simulated::from_millis(1);
    while at < until {
        at = (at + slice).min(until);
        let began = Instant::now();
        reach(at)?;
        py.check_signals()?;
        let took = began.elapsed();
        slice = slice.scale(if took < TICK / 2 { 2.0 } else { 0.5 }).max(Simulated::from_nanos(1));
    }
    Ok(())
}
