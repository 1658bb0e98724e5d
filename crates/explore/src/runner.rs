//! Runs what a page asks for, in a thread of its own: one experiment at a time. A new one ends the
//! one under way.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use ratewire::{
    Cancel, Cancelled, Error, Experiment, Interrupt, Listener, Planned, Progress, Results, Running,
    StopReason,
};
use ratewire_report::{Page, html};
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;

use crate::asked::Asked;
use crate::command::command_line;
use crate::controls::Controls;
use crate::subject::Explored;

/// Lines of an answer: at most a hundred of progress, and three others.
pub(crate) type Answer = UnboundedSender<Bytes>;

/// Runs one experiment at a time.
pub(crate) struct Runner {
    explored: Explored,
    /// Held while an experiment runs.
    turn: Mutex<()>,
    /// Ends the latest experiment.
    latest: Mutex<Switches>,
    /// The latest results, and their number.
    shown: Mutex<Option<(u64, Page)>>,
}

/// Two ways to end an experiment.
#[derive(Clone, Debug, Default)]
struct Switches {
    /// Drops its results: another one takes its place.
    cancel: Cancel,
    /// Keeps what it has measured.
    interrupt: Interrupt,
}

/// A lock's content. No thread leaves it half changed.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runner {
    pub(crate) fn new(explored: Explored) -> Runner {
        let (turn, latest, shown) = (Mutex::default(), Mutex::default(), Mutex::new(None));
        Runner { explored, turn, latest, shown }
    }

    /// Begins a run, whose answer goes to `answer` line by line, and ends the one under way.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub(crate) fn start(self: &Arc<Self>, asked: Asked, answer: Answer) -> std::io::Result<()> {
        let switches = Switches::default();
        std::mem::replace(&mut *held(&self.latest), switches.clone()).cancel.cancel();
        let runner = Arc::clone(self);
        let work = move || runner.carry_out(&asked, &switches, &answer);
        std::thread::Builder::new().name("explore".to_string()).spawn(work).map(drop)
    }

    /// Stops the run under way; what it has measured is shown.
    pub(crate) fn stop(&self) {
        held(&self.latest).interrupt.interrupt();
    }

    /// Ends the run under way without results.
    pub(crate) fn end(&self) {
        held(&self.latest).cancel.cancel();
    }

    fn carry_out(&self, asked: &Asked, switches: &Switches, answer: &Answer) {
        let _turn = held(&self.turn);
        if switches.cancel.is_cancelled() {
            return;
        }
        let line = self.answer(asked, switches, answer).unwrap_or_else(|error| wrong(&error));
        if !switches.cancel.is_cancelled() {
            send(answer, line);
        }
    }

    /// The last line of the answer.
    fn answer(&self, asked: &Asked, switches: &Switches, answer: &Answer) -> Result<String, Error> {
        let own = self.explored.experiment.scenario();
        let scenario = own.with_overrides(&asked.values).map_err(Error::Scenario)?;
        let experiment =
            Experiment::of(scenario).laws(asked.laws.iter().cloned()).without_samples();
        let planned = experiment.plan()?;
        send(answer, self.understood(&experiment, &planned, asked));
        let told = Told { answer, runs: planned.jobs.len(), state: Mutex::default() };
        let Switches { cancel, interrupt } = switches;
        let watch = &*self.explored.listener;
        let results = match planned.run(&(&told, (cancel, (interrupt, watch)))) {
            Ok(results) => results,
            Err(Error::Incomplete(results)) if !results.runs().is_empty() => *results,
            Err(error) => return Err(error),
        };
        Ok(self.figures(&results, asked.before))
    }

    /// Line that says what will run: controls, the command line, and the scenario as TOML.
    fn understood(&self, experiment: &Experiment, planned: &Planned<'_>, asked: &Asked) -> String {
        let scenario = experiment.scenario();
        let settings = scenario.settings(&asked.laws);
        let is_own = asked.laws == self.explored.experiment.scenario().laws();
        let laws = if is_own { &[][..] } else { &asked.laws };
        let warnings = scenario.warnings.iter().chain(&planned.warnings);
        let warnings: Vec<String> = warnings.map(ToString::to_string).collect();
        let begun = json!({
            "controls": Controls::of(&settings, &asked.values),
            "command": command_line(&self.explored.file, &scenario.values(), laws),
            "toml": scenario.effective_for(&asked.laws),
            "warnings": warnings,
        });
        json!({ "begun": begun }).to_string()
    }

    /// Line with the figures of results, which are kept for the next run.
    fn figures(&self, results: &Results, before: Option<u64>) -> String {
        let page = results.page();
        let mut shown = held(&self.shown);
        let earlier = shown.as_ref().filter(|(number, _)| Some(*number) == before);
        let made = html::render_fragment(&page, earlier.map(|(_, page)| page));
        let number = shown.as_ref().map_or(1, |(number, _)| number + 1);
        *shown = Some((number, page));
        let failed: Vec<String> =
            results.failures().iter().map(|f| format!("{}: {}", f.run, f.error)).collect();
        // The data are JSON already.
        format!(
            "{{\"done\":{{\"number\":{number},\"failed\":{},\"body\":{},\"data\":{},\"before\":{}}}}}",
            json!(failed),
            json!(made.body),
            made.data,
            made.before.as_deref().unwrap_or("null")
        )
    }
}

/// Line that says what is wrong, and with which of the set values.
fn wrong(error: &Error) -> String {
    let paths: Vec<&str> = match error {
        Error::Scenario(all) => {
            let set = all.iter().filter(|one| one.is_setting);
            set.filter_map(|one| one.source_line.split_once('=')).map(|(path, _)| path).collect()
        }
        _ => Vec::new(),
    };
    json!({ "wrong": { "text": error.to_string(), "paths": paths } }).to_string()
}

/// Sends a line. A page that has gone does not get it, which [`Told`] notices.
fn send(answer: &Answer, line: String) {
    _ = answer.send(Bytes::from(line + "\n"));
}

/// Tells a page how far its runs are, and ends them when the page has gone.
struct Told<'a> {
    answer: &'a Answer,
    runs: usize,
    state: Mutex<Far>,
}

/// How far runs are.
#[derive(Default)]
struct Far {
    /// By run: the share of its time, 0 to 1.
    shares: Vec<f64>,
    /// The percentage that was told last.
    told: u32,
}

impl Listener for Told<'_> {
    fn reached(&self, run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
        if self.answer.is_closed() {
            return ControlFlow::Break(Box::new(Cancelled));
        }
        let share = progress.now.secs() / run.info.duration.secs();
        let mut state = held(&self.state);
        state.shares.resize(self.runs.max(run.index + 1), 0.0);
        state.shares[run.index] = if share.is_finite() { share.min(1.0) } else { 0.0 };
        let percent = 100.0 * state.shares.iter().sum::<f64>() / state.shares.len() as f64;
        let percent = percent as u32;
        if percent > state.told {
            state.told = percent;
            send(self.answer, json!({ "progress": percent }).to_string());
        }
        ControlFlow::Continue(())
    }
}
