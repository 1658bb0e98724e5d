//! A finished run.

use serde::{Deserialize, Serialize};

use crate::{Collected, RunInfo, Summary};

/// One finished run: what it was, its exact figures, and what was kept of its samples.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// What ran.
    pub info: RunInfo,
    /// Exact counters and statistics.
    pub summary: Summary,
    /// Series for plots, bounded in size.
    pub collected: Collected,
}
