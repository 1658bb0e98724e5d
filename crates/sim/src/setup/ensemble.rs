//! Ensembles of a setup.

use rand_core::Rng;
use ratewire_anypoint::routing::{
    KeyHash, LeastOutstanding, PowerOfTwo, Prefix, RoundRobin, Routing, Weighted,
};
use ratewire_anypoint::{FlowControl, Transforms};
use ratewire_net::random::stream;
use ratewire_net::spec::NodeId;
use ratewire_units::{Duration, Time};

/// All ensembles of a run: trees whose inner nodes are switches. Each edge is a listed flow in each
/// direction in use.
#[derive(Clone, Debug, Default)]
pub struct Ensembles {
    /// The switches.
    pub junctions: Vec<JunctionSpec>,
    /// Events of members, in any order.
    pub events: Vec<(Time, MemberEvent)>,
    /// First listed flow that is an edge of an ensemble; all later ones are edges too.
    pub first_edge: u32,
}

impl Ensembles {
    /// Whether a listed flow is an edge of an ensemble, and so only part of a connection.
    pub fn has_edge(&self, flow: usize) -> bool {
        !self.junctions.is_empty() && flow >= self.first_edge as usize
    }

    /// Whether a listed flow ends at a switch, which forwards its data.
    pub fn ends_at_switch(&self, flow: usize) -> bool {
        self.ways().any(|way| way.arrive.contains(&flow))
    }

    /// Whether a listed flow begins at a switch, which received its data on other flows.
    pub fn begins_at_switch(&self, flow: usize) -> bool {
        self.ways().any(|way| way.leave.contains(&flow))
    }

    /// The switch of which an edge to a peer is a member's.
    pub fn outer(&self, peer: EnsembleEdge) -> Option<usize> {
        self.junctions.iter().position(|other| other.members.contains(&peer))
    }

    /// The switch at the other end of an edge to a peer, if the two face each other.
    pub fn facing(&self, peer: EnsembleEdge) -> Option<usize> {
        let EnsembleEdge { inbound, outbound } = peer;
        let turned = EnsembleEdge { inbound: outbound, outbound: inbound };
        self.junctions.iter().position(|other| other.peer == turned)
    }

    /// Whether what goes to a switch's peer is spread over members of others.
    pub(crate) fn peer_spreads(&self, junction: usize) -> bool {
        let peer = self.junctions[junction].peer;
        self.facing(peer).is_some()
            || self.outer(peer).is_some_and(|outer| self.peer_spreads(outer))
    }

    /// All directions through switches.
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
    /// Name of its ensemble.
    pub name: String,
    /// Node of the switch.
    pub node: NodeId,
    /// Edge to the peer.
    pub peer: EnsembleEdge,
    /// Edges to the members.
    pub members: Vec<EnsembleEdge>,
    /// Choice of the member for a frame.
    pub routing: RoutingSpec,
    /// Treatment of windows. `None` means soft flow control if the law's receivers limit senders by
    /// a rate, otherwise strict.
    pub flow_control: Option<FlowControl>,
    /// How feedback that changes rates is split and merged.
    pub transforms: Transforms,
    /// Idle time after which the switch forgets a connection.
    pub idle_expiry: Duration,
    /// Keys at the start of frames.
    pub keys: Keys,
}

impl JunctionSpec {
    /// Whether chance decides which member gets a frame: random keys, or random members.
    pub(crate) fn has_chance(&self) -> bool {
        let (Keys::Uniform(keys) | Keys::Zipf { keys, .. }) = self.keys;
        match self.routing {
            RoutingSpec::KeyHash { .. } | RoutingSpec::Prefix(_) => keys > 1,
            RoutingSpec::PowerOfTwo => self.members.len() > 1,
            RoutingSpec::RoundRobin | RoutingSpec::Weighted(_) | RoutingSpec::LeastOutstanding => {
                false
            }
        }
    }
}

/// A direction through a switch: data of some listed flows continue on others.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Flows that end at the switch.
    pub arrive: Vec<usize>,
    /// Flows that begin at the switch.
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

/// Two neighbours in an ensemble: the flow in each direction, as an index into the listed flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnsembleEdge {
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
    /// See [`PowerOfTwo`].
    PowerOfTwo,
    /// See [`KeyHash`].
    KeyHash {
        /// First byte of the key.
        offset: usize,
        /// Length of the key in bytes.
        len: usize,
    },
    /// See [`Prefix`].
    Prefix(Vec<(Vec<u8>, usize)>),
}

impl RoutingSpec {
    /// The module of switch number `index`, in a run with this seed.
    pub(crate) fn make(&self, index: u64, seed: u64) -> Box<dyn Routing> {
        match self {
            RoutingSpec::RoundRobin => Box::new(RoundRobin::default()),
            RoutingSpec::Weighted(weights) => Box::new(Weighted::new(weights.clone())),
            RoutingSpec::LeastOutstanding => Box::new(LeastOutstanding::default()),
            RoutingSpec::PowerOfTwo => {
                Box::new(PowerOfTwo::new(stream(seed, "routing", index).next_u64()))
            }
            RoutingSpec::KeyHash { offset, len } => {
                Box::new(KeyHash { offset: *offset, len: *len })
            }
            RoutingSpec::Prefix(table) => Box::new(Prefix::new(table.clone())),
        }
    }
}

/// Simulated contents of frames: the first eight bytes are the number of a key, highest byte first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keys {
    /// Number of keys, all equally likely.
    Uniform(u64),
    /// Keys of which the n-th has a probability proportional to `n^-exponent`.
    Zipf {
        /// Number of keys.
        keys: u64,
        /// The exponent.
        exponent: f64,
    },
}

/// An event of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberEvent {
    /// The member fails: it loses its state, and its switch notices.
    Fail {
        /// Index into [`Ensembles::junctions`].
        junction: u32,
        /// Index of the member, which is a host.
        member: u32,
    },
    /// The member is back, without its former state.
    Recover {
        /// Index into [`Ensembles::junctions`].
        junction: u32,
        /// Index of the member, which is a host.
        member: u32,
    },
    /// The application of this listed flow, which has unlimited data, stops writing for a while.
    Hold(u32),
    /// The application writes again.
    Resume(u32),
}
