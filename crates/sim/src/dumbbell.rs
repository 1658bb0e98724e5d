//! The dumbbell of benchmarks and tests: pairs of hosts on both sides of one bottleneck.

use ratewire_anypoint::Transforms;
use ratewire_backpressure::headroom::{PausedLink, reaction};
use ratewire_laws::AnyLaw;
use ratewire_net::spec::{
    Arrangement, Limit, LinkId, LinkSpec, NetworkSpec, NodeId, NodeSpec, PauseSpec, Quanta,
    Service, Sockets,
};
use ratewire_transport::{App, TransportConfig, Writer};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::setup::{EnsembleEdge, FlowSpec, JunctionSpec, Keys, RoutingSpec, Setup};

/// A dumbbell with unlimited flows.
///
/// Nodes: routers 0 and 1, then source and destination of each pair. Links: 0 the bottleneck, 1 its
/// reverse, then four for each pair (to router 0, back, from router 1, back).
#[derive(Clone, Debug)]
pub struct Dumbbell {
    /// Law of all flows and ports.
    pub law: AnyLaw,
    /// Number of pairs.
    pub pairs: u32,
    /// Flows of each pair; the default is one.
    pub flows_a_pair: u32,
    /// Rate of the bottleneck; access links are ten times as fast, paused ones a tenth.
    pub rate: Rate,
    /// Propagation round-trip time, three fifths of it on the bottleneck.
    pub rtt: Duration,
    /// Capacity of the bottleneck's queue, in packets.
    pub queue: u32,
    /// Time between the starts of flows.
    pub stagger: Duration,
    /// Simulated time.
    pub duration: Duration,
    /// Transport of all flows.
    pub transport: TransportConfig,
    /// Whether the first router pauses the hosts, whose sockets then wait.
    pub paused: bool,
}

impl Dumbbell {
    /// A dumbbell with 1,000-byte packets and 40-byte acknowledgements, as in the reference runs,
    /// without handshake and sampling.
    pub fn new(law: AnyLaw, pairs: u32, rate: Rate, rtt: Duration, queue: u32) -> Dumbbell {
        let congestion_header = law.header_len();
        let transport = TransportConfig {
            packet: Bytes::new(1000),
            headers: Bytes::new(40).saturating_sub(congestion_header),
            ack: Bytes::new(40).saturating_sub(congestion_header),
            handshake: false,
            ..TransportConfig::default()
        };
        Dumbbell {
            law,
            pairs,
            flows_a_pair: 1,
            rate,
            rtt,
            queue,
            stagger: Duration::ZERO,
            duration: Duration::from_secs(10),
            transport,
            paused: false,
        }
    }

    /// The setup.
    pub fn setup(&self) -> Setup {
        let mut network = NetworkSpec::default();
        let bottleneck = self.rtt.scale(0.3);
        let access = self.rtt.scale(0.1);
        node(&mut network, "r1".into(), false);
        node(&mut network, "r2".into(), false);
        cable(&mut network, 0, 1, self.rate, bottleneck, Limit::Packets(self.queue));
        let mut flows = Vec::new();
        let fast = Rate::from_bps(self.rate.bps().saturating_mul(10));
        for i in 0..self.pairs {
            let source = node(&mut network, format!("s{}", i + 1), true);
            let destination = node(&mut network, format!("d{}", i + 1), true);
            let room = if self.paused { Limit::Packets(100) } else { Limit::Unlimited };
            let first = network.links.len() as u32;
            // Paused hosts have a tenth of the bottleneck's rate: enough hosts fill it many times
            // over.
            let own = if self.paused { Rate::from_bps(self.rate.bps() / 10) } else { fast };
            cable(&mut network, source, 0, own, access, room);
            if self.paused {
                let buffer = self.buffer(own, access, LinkId(first + 1));
                let link = &mut network.links[first as usize];
                link.pause = Some(buffer);
                link.driver.sockets = Sockets::InTurn;
            }
            cable(&mut network, 1, destination, fast, access, Limit::Unlimited);
        }
        for order in 0..self.pairs * self.flows_a_pair {
            // Flows go to the pairs in turn.
            let source = 2 + 2 * (order % self.pairs);
            flows.push(FlowSpec {
                name: format!("f{}", order + 1),
                from: NodeId(source),
                to: NodeId(source + 1),
                start: Time::ZERO + self.stagger * u64::from(order),
                transport: self.transport.clone(),
                ..FlowSpec::default()
            });
        }
        Setup {
            duration: self.duration,
            laws: vec![self.law.clone()],
            network,
            flows,
            ..Setup::default()
        }
    }
}

