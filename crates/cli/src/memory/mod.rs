//! Limits the memory that the runs of a command use together.
//!
//! A thread watches what the process uses. Above the limit, it ends the run that holds the most
//! packets. If no run can be ended, the command exits.

mod available;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration as Pause;

use ratewire::{Job, Listener, Progress, Running, StopReason};
use ratewire_command_line::Exit;
use ratewire_units::{Bytes, Time};

/// Time between two checks; at 1 GB/s of growth, 20 MB.
const LOOK: Pause = Pause::from_millis(20);
/// Checks for which a chosen run gets time to end.
const PATIENCE: u32 = 100;
/// Memory of a flow, as a number of packets.
const FLOW: u64 = 8;

/// Bytes by which a run may grow beyond a small limit before it ends.
const OVERSHOOT: u64 = 256_000_000;

/// The memory watch of this process.
static WATCH: OnceLock<Mutex<Watch>> = OnceLock::new();

#[derive(Debug)]
struct Watch {
    limit: u64,
    /// Bytes that may be in use. Above the limit after a run has ended, because its freed memory is
    /// reused.
    ceiling: u64,
    /// Bytes above which the command exits at once, because the machine has no more.
    most: u64,
    /// Whether an ended run leaves nothing but what the allocator keeps for later ones: a page has
    /// the figures of one run at a time, a command those of all.
    frees_all: bool,
    /// Bytes that were in use before the active runs began, of a watch that `frees_all`.
    kept: u64,
    used: u64,
    /// Active runs, by the number that listeners get.
    runs: BTreeMap<usize, Active>,
    /// The run chosen to end.
    chosen: Option<usize>,
    /// Checks since the ceiling was exceeded.
    overdue: u32,
}

#[derive(Debug)]
struct Active {
    name: String,
    now: Time,
    /// Packets that the run holds.
    held: u64,
}

/// Reaction to the memory in use.
#[derive(Debug, PartialEq)]
enum MemoryAction {
    Fine,
    /// A run has been chosen, and gets time to end.
    Wait,
    /// The command exits, with this description of the place.
    End(String),
}

/// The memory limit, as the command line gives it.
#[derive(clap::Args)]
pub(crate) struct MemoryArgs {
    /// Memory limit of all runs together, as 8GB [default: four fifths of the available memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<Bytes>,
}

impl MemoryArgs {
    /// Starts the watch of a command that keeps the results of its runs.
    pub(crate) fn watch(&self) {
        watch(self.memory, false);
    }

    /// Starts the watch of a command that waits for further runs, and keeps no results of theirs.
    ///
    /// While no run is active, only a lack of memory in the machine ends the command: memory that
    /// the allocator keeps is no reason.
    pub(crate) fn watch_waiting(&self) {
        watch(self.memory, true);
    }
}

/// Parses a limit that is large enough for the command to start.
fn size(text: &str) -> Result<Bytes, String> {
    const LEAST: Bytes = Bytes::new(50_000_000);
    match text.parse() {
        Ok(size) if size >= LEAST => Ok(size),
        Ok(_) => Err(format!("allowed: {LEAST} or more")),
        Err(e) => Err(format!("{e}")),
    }
}

/// Starts the watch; without `limit`, a share of the available memory is the limit.
#[expect(clippy::disallowed_methods, reason = "memory is watched by the clock")]
fn watch(limit: Option<Bytes>, frees_all: bool) {
    let used = available::in_use().unwrap_or(0);
    let share = available::share().map(|share| share + used);
    let Some(limit) = limit.map(Bytes::get).or(share) else { return };
    let watch = Watch { frees_all, ..Watch::new(limit, share.unwrap_or(limit)) };
    if WATCH.set(Mutex::new(watch)).is_err() {
        return;
    }
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(LOOK);
            let Some(used) = available::in_use() else { return };
            let Some(mut watch) = locked() else { return };
            if let MemoryAction::End(place) = watch.look(used) {
                let limit = Bytes::new(watch.limit);
                let why = OutOfMemory { used: Bytes::new(used), limit };
                print_stderr!("ratewire: {place}: {why}");
                std::process::exit(Exit::Memory as i32);
            }
        }
    });
}

