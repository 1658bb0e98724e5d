//! Many simulations in each of which a learner controls one flow.

// Simulations run on threads that end with the call, so that a process may fork between calls.
#![allow(clippy::disallowed_methods)]

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ratewire::laws;
use ratewire::units::{Bytes, Duration, Throughput};
use ratewire::{ControlledFlow, Error, Measured};

use crate::errors::exception;
use crate::scenario::Scenario;

/// Names of a row's numbers, in their order; NaN stands for an unknown number.
const COLUMNS: [&str; 16] = [
    "time_s",
    "interval_s",
    "throughput_bps",
    "rtt_s",
    "min_rtt_s",
    "base_rtt_s",
    "loss",
    "marked",
    "window_bytes",
    "pacing_bps",
    "in_flight_bytes",
    "rate_bps",
    "queue_bytes",
    "packet_bytes",
    "has_ended",
    "is_over",
];

type Row = [f64; COLUMNS.len()];

/// What an environment does in a call: orders of at least 0 are scenarios to begin.
const STEP: i64 = -1;
const REST: i64 = -2;

/// Least and largest length of a step of one RTT.
const RTT_STEP: [Duration; 2] = [Duration::from_millis(1), Duration::from_secs(10)];

/// Environments that a thread takes at a time.
const TAKEN: usize = 4;

/// Simulations of scenarios, each with one controlled flow.
#[pyclass(frozen, module = "ratewire._ratewire")]
pub struct Environments {
    scenarios: Vec<ratewire::scenario::Scenario>,
    flow: String,
    law: Option<String>,
    /// Length of a step; `None` for a smoothed RTT.
    step: Option<Duration>,
    threads: usize,
    all: Mutex<Vec<Environment>>,
}

#[derive(Default)]
struct Environment {
    run: Option<ControlledFlow>,
    /// Scenario and seed of the episode.
    begun: Option<(usize, u64)>,
    /// Window and pace of each step of the episode: a run cannot be copied, but done again.
    actions: Vec<[f64; 2]>,
    order: i64,
    seed: u64,
    window: f64,
    pace: f64,
    row: Row,
    error: Option<Error>,
}

impl Environment {
    fn obey(&mut self, of: &Environments) {
        let done = match self.order {
            REST => Ok(()),
            STEP => self.step(of.step),
            scenario => self.begin(of, scenario as usize),
        };
        self.error = done.err();
    }

    fn begin(&mut self, of: &Environments, scenario: usize) -> Result<(), Error> {
        (self.run, self.begun) = (None, None);
        self.actions.clear();
        let mut run =
            ControlledFlow::new(&of.scenarios[scenario], of.law.as_deref(), &of.flow, self.seed)?;
        self.row = row(&mut run, None);
        (self.run, self.begun) = (Some(run), Some((scenario, self.seed)));
        Ok(())
    }

    fn step(&mut self, step: Option<Duration>) -> Result<(), Error> {
        let Some(run) = &mut self.run else {
            let reason = "an environment has not begun\n  help: call `reset` first".to_string();
            return Err(Error::Setting { setting: "step".to_string(), reason });
        };
        let pace = (!self.pace.is_nan()).then(|| Throughput::new(self.pace / 8.0));
        run.set(Bytes::new(self.window as u64), pace);
        let step = step.unwrap_or_else(|| {
            let known = if self.row[3].is_nan() { 0.0 } else { self.row[3] };
            let rtt = Duration::from_secs_f64(known).max(run.base_rtt());
            rtt.clamp(RTT_STEP[0], RTT_STEP[1])
        });
        let measured = run.run_for(step)?;
        self.actions.push([self.window, self.pace]);
        let rtt = self.row[3];
        self.row = row(run, Some(measured));
        if self.row[3].is_nan() {
            self.row[3] = rtt;
        }
        Ok(())
    }
}

/// An episode so far: its scenario, -1 before the first, its seed, and the windows and paces of its
/// steps as numbers of this machine.
type Episode = (i64, u64, Vec<u8>);

