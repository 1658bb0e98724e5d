//! What a run is (nodes, links, flows) and the samples it streams while it goes.
//!
//! Flows, links and nodes are named by their index in [`RunInfo`]. Figures ignore an unknown index;
//! none causes a panic.

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};
use serde::{Deserialize, Serialize};

use crate::World;
use crate::figure_name::FigureName;

/// What ran: one scenario under one law.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunInfo {
    /// The scenario's name, as its author wrote it.
    pub scenario: String,
    /// The law this run was made for (`xcp`, `cubic`, `xcp@kernel`); flows may name their own.
    pub law: String,
    /// The seed of every random stream.
    pub seed: u64,
    /// Where it took place.
    pub world: World,
    /// How long the run lasted, in its own time.
    pub duration: Duration,
    /// The part of it that figures are about; `None` for all of it.
    pub measured: Option<(Time, Time)>,
    /// The version of Ratewire that made the run.
    pub version: String,
    /// Values set in place of the scenario's own: pairs of a key's path and a value.
    pub values: Vec<(String, String)>,
    /// The experiment that the run belongs to, for the metadata of tables; may be empty.
    pub made_by: String,
    /// Figures that are asked for, in place of the usual ones.
    pub figures: Vec<FigureName>,
    /// Time between two samples of the same flow or link; zero when it is not constant.
    pub sampling: Duration,
    /// Where packets went.
    pub topology: Topology,
    /// Index of the link at which the rates of flows are sampled, too.
    pub rates_at: Option<u32>,
    /// Who sent them, in index order.
    pub flows: Vec<FlowInfo>,
    /// Classes of arriving traffic, in index order.
    pub traffic: Vec<TrafficInfo>,
    /// The overlay over them, if there is one.
    pub overlay: Option<OverlayInfo>,
    /// What the network does at given times, in order, one entry an instant.
    pub changes: Vec<ChangeInfo>,
}

/// A change of the network at an instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeInfo {
    /// When.
    pub at: Time,
    /// What becomes of which link: `bottleneck sends at 5 Mbit/s`.
    pub what: String,
}

/// An overlay: groups whose messages go over connections between its nodes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OverlayInfo {
    /// The groups' names, in index order.
    pub groups: Vec<String>,
    /// By connection: the flow that carries it, by index.
    pub connections: Vec<u32>,
    /// By group: the connections that its senders' messages cross, by index.
    pub trees: Vec<Vec<u32>>,
    /// By sender: its group and its node, by index.
    pub senders: Vec<(u32, u32)>,
}

/// What an overlay did since its last sample.
#[derive(Clone, Debug, Default)]
pub struct OverlayRows {
    /// End of the interval this sample is about.
    pub at: Time,
    /// Length of that interval.
    pub interval: Duration,
    /// Each group.
    pub groups: Vec<GroupRow>,
    /// Each connection.
    pub connections: Vec<ConnectionRow>,
    /// Each sender.
    pub senders: Vec<SenderRow>,
}

/// What one group of an overlay did since its last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct GroupRow {
    /// Index of the group.
    pub group: u32,
    /// Data that the senders paid for during the interval, over its length.
    pub sent: Throughput,
    /// Messages that the senders paid for during the interval.
    pub sent_messages: u64,
    /// Messages that nodes handed to members during the interval, counted once a node.
    pub delivered_messages: u64,
}

/// What one connection of an overlay did since its last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectionRow {
    /// The flow that carries the connection, by index.
    pub flow: u32,
    /// Price of a message over the connection, dollars, at the end of the interval.
    pub price: f64,
    /// Messages waiting for the connection, mean over the interval.
    pub waiting_mean: f64,
    /// Messages waiting for the connection, most at any instant of the interval.
    pub waiting_max: u64,
    /// Clients' messages that the connection took during the interval.
    pub data: Bytes,
    /// Messages between nodes that the connection took during the interval.
    pub control: Bytes,
}

/// What one sender of an overlay did since its last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderRow {
    /// Index of the sender.
    pub sender: u32,
    /// Data that the sender paid for during the interval, over its length.
    pub sent: Throughput,
    /// Dollars the sender held at the end of the interval; `None` before it begins.
    pub money: Option<f64>,
    /// Time between the sender's salaries then; `None` before it begins.
    pub period: Option<Duration>,
    /// Time in the interval for which a message of the sender waited to be sent.
    pub blocked: Duration,
}

