//! A simulated run in steps.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ratewire::laws::Reason;
use ratewire::units::{Bytes, Duration};
use ratewire::{Error, Experiment};

use crate::errors::{exception, warn};
use crate::quantity::{MOST_SECONDS, Quantity, setting};
use crate::results::Results;
use crate::scenario::Scenario;
use crate::work::in_slices;

/// A simulated run in steps; `None` once it has finished.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Simulation {
    steps: Mutex<Option<ratewire::Simulation>>,
    /// The thread that calls it, if one does.
    caller: Mutex<Option<ThreadId>>,
    /// The error that has ended it.
    failed: OnceLock<PyErr>,
}

const FINISHED: &str = "the simulation has finished\n  help: make another one";
const WITHIN: &str = "a law cannot ask the simulation that calls it";

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Simulation {
    fn new_of(simulation: ratewire::Simulation) -> Simulation {
        let (steps, caller) = (Mutex::new(Some(simulation)), Mutex::default());
        Simulation { steps, caller, failed: OnceLock::new() }
    }

    /// Calls `act` with the simulation, without Python's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut ratewire::Simulation) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let me = thread::current().id();
        if *locked(&self.caller) == Some(me) {
            return Err(exception(py, setting("simulation", WITHIN)));
        }
        let done = py.detach(|| {
            let mut steps = locked(&self.steps);
            *locked(&self.caller) = Some(me);
            let done = steps.as_mut().map(act);
            *locked(&self.caller) = None;
            done
        });
        let done = done.ok_or_else(|| exception(py, setting("simulation", FINISHED)))?;
        done.map_err(|error| exception(py, error))
    }

    /// Runs up to `until`, and looks for Ctrl-C. After an error there are no further steps.
    fn reach(&self, py: Python<'_>, until: Duration) -> PyResult<()> {
        if let Some(failed) = self.failed.get() {
            return Err(failed.clone_ref(py));
        }
        let now = self.with(py, |simulation| Ok(simulation.now()))?;
        in_slices(py, now, until, |at| {
            let step = self.with(py, |simulation| simulation.run_until(at));
            step.inspect_err(|error| _ = self.failed.set(error.clone_ref(py)))
        })
    }
}

/// Bytes; `None` if there is no limit.
fn limit(bytes: Bytes) -> Option<u64> {
    (bytes != Bytes::MAX).then_some(bytes.get())
}

/// Seconds; `None` if unknown.
fn known(time: Duration) -> Option<f64> {
    (!time.is_zero()).then(|| time.secs())
}