/// An episode as Python gets it.
type ToldEpisode = (i64, u64, Cow<'static, [u8]>);

impl Environment {
    fn episode(&self) -> Episode {
        let (scenario, seed) = self.begun.map_or((-1, 0), |(at, seed)| (at as i64, seed));
        let actions = self.actions.iter().flatten();
        (scenario, seed, actions.flat_map(|number| number.to_ne_bytes()).collect())
    }

    /// Does an episode again.
    fn replay(&mut self, of: &Environments, (scenario, seed, actions): &Episode) {
        let mut done = match usize::try_from(*scenario) {
            Err(_) => Ok(()),
            Ok(scenario) => {
                self.seed = *seed;
                self.begin(of, scenario)
            }
        };
        for action in numbers(actions, f64::from_ne_bytes).as_chunks().0 {
            let [window, pace] = *action;
            (self.window, self.pace) = (window, pace);
            done = done.and_then(|()| self.step(of.step));
        }
        self.error = done.err();
    }
}

fn row(run: &mut ControlledFlow, measured: Option<Measured>) -> Row {
    let state = run.state();
    let share = |part: Bytes, whole: Bytes| {
        if whole == Bytes::ZERO { 0.0 } else { part.as_f64() / whole.as_f64() }
    };
    let seconds = |time: Option<Duration>| time.map_or(f64::NAN, Duration::secs);
    let interval = measured.map_or(0.0, |m| m.interval.secs());
    let throughput = measured.filter(|m| !m.interval.is_zero());
    let throughput = throughput.map_or(0.0, |m| Throughput::over(m.delivered, m.interval).bps());
    [
        run.elapsed().secs(),
        interval,
        throughput,
        seconds(measured.and_then(|m| m.rtt)),
        seconds(run.min_rtt()),
        run.base_rtt().secs(),
        measured.map_or(0.0, |m| share(m.lost, m.lost + m.acked)),
        measured.map_or(0.0, |m| share(m.marked, m.acked)),
        run.window().as_f64(),
        run.pacing().map_or(f64::NAN, |pacing| pacing.bps()),
        state.in_flight.as_f64(),
        run.bottleneck_rate().bps() as f64,
        run.queue().as_f64(),
        run.packet().as_f64(),
        f64::from(state.has_ended),
        f64::from(run.is_over()),
    ]
}

/// The numbers in bytes of this machine.
fn numbers<T>(bytes: &[u8], of: impl Fn([u8; 8]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|one| of(*one)).collect()
}

#[pymethods]
impl Environments {
    #[new]
    fn new(
        scenarios: Vec<PyRef<'_, Scenario>>,
        count: usize,
        flow: String,
        law: Option<String>,
        step_s: Option<f64>,
        threads: Option<usize>,
    ) -> Environments {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        Environments {
            scenarios: scenarios.iter().map(|scenario| scenario.0.clone()).collect(),
            flow,
            law,
            step: step_s.map(Duration::from_secs_f64),
            threads: threads.unwrap_or_else(cores).max(1),
            all: Mutex::new((0..count).map(|_| Environment::default()).collect()),
        }
    }

    #[classattr]
    #[pyo3(name = "columns")]
    fn columns() -> Vec<&'static str> {
        COLUMNS.to_vec()
    }

    /// Obeys an order for each environment: -1 steps with its window and pace, -2 rests, others are
    /// scenarios to begin with its seed. Gives the rows of all environments as numbers of 64 bits.
    fn act<'py>(
        &self,
        py: Python<'py>,
        orders: &[u8],
        seeds: &[u8],
        windows: &[u8],
        paces: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut guard = self.lock()?;
        let all = &mut *guard;
        let count = all.len();
        if [orders, seeds, windows, paces].iter().any(|given| given.len() != 8 * count) {
            return Err(PyValueError::new_err(format!("not a number for each of {count}")));
        }
        let orders = numbers(orders, i64::from_ne_bytes);
        let seeds = numbers(seeds, u64::from_ne_bytes);
        let windows = numbers(windows, f64::from_ne_bytes);
        let paces = numbers(paces, f64::from_ne_bytes);
        let scenarios = self.scenarios.len() as i64;
        for (at, one) in all.iter_mut().enumerate() {
            let (order, window, pace) = (orders[at], windows[at], paces[at]);
            let is_pace = pace.is_nan() || pace.is_finite() && pace >= 0.0;
            let is_set = window.is_finite() && window >= 0.0 && is_pace;
            if !(REST..scenarios).contains(&order) || order == STEP && !is_set {
                let message = format!(
                    "environment {at}: window {window} bytes, pace {pace} bit/s\n  \
                     help: both must be finite and not below 0; NaN is no pace"
                );
                return Err(PyValueError::new_err(message));
            }
            let wrong = laws::excess("the window is", window, "pace");
            if let Some(wrong) = wrong.filter(|_| order == STEP && pace.is_nan()) {
                return Err(PyValueError::new_err(format!("environment {at}: {wrong}")));
            }
            (one.order, one.seed) = (order, seeds[at]);
            (one.window, one.pace) = (window, pace);
        }
        let busy = all.iter().filter(|one| one.order != REST).count();
        py.detach(|| self.carry_out(all, busy, |_, one| one.obey(self)));
        rows(py, all)
    }

    /// The episodes of all environments so far.
    fn episodes(&self) -> PyResult<Vec<ToldEpisode>> {
        let all = self.lock()?;
        let episodes = all.iter().map(Environment::episode);
        Ok(episodes.map(|(scenario, seed, actions)| (scenario, seed, actions.into())).collect())
    }

    /// Does episodes again, one for each environment, and gives the rows as `act` does.
    fn replay<'py>(
        &self,
        py: Python<'py>,
        episodes: Vec<Episode>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut guard = self.lock()?;
        let all = &mut *guard;
        let is_known = |(scenario, ..): &Episode| *scenario < self.scenarios.len() as i64;
        if episodes.len() != all.len() || !episodes.iter().all(is_known) {
            let message = format!("not an episode of these scenarios for each of {}", all.len());
            return Err(PyValueError::new_err(message));
        }
        let busy = all.len();
        py.detach(|| self.carry_out(all, busy, |at, one| one.replay(self, &episodes[at])));
        rows(py, all)
    }
}