/// Nodes and the links between them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Topology {
    /// Hosts and routers, in index order.
    pub nodes: Vec<NodeInfo>,
    /// One entry a direction, in index order: a duplex link is two.
    pub links: Vec<LinkInfo>,
}

/// What a node does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    /// Sends and receives.
    #[default]
    Host,
    /// Forwards.
    Router,
    /// Splits connections among the members of an ensemble, and merges theirs.
    Switch,
    /// A host that is a member of an ensemble.
    Member,
}

/// A host or a router.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodeInfo {
    /// The node's name in the scenario.
    pub name: String,
    /// What the node does.
    pub kind: NodeKind,
    /// Its role in an ensemble: `member of kv`; empty without one.
    pub part: String,
    /// Position, if the scenario or a map gives one: x grows to the right, y grows upwards
    /// (longitude and latitude in degrees, or any plane). Only proportions matter.
    pub at: Option<(f64, f64)>,
}

/// One direction of a link, with the queue that feeds it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LinkInfo {
    /// The link's name in the scenario.
    pub name: String,
    /// Index of the node that sends on it.
    pub from: u32,
    /// Index of the node that receives from it.
    pub to: u32,
    /// Capacity of the link.
    pub rate: Rate,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Capacity of the queue in front of the link.
    pub room: QueueLimit,
    /// Whether the scenario calls the link the bottleneck; verdicts are about bottlenecks.
    pub bottleneck: bool,
    /// Whether it is one of the links that are expected to limit flows, whatever law they run.
    pub expected_bottleneck: bool,
    /// Whether the link is one of the slowest that traffic crosses. Those are shown first.
    pub slowest: bool,
}

/// Room in a queue, the packet being sent not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueLimit {
    /// No limit.
    #[default]
    Unlimited,
    /// This size, headers included.
    Bytes(Bytes),
    /// This number of packets of any size.
    Packets(u32),
}

/// A sender and its receiver.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowInfo {
    /// The flow's name in the scenario.
    pub name: String,
    /// Index of the node that sends the data.
    pub from: u32,
    /// Index of the node that receives the data.
    pub to: u32,
    /// The law the flow obeys.
    pub law: String,
    /// Whether the flow ends at a switch of an ensemble: its data goes on in other flows, and
    /// totals count the data there.
    pub goes_on: bool,
}

/// A class of flows that arrive.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TrafficInfo {
    /// The class's name in the scenario.
    pub name: String,
    /// The law the flows obey.
    pub law: String,
    /// Flows that arrive in a second, on average; `None` if their times are listed.
    pub per_second: Option<f64>,
    /// Flows that are expected in the measured part of the run; `None` if their times are listed.
    #[serde(default)]
    pub expected: Option<f64>,
    /// The load that the scenario asks for, if it does.
    pub load: Option<LoadInfo>,
    /// Flows that start at once at each arrival.
    #[serde(default)]
    pub fan_in: u32,
    /// Mean size of a flow, bytes of payload.
    pub mean_size: f64,
    /// Length of the time in which flows arrive.
    pub arriving: Duration,
}

/// The load that arriving flows were to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadInfo {
    /// The load as a share of a link's rate, or of the topology's demands.
    pub share: f64,
    /// The link's name; `None` for the demands.
    pub link: Option<String>,
    /// Number of further links with the same load.
    pub others: usize,
}

/// What one flow did since its last sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowRow {
    /// End of the interval this sample is about.
    pub at: Time,
    /// Length of that interval.
    pub interval: Duration,
    /// Index of the flow.
    pub flow: u32,
    /// Payload that arrived during the interval, in order or not, over its length. Each byte counts
    /// once.
    pub goodput: Throughput,
    /// Congestion window at `at`; [`Bytes::MAX`] for a law that has none, or where it is not known.
    pub cwnd: Bytes,
    /// Data sent and neither acknowledged nor given up, at `at`, where it is known.
    pub in_flight: Option<Bytes>,
    /// Receive window at `at`; [`Bytes::MAX`] without a limit, or where it is not known.
    pub receive_window: Bytes,
    /// Smoothed round-trip time at `at`; zero before the first measurement.
    pub srtt: Duration,
    /// The pace the law asks for, if it asks for one.
    pub pacing: Option<Throughput>,
    /// Data sent again during the interval.
    pub retransmitted: Bytes,
    /// Network-layer bits of the flow's data that reached the far end of [`RunInfo::rates_at`]
    /// during the interval, over its length; `None` without such a link.
    pub at_link: Option<Throughput>,
}

