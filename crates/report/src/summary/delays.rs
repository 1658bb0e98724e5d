//! Distributions of times: round trips and one-way delays.

use ratewire_statistics::Histogram;
use serde::{Deserialize, Serialize};

/// A distribution of times. Percentiles are within 0.05 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelaySummary {
    /// How many were measured.
    pub samples: u64,
    /// Mean, seconds.
    pub mean_s: f64,
    /// Median, seconds.
    pub p50_s: f64,
    /// 95th percentile, seconds.
    pub p95_s: f64,
    /// 99th percentile, seconds.
    pub p99_s: f64,
    /// Largest, seconds.
    pub max_s: f64,
}

impl DelaySummary {
    /// Of times in nanoseconds; `None` without any.
    pub fn of<const BITS: u32>(nanoseconds: &Histogram<BITS>) -> Option<DelaySummary> {
        let seconds = |value: Option<f64>| value.map(|ns| ns / 1e9);
        let percentile = |q| seconds(nanoseconds.quantile(q));
        Some(DelaySummary {
            samples: nanoseconds.count(),
            mean_s: seconds(nanoseconds.mean())?,
            p50_s: percentile(0.5)?,
            p95_s: percentile(0.95)?,
            p99_s: percentile(0.99)?,
            max_s: seconds(nanoseconds.max())?,
        })
    }

    /// The 95th and the 99th percentile, where there are enough times to show them.
    pub(crate) fn tails(&self) -> (Option<f64>, Option<f64>) {
        let shown = |least, value| Some(value).filter(|_| self.samples >= least);
        (shown(20, self.p95_s), shown(100, self.p99_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_in_seconds() {
        let mut times = Histogram::<10>::default();
        assert_eq!(DelaySummary::of(&times), None);
        (1..=100).for_each(|ms| times.add(f64::from(ms) * 1e6));
        let of = DelaySummary::of(&times).expect("times");
        assert_eq!((of.samples, of.max_s), (100, 0.1));
        for (got, expected) in
            [(of.mean_s, 0.0505), (of.p50_s, 0.05), (of.p95_s, 0.095), (of.p99_s, 0.099)]
        {
            assert!((got / expected - 1.0).abs() < 0.000_51, "{got} {expected}");
        }
    }
}
