//! The setup of a run: all it needs, resolved to numbers and indices.

mod chance;
mod ensemble;
#[doc(hidden)]
pub mod overlay;
pub(crate) mod processing;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use rand_core::Rng;
use ratewire_inputs::cdf::SizeCdf;
use ratewire_laws::AnyLaw;
use ratewire_laws::trust::Lie;
use ratewire_net::pathfinder::{PathError, Pathfinder};
use ratewire_net::random::stream;
use ratewire_net::spec::{Change, LinkId, NetworkSpec, NodeId};
use ratewire_transport::{App, Seeds, TransportConfig, Writer};
use ratewire_units::{Bytes, Duration, Time};

use crate::record::FlowId;
pub use ensemble::{EnsembleEdge, Ensembles, JunctionSpec, Keys, MemberEvent, RoutingSpec, Way};
use overlay::OverlaySpec;

/// Setup of a run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Simulated time.
    pub duration: Duration,
    /// Seed of all random streams.
    pub seed: u64,
    /// Laws that flows and ports refer to by index.
    pub laws: Vec<AnyLaw>,
    /// What programs and kernels are told of each law; empty if none is to be told.
    pub told_laws: Vec<ToldLaw>,
    /// Nodes and links.
    pub network: NetworkSpec,
    /// Paths that replace the shortest: nodes from source to destination.
    pub paths: Vec<Vec<NodeId>>,
    /// What takes one of several shortest paths of equal cost.
    pub multipath: Multipath,
    /// Listed flows.
    pub flows: Vec<FlowSpec>,
    /// Share of each listed flow at a bottleneck relative to flows of weight 1; flows without an
    /// entry have weight 1.
    pub weights: Vec<f64>,
    /// Classes of arriving traffic.
    pub traffic: Vec<TrafficSpec>,
    /// Connections with many ends.
    pub ensembles: Ensembles,
    /// Changes in any order; a change comes before flows that start at the same time.
    pub changes: Vec<(Time, LinkId, Change)>,
    /// Whether congestion headers are encoded and decoded at each hop.
    pub exact_wire: bool,
    /// Sampling interval of flows and links, with a last sample at the end.
    ///
    /// `None` records nothing, and zero samples only at the end.
    pub sample_interval: Option<Duration>,
    /// Instants between which figures are measured, multiples of the sampling interval; `None` for
    /// the whole run.
    pub measured: Option<(Time, Time)>,
    /// What completion times are compared with.
    pub ideal: Ideal,
    /// Flows with this number or a higher one are not sampled.
    pub sampled_flows: u32,
    /// Links that are sampled; `None` for all.
    pub sampled_links: Option<Vec<LinkId>>,
    /// Links whose packets and pause frames are reported one by one, to be kept.
    pub captured_links: Vec<LinkId>,
    /// Further links whose packets are reported, for metrics of single packets.
    pub watched_links: Vec<LinkId>,
    /// Packets that are followed.
    pub follow: Follow,
    /// An overlay whose links are flows of this run.
    pub overlay: Option<Arc<OverlaySpec>>,
    /// Programs for worlds whose hosts can run some; the simulator ignores them.
    pub programs: Vec<ProgramSpec>,
    /// Whether the seed decided when some flows start.
    pub has_random_starts: bool,
    /// Whether the seed decided when some links go down and come up.
    pub has_random_outages: bool,
}

/// A run of ten seconds with seed 1: an empty network, nothing sampled, captured or followed.
impl Default for Setup {
    fn default() -> Setup {
        Setup {
            duration: Duration::from_secs(10),
            seed: 1,
            laws: Vec::new(),
            told_laws: Vec::new(),
            network: NetworkSpec::default(),
            paths: Vec::new(),
            multipath: Multipath::Flow,
            flows: Vec::new(),
            weights: Vec::new(),
            traffic: Vec::new(),
            ensembles: Ensembles::default(),
            changes: Vec::new(),
            exact_wire: false,
            sample_interval: None,
            measured: None,
            ideal: Ideal::Alone,
            sampled_flows: u32::MAX,
            sampled_links: None,
            captured_links: Vec::new(),
            watched_links: Vec::new(),
            follow: Follow::default(),
            overlay: None,
            programs: Vec::new(),
            has_random_starts: false,
            has_random_outages: false,
        }
    }
}