fn locked() -> Option<MutexGuard<'static, Watch>> {
    WATCH.get().map(|watch| watch.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

/// Warns of runs that will probably exceed the memory limit.
pub(crate) fn warn(jobs: &[Job<'_>]) {
    let Some(limit) = locked().map(|watch| Bytes::new(watch.limit)) else { return };
    for job in jobs {
        let needed = job.memory_estimate();
        if needed > limit {
            let name = job.name();
            print_stderr!(
                "warning: {}: the run of {name} will need about {needed} of memory, and {limit} are allowed\n  \
                 help: a shorter `duration`, lower rates, limited queues or fewer flows; or allow more: --memory",
                job.scenario().file
            );
        }
    }
}

/// Listener that connects runs with the memory watch.
pub(crate) struct Watchman;

/// The memory in use exceeded the limit.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "{used} of memory are in use, and {limit} are allowed\n  help: a shorter `duration`, lower rates, \
     limited queues or fewer flows; or allow more: --memory"
)]
pub(crate) struct OutOfMemory {
    used: Bytes,
    limit: Bytes,
}

impl Listener for Watchman {
    fn begins(&self, run: &Running<'_>) {
        if let Some(mut watch) = locked() {
            watch.begin(run.index, run.name(), available::in_use().unwrap_or(0));
        }
    }

    fn reached(&self, run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
        let Some(mut watch) = locked() else { return ControlFlow::Continue(()) };
        if let Some(active) = watch.runs.get_mut(&run.index) {
            active.now = progress.now;
            active.held = progress.packets + progress.flows * FLOW;
        }
        if watch.chosen != Some(run.index) {
            return ControlFlow::Continue(());
        }
        let (used, limit) = (Bytes::new(watch.used), Bytes::new(watch.limit));
        ControlFlow::Break(Box::new(OutOfMemory { used, limit }))
    }

    fn ends(&self, run: &Running<'_>) {
        if let Some(mut watch) = locked() {
            watch.end(run.index, available::in_use().unwrap_or(0));
        }
    }
}

impl Watch {
    /// A watch with a limit. The quarter that the machine's `share` or the limit leaves is for runs
    /// that have to end: what a run has grown by when it is asked may be more than a quarter of a
    /// small limit.
    fn new(limit: u64, share: u64) -> Watch {
        let most = limit.max(share);
        Watch {
            limit,
            ceiling: limit,
            most: most + most / 4,
            frees_all: false,
            kept: 0,
            used: 0,
            runs: BTreeMap::new(),
            chosen: None,
            overdue: 0,
        }
    }

    fn begin(&mut self, run: usize, name: String, used: u64) {
        if self.frees_all && self.runs.is_empty() {
            self.kept = used;
        }
        self.runs.insert(run, Active { name, now: Time::ZERO, held: 0 });
    }

    fn end(&mut self, at: usize, used: u64) {
        self.runs.remove(&at);
        if self.chosen == Some(at) {
            self.chosen = None;
            self.overdue = 0;
            // New allocations reuse the memory that the ended run has freed.
            let more = used.saturating_add(self.limit / 16).min(self.limit + self.limit / 8);
            self.ceiling = self.limit.max(more);
        }
    }

