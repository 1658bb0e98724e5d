//! A flow whose window and pace a program sets between steps of a simulated run.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ratewire_laws::options::OptionError;
use ratewire_laws::{
    Acked, Congestion, Figure, FlowContext, Law, LawInfo, LawSet, NoHeader, NoPort, NoSink, Reason,
    Sending, Source,
};
use ratewire_net::spec::{Change, LinkId};
use ratewire_scenario::Scenario;
use ratewire_sim::record::NoRecorder;
use ratewire_sim::setup::ToldLaw;
use ratewire_sim::{FlowState, Steps};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use crate::Error;
use crate::results::error::find;

/// A simulated run in which a program is the congestion control of one flow.
///
/// The program sets the flow's window and pace, runs a step, and reads what the step measured. All
/// other flows, links and changes are those of the scenario. The run records nothing, so that
/// thousands of runs fit into one process. Equal calls give equal measurements.
///
/// ```
/// use ratewire::scenario::Scenario;
/// use ratewire::units::{Bytes, Duration};
/// use ratewire::ControlledFlow;
///
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let file = std::path::Path::new("scenarios/three-flows.toml");
/// let scenario = Scenario::load(file)?;
/// let mut flow = ControlledFlow::new(&scenario, None, "s1->d1", 1)?;
/// flow.set(Bytes::new(500_000), None);
/// let measured = flow.run_for(Duration::from_secs(1))?;
/// println!("{} in {}", measured.delivered, measured.interval);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ControlledFlow {
    steps: Steps,
    knobs: Arc<Knobs>,
    flow: usize,
    start: Time,
    /// Payload of a full packet.
    packet: Bytes,
    bottleneck: LinkId,
    base_rtt: Duration,
    /// Rates of the bottleneck, each from its time on.
    rates: Vec<(Time, Rate)>,
    delivered: Bytes,
    min_rtt: Option<Duration>,
}

/// What a step of a [`ControlledFlow`] measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Length of the step.
    pub interval: Duration,
    /// Payload that arrived at the receiver.
    pub delivered: Bytes,
    /// Payload that acknowledgements covered.
    pub acked: Bytes,
    /// Payload found lost.
    pub lost: Bytes,
    /// Payload that was acknowledged with a congestion mark (ECN).
    pub marked: Bytes,
    /// Mean of the RTT samples; `None` without a sample.
    pub rtt: Option<Duration>,
}

/// What the program sets and the source of the law counts.
///
/// One thread at a time has the run, so plain loads and stores are enough.
#[derive(Debug, Default)]
struct Knobs {
    window: AtomicU64,
    /// Pace in bytes per second as the bits of an `f64`; NaN for none.
    pace: AtomicU64,
    acked: AtomicU64,
    lost: AtomicU64,
    marked: AtomicU64,
    rtt_ps: AtomicU64,
    rtt_samples: AtomicU64,
    least_rtt_ps: AtomicU64,
}

fn get(of: &AtomicU64) -> u64 {
    of.load(Ordering::Relaxed)
}

fn add(to: &AtomicU64, n: u64) {
    to.store(get(to).saturating_add(n), Ordering::Relaxed);
}

fn take(from: &AtomicU64) -> u64 {
    let n = get(from);
    from.store(0, Ordering::Relaxed);
    n
}

impl Knobs {
    fn window(&self) -> Bytes {
        Bytes::new(get(&self.window))
    }

    fn pace(&self) -> Option<Throughput> {
        let pace = f64::from_bits(get(&self.pace));
        (!pace.is_nan()).then(|| Throughput::new(pace))
    }

    fn set(&self, window: Bytes, pace: Option<Throughput>) {
        self.window.store(window.get(), Ordering::Relaxed);
        let pace = pace.map_or(f64::NAN, Throughput::get);
        self.pace.store(pace.to_bits(), Ordering::Relaxed);
    }
}

/// The law of a controlled flow. Scenarios cannot name it.
#[derive(Clone, Debug)]
struct Controlled(Arc<Knobs>);

