//! Latencies of answers, in buckets.

use std::time::Duration;

use ratewire_daemon::metrics::Histogram;
use ratewire_switch_interface::status::{Latency, LatencyBucket};

/// Upper bounds of the buckets but the last, in microseconds: three for each power of ten, from an
/// answer of a server on the same host to one that clients hardly wait for.
const BOUNDS_US: [u64; 17] = [
    50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 2_000_000, 5_000_000, 10_000_000,
];

/// Times from requests' coming to the ends of their answers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latencies {
    smoothed: Duration,
    sum: Duration,
    /// Answers so far, by the bucket of their time.
    answers: [u64; BOUNDS_US.len() + 1],
}

impl Latencies {
    /// Takes a time into all figures. The first one is the mean, a later one counts 1/8, as in
    /// routing modules.
    pub(crate) fn measure(&mut self, time: Duration) {
        let bucket = BOUNDS_US.partition_point(|bound| Duration::from_micros(*bound) < time);
        self.answers[bucket] += 1;
        self.sum += time;
        self.smoothed = match self.smoothed {
            Duration::ZERO => time,
            mean => mean - mean / 8 + time / 8,
        };
    }

    /// Answers so far.
    pub(crate) fn answered(&self) -> u64 {
        self.answers.iter().sum()
    }
    /// Smoothed time.
    pub(crate) fn smoothed(&self) -> Duration {
        self.smoothed
    }

    /// The figures, as a status tells them.
    pub(crate) fn told(&self) -> Latency {
        let bounds = BOUNDS_US.map(|bound| Some(bound as f64 / 1e6)).into_iter().chain([None]);
        let buckets = bounds.zip(self.answers);
        Latency {
            latency_s: self.smoothed.as_secs_f64(),
            latency_sum_s: self.sum.as_secs_f64(),
            latency_p50_at_most_s: self.percentile(50),
            latency_p99_at_most_s: self.percentile(99),
            latency_buckets: buckets
                .map(|(at_most_s, answers)| LatencyBucket { at_most_s, answers })
                .collect(),
        }
    }

    /// Upper bound of the bucket that has a percentile, seconds.
    fn percentile(&self, percent: u64) -> Option<f64> {
        let rank = (self.answered() * percent).div_ceil(100);
        let sums = self.answers.iter().scan(0, |sum, answers| {
            *sum += answers;
            Some(*sum)
        });
        let mut bounds = BOUNDS_US.iter().zip(sums);
        let (bound, _) = bounds.find(|(_, sum)| rank > 0 && *sum >= rank)?;
        Some(*bound as f64 / 1e6)
    }
}

/// The histogram of a latency.
pub(crate) fn histogram(latency: &Latency) -> Histogram {
    let bucket = |bucket: &LatencyBucket| (bucket.at_most_s, bucket.answers);
    let buckets = latency.latency_buckets.iter().map(bucket);
    Histogram {
        sum: latency.latency_sum_s,
        buckets: buckets.map(|(bound, count)| (bound.unwrap_or(f64::INFINITY), count)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[u64]) -> Latencies {
        let mut latencies = Latencies::default();
        times.iter().for_each(|time| latencies.measure(Duration::from_micros(*time)));
        latencies
    }

    #[test]
    fn a_time_is_in_the_bucket_with_the_next_bound() {
        let latencies = of(&[0, 50, 51, 100, 10_000_000, 10_000_001]);
        let told = latencies.told().latency_buckets;
        let first = [(Some(0.00005), 2), (Some(0.0001), 2), (Some(0.0002), 0)];
        let last = [(Some(10.0), 1), (None, 1)];
        let found: Vec<_> = told.iter().map(|told| (told.at_most_s, told.answers)).collect();
        assert_eq!((&found[..3], &found[16..]), (&first[..], &last[..]));
        assert_eq!((latencies.answered(), latencies.told().latency_sum_s), (6, 20.000_202));
        assert_eq!(histogram(&latencies.told()).buckets[16..], [(10.0, 1), (f64::INFINITY, 1)]);
    }

    #[test]
    fn the_smoothed_time_follows_slowly() {
        assert_eq!(of(&[8000]).smoothed(), Duration::from_millis(8));
        assert_eq!(of(&[8000, 16_000]).smoothed(), Duration::from_millis(9));
    }

    #[test]
    fn percentiles_are_bounds_that_as_many_answers_have_not_passed() {
        let percentiles = |times: &[u64]| {
            let told = of(times).told();
            (told.latency_p50_at_most_s, told.latency_p99_at_most_s)
        };
        assert_eq!(percentiles(&[]), (None, None));
        assert_eq!(percentiles(&[70]), (Some(0.0001), Some(0.0001)));
        assert_eq!(percentiles(&[70, 3000]), (Some(0.0001), Some(0.005)));
        let mut times = [70; 100];
        times[0] = 20_000_000;
        assert_eq!(percentiles(&times), (Some(0.0001), Some(0.0001)));
        times[1] = 20_000_000;
        assert_eq!(percentiles(&times), (Some(0.0001), None));
    }
}