impl Environments {
    fn lock(&self) -> PyResult<MutexGuard<'_, Vec<Environment>>> {
        match self.all.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("another thread steps these environments"))
            }
        }
    }

    /// Calls `work` for each environment with its number, on as many threads as so many busy ones
    /// deserve.
    fn carry_out(
        &self,
        all: &mut [Environment],
        busy: usize,
        work: impl Fn(usize, &mut Environment) + Sync,
    ) {
        let parts = Mutex::new(all.chunks_mut(TAKEN).enumerate());
        let work = || loop {
            let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, part)) = part else { break };
            (number * TAKEN..).zip(part).for_each(|(at, one)| work(at, one));
        };
        thread::scope(|scope| {
            for _ in 1..self.threads.min(busy.div_ceil(TAKEN)) {
                scope.spawn(work);
            }
            work();
        });
    }
}

/// The rows of all environments, or the error of one.
fn rows<'py>(py: Python<'py>, all: &mut [Environment]) -> PyResult<Bound<'py, PyBytes>> {
    if let Some(error) = all.iter_mut().find_map(|one| one.error.take()) {
        return Err(exception(py, error));
    }
    let size = size_of::<Row>() * all.len();
    PyBytes::new_with(py, size, |bytes| {
        let values = all.iter().flat_map(|one| one.row);
        bytes.as_chunks_mut().0.iter_mut().zip(values).for_each(|(to, value)| {
            *to = f64::to_ne_bytes(value);
        });
        Ok(())
    })
}
