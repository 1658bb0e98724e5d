//! Ensembles as a setup has them.

use ratewire_anypoint::routing::{
    KeyHash, LeastOutstanding, Prefix, RoundRobin, Routing, Weighted,
};
use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_net::spec::NodeId;
use ratewire_units::{Duration, Time};

/// All ensembles of a run: trees whose inner nodes are switches. Each edge is a listed flow in each
/// direction that is used.
#[derive(Clone, Debug, Default)]
pub struct Ensembles {
    /// The switches.
    pub junctions: Vec<JunctionSpec>,
    /// What happens to members, in any order.
    pub events: Vec<(Time, MemberEvent)>,
    /// From this listed flow on all are edges of ensembles.
    pub first_edge: u32,
}

impl Ensembles {
    /// Whether a listed flow is an edge of an ensemble, and so only a part of a connection.
    pub fn has_edge(&self, flow: usize) -> bool {
        !self.junctions.is_empty() && flow >= self.first_edge as usize
    }

    /// Whether a listed flow ends at a switch: what arrives there goes on.
    pub fn ends_at_switch(&self, flow: usize) -> bool {
        self.ways().any(|way| way.arrive.contains(&flow))
    }

    /// Whether a listed flow begins at a switch: what it carries came there on others.
    pub fn begins_at_switch(&self, flow: usize) -> bool {
        self.ways().any(|way| way.leave.contains(&flow))
    }

    /// The ways through all switches.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        self.junctions.iter().flat_map(JunctionSpec::ways)
    }

    /// Whether the application of a listed flow writes nothing at this time.
    pub(crate) fn holds(&self, flow: u32, at: Time) -> bool {
        let about = |event: &MemberEvent| match *event {
            MemberEvent::Hold(id) if id == flow => Some(true),
            MemberEvent::Resume(id) if id == flow => Some(false),
            _ => None,
        };
        let past = self.events.iter().filter(|(when, _)| *when <= at);
        let past = past.filter_map(|(when, event)| Some((*when, about(event)?)));
        past.max_by_key(|(when, _)| *when).is_some_and(|(_, held)| held)
    }
}

/// A switch.
#[derive(Clone, Debug)]
pub struct JunctionSpec {
    /// Of its ensemble.
    pub name: String,
    /// Where it is.
    pub node: NodeId,
    /// The way to the peer.
    pub peer: Edge,
    /// The ways to the members.
    pub members: Vec<Edge>,
    /// Which member frames go to.
    pub routing: RoutingSpec,
    /// What becomes of windows; `None` for soft flow control where the law's receivers hold senders
    /// back by rate, else strict.
    pub flow_control: Option<FlowControl>,
    /// How feedback in changes of rate is split and merged.
    pub transforms: Transforms,
    /// When a switch forgets a connection in which nothing passes.
    pub idle_expiry: Duration,
    /// The keys that frames begin with.
    pub keys: Keys,
}

/// A direction through a switch: what arrives on some listed flows leaves on others.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// These end at the switch.
    pub arrive: Vec<usize>,
    /// These begin there.
    pub leave: Vec<usize>,
}

impl JunctionSpec {
    fn ways(&self) -> [Way; 2] {
        let list = |ids: &mut dyn Iterator<Item = Option<u32>>| {
            ids.flatten().map(|id| id as usize).collect()
        };
        let members = || self.members.iter();
        [
            Way {
                arrive: list(&mut [self.peer.inbound].into_iter()),
                leave: list(&mut members().map(|edge| edge.inbound)),
            },
            Way {
                arrive: list(&mut members().map(|edge| edge.outbound)),
                leave: list(&mut [self.peer.outbound].into_iter()),
            },
        ]
    }
}

/// Two neighbours in an ensemble: the flow each way, as an index into the listed flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Away from the peer.
    pub inbound: Option<u32>,
    /// Towards the peer.
    pub outbound: Option<u32>,
}

/// A routing module.
#[derive(Clone, Debug)]
pub enum RoutingSpec {
    /// See [`RoundRobin`].
    RoundRobin,
    /// See [`Weighted`].
    Weighted(Vec<f64>),
    /// See [`LeastOutstanding`].
    LeastOutstanding,
    /// See [`KeyHash`].
    KeyHash {
        /// Where the key begins.
        offset: usize,
        /// How long it is.
        len: usize,
    },
    /// See [`Prefix`].
    Prefix(Vec<(Vec<u8>, usize)>),
}

impl RoutingSpec {
    pub(crate) fn make(&self) -> Box<dyn Routing> {
        match self {
            RoutingSpec::RoundRobin => Box::new(RoundRobin::default()),
            RoutingSpec::Weighted(weights) => Box::new(Weighted::new(weights.clone())),
            RoutingSpec::LeastOutstanding => Box::new(LeastOutstanding::default()),
            RoutingSpec::KeyHash { offset, len } => {
                Box::new(KeyHash { offset: *offset, len: *len })
            }
            RoutingSpec::Prefix(table) => Box::new(Prefix::new(table.clone())),
        }
    }
}

/// What frames contain, as far as that is simulated: the first eight bytes are a key, its number
/// with the highest byte first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keys {
    /// This many, each as likely.
    Uniform(u64),
    /// This many, the n-th as likely as `n^-exponent`.
    Zipf {
        /// How many.
        keys: u64,
        /// The exponent.
        exponent: f64,
    },
}

/// What happens to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberEvent {
    /// It fails: what it knew is gone, and its switch notices.
    Fail {
        /// Index into [`Ensembles::junctions`].
        junction: u32,
        /// Which of its members, a host.
        member: u32,
    },
    /// It is there again, and starts anew.
    Recover {
        /// Index into [`Ensembles::junctions`].
        junction: u32,
        /// Which of its members, a host.
        member: u32,
    },
    /// The application of this listed flow, which has unlimited data, writes nothing for a while.
    Hold(u32),
    /// It goes on.
    Resume(u32),
}
