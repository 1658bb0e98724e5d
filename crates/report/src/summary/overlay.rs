//! The figures of an overlay.

use serde::{Deserialize, Serialize};

/// The figures of an overlay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OverlaySummary {
    /// One entry a group, in index order.
    pub groups: Vec<GroupSummary>,
    /// One entry a connection, in index order.
    pub connections: Vec<ConnectionSummary>,
    /// Data that all senders sent, over the run, bits per second.
    pub sent_bps: f64,
    /// Data that all senders could have sent at the optimum, where the worth of all messages is
    /// largest, bits per second; `None` where the optimum is not known.
    pub optimum_bps: Option<f64>,
    /// Worth of the messages sent over the worth at the optimum; `None` where the optimum is zero.
    pub optimum_ratio: Option<f64>,
    /// Views of daemons that a node entered since its start, most of all nodes; 0 without faults.
    pub views: u64,
    /// Bytes of messages between nodes over bytes of clients' messages, on all connections.
    pub control_share: f64,
}

/// The figures of one group of an overlay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupSummary {
    /// Name of the group.
    pub name: String,
    /// Number of clients that sent to the group.
    pub senders: u64,
    /// Data that all senders sent, over the run, bits per second.
    pub sent_bps: f64,
    /// Share of the time from a sender's start to its stop for which a message of it waited to be
    /// sent, mean over the senders.
    pub blocked_share: f64,
    /// Number of nodes that received the group's messages.
    pub receiving_nodes: u64,
    /// Data that each of those nodes received, mean, bits per second.
    pub received_bps: f64,
    /// Time from the purchase of a message to its delivery at a node, mean, seconds.
    pub delivery_mean_s: Option<f64>,
    /// Longest time from the purchase of a message to its delivery, seconds.
    pub delivery_max_s: Option<f64>,
}

/// The figures of one connection of an overlay and its queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionSummary {
    /// Name of the connection: that of its flow.
    pub name: String,
    /// Messages waiting, mean over time.
    pub waiting_mean: f64,
    /// Messages waiting, most at any instant.
    pub waiting_max: u64,
    /// Price of a message over the connection, dollars, mean over samples.
    pub price_mean: f64,
    /// Bytes of clients' messages that the connection carried.
    pub data_bytes: u64,
    /// Bytes of messages between nodes that the connection carried.
    pub control_bytes: u64,
}
