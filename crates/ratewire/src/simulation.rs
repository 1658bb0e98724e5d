//! A simulated run in steps, with names for flows and links.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ratewire_net::spec::{Change, Limit, LinkId, Loss};
use ratewire_net::{CapturedFrame, Observation};
use ratewire_report::{RunInfo, World};
use ratewire_scenario::Evaluator;
use ratewire_sim::record::{
    ArrivingSample, FlowCompleted, FlowSample, FlowStarted, Followed, LinkSample, OverlaySample,
    PacketSeen, Progress, Recorder,
};
use ratewire_sim::setup::Setup;
use ratewire_sim::{FlowState, Steps};
use ratewire_units::{Duration, Rate, Time};
use self_cell::self_cell;

use crate::job::Job;
use crate::listen::Running;
use crate::observe::{Labels, Observer, describe, report};
use crate::provenance::OriginFiles;
use crate::results::error::find;
use crate::{Error, Experiment, Results, Run};

/// A simulated run in steps: between two of them its flows and links can be seen, and its links can
/// be changed.
///
/// After [`Simulation::new`], any of its calls may follow each other; [`Simulation::finish`] is the
/// last.
///
/// Without changes the results are those of [`Experiment::run`], byte for byte, except for the
/// number of events. With arriving traffic, or some hundred links or flows, the order of events at
/// one instant may be another.
///
/// ```
/// use ratewire::units::{Duration, Rate};
/// use ratewire::{Experiment, Simulation};
///
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let experiment = Experiment::load("scenarios/three-flows.toml")?.laws(["xcp"]);
/// let mut simulation = Simulation::new(&experiment)?;
/// simulation.run_until(Duration::from_secs(5))?;
/// println!("{}", simulation.flow("s1->d1")?.window);
/// simulation.set_rate("bottleneck", Rate::from_mbps(50))?;
/// let results = simulation.finish()?;
/// assert_eq!(results.runs().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation {
    steps: Steps,
    observed: Arc<Mutex<Observed>>,
    evaluator: Arc<Mutex<Evaluator>>,
    experiment: Experiment,
    origin: OriginFiles,
}

/// What an observer borrows.
struct Subject {
    setup: Setup,
    labels: Labels,
    info: RunInfo,
}

type MaybeObserver<'a> = Option<Observer<'a>>;