    fn look(&mut self, used: u64) -> MemoryAction {
        self.used = used;
        if used <= self.limit {
            self.ceiling = self.limit;
        }
        // The allocator gives memory back a second after it was freed, and not while nothing is
        // allocated. The bound keeps runs that grow too large from adding to each other.
        self.kept = self.kept.min(used);
        let most_kept = self.limit + (self.limit / 8).max(OVERSHOOT.min(self.limit));
        let reused = (self.kept + self.limit / 8).min(most_kept);
        let waits = self.frees_all && self.runs.is_empty() && used < self.most;
        let reuses = self.frees_all && used <= reused;
        if used <= self.ceiling || waits || reuses {
            self.chosen = None;
            self.overdue = 0;
            return MemoryAction::Fine;
        }
        if self.chosen.is_none() {
            let runs = self.runs.iter().map(|(at, run)| (*at, run.held));
            self.chosen = runs.max_by_key(|(_, held)| *held).map(|(at, _)| at);
        }
        self.overdue += 1;
        if self.overdue <= PATIENCE && used < self.most {
            return MemoryAction::Wait;
        }
        let chosen = self.chosen.and_then(|at| self.runs.get(&at));
        MemoryAction::End(match chosen {
            Some(run) => {
                format!("the run of {} at {} of its time", run.name, run.now.since(Time::ZERO))
            }
            None => "outside of any run".to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(watch: &mut Watch, run: usize, name: &str, held: u64) {
        watch.begin(run, name.into(), 0);
        watch.runs.get_mut(&run).expect("it has begun").held = held;
    }

    #[test]
    fn the_run_that_holds_most_ends_and_what_it_leaves_is_used_again() {
        let mut watch = Watch::new(1000, 500);
        let (small, large) = (0, 1);
        begin(&mut watch, small, "a", 3);
        begin(&mut watch, large, "b", 5);
        assert_eq!(watch.look(1000), MemoryAction::Fine);
        assert_eq!((watch.look(1001), watch.chosen), (MemoryAction::Wait, Some(large)));
        watch.end(large, 1010);
        assert_eq!((watch.look(1072), watch.chosen), (MemoryAction::Fine, None));
        assert_eq!((watch.look(1073), watch.chosen), (MemoryAction::Wait, Some(small)));
        // The chosen run no longer has to end.
        assert_eq!((watch.look(900), watch.chosen), (MemoryAction::Fine, None));
        assert_eq!(watch.look(1001), MemoryAction::Wait, "what was left is gone");
        watch.end(small, 5000);
        assert_eq!(watch.ceiling, 1125, "however much is left");
    }

    #[test]
    fn what_the_allocator_keeps_ends_neither_a_waiting_page_nor_its_next_run() {
        let mut watch = Watch { frees_all: true, ..Watch::new(1000, 2000) };
        let is_fine = |watch: &mut Watch, used| {
            (0..=2 * PATIENCE).all(|_| watch.look(used) == MemoryAction::Fine)
        };
        begin(&mut watch, 0, "large", 9);
        assert_eq!((watch.look(1300), watch.chosen), (MemoryAction::Wait, Some(0)));
        watch.end(0, 1300);
        assert!(is_fine(&mut watch, 1300), "nothing runs");
        watch.begin(0, "small".into(), 1300);
        assert!(is_fine(&mut watch, 1320), "it takes what is kept");
        // What was given back cannot be taken again.
        assert!(is_fine(&mut watch, 700) && is_fine(&mut watch, 1000));
        assert_eq!((watch.look(1001), watch.chosen), (MemoryAction::Wait, Some(0)));
        watch.end(0, 900);
        // Large runs in a row stay below a bound.
        watch.begin(0, "large".into(), 1950);
        assert!(is_fine(&mut watch, 2000));
        assert_eq!((watch.look(2001), watch.chosen), (MemoryAction::Wait, Some(0)));
        watch.end(0, 2001);
        assert!(is_fine(&mut watch, 2499));
        let end = watch.look(2500);
        assert_eq!(end, MemoryAction::End("outside of any run".into()), "the machine has no more");
    }

    #[test]
    fn what_does_not_end_in_time_ends_the_command() {
        let mut watch = Watch::new(1000, 1000);
        assert_eq!(
            watch.look(1300),
            MemoryAction::End("outside of any run".into()),
            "far too much"
        );
        let mut watch = Watch::new(1000, 2000);
        assert_eq!(watch.look(2499), MemoryAction::Wait, "the machine has enough");
        assert_eq!(watch.look(2500), MemoryAction::End("outside of any run".into()));
        let mut watch = Watch::new(1000, 1000);
        begin(&mut watch, 0, "a", 3);
        for _ in 0..PATIENCE {
            assert_eq!(watch.look(1100), MemoryAction::Wait);
        }
        assert_eq!(watch.look(1100), MemoryAction::End("the run of a at 0 s of its time".into()));
    }
}
