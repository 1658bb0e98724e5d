//! Runs jobs with a progress bar, warnings and the memory watch.

use ratewire::{Error, Job, Listener, Run, Running, Warning, World, run_all};
use ratewire_units::Duration;

use crate::memory::{self, Watchman};
use crate::progress::Progress;

/// Prints warnings as they occur.
struct WarningPrinter;

impl Listener for WarningPrinter {
    fn warning(&self, _run: &Running<'_>, warning: &Warning) {
        print_stderr!("warning: {warning}");
    }
}

/// Calls `work` with a listener that shows progress and warnings of these jobs, and ends runs when
/// memory runs out.
pub(crate) fn over<T>(
    jobs: &[Job<'_>],
    show_progress: bool,
    work: impl FnOnce(&dyn Listener) -> T,
) -> T {
    memory::warn(jobs);
    let runs: Vec<_> = jobs.iter().map(|job| (job.world(), job.duration())).collect();
    over_runs(&runs, show_progress, work)
}

/// As [`over`], for runs of these worlds and durations.
pub(crate) fn over_runs<T>(
    runs: &[(World, Duration)],
    show_progress: bool,
    work: impl FnOnce(&dyn Listener) -> T,
) -> T {
    let progress = Progress::new(show_progress, runs);
    let done = work(&(&progress, (Watchman, WarningPrinter)));
    progress.finish();
    done
}

/// As [`all`], but without the warnings of runs, which are of a wrong law.
pub(crate) fn all_without_warnings<T: Send>(
    jobs: &[Job<'_>],
    show_progress: bool,
    keep: impl Fn(&Job<'_>, Run) -> T + Sync,
) -> Vec<Result<T, Error>> {
    memory::warn(jobs);
    let runs: Vec<_> = jobs.iter().map(|job| (job.world(), job.duration())).collect();
    let progress = Progress::new(show_progress, &runs);
    let done = run_all(jobs, &(&progress, Watchman), keep);
    progress.finish();
    done
}

/// Runs the jobs on all cores, and keeps what `keep` makes of each run, in the order of the jobs.
pub(crate) fn all<T: Send>(
    jobs: &[Job<'_>],
    show_progress: bool,
    keep: impl Fn(&Job<'_>, Run) -> T + Sync,
) -> Vec<Result<T, Error>> {
    over(jobs, show_progress, |listener| run_all(jobs, listener, keep))
}