/// A law as programs and kernels are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldLaw {
    /// Name of the law, or of the law that it is a variant of.
    pub name: String,
    /// Options that were given, with their values.
    pub options: Vec<(String, String)>,
    /// Whether it describes the TCP of a kernel, and that of another kernel may stand for it.
    pub describes_kernel: bool,
}

impl ToldLaw {
    /// A law without options.
    pub fn new(name: &str) -> ToldLaw {
        ToldLaw { name: name.to_string(), options: Vec::new(), describes_kernel: false }
    }
}

/// What takes one of several shortest paths of equal cost (equal-cost multipath).
///
/// The seed chooses among the paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multipath {
    /// Each flow keeps to one path, and its acknowledgements to one of theirs, as routers do that
    /// hash a flow's addresses and ports (RFC 2992).
    #[default]
    Flow,
    /// Each packet takes a random one (packet spraying).
    Packet,
    /// A flow takes another random one after a pause of this length, in which packets sent before
    /// can arrive (flowlet switching: LetFlow, Vanini et al. 2017). The sender's host decides.
    Flowlet(Duration),
}

/// A program that runs at a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSpec {
    /// Host of the program.
    pub host: NodeId,
    /// Command for a shell.
    pub run: String,
    /// Time of the start; `None` for before everything else, as servers do.
    pub start: Option<Time>,
    /// Index of the flow whose data the program sends or fetches.
    pub flow: Option<usize>,
    /// Name of the user whose rights it has; `None` for the user who starts the run.
    pub user: Option<String>,
}

/// The packets to follow, to explain what limited their flows' rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Follow {
    /// Whether one packet of a listed flow is followed at each sample, each flow in turn.
    pub in_turn: bool,
    /// The first data packet that this flow sends at this time or later, with priority.
    pub asked: Option<(FlowId, Time)>,
}

impl Setup {
    /// Share of a listed flow at a bottleneck relative to flows of weight 1.
    pub fn weight(&self, flow: usize) -> f64 {
        self.weights.get(flow).copied().unwrap_or(1.0)
    }

    /// The pathfinder of this run.
    ///
    /// # Errors
    /// An error if two neighbours on a given path have no link between them.
    pub fn pathfinder(&self) -> Result<Pathfinder, PathError> {
        Pathfinder::new(&self.network, &self.paths, self.seed)
    }

    /// Whether a given path leads through such a node.
    pub(crate) fn paths_lead_through(&self, is_such: impl Fn(NodeId) -> bool) -> bool {
        let inner = |path: &Vec<NodeId>| path.iter().skip(1).rev().skip(1).any(|n| is_such(*n));
        self.paths.iter().any(inner)
    }

    /// Links that a listed change changes.
    pub(crate) fn changed_links(&self) -> BTreeSet<LinkId> {
        self.changes.iter().map(|(_, link, _)| *link).collect()
    }

    /// The pairs of nodes that have flows.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        let listed = self.flows.iter().map(|f| (f.from, f.to));
        let random = |t: &&TrafficSpec| !matches!(t.arrivals, Arrivals::Listed(_));
        let random = self.traffic.iter().filter(random);
        let random = random.flat_map(|t| t.pairs.iter().map(|p| (p.0, p.1)));
        let arrivals = self.traffic.iter().flat_map(|t| match &t.arrivals {
            Arrivals::Listed(list) => &list[..],
            Arrivals::Poisson(_) | Arrivals::Periodic(_) => &[],
        });
        listed.chain(random).chain(arrivals.map(|a| (a.from, a.to)))
    }

    /// Links that carry pause frames for a captured link, and captured links that carry pause
    /// frames.
    pub fn frame_links(&self) -> BTreeSet<LinkId> {
        let is_captured = |link: &LinkId| self.captured_links.contains(link);
        let links = self.network.links.iter().zip((0..).map(LinkId));
        let backs = links.filter_map(|(spec, link)| Some((link, spec.pause.as_ref()?.back)));
        let told = backs.filter(|(link, back)| is_captured(link) || is_captured(back));
        told.map(|(_, back)| back).collect()
    }
}

