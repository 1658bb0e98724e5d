//! One bar for all runs: simulated time so far, and time left.

use std::sync::Mutex;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ratewire_units::{Duration, Time};

/// Ticks of the bar in a simulated second.
const TICKS: f64 = 1e3;

/// The bar.
pub(crate) struct Progress {
    bar: ProgressBar,
    reached: Mutex<Vec<f64>>,
    lengths: Vec<f64>,
}

/// One run's part of the bar.
pub(crate) struct Ticker<'a> {
    progress: &'a Progress,
    run: usize,
}

impl Progress {
    /// For runs of these lengths. Drawn on standard error, if that is a terminal and `show` is set.
    pub(crate) fn new(show: bool, durations: Vec<Duration>) -> Progress {
        let lengths: Vec<f64> = durations.iter().map(|d| d.secs()).collect();
        let total: f64 = lengths.iter().sum();
        let target = if show { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some((total * TICKS) as u64), target);
        let template = "{bar:30} {msg} simulated, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress { bar, reached: Mutex::new(vec![0.0; lengths.len()]), lengths }
    }

    pub(crate) fn ticker(&self, run: usize) -> Ticker<'_> {
        Ticker { progress: self, run }
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
        self.bar.set_message(format!("{sum:.1} of {total:.1} s"));
    }
}

impl Ticker<'_> {
    pub(crate) fn reached(&self, now: Time) {
        self.progress.set(self.run, now.secs());
    }
    pub(crate) fn finish(&self) {
        self.progress.set(self.run, self.progress.lengths[self.run]);
    }
}