impl Dumbbell {
    /// The setup with a switch of an ensemble at the second router.
    ///
    /// Data flow from the first source to the switch and on to all destinations, or back.
    pub fn through_a_switch(&self, outbound: bool) -> Setup {
        let mut setup = self.setup();
        let whole = setup.flows[0].clone();
        setup.flows.clear();
        let (switch, peer) = (NodeId(1), whole.from);
        let mut edge = |near: NodeId, far: NodeId| {
            let (from, to) = if outbound { (far, near) } else { (near, far) };
            let silent = App { writer: Writer::Constant { rate: Rate::ZERO }, ..App::unlimited() };
            let app = if from == switch { silent } else { App::unlimited() };
            let id = Some(setup.flows.len() as u32);
            let name = format!("{}-{}", from.0, to.0);
            setup.flows.push(FlowSpec { name, from, to, app, ..whole.clone() });
            match outbound {
                true => EnsembleEdge { inbound: None, outbound: id },
                false => EnsembleEdge { inbound: id, outbound: None },
            }
        };
        let peer = edge(peer, switch);
        // Nodes are the two routers, then source and destination of each pair.
        let members = (0..self.pairs).map(|i| edge(switch, NodeId(3 + 2 * i))).collect();
        setup.ensembles.junctions = vec![JunctionSpec {
            name: "bench".into(),
            node: switch,
            peer,
            members,
            routing: RoutingSpec::RoundRobin,
            flow_control: None,
            transforms: Transforms::Refusals { shuffle: 0.1 },
            idle_expiry: Duration::from_secs(60),
            keys: Keys::Uniform(1),
        }];
        setup
    }

    /// A port's buffer: twenty packets before the host is paused, and the headroom above.
    fn buffer(&self, rate: Rate, delay: Duration, back: LinkId) -> PauseSpec {
        let hop = PausedLink {
            rate,
            delay,
            back_rate: rate,
            back_delay: delay,
            packet: self.transport.packet,
            reaction: reaction(rate),
            frames: 1,
        };
        let xoff = self.transport.packet * 20;
        PauseSpec {
            back,
            arrangement: Arrangement::Virtual,
            by_class: false,
            buffer: xoff + hop.headroom(),
            xoff,
            xon: self.transport.packet * 10,
            quanta: Quanta::MAX,
            reaction: hop.reaction,
            hop_round_trip: hop.latency() * 2,
            intake: Duration::ZERO,
        }
    }
}

/// The bottleneck of a [`Dumbbell`].
pub const BOTTLENECK: LinkId = LinkId(0);

pub(crate) fn node(network: &mut NetworkSpec, name: String, is_host: bool) -> u32 {
    network.nodes.push(NodeSpec { name, is_host, position: None });
    network.nodes.len() as u32 - 1
}

pub(crate) fn cable(
    network: &mut NetworkSpec,
    a: u32,
    b: u32,
    rate: Rate,
    delay: Duration,
    limit: Limit,
) {
    for (from, to) in [(a, b), (b, a)] {
        let name = |n: u32| &network.nodes[n as usize].name;
        network.links.push(LinkSpec {
            name: format!("{}->{}", name(from), name(to)),
            from: NodeId(from),
            to: NodeId(to),
            service: Service::Rate(rate),
            delay,
            limit,
            law: Some(0),
            ..LinkSpec::default()
        });
    }
}
