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
    /// What they could have sent where the sum of what messages are worth is largest, bits per
    /// second; `None` where the optimum is not known.
    pub optimum_bps: Option<f64>,
    /// What was sent, by its worth, over the most that any sharing could have let through; `None`
    /// where that is nothing.
    pub optimum_ratio: Option<f64>,
    /// Bytes that nodes tell each other over those of clients' messages that connections carried.
    pub control_share: f64,
}

/// The figures of one group of an overlay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupSummary {
    /// Its name.
    pub name: String,
    /// How many clients sent to it.
    pub senders: u64,
    /// Data that they sent, over the run, bits per second.
    pub sent_bps: f64,
    /// How many nodes had its messages.
    pub receiving_nodes: u64,
    /// Data that each of them had, mean, bits per second.
    pub received_bps: f64,
    /// From the purchase of a message to its delivery at a node, mean, seconds.
    pub delivery_mean_s: Option<f64>,
    /// The longest, seconds.
    pub delivery_max_s: Option<f64>,
}

/// The figures of one connection of an overlay, and of what waits for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionSummary {
    /// Its name: that of the flow it is.
    pub name: String,
    /// Messages waiting, mean over time.
    pub waiting_mean: f64,
    /// Messages waiting, most at any instant.
    pub waiting_max: u64,
    /// Dollars a message over it cost, mean over samples.
    pub price_mean: f64,
    /// Bytes of clients' messages that it carried.
    pub data_bytes: u64,
    /// Bytes of what nodes tell each other that it carried.
    pub control_bytes: u64,
}
