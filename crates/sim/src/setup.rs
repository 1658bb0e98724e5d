//! What to simulate: everything a run needs, resolved to numbers and indices.

use std::collections::BTreeSet;
use std::sync::Arc;

use ratewire_inputs::cdf::SizeCdf;
use ratewire_laws::AnyLaw;
use ratewire_laws::trust::Lie;
use ratewire_net::spec::{
    Arrangement, Change, Contention, LinkId, LinkSpec, Loss, NetworkSpec, NodeId, PauseSpec,
    Sockets,
};
use ratewire_transport::{App, TransportConfig, Writer};
use ratewire_units::{Bytes, Duration, Time};

pub use crate::ensemble::spec::{
    Edge, Ensembles, JunctionSpec, Keys, MemberEvent, RoutingSpec, Way,
};
use crate::overlay::spec::OverlaySpec;
use crate::record::FlowId;

/// A run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How long to simulate.
    pub duration: Duration,
    /// Seed of all random streams.
    pub seed: u64,
    /// The laws that flows and ports refer to by index.
    pub laws: Vec<AnyLaw>,
    /// Nodes and links.
    pub network: NetworkSpec,
    /// Paths to take in place of the shortest: nodes from source to destination.
    pub paths: Vec<Vec<NodeId>>,
    /// Flows that are listed one by one.
    pub flows: Vec<FlowSpec>,
    /// What each of those is to get at a bottleneck, by number, beside flows of weight 1, which are
    /// all others.
    pub weights: Vec<f64>,
    /// Flows that arrive.
    pub traffic: Vec<TrafficSpec>,
    /// Connections with many ends.
    pub ensembles: Ensembles,
    /// What changes, in any order. A change comes before the starts of flows at the same time.
    pub changes: Vec<(Time, LinkId, Change)>,
    /// Whether congestion headers pass through their bytes at each hop.
    pub exact_wire: bool,
    /// How often flows and links are sampled, and once at the end; `None` records nothing, and zero
    /// samples at the end only.
    pub sample_interval: Option<Duration>,
    /// Flows with this number or a higher one are not sampled.
    pub sampled_flows: u32,
    /// The links that are sampled; `None` for all.
    pub sampled_links: Option<Vec<LinkId>>,
    /// Links whose packets, and the frames that pause them, are told to the recorder one by one, to
    /// be kept.
    pub captured_links: Vec<LinkId>,
    /// Further links whose packets are told, for what is measured packet by packet.
    pub watched_links: Vec<LinkId>,
    /// Which packets are followed on their way.
    pub follow: Follow,
    /// An overlay whose links are flows of this run.
    pub overlay: Option<Arc<OverlaySpec>>,
    /// Programs for worlds whose hosts can run some; nothing of them is simulated.
    pub programs: Vec<ProgramSpec>,
}

/// Ten seconds from seed 1 of an empty network, with nothing sampled, captured or followed.
impl Default for Setup {
    fn default() -> Setup {
        Setup {
            duration: Duration::from_secs(10),
            seed: 1,
            laws: Vec::new(),
            network: NetworkSpec::default(),
            paths: Vec::new(),
            flows: Vec::new(),
            weights: Vec::new(),
            traffic: Vec::new(),
            ensembles: Ensembles::default(),
            changes: Vec::new(),
            exact_wire: false,
            sample_interval: None,
            sampled_flows: u32::MAX,
            sampled_links: None,
            captured_links: Vec::new(),
            watched_links: Vec::new(),
            follow: Follow::default(),
            overlay: None,
            programs: Vec::new(),
        }
    }
}

/// A program that runs at a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSpec {
    /// Where.
    pub host: NodeId,
    /// What, for a shell.
    pub run: String,
    /// When it starts; `None` for before everything else, as servers do.
    pub start: Option<Time>,
    /// The flow, by index, whose data it sends or fetches.
    pub flow: Option<usize>,
    /// The name of the user whose rights it has; `None` for the user who starts the run.
    pub user: Option<String>,
}

/// Which packets are followed on their way, to tell what bound their flows' rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Follow {
    /// At each sample one packet of a listed flow, each flow in turn.
    pub in_turn: bool,
    /// The first data packet that this flow sends at this time or later, before all others.
    pub asked: Option<(FlowId, Time)>,
}

impl Setup {
    /// What the listed flow of this number is to get at a bottleneck, beside flows of weight 1.
    pub fn weight(&self, flow: usize) -> f64 {
        self.weights.get(flow).copied().unwrap_or(1.0)
    }

    /// Whether anything is left to chance. If not, every seed gives the same run.
    pub fn has_chance(&self) -> bool {
        let network = &self.network;
        self.traffic.iter().any(TrafficSpec::has_chance)
            || self.overlay.as_ref().is_some_and(|overlay| overlay.params.randomise)
            || network.links.iter().any(link_has_chance)
            || network.mediums.iter().any(|medium| medium.contention != Contention::Alternate)
    }