#[pymethods]
impl Simulation {
    /// The run of a scenario under a law, from a seed; `None` stands for the scenario's first.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        law: Option<String>,
        seed: Option<u64>,
    ) -> PyResult<Simulation> {
        let mut experiment = Experiment::of(scenario.0.clone());
        if let Some(law) = law {
            let known = py.detach(|| experiment.law_files([&law]));
            experiment = known.map_err(|e| exception(py, e))?.laws([law]);
        }
        if let Some(seed) = seed {
            experiment = experiment.seeds([seed]);
        }
        for warning in &scenario.0.warnings {
            warn(py, &warning.to_string())?;
        }
        let made = py.detach(|| ratewire::Simulation::new(&experiment));
        made.map(Simulation::new_of).map_err(|e| exception(py, e))
    }

    /// Runs up to a time since the start.
    fn run_until(&self, py: Python<'_>, at: Quantity) -> PyResult<()> {
        let at = match at {
            // Times that are too large for a duration are after the end as well.
            Quantity::Number(seconds) if seconds >= MOST_SECONDS => {
                self.with(py, |simulation| Ok(simulation.duration()))?
            }
            at => at.time("time").map_err(|error| exception(py, error))?,
        };
        self.reach(py, at)
    }

    /// Runs for a time.
    fn run_for(&self, py: Python<'_>, time: Quantity) -> PyResult<()> {
        let time = time.time("time").map_err(|error| exception(py, error))?;
        let now = self.with(py, |simulation| Ok(simulation.now()))?;
        self.reach(py, now + time)
    }

    fn now_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation| Ok(simulation.now().secs()))
    }

    fn duration_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(py, |simulation| Ok(simulation.duration().secs()))
    }

    /// A flow's state, by the fields of its class in Python.
    fn flow<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let flow = self.with(py, |simulation| simulation.flow(name))?;
        let state = PyDict::new(py);
        state.set_item("has_begun", flow.has_begun)?;
        state.set_item("has_ended", flow.has_ended)?;
        state.set_item("delivered_bytes", flow.delivered.get())?;
        state.set_item("retransmitted_bytes", flow.retransmitted.get())?;
        state.set_item("timeouts", flow.timeouts)?;
        state.set_item("in_flight_bytes", flow.in_flight.get())?;
        state.set_item("window_bytes", limit(flow.window))?;
        state.set_item("pacing_bps", flow.pacing.map(|pacing| pacing.bps()))?;
        state.set_item("srtt_s", known(flow.srtt))?;
        state.set_item("rtt_s", known(flow.rtt))?;
        state.set_item("why", flow.reason.as_ref().map(why))?;
        Ok(state)
    }

    /// A link's state, by the fields of its class in Python.
    fn link<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let link = self.with(py, |simulation| simulation.link(name))?;
        let state = PyDict::new(py);
        state.set_item("queue_packets", link.waiting_packets)?;
        state.set_item("queue_bytes", link.waiting_bytes.get())?;
        state.set_item("queue_packets_max", link.peak_packets_run)?;
        state.set_item("queue_bytes_max", link.peak_bytes_run.get())?;
        state.set_item("sent_packets", link.sent_packets)?;
        state.set_item("sent_bytes", link.sent_bytes.get())?;
        state.set_item("busy_s", link.busy.secs())?;
        state.set_item("dropped_full", link.dropped_full)?;
        state.set_item("dropped_early", link.dropped_early)?;
        state.set_item("dropped_down", link.dropped_down)?;
        state.set_item("dropped_policed", link.dropped_policed)?;
        state.set_item("dropped_exceeding", link.dropped_exceeding)?;
        state.set_item("dropped_overflow", link.overflowed)?;
        state.set_item("lost", link.lost)?;
        state.set_item("marked", link.marked)?;
        state.set_item("duplicated", link.duplicated)?;
        state.set_item("outages", link.outages)?;
        state.set_item("down_s", link.down.secs())?;
        state.set_item("pauses", link.pauses)?;
        state.set_item("paused_s", link.paused.secs())?;
        Ok(state)
    }

    /// Changes a link: all that is not `None`, or nothing if one value is wrong.
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (link, rate, delay, up, loss, queue))]
    fn set_link(
        &self,
        py: Python<'_>,
        link: &str,
        rate: Option<Quantity>,
        delay: Option<Quantity>,
        up: Option<bool>,
        loss: Option<f64>,
        queue: Option<u32>,
    ) -> PyResult<()> {
        let is_empty = rate.is_none() && delay.is_none() && up.is_none();
        if is_empty && loss.is_none() && queue.is_none() {
            let help = "give rate, delay, up, loss or queue";
            return Err(PyValueError::new_err(format!("nothing to set\n  help: {help}")));
        }
        self.with(py, |simulation| {
            let rate = rate.map(|rate| rate.rate("rate")).transpose()?;
            let delay = delay.map(|delay| delay.time("delay")).transpose()?;
            if let Some(loss) = loss {
                simulation.set_loss(link, loss)?;
            }
            if let Some(queue) = queue {
                simulation.set_queue(link, queue)?;
            }
            if let Some(rate) = rate {
                simulation.set_rate(link, rate)?;
            }
            if let Some(delay) = delay {
                simulation.set_delay(link, delay)?;
            }
            up.map_or(Ok(()), |is_up| simulation.set_up(link, is_up))
        })
    }

    /// Runs to the end, and gives the results.
    fn finish(&self, py: Python<'_>) -> PyResult<Results> {
        let end = self.with(py, |simulation| Ok(simulation.duration()))?;
        self.reach(py, end)?;
        let done = py.detach(|| locked(&self.steps).take().map(ratewire::Simulation::finish));
        let done = done.ok_or_else(|| exception(py, setting("simulation", FINISHED)))?;
        done.map(Results::ran).map_err(|error| exception(py, error))
    }
}

/// An equation, and its figures as the page shows them.
fn why(reason: &Reason) -> (&'static str, Vec<(&'static str, f64, String)>) {
    let figures = reason.figures.iter();
    let figures = figures.map(|figure| (figure.name, figure.value, figure.amount().to_string()));
    (reason.equation, figures.collect())
}