/// The time with which the completion time of a flow is compared, for its slowdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ideal {
    /// The time that the flow takes alone.
    #[default]
    Alone,
    /// A round trip without queues, and all bytes at the slowest link, as the simulator of HPCC
    /// (Li et al., SIGCOMM 2019) has it.
    Hpcc,
}

/// Setup of a flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Unique name.
    pub name: String,
    /// Sender.
    pub from: NodeId,
    /// Receiver, a different node.
    pub to: NodeId,
    /// Index into [`Setup::laws`].
    pub law: usize,
    /// Time of the start.
    pub start: Time,
    /// Time at which the application stops writing; data written before are still delivered.
    ///
    /// A flow that stops no later than it starts does not start.
    pub stop: Option<Time>,
    /// Writer and reader.
    pub app: App,
    /// Transport of its ends.
    pub transport: TransportConfig,
    /// Dishonesty of its hosts, if any.
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
    /// The applications at its ends in a run with this seed. What they draw depends on the seed and
    /// the flow's name, and on no other flow.
    pub fn app(&self, seed: u64) -> Cow<'_, App> {
        if !self.app.writer.has_chance() {
            return Cow::Borrowed(&self.app);
        }
        let of = |what: &str| stream(seed, &format!("{what} of {}", self.name), 0).next_u64();
        let seeds = Seeds { bursts: of("bursts"), pauses: of("pauses") };
        Cow::Owned(App { seeds, ..self.app.clone() })
    }

    /// Payload to send, if it is given.
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
    /// Pairs of nodes with relative weights that are not negative and have a finite sum above 0.
    pub pairs: Vec<(NodeId, NodeId, f64)>,
    /// Arrival times.
    pub arrivals: Arrivals,
    /// Sizes of the flows.
    pub sizes: Sizes,
    /// Flows that start at once at each arrival, from different senders to one receiver: an incast.
    /// Every receiver of a pair has so many senders.
    pub fan_in: u32,
    /// Time of the first possible arrival.
    pub start: Time,
    /// Time from which no flow arrives.
    pub stop: Time,
    /// Index into [`Setup::laws`].
    pub law: usize,
    /// Transport of the flows' ends.
    pub transport: TransportConfig,
}

/// Arrival process of flows.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// Poisson arrivals with this mean number a second.
    Poisson(f64),
    /// Arrivals at this constant interval.
    Periodic(Duration),
    /// Given times, nodes and sizes, in any order; pairs and sizes are not used.
    Listed(Vec<ListedArrival>),
}

/// A flow from a file of arrivals.
#[derive(Clone, Copy, Debug)]
pub struct ListedArrival {
    /// Time of the start.
    pub start: Time,
    /// Sender.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Payload.
    pub size: Bytes,
}

/// Payload of arriving flows in bytes, at least 1.
#[derive(Clone, Debug)]
pub enum Sizes {
    /// One size for all flows.
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
    /// A published distribution.
    Empirical(Arc<SizeCdf>),
}

/// Why a setup cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// No route leads from the first node to the second.
    #[error("no route from node {} to node {}", .0.0, .1.0)]
    NoRoute(NodeId, NodeId),
    /// A given path needs a link from the first node to the second, which does not exist.
    #[error(
        "a given path goes from node {} to node {}, but no link connects them",
        .0.0,
        .1.0
    )]
    NoLink(NodeId, NodeId),
    /// A flow's sender is its receiver.
    #[error("a flow goes from node {} to itself; it needs two hosts", .0.0)]
    ToItself(NodeId),
}
