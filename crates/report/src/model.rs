//! What a run is (nodes, links, flows) and the samples it streams while it goes.
//!
//! Flows, links and nodes are named by their index in [`RunInfo`]; an index that is not there is
//! ignored when figures are drawn, never a panic.

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};
use serde::Serialize;

use crate::World;

/// What ran: one scenario under one law.
#[derive(Clone, Debug, Default)]
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
    /// The version of Ratewire that made the run.
    pub version: String,
    /// Time between two samples of the same flow or link; zero when it is not constant.
    pub sampling: Duration,
    /// Where packets went.
    pub topology: Topology,
    /// Who sent them, in index order.
    pub flows: Vec<FlowInfo>,
    /// Classes of arriving traffic, in index order.
    pub traffic: Vec<TrafficInfo>,
    /// The overlay over them, if there is one.
    pub overlay: Option<OverlayInfo>,
    /// What the network does at given times, in order, one entry an instant.
    pub changes: Vec<ChangeInfo>,
}

/// What changes in the network at an instant.
#[derive(Clone, Debug, Default)]
pub struct ChangeInfo {
    /// When.
    pub at: Time,
    /// What becomes of which link: `bottleneck sends at 5 Mbit/s`.
    pub what: String,
}

/// An overlay: groups whose messages go over connections between its nodes.
#[derive(Clone, Debug, Default)]
pub struct OverlayInfo {
    /// The names of its groups, in index order.
    pub groups: Vec<String>,
    /// The flow that each of its connections is, by index.
    pub connections: Vec<u32>,
    /// By group: the connections that its senders' messages cross, by index.
    pub trees: Vec<Vec<u32>>,
    /// Its senders: the group that each sends to, and the node where it is, by index.
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
    /// Data that its senders paid for during the interval, over its length.
    pub sent: Throughput,
    /// Messages that its senders paid for during the interval.
    pub sent_messages: u64,
    /// Messages that nodes handed to members during the interval, counted once a node.
    pub delivered_messages: u64,
}

/// What one connection of an overlay did since its last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectionRow {
    /// The flow that it is, by index.
    pub flow: u32,
    /// Dollars that a message over it cost at the end of the interval.
    pub price: f64,
    /// Messages that waited for it, mean over the interval.
    pub waiting_mean: f64,
    /// Messages that waited for it, most at any instant of the interval.
    pub waiting_max: u64,
    /// Clients' messages that it took during the interval.
    pub data: Bytes,
    /// What nodes told each other over it during the interval.
    pub control: Bytes,
}

/// What one sender of an overlay did since its last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderRow {
    /// Index of the sender.
    pub sender: u32,
    /// Data that it paid for during the interval, over its length.
    pub sent: Throughput,
    /// Dollars that it held at the end of the interval; `None` before it begins.
    pub money: Option<f64>,
    /// Time between its salaries then; `None` before it begins.
    pub period: Option<Duration>,
}

/// Nodes and the links between them.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Hosts and routers, in index order.
    pub nodes: Vec<NodeInfo>,
    /// One entry a direction, in index order: a duplex link is two.
    pub links: Vec<LinkInfo>,
}

/// What a node does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, Default)]
pub struct NodeInfo {
    /// Its name in the scenario.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
    /// What it is of ensembles: `member of kv`; empty if nothing.
    pub part: String,
    /// Where it is, if the scenario or a map says so: x grows to the right, y grows upwards
    /// (longitude and latitude in degrees, or any plane). Only proportions matter.
    pub at: Option<(f64, f64)>,
}

/// One direction of a link, with the queue that feeds it.
#[derive(Clone, Debug, Default)]
pub struct LinkInfo {
    /// Its name in the scenario.
    pub name: String,
    /// Index of the node that sends on it.
    pub from: u32,
    /// Index of the node that receives from it.
    pub to: u32,
    /// Its capacity.
    pub rate: Rate,
    /// Its propagation delay, one way.
    pub delay: Duration,
    /// Room in the queue in front of it.
    pub room: Room,
    /// Whether the scenario calls it the bottleneck: verdicts are about it.
    pub bottleneck: bool,
    /// Whether it is one of the slowest that traffic crosses: shown before others where not all can be.
    pub slowest: bool,
}

/// Room in a queue, the packet being sent not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Room {
    /// Without end.
    #[default]
    Unlimited,
    /// So much, headers included.
    Bytes(Bytes),
    /// So many of any size.
    Packets(u32),
}

