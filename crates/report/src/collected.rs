//! What is collected of a run for its page: series of bounded size, whatever the run's length.

use serde::{Deserialize, Serialize};

use crate::recorded::Tracks;
use crate::{Answer, Completion, CompletionSummary};

/// Points a series keeps by default.
pub const MAX_POINTS: usize = 600;

/// How much of a run is kept. Only percentiles of completions depend on these limits; other figures
/// are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Flows with series of their own, taken evenly from the list. The others count in the total.
    pub flows: usize,
    /// Links with series of their own: bottlenecks first, then by index.
    pub links: usize,
    /// Points a series keeps.
    pub points: usize,
    /// Completed flows kept as points: every k-th, k a power of two that grows as needed.
    pub completions: usize,
    /// Completed flows up to which percentiles are exact; beyond, percentiles are within 0.5 %.
    /// Each flow takes 48 bytes, or twice as much.
    pub exact_completions: usize,
    /// Answers to what bound a flow's rate, over all flows with series; every k-th of each flow's,
    /// k a power of two.
    pub answers: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            flows: 40,
            links: 512,
            points: MAX_POINTS,
            completions: 5_000,
            exact_completions: 1_000_000,
            answers: 200,
        }
    }
}

/// Series of one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowSeries {
    /// Index of the flow.
    pub flow: u32,
    /// What plots record of a flow.
    pub tracks: Tracks,
}

/// Series of one link and its queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkSeries {
    /// Index of the link.
    pub link: u32,
    /// What plots record of a link.
    pub tracks: Tracks,
}

/// Series of an overlay.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OverlaySeries {
    /// By group, for the first groups: what plots record of a group.
    pub groups: Vec<Tracks>,
    /// By connection, for the first connections: what plots record of a connection.
    pub connections: Vec<Tracks>,
}

/// Everything that is kept of a run's samples.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Collected {
    /// Limits of what the collector keeps.
    pub limits: Limits,
    /// Series of single flows, by index.
    pub flows: Vec<FlowSeries>,
    /// How many flows sent samples or are known by name.
    pub flows_total: usize,
    /// What plots record of all flows together.
    pub all_flows: Tracks,
    /// Series of single links, by index.
    pub links: Vec<LinkSeries>,
    /// Completed flows in order of completion, every [`Collected::completions_stride`]-th.
    pub completions: Vec<Completion>,
    /// How many flows completed.
    pub completions_total: u64,
    /// One of how many completed flows is in [`Collected::completions`].
    pub completions_stride: u64,
    /// Statistics over all completed flows; `None` if none completed.
    pub completion_summary: Option<CompletionSummary>,
    /// What bound the rates of flows with series: by flow, then in order of time.
    pub answers: Vec<Answer>,
    /// The overlay, if there is one.
    pub overlay: Option<OverlaySeries>,
}