    /// The links by which frames come that pause a captured link, and the captured links by which
    /// frames come.
    pub fn frame_links(&self) -> BTreeSet<LinkId> {
        let is_captured = |link: &LinkId| self.captured_links.contains(link);
        let links = self.network.links.iter().zip((0..).map(LinkId));
        let backs = links.filter_map(|(spec, link)| Some((link, spec.pause.as_ref()?.back)));
        let told = backs.filter(|(link, back)| is_captured(link) || is_captured(back));
        told.map(|(_, back)| back).collect()
    }
}

fn link_has_chance(link: &LinkSpec) -> bool {
    let by_flow = |pause: &PauseSpec| matches!(pause.arrangement, Arrangement::ByFlow(_));
    link.discipline.draws()
        || link.driver.sockets == Sockets::AtRandom
        || link.pause.as_ref().is_some_and(by_flow)
        || matches!(link.loss, Loss::Random(_) | Loss::Burst { .. })
        || link.reorder.is_some()
}

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Unique name.
    pub name: String,
    /// Sender.
    pub from: NodeId,
    /// Receiver, another node than the sender.
    pub to: NodeId,
    /// Index into [`Setup::laws`].
    pub law: usize,
    /// When it starts.
    pub start: Time,
    /// When its application stops writing; what is written is still delivered. A flow that stops
    /// no later than it starts does not start.
    pub stop: Option<Time>,
    /// What is sent and how it is read.
    pub app: App,
    /// How its ends behave.
    pub transport: TransportConfig,
    /// How they are dishonest, if they are.
    pub lie: Option<Lie>,
}

/// Unlimited data from node 0 to node 1 under the first law, from the start of the run.
impl Default for FlowSpec {
    fn default() -> FlowSpec {
        FlowSpec {
            name: String::new(),
            from: NodeId(0),
            to: NodeId(1),
            law: 0,
            start: Time::ZERO,
            stop: None,
            app: App::unlimited(),
            transport: TransportConfig::default(),
            lie: None,
        }
    }
}

impl FlowSpec {
    /// What it is to carry, if that is given.
    pub fn size(&self) -> Option<Bytes> {
        match self.app.writer {
            Writer::Sized(size) => Some(size),
            _ => None,
        }
    }
}

/// Flows that arrive by a random or listed process.
#[derive(Clone, Debug)]
pub struct TrafficSpec {
    /// Unique name; its flows are called `name.1`, `name.2` ...
    pub name: String,
    /// Between whom, with relative weights that are not negative and have a finite sum above 0.
    pub pairs: Vec<(NodeId, NodeId, f64)>,
    /// When.
    pub arrivals: Arrivals,
    /// How large.
    pub sizes: Sizes,
    /// First possible arrival.
    pub start: Time,
    /// No arrivals from here on.
    pub stop: Time,
    /// Index into [`Setup::laws`].
    pub law: usize,
    /// How the flows' ends behave.
    pub transport: TransportConfig,
}

impl TrafficSpec {
    fn has_chance(&self) -> bool {
        match self.arrivals {
            Arrivals::Poisson(_) => true,
            Arrivals::Periodic(_) => self.pairs.len() > 1 || !matches!(self.sizes, Sizes::Fixed(_)),
            Arrivals::Listed(_) => false,
        }
    }
}

/// When flows arrive.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// Poisson, this many a second on average.
    Poisson(f64),
    /// One every so often.
    Periodic(Duration),
    /// At given times between given nodes, with given sizes, in any order; pairs and sizes are not
    /// used.
    Listed(Vec<ListedArrival>),
}

/// A flow from an arrivals file.
#[derive(Clone, Copy, Debug)]
pub struct ListedArrival {
    /// When it starts.
    pub start: Time,
    /// Sender.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Payload.
    pub size: Bytes,
}

/// How large arriving flows are, in payload bytes, at least 1.
#[derive(Clone, Debug)]
pub enum Sizes {
    /// All the same.
    Fixed(Bytes),
    /// Pareto with this shape (above 1) and mean.
    Pareto {
        /// Tail index.
        shape: f64,
        /// Mean in bytes.
        mean: f64,
    },
    /// Log-normal with this mean and sigma of the logarithm.
    LogNormal {
        /// Mean in bytes.
        mean: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// From a published distribution.
    Empirical(Arc<SizeCdf>),
}

/// Why a setup cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// No links lead from the first node to the second.
    NoRoute(NodeId, NodeId),
    /// A given path goes from the first node to the second, which no link does.
    NoLink(NodeId, NodeId),
    /// A flow's sender is its receiver.
    ToItself(NodeId),
}

impl core::fmt::Display for SetupError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            SetupError::NoRoute(a, b) => {
                write!(f, "no route from node {} to node {}", a.0, b.0)
            }
            SetupError::NoLink(a, b) => {
                write!(
                    f,
                    "a given path goes from node {} to node {}, between which no link is",
                    a.0, b.0
                )
            }
            SetupError::ToItself(a) => {
                write!(f, "a flow goes from node {} to itself; it needs two hosts", a.0)
            }
        }
    }
}
impl core::error::Error for SetupError {}