const INFO: &LawInfo = &LawInfo {
    name: "controlled",
    title: "Controlled",
    summary: "a program sets window and pace",
    explanation: "A program sets window and pace between steps of a run.\n",
    operations: "",
    options: &[],
};

impl Law for Controlled {
    type Header = NoHeader;
    type Source = Controlled;
    type Port = NoPort;
    type Sink = NoSink;

    fn source(&self, _flow: &FlowContext) -> Controlled {
        self.clone()
    }
}

impl Source for Controlled {
    type Header = NoHeader;

    fn on_send(&mut self, _sending: &Sending) -> Option<NoHeader> {
        None
    }

    fn on_ack(&mut self, acked: &Acked, _header: Option<&NoHeader>) {
        let Controlled(knobs) = self;
        add(&knobs.acked, acked.bytes.get());
        add(&knobs.lost, acked.lost.get());
        if acked.marked {
            add(&knobs.marked, acked.bytes.get());
        }
        if let Some(rtt) = acked.rtt {
            add(&knobs.rtt_ps, rtt.ps());
            add(&knobs.rtt_samples, 1);
            let least = get(&knobs.least_rtt_ps);
            if least == 0 || rtt.ps() < least {
                knobs.least_rtt_ps.store(rtt.ps(), Ordering::Relaxed);
            }
        }
    }

    fn on_congestion(&mut self, _congestion: &Congestion) {}

    fn window(&self) -> Bytes {
        self.0.window()
    }

    fn pacing(&self) -> Option<Throughput> {
        self.0.pace()
    }

    fn reason(&self) -> Reason {
        let window = Figure::bytes("window", self.0.window().as_f64());
        let pace = self.0.pace().map(|pace| Figure::rate("pace", pace.get()));
        let figures = pace.into_iter().chain([window]);
        Reason { figures: figures.collect(), ..Reason::new("window and pace are set", []) }
    }
}

/// Packets that a controlled flow's window holds before the program sets it (RFC 6928).
const INITIAL_PACKETS: u64 = 10;

impl ControlledFlow {
    /// The run of a scenario under a law, or its first law, with the flow of this name controlled.
    /// The run stands at the flow's start, with a window of ten packets and no pace.
    ///
    /// # Errors
    /// As [`Experiment::plan`](crate::Experiment::plan); an error if no flow has this name, or if
    /// it never starts.
    pub fn new(
        scenario: &Scenario,
        law: Option<&str>,
        flow: &str,
        seed: u64,
    ) -> Result<ControlledFlow, Error> {
        let plan = scenario.plan(law, Some(seed))?;
        let mut setup = plan.setup;
        let refused = |reason| Error::Setting { setting: "flow".to_string(), reason };
        let known: Vec<&str> = setup.flows.iter().map(|flow| &*flow.name).collect();
        let index = find("flow", flow, &known).map_err(refused)?;
        let knobs = Arc::new(Knobs::default());
        let law = Controlled(knobs.clone());
        let mut laws = LawSet::in_tree();
        laws.register_as(INFO, move |_| Ok::<_, OptionError>(law.clone()))?;
        let made = laws.make(INFO.name, &[]).expect("the law has no options");
        let own = setup.laws.len();
        setup.laws.push(made);
        setup.told_laws.push(ToldLaw::new(INFO.name));
        setup.flows[index].law = own;
        setup.sample_interval = None;
        let spec = &setup.flows[index];
        let (start, size) = (spec.start, spec.transport.packet);
        if start >= Time::ZERO + setup.duration {
            return Err(refused(format!("{:?} starts after the end of the run", spec.name)));
        }
        let packet = size.saturating_sub(spec.transport.headers);
        knobs.set(packet * INITIAL_PACKETS, None);
        let mut steps = Steps::new(setup, Box::new(NoRecorder))?;
        let route = steps.route(index).expect("the flow is listed");
        let links = &steps.setup().network.links;
        let rate = |link: &LinkId| links[link.index()].service.mean_rate();
        let bottleneck = *route.forward.iter().min_by_key(|link| rate(link)).expect("a link");
        let base_rtt = route.rtt(links, size);
        let mut rates = vec![(Time::ZERO, rate(&bottleneck))];
        for (at, link, change) in &steps.setup().changes {
            if let (true, Change::Rate(rate)) = (*link == bottleneck, change) {
                rates.push((*at, *rate));
            }
        }
        rates.sort_by_key(|(at, _)| *at);
        steps.run_until(start)?;
        let (delivered, min_rtt) = (Bytes::ZERO, None);
        Ok(ControlledFlow {
            steps,
            knobs,
            flow: index,
            start,
            packet,
            bottleneck,
            base_rtt,
            rates,
            delivered,
            min_rtt,
        })
    }

