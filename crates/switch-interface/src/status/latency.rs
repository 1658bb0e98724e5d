//! Latencies of answers, as JSON has them.

use ratewire_units::Duration;
use serde::{Deserialize, Serialize};

/// Times from requests' coming to the ends of their answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Smoothed time: a new one counts 1/8.
    pub latency_s: f64,
    /// Sum over all answers.
    pub latency_sum_s: f64,
    /// Time that at least half of the answers have not passed: the upper bound of a bucket.
    /// Without answers there is none, nor if it lies in the last bucket.
    pub latency_p50_at_most_s: Option<f64>,
    /// Time that at least 99 % of the answers have not passed, as far as it is known.
    pub latency_p99_at_most_s: Option<f64>,
    /// Answers so far, by their times.
    pub latency_buckets: Vec<LatencyBucket>,
}

/// Answers that took longer than those of the bucket before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyBucket {
    /// The longest time; the last bucket has none.
    pub at_most_s: Option<f64>,
    /// Number of answers.
    pub answers: u64,
}

impl Latency {
    /// What is known of the 99th percentile, in words.
    pub(super) fn p99(&self) -> String {
        match self.latency_p99_at_most_s {
            Some(bound) => format!("<= {}", latency(bound)),
            None if self.latency_buckets.iter().all(|bucket| bucket.answers == 0) => "-".into(),
            None => {
                let mut bounds = self.latency_buckets.iter().filter_map(|bucket| bucket.at_most_s);
                format!("> {}", latency(bounds.next_back().unwrap_or_default()))
            }
        }
    }
}

/// A time in seconds, to the microsecond.
pub(super) fn latency(seconds: f64) -> String {
    Duration::from_micros((seconds * 1e6).round() as u64).to_string()
}
