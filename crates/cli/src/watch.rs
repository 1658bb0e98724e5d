//! How the command runs jobs: a bar, warnings, and an eye on memory.

use ratewire::{Error, Job, Listener, Run, Running, Warning, run_all};

use crate::memory::{self, Watchman};
use crate::progress::Progress;

/// Prints warnings as they come.
struct Teller;

impl Listener for Teller {
    fn warning(&self, _run: &Running<'_>, warning: &Warning) {
        tell!("warning: {warning}");
    }
}

/// Does `work` with a listener that tells of these jobs, and has them end where memory runs out.
pub(crate) fn over<T>(
    jobs: &[Job<'_>],
    show_progress: bool,
    work: impl FnOnce(&dyn Listener) -> T,
) -> T {
    memory::warn(jobs);
    let runs: Vec<_> = jobs.iter().map(|job| (job.world(), job.duration())).collect();
    let progress = Progress::new(show_progress, &runs);
    let done = work(&(&progress, (Watchman, Teller)));
    progress.finish();
    done
}

/// Carries out the jobs on all cores and keeps of each what `keep` makes of it, in the order of the jobs.
pub(crate) fn all<T: Send>(
    jobs: &[Job<'_>],
    show_progress: bool,
    keep: impl Fn(&Job<'_>, Run) -> T + Sync,
) -> Vec<Result<T, Error>> {
    over(jobs, show_progress, |listener| run_all(jobs, listener, keep))
}