    /// Time since the start of the flow.
    pub fn elapsed(&self) -> Duration {
        self.steps.now().since(self.start)
    }

    /// Whether the run has reached its end.
    pub fn is_over(&self) -> bool {
        self.steps.now() >= Time::ZERO + self.steps.setup().duration
    }

    /// Payload of a full packet.
    pub fn packet(&self) -> Bytes {
        self.packet
    }

    /// RTT of a full packet in an empty network, with the links of the scenario's start.
    pub fn base_rtt(&self) -> Duration {
        self.base_rtt
    }

    /// Least RTT sample so far.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// Name of the slowest link on the flow's route.
    pub fn bottleneck(&self) -> &str {
        &self.steps.setup().network.links[self.bottleneck.index()].name
    }

    /// Rate of the slowest link now, as the scenario sets it.
    pub fn bottleneck_rate(&self) -> Rate {
        let now = self.steps.now();
        let since = self.rates.iter().rev().find(|(at, _)| *at <= now);
        since.map_or(Rate::ZERO, |(_, rate)| *rate)
    }

    /// Bytes that wait at the slowest link.
    pub fn queue(&mut self) -> Bytes {
        self.steps.link(self.bottleneck).map_or(Bytes::ZERO, |link| link.waiting_bytes)
    }

    /// Window that is set, in payload.
    pub fn window(&self) -> Bytes {
        self.knobs.window()
    }

    /// Pace that is set, a network-layer rate.
    pub fn pacing(&self) -> Option<Throughput> {
        self.knobs.pace()
    }

    /// The flow as it is now.
    pub fn state(&mut self) -> FlowState {
        self.steps.flow(self.flow).expect("the flow is listed")
    }

    /// Sets the flow's window, in payload and at least a packet, and its pace, a network-layer
    /// rate; `None` sends as the window allows. What the window newly allows is sent at once.
    ///
    /// # Panics
    /// When the pace is negative or not finite.
    pub fn set(&mut self, window: Bytes, pace: Option<Throughput>) {
        let is_rate = pace.is_none_or(|pace| pace.get().is_finite() && pace.get() >= 0.0);
        assert!(is_rate, "a pace must be finite and not below 0");
        self.knobs.set(window.max(self.packet), pace);
        self.steps.wake(self.flow);
    }

    /// Runs for a time, at most to the end of the run.
    ///
    /// # Errors
    /// As [`Experiment::run`](crate::Experiment::run).
    pub fn run_for(&mut self, time: Duration) -> Result<Measured, Error> {
        let before = self.steps.now();
        self.steps.run_until(before + time)?;
        let state = self.state();
        let delivered = state.delivered.saturating_sub(self.delivered);
        self.delivered = state.delivered;
        let knobs = &self.knobs;
        let (sum, samples) = (take(&knobs.rtt_ps), take(&knobs.rtt_samples));
        let least = get(&knobs.least_rtt_ps);
        self.min_rtt = (least > 0).then(|| Duration::from_ps(least));
        Ok(Measured {
            interval: self.steps.now().since(before),
            delivered,
            acked: Bytes::new(take(&knobs.acked)),
            lost: Bytes::new(take(&knobs.lost)),
            marked: Bytes::new(take(&knobs.marked)),
            rtt: sum.checked_div(samples).map(Duration::from_ps),
        })
    }
}

impl fmt::Debug for ControlledFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlledFlow").field("elapsed", &self.elapsed()).finish_non_exhaustive()
    }
}