/// What one link and its queue did since their last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkRow {
    /// End of the interval this sample is about.
    pub at: Time,
    /// Length of that interval.
    pub interval: Duration,
    /// Index of the link.
    pub link: u32,
    /// Share of the interval the link was busy, 0 to 1.
    pub utilisation: f64,
    /// What the link carried over the interval, headers included.
    pub throughput: Throughput,
    /// Packets waiting, mean over the interval.
    pub queue_packets_mean: f64,
    /// Packets waiting, most at any instant of the interval.
    pub queue_packets_max: u32,
    /// Bytes waiting, mean over the interval.
    pub queue_bytes_mean: f64,
    /// Packets dropped during the interval, for any reason.
    pub drops: u64,
    /// Packets given a congestion mark during the interval.
    pub marks: u64,
    /// Share of the interval the link was paused by its far end, 0 to 1.
    pub paused: f64,
}

/// A flow of known size that delivered all of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Completion {
    /// Index of the flow, or its number among the short flows of the run.
    pub flow: u64,
    /// The law the flow obeyed.
    pub law: String,
    /// Class of arriving traffic, by index; `None` for a listed flow.
    pub traffic: Option<u32>,
    /// Size that the application asked to send.
    pub size: Bytes,
    /// Time of the request.
    pub start: Time,
    /// Time from the request until the receiver had the last byte.
    pub took: Duration,
    /// Time the flow would take alone on the path, if known: `took / ideal` is its slowdown.
    pub ideal: Option<Duration>,
}

/// A flow of a given size: when it is complete, or as it was when the run ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    /// Number of the flow: its index if listed; arriving flows follow in the order of starting.
    pub flow: u32,
    /// Class of arriving traffic, by index; `None` for a listed flow.
    pub traffic: Option<u32>,
    /// Index of the node that sends the data.
    pub from: u32,
    /// Index of the node that receives the data.
    pub to: u32,
    /// Size that the application asked to send.
    pub size: Bytes,
    /// Time of the request.
    pub start: Time,
    /// Time from the request until the receiver had the last byte; `None` if it never had.
    pub took: Option<Duration>,
    /// Time the flow would take alone on the path, if known.
    pub ideal: Option<Duration>,
    /// Data sent again until the flow completed, or the run ended.
    pub retransmitted: Bytes,
}

/// What bound a flow's rate at a time, found by following one of its packets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Index of the flow.
    pub flow: u32,
    /// When the packet was sent.
    pub sent: Time,
    /// What bound the rate: the name of a link, or why it was none.
    pub by: String,
    /// The equation that gives the rate.
    pub equation: String,
    /// The quantities of the equation: `C = 10.0 Mbit/s`.
    pub figures: Vec<String>,
}

/// A law that could not run in a world that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The law, as the user wrote it.
    pub law: String,
    /// The world.
    pub world: World,
    /// Why the law could not run.
    pub why: String,
}

impl RunInfo {
    /// The name of node `index`, or `?` when there is none.
    pub fn node_name(&self, index: u32) -> &str {
        self.topology.nodes.get(index as usize).map_or("?", |n| n.name.as_str())
    }

    /// The laws of the run's flows and arriving traffic, each once, the run's own first:
    /// `bbr+cubic`. Without flows, the run's own.
    pub fn laws_name(&self) -> String {
        let of_flows = self.flows.iter().map(|flow| &flow.law);
        let obeyed = || of_flows.clone().chain(self.traffic.iter().map(|class| &class.law));
        let mut laws: Vec<&str> = Vec::new();
        for law in obeyed().filter(|law| **law == self.law).chain(obeyed()) {
            if !laws.contains(&law.as_str()) {
                laws.push(law);
            }
        }
        match laws.as_slice() {
            [] => self.law.clone(),
            laws => laws.join("+"),
        }
    }
}