self_cell!(
    struct Observed {
        owner: Subject,
        #[not_covariant]
        dependent: MaybeObserver,
    }
);

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Simulation {
    /// The first run of an experiment, at its start. Later laws, seeds and worlds, and the
    /// experiment's folder, are left out.
    ///
    /// # Errors
    /// As [`Experiment::run`]; an error if the run is not simulated.
    pub fn new(experiment: &Experiment) -> Result<Simulation, Error> {
        let planned = experiment.plan()?;
        let Some(job) = planned.jobs.first().filter(|job| job.world() == World::Simulate) else {
            let reason = "only simulated runs stop between steps".to_string();
            return Err(Error::Setting { setting: "world".to_string(), reason });
        };
        let job = Job { folder: None, keeps_samples: true, ..job.clone() };
        let setup = job.plan().setup.clone();
        let made = job.provenance();
        let (labels, origin) = (job.labels(Some(&made)), job.origin(&made));
        let info = describe(World::Simulate, &setup, &labels);
        let files = job.files(&info)?;
        let evaluator = Arc::new(Mutex::new(job.scenario().evaluator(job.plan())));
        let also = Box::new(Through(evaluator.clone()));
        let subject = Subject { setup: setup.clone(), labels, info };
        let observed = Observed::new(subject, |of| {
            let running = Running { index: 0, info: &of.info };
            Some(Observer::new(&of.setup, &of.labels, running, &(), files, also))
        });
        let observed = Arc::new(Mutex::new(observed));
        let steps = Steps::new(setup, Box::new(Through(observed.clone())))?;
        Ok(Simulation { steps, observed, evaluator, experiment: experiment.clone(), origin })
    }

    /// Time that the run has reached.
    pub fn now(&self) -> Duration {
        self.steps.now().since(Time::ZERO)
    }

    /// Duration of the run.
    pub fn duration(&self) -> Duration {
        self.steps.setup().duration
    }

    /// Runs up to a time since the start, before everything that happens at that time; at most to
    /// the end. A time in the past changes nothing.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn run_until(&mut self, at: Duration) -> Result<(), Error> {
        Ok(self.steps.run_until(Time::ZERO + at)?)
    }

    /// A listed flow as it is now.
    ///
    /// # Errors
    /// An error if no flow has this name.
    pub fn flow(&mut self, name: &str) -> Result<FlowState, Error> {
        let flows = &self.steps.setup().flows;
        let known: Vec<&str> = flows.iter().map(|flow| &*flow.name).collect();
        let flow = find("flow", name, &known).map_err(|reason| refused("flow", reason))?;
        Ok(self.steps.flow(flow).expect("the flow is listed"))
    }

    /// A link as it is now: counters since the start, and its queue.
    ///
    /// # Errors
    /// An error if no link has this name.
    pub fn link(&mut self, name: &str) -> Result<Observation, Error> {
        let link = self.link_id(name)?;
        Ok(self.steps.link(link).expect("the link is there"))
    }

    /// Sets the rate of a link from now on.
    ///
    /// # Errors
    /// An error if no link has this name.
    pub fn set_rate(&mut self, link: &str, rate: Rate) -> Result<(), Error> {
        self.change(link, &Change::Rate(rate))
    }

    /// Sets the propagation delay of a link, for packets that start from now on.
    ///
    /// # Errors
    /// An error if no link has this name.
    pub fn set_delay(&mut self, link: &str, delay: Duration) -> Result<(), Error> {
        self.change(link, &Change::Delay(delay))
    }

    /// Takes a link down, which drops what waits and what arrives, or up again.
    ///
    /// # Errors
    /// An error if no link has this name.
    pub fn set_up(&mut self, link: &str, is_up: bool) -> Result<(), Error> {
        self.change(link, &Change::Up(is_up))
    }

    /// Sets the probability with which a link loses each packet that starts from now on.
    ///
    /// # Errors
    /// An error if no link has this name, or if `share` is no probability.
    pub fn set_loss(&mut self, link: &str, share: f64) -> Result<(), Error> {
        if !(0.0..=1.0).contains(&share) {
            return Err(refused("loss", format!("{share} is no probability from 0 to 1")));
        }
        self.change(link, &Change::Loss(Loss::Random(share)))
    }

    /// Sets the room in a link's queue, in packets. Packets that wait stay, even if they exceed it.
    ///
    /// # Errors
    /// An error if no link has this name.
    pub fn set_queue(&mut self, link: &str, packets: u32) -> Result<(), Error> {
        self.change(link, &Change::Limit(Limit::Packets(packets)))
    }

    fn change(&mut self, link: &str, change: &Change) -> Result<(), Error> {
        let link = self.link_id(link)?;
        self.steps.change(link, change);
        Ok(())
    }

    fn link_id(&self, name: &str) -> Result<LinkId, Error> {
        let links = &self.steps.setup().network.links;
        let known: Vec<&str> = links.iter().map(|link| &*link.name).collect();
        let link = find("link", name, &known).map_err(|reason| refused("link", reason))?;
        Ok(LinkId(link as u32))
    }

    /// Runs to the end. Changes between steps are no part of what results say of their origin.
    ///
    /// # Errors
    /// As [`Experiment::run`].
    pub fn finish(self) -> Result<Results, Error> {
        let outcome = self.steps.finish()?;
        let mut observed = locked(&self.observed);
        let observer = observed.with_dependent_mut(|_, observer| observer.take());
        let seen = observer.expect("it is taken once").finish(&outcome)?;
        let Subject { setup, info, .. } = observed.borrow_owner();
        let (run, held) = report(setup, info.clone(), &outcome, seen);
        let verdicts = locked(&self.evaluator).finish(&outcome);
        let mut results = Results::none_of(self.experiment.record(), self.experiment.scenario());
        let run = Run::new(run, verdicts, None, None, held).with_origin(Some(self.origin));
        results.runs.push(run);
        Ok(results)
    }
}

fn refused(setting: &str, reason: String) -> Error {
    Error::Setting { setting: setting.to_string(), reason }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").field("now", &self.now()).finish_non_exhaustive()
    }
}

/// A recorder that others look into between steps.
trait SharedRecorder: Send {
    fn with<T>(&self, call: impl FnOnce(&mut dyn Recorder) -> T) -> T;
}

impl SharedRecorder for Arc<Mutex<Evaluator>> {
    fn with<T>(&self, call: impl FnOnce(&mut dyn Recorder) -> T) -> T {
        call(&mut *locked(self))
    }
}

impl SharedRecorder for Arc<Mutex<Observed>> {
    fn with<T>(&self, call: impl FnOnce(&mut dyn Recorder) -> T) -> T {
        locked(self).with_dependent_mut(|_, observer| call(observer))
    }
}

struct Through<S>(S);

impl<S: SharedRecorder> Recorder for Through<S> {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        self.0.with(|to| to.flow_started(started));
    }
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.0.with(|to| to.flow_sample(sample));
    }
    fn arriving_sample(&mut self, sample: &ArrivingSample) {
        self.0.with(|to| to.arriving_sample(sample));
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        self.0.with(|to| to.link_sample(sample));
    }
    fn overlay_sample(&mut self, sample: &OverlaySample<'_>) {
        self.0.with(|to| to.overlay_sample(sample));
    }
    fn flow_completed(&mut self, completed: &FlowCompleted) {
        self.0.with(|to| to.flow_completed(completed));
    }
    fn packet(&mut self, seen: &PacketSeen) {
        self.0.with(|to| to.packet(seen));
    }
    fn frame(&mut self, seen: &CapturedFrame) {
        self.0.with(|to| to.frame(seen));
    }
    fn followed(&mut self, followed: &Followed) {
        self.0.with(|to| to.followed(followed));
    }
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.0.with(|to| to.progress(progress))
    }
}
