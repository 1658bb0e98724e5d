//! Statistics of all flows that completed.

use crate::distribution::Distribution;
use crate::{Completion, CompletionSummary, SizeSummary};

/// Bounds between size classes of flows, bytes.
const SIZES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// Completion times and slowdowns of completed flows.
#[derive(Debug)]
pub(crate) struct Completed {
    times: Distribution,
    slowdowns: Distribution,
    /// Slowdowns by size class: below the first of [`SIZES`], then below the second, and so on.
    slowdowns_by_size: [Distribution; SIZES.len() + 1],
}

impl Completed {
    /// Statistics whose percentiles are exact for up to `most` flows.
    pub(crate) fn new(most: usize) -> Completed {
        let all = || Distribution::new(most);
        Completed {
            times: all(),
            slowdowns: all(),
            slowdowns_by_size: std::array::from_fn(|_| all()),
        }
    }

    pub(crate) fn add(&mut self, c: &Completion) {
        self.times.add(c.took.secs());
        if let Some(ideal) = c.ideal.filter(|i| !i.is_zero()) {
            let slowdown = c.took.secs() / ideal.secs();
            self.slowdowns.add(slowdown);
            let size = SIZES.partition_point(|bound| *bound <= c.size.get());
            self.slowdowns_by_size[size].add(slowdown);
        }
    }

    /// The statistics; `None` if no flow completed.
    pub(crate) fn summary(&self) -> Option<CompletionSummary> {
        Some(CompletionSummary {
            flows: self.times.count(),
            percentiles_exact: self.times.is_exact(),
            mean_s: self.times.mean()?,
            median_s: self.times.percentile(50)?,
            p99_s: self.times.percentile(99)?,
            slowdown_median: self.slowdowns.percentile(50),
            slowdown_p99: self.slowdowns.percentile(99),
            by_size: self.slowdowns_by_size.iter().enumerate().filter_map(by_size).collect(),
        })
    }
}

/// Statistics of the flows of one class of size; `None` if none of them completed.
fn by_size((at, slowdowns): (usize, &Distribution)) -> Option<SizeSummary> {
    Some(SizeSummary {
        from_bytes: at.checked_sub(1).map_or(0, |below| SIZES[below]),
        below_bytes: SIZES.get(at).copied(),
        flows: slowdowns.count(),
        slowdown_median: slowdowns.percentile(50)?,
        slowdown_p99: slowdowns.percentile(99)?,
    })
}
