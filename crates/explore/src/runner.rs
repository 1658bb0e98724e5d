//! Runs what pages ask for, one experiment at a time. A newer request takes the place of an older
//! one, whether that runs or waits.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ratewire::{
    Cancel, Error, Experiment, Listener, Planned, Progress, Results, Running, StopReason,
};
use ratewire_report::{Page, html};
use ratewire_scenario::{Scenario, ScenarioError};
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use crate::answer::{Answer, Lines};
use crate::command::command_line;
use crate::controls::{Controls, ENTRIES};
use crate::kind;
use crate::request::RunRequest;
use crate::subject::Explored;

/// Carries out the latest request.
pub(crate) struct Runner {
    explored: Explored,
    slot: Mutex<Slot>,
    /// Wakes the worker when a request waits.
    arrived: Notify,
    /// The latest results, and their number.
    shown: Mutex<Option<(u64, Page)>>,
}

/// The latest request.
#[derive(Default)]
struct Slot {
    latest: Option<Latest>,
    /// The latest request, until the worker takes it.
    waiting: Option<(RunRequest, Answer)>,
}

/// The page that sent the latest request, and what ends its run.
struct Latest {
    page: String,
    answer: Answer,
}

/// A lock's content. No thread leaves it half changed.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runner {
    pub(crate) fn new(explored: Explored) -> Runner {
        let (slot, arrived, shown) = (Mutex::default(), Notify::new(), Mutex::new(None));
        Runner { explored, slot, arrived, shown }
    }

    /// Puts a request in the place of the one that runs or waits, whose answer ends at once.
    pub(crate) fn start(&self, request: RunRequest) -> Lines {
        let (answer, lines) = Answer::begin();
        let mut slot = held(&self.slot);
        let latest = Latest { page: request.page.clone(), answer: answer.clone() };
        if let Some(earlier) = slot.latest.replace(latest) {
            let by_this_page = earlier.page == request.page;
            earlier.answer.cancel.cancel();
            let line = json!({ "overtaken": { "by_this_page": by_this_page } });
            earlier.answer.end(line.to_string());
        }
        slot.waiting = Some((request, answer));
        drop(slot);
        self.arrived.notify_one();
        lines
    }

    /// Stops the run of a page, if it is under way; what it has measured is shown.
    pub(crate) fn stop(&self, page: &str) {
        if let Some(latest) = held(&self.slot).latest.as_ref().filter(|one| one.page == page) {
            latest.answer.interrupt.interrupt();
        }
    }

    /// Carries out one request after the other, until the future is dropped.
    pub(crate) async fn work(self: &Arc<Self>) {
        loop {
            self.arrived.notified().await;
            let Some((request, answer)) = held(&self.slot).waiting.take() else { continue };
            let (runner, own) = (Arc::clone(self), answer.clone());
            let done = spawn_blocking(move || runner.carry_out(&request, &own)).await;
            answer.end(done.unwrap_or_else(|_| {
                wrong("the run ended with a bug in Ratewire: read the terminal's last lines", &[])
            }));
        }
    }

    /// Runs a request, and returns the last line of its answer.
    fn carry_out(&self, request: &RunRequest, answer: &Answer) -> String {
        self.figures_of(request, answer).unwrap_or_else(|error| {
            let settings = match &error {
                Error::Scenario(wrong) => {
                    wrong.diagnostics.iter().filter(|one| one.is_setting).collect()
                }
                _ => Vec::new(),
            };
            let pairs = settings.iter().filter_map(|one| one.source_line.split_once('='));
            let paths: Vec<&str> = pairs.map(|(path, _)| path).collect();
            wrong(&error.to_string(), &paths)
        })
    }

    fn figures_of(&self, request: &RunRequest, answer: &Answer) -> Result<String, Error> {
        let Answer { cancel, interrupt, .. } = answer;
        // Nobody reads the last line of a request that is cancelled.
        if cancel.is_cancelled() {
            return Ok(String::new());
        }
        // Another kind of topology brings its keys along.
        let own = self.explored.experiment.scenario();
        let adopted = kind::switched(own, &request.values);
        let request = &RunRequest {
            values: adopted.clone().unwrap_or_else(|| request.values.clone()),
            ..request.clone()
        };
        let scenario = self.scenario(request)?;
        let experiment =
            Experiment::of(scenario).laws(request.laws.iter().cloned()).without_samples();
        let planned = experiment.plan_unless(cancel)?;
        answer.write(self.plan_line(&experiment, &planned, request, adopted.is_some()));
        let progress =
            ProgressLines { answer, runs: planned.jobs.len(), progress: Mutex::default() };
        let watch = &*self.explored.listener;
        let results = match planned.run(&((&progress, cancel), (interrupt, watch))) {
            Ok(results) => results,
            Err(Error::Incomplete(results)) if !results.runs().is_empty() => *results,
            Err(error) => return Err(error),
        };
        Ok(self.figures_line(&results, request.before, cancel).unwrap_or_default())
    }

    /// The scenario with a request's values.
    fn scenario(&self, request: &RunRequest) -> Result<Scenario, ScenarioError> {
        let own = self.explored.experiment.scenario();
        let mut values = request.values.clone();
        if self.explored.sets_law() {
            // The file has no law that `--law` could replace.
            let laws: Vec<String> = request.laws.iter().map(|law| format!("{law:?}")).collect();
            values.push(("law".to_string(), format!("[{}]", laws.join(", "))));
        }
        own.with_values(&values)
    }

    /// Line that says what will run: controls, the command line, the scenario as TOML, and if the
    /// page `adopts` them, the values in place of its own.
    fn plan_line(
        &self,
        experiment: &Experiment,
        planned: &Planned<'_>,
        request: &RunRequest,
        adopts: bool,
    ) -> String {
        let scenario = experiment.scenario();
        let is_own = request.laws == scenario.laws();
        let laws = request.laws.iter().filter(|_| !is_own);
        let laws: Vec<String> = laws.map(|law| scenario.written(law).to_string()).collect();
        let warnings = scenario.warnings.iter().chain(&planned.warnings);
        let warnings: Vec<String> = warnings.map(ToString::to_string).collect();
        let settings = scenario.settings(&request.laws, ENTRIES);
        let plan = json!({
            "controls": Controls::of(&settings, &request.values),
            "command": command_line(&self.explored.file, &scenario.values(), &laws),
            "toml": scenario.effective_for(&request.laws),
            "warnings": warnings,
            "adopted": adopts.then_some(&request.values),
        });
        json!({ "plan": plan }).to_string()
    }

    /// Line with the figures of results, which are kept for the next run; `None` if it is
    /// cancelled.
    fn figures_line(
        &self,
        results: &Results,
        before: Option<u64>,
        cancel: &Cancel,
    ) -> Option<String> {
        let page = results.page();
        let mut shown = held(&self.shown);
        let earlier = shown.as_ref().filter(|(number, _)| Some(*number) == before);
        let earlier = earlier.map(|(_, page)| page);
        let made = html::render_fragment(&page, earlier, || !cancel.is_cancelled())?;
        let number = shown.as_ref().map_or(1, |(number, _)| number + 1);
        *shown = Some((number, page));
        let failed: Vec<String> =
            results.failures().iter().map(|f| format!("{}: {}", f.run, f.error)).collect();
        // The data are JSON already.
        Some(format!(
            "{{\"done\":{{\"number\":{number},\"failed\":{},\"body\":{},\"data\":{},\"before\":{}}}}}",
            json!(failed),
            json!(made.body),
            made.data,
            made.before.as_deref().unwrap_or("null")
        ))
    }
}

/// Line that says what is wrong, and with which of the set values.
fn wrong(text: &str, paths: &[&str]) -> String {
    json!({ "wrong": { "text": text, "paths": paths } }).to_string()
}

/// Writes a line for each percent that runs have reached.
struct ProgressLines<'a> {
    answer: &'a Answer,
    runs: usize,
    progress: Mutex<RunProgress>,
}

#[derive(Default)]
struct RunProgress {
    /// By run: the share of its time, 0 to 1.
    shares: Vec<f64>,
    /// The percentage in the last line.
    written: u32,
}

impl Listener for ProgressLines<'_> {
    fn reached(&self, run: &Running<'_>, progress: &Progress) -> ControlFlow<StopReason> {
        let share = progress.now.secs() / run.info.duration.secs();
        let mut all = held(&self.progress);
        all.shares.resize(self.runs.max(run.index + 1), 0.0);
        all.shares[run.index] = if share.is_finite() { share.min(1.0) } else { 0.0 };
        let percent = 100.0 * all.shares.iter().sum::<f64>() / all.shares.len() as f64;
        let percent = percent as u32;
        if percent > all.written {
            all.written = percent;
            self.answer.write(json!({ "progress": percent }).to_string());
        }
        ControlFlow::Continue(())
    }
}