/// A sender and its receiver.
#[derive(Clone, Debug, Default)]
pub struct FlowInfo {
    /// Its name in the scenario.
    pub name: String,
    /// Index of the node that sends the data.
    pub from: u32,
    /// Index of the node that receives them.
    pub to: u32,
    /// The law it obeys.
    pub law: String,
    /// Whether it ends at a switch of an ensemble: what it carries goes on in other flows, and totals count it
    /// there.
    pub goes_on: bool,
}

/// A class of flows that arrive.
#[derive(Clone, Debug, Default)]
pub struct TrafficInfo {
    /// Its name in the scenario.
    pub name: String,
    /// The law they obey.
    pub law: String,
    /// Flows that arrive in a second, on average; `None` if their times are listed.
    pub per_second: Option<f64>,
    /// The load they were to make, if that was asked for.
    pub load: Option<LoadInfo>,
}

/// The load that arriving flows were to make.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadInfo {
    /// As a share of a link's rate, or of the topology's demands.
    pub share: f64,
    /// The link's name; `None` for the demands.
    pub link: Option<String>,
    /// How many more links are loaded as much.
    pub others: usize,
}

/// What one flow did since its last sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowRow {
    /// End of the interval this sample is about.
    pub at: Time,
    /// Length of that interval.
    pub interval: Duration,
    /// Index of the flow.
    pub flow: u32,
    /// Data delivered in order to the application during the interval, over its length.
    pub goodput: Throughput,
    /// Congestion window at `at`; [`Bytes::MAX`] for a law that has none, or where it is not known.
    pub cwnd: Bytes,
    /// Data sent and neither acknowledged nor given up, at `at`, where it is known.
    pub in_flight: Option<Bytes>,
    /// What the receiver allows to be outstanding, at `at`; [`Bytes::MAX`] for no limit, or where it is not known.
    pub receive_window: Bytes,
    /// Smoothed round-trip time at `at`; zero before the first measurement.
    pub srtt: Duration,
    /// The pace the law asks for, if it asks for one.
    pub pacing: Option<Throughput>,
    /// Data sent again during the interval.
    pub retransmitted: Bytes,
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
    /// What it carried over the interval, headers included.
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
#[derive(Clone, Debug, Default)]
pub struct Completion {
    /// Its index, or its ordinal among the short flows of the run.
    pub flow: u64,
    /// The law it obeyed.
    pub law: String,
    /// What the application asked to send.
    pub size: Bytes,
    /// When it asked.
    pub start: Time,
    /// From then until the receiver had the last byte.
    pub took: Duration,
    /// What it would have taken alone on the path, if known: `took / ideal` is its slowdown.
    pub ideal: Option<Duration>,
}

/// A flow of a given size: when it is complete, or as it was when the run ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    /// Its number: its index if it is listed, and from there on in the order of starting.
    pub flow: u32,
    /// The class of arriving traffic it is of, by index; `None` if it is listed.
    pub traffic: Option<u32>,
    /// Index of the node that sends the data.
    pub from: u32,
    /// Index of the node that receives them.
    pub to: u32,
    /// What the application asked to send.
    pub size: Bytes,
    /// When it asked.
    pub start: Time,
    /// From then until the receiver had the last byte; `None` if that did not come about.
    pub took: Option<Duration>,
    /// What it would have taken alone on the path, if that is known.
    pub ideal: Option<Duration>,
    /// Data sent again until then.
    pub retransmitted: Bytes,
}

/// What bound a flow's rate at a time, as a packet of it found out on its way.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Index of the flow.
    pub flow: u32,
    /// When the packet was sent.
    pub sent: Time,
    /// What bound the rate: the name of a link, or why it was none.
    pub by: String,
    /// The equation that says so.
    pub equation: String,
    /// Its quantities: `C = 10.0 Mbit/s`.
    pub figures: Vec<String>,
}

/// A law that could not run in a world that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The law, as the user wrote it.
    pub law: String,
    /// The world.
    pub world: World,
    /// Why it could not.
    pub why: String,
}

impl RunInfo {
    /// The name of node `index`, or `?` when there is none.
    pub fn node_name(&self, index: u32) -> &str {
        self.topology.nodes.get(index as usize).map_or("?", |n| n.name.as_str())
    }
}
