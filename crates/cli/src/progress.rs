//! One progress bar for all runs, with the time so far and the time left.

use std::ops::ControlFlow;
use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ratewire::{Listener, Progress as Reached, Running, StopReason, World};
use ratewire_command_line::takes_escapes;
use ratewire_units::Duration;

/// Steps of the bar for a second of a run.
const TICKS: f64 = 1e3;

/// The progress bar.
pub(crate) struct Progress {
    bar: ProgressBar,
    reached: Mutex<Vec<f64>>,
    lengths: Vec<f64>,
    /// Words for the passing of the seconds.
    done: &'static str,
}

impl Progress {
    /// A bar for runs of these worlds and durations.
    ///
    /// It is drawn on standard error, if `show` is set and standard error is a terminal.
    pub(crate) fn new(show: bool, runs: &[(World, Duration)]) -> Progress {
        let lengths: Vec<f64> = runs.iter().map(|(_, length)| length.secs()).collect();
        let all_in = |world| runs.iter().all(|(own, _)| *own == world);
        let done = if all_in(World::Simulate) {
            "simulated"
        } else if all_in(World::Emulate) {
            "in real time"
        } else {
            "simulated and in real time"
        };
        let total: f64 = lengths.iter().sum();
        let target = if show && takes_escapes() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some((total * TICKS) as u64), target);
        let template = "{bar:30} {msg}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress { bar, reached: Mutex::new(vec![0.0; lengths.len()]), lengths, done }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn set(&self, run: usize, secs: f64) {
        let Ok(mut reached) = self.reached.lock() else { return };
        reached[run] = secs;
        let sum: f64 = reached.iter().sum();
        let total: f64 = self.lengths.iter().sum();
        self.bar.set_position((sum * TICKS) as u64);
        self.bar.set_message(format!("{sum:.1} of {total:.1} s {}", self.done));
    }
}

impl Listener for Progress {
    fn reached(&self, run: &Running<'_>, reached: &Reached) -> ControlFlow<StopReason> {
        self.set(run.index, reached.now.secs());
        ControlFlow::Continue(())
    }

    fn ends(&self, run: &Running<'_>) {
        self.set(run.index, self.lengths[run.index]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_in_which_time_it_is() {
        let (simulated, real) = (World::Simulate, World::Emulate);
        for (worlds, says) in [
            ([simulated; 2], "2.5 of 6.0 s simulated"),
            ([real; 2], "2.5 of 6.0 s in real time"),
            ([simulated, real], "2.5 of 6.0 s simulated and in real time"),
        ] {
            let runs = worlds.map(|world| (world, Duration::from_secs(3)));
            let progress = Progress::new(false, &runs);
            progress.set(1, 2.5);
            assert_eq!(progress.bar.message(), says);
        }
    }
}
