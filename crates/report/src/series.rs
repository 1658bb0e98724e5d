//! A time series that never holds more than N points, however long the run.
//!
//! Time is cut into buckets of equal width from the start of the run. When a sample falls beyond
//! the last bucket the width doubles and neighbours merge, so all series of a run that saw the same
//! stretch of time share one grid, and a page needs no time stamps.

use ratewire_units::{Duration, Time};
use serde::{Deserialize, Serialize};

/// How the samples of one bucket become one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aggregation {
    /// Mean, weighted by the time each sample stands for.
    Mean,
    /// The largest sample.
    Max,
    /// The sum of amounts, given as a rate: amount per second of time covered.
    Rate,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(from = "(f64, f64)", into = "(f64, f64)")]
struct Bucket {
    /// Weighted sum, maximum or sum, by kind.
    value: f64,
    /// Picoseconds of samples in here; zero means empty.
    covered: f64,
}

impl From<(f64, f64)> for Bucket {
    fn from((value, covered): (f64, f64)) -> Bucket {
        Bucket { value, covered }
    }
}

impl From<Bucket> for (f64, f64) {
    fn from(bucket: Bucket) -> (f64, f64) {
        (bucket.value, bucket.covered)
    }
}

/// A bounded series of one quantity. Means and maxima keep the quantity's unit; see
/// [`Aggregation::Rate`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    kind: Aggregation,
    capacity: usize,
    /// Picoseconds a bucket; zero until the first sample.
    width: u64,
    /// The first value of `width`; zero for the first sample's interval.
    first: u64,
    buckets: Vec<Bucket>,
}

impl Series {
    /// An empty series of at most `capacity` points (at least 2).
    pub fn new(kind: Aggregation, capacity: usize) -> Series {
        Series { kind, capacity: capacity.max(2), width: 0, first: 0, buckets: Vec::new() }
    }

    /// The series with buckets that are `width` wide at first. Series that start from the same
    /// width can always be put on one grid.
    pub fn starting_from(self, width: Duration) -> Series {
        Series { first: width.ps(), ..self }
    }

    /// Adds a sample of the `interval` that ended `at`. A value that is not finite leaves a gap.
    pub fn push(&mut self, at: Time, interval: Duration, value: f64) {
        if !value.is_finite() {
            return;
        }
        // An instant has no length, but needs some weight against its neighbours.
        let covered = interval.ps().max(1);
        if self.width == 0 {
            self.width = if self.first == 0 { covered } else { self.first };
        }
        // Samples further apart than buckets are wide would leave holes between them.
        while self.width < covered {
            self.halve();
        }
        // The middle decides: a sample that ends on a bucket's edge belongs to the bucket before.
        let middle = at.ps().saturating_sub(covered.div_ceil(2));
        while middle / self.width >= self.capacity as u64 {
            self.halve();
        }
        // Below capacity by the loop above, so it fits a usize.
        let index = (middle / self.width) as usize;
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, Bucket::default());
        }
        let covered = covered as f64;
        let new = match self.kind {
            Aggregation::Mean => Bucket { value: value * covered, covered },
            Aggregation::Max | Aggregation::Rate => Bucket { value, covered },
        };
        self.buckets[index] = merge(self.kind, self.buckets[index], new);
    }

    /// Doubles the width of a bucket, merging neighbours.
    pub fn halve(&mut self) {
        self.width = self.width.saturating_mul(2);
        let kind = self.kind;
        let pairs = self.buckets.chunks(2).map(|pair| match *pair {
            [a, b] => merge(kind, a, b),
            [a] => a,
            _ => Bucket::default(),
        });
        self.buckets = pairs.collect();
    }

    /// The series with neighbours merged `halvings` times.
    pub(crate) fn coarse(&self, halvings: u32) -> Series {
        let mut coarse = self.clone();
        (0..halvings).for_each(|_| coarse.halve());
        coarse
    }

    /// Halves until a bucket is at least `width` wide: puts series that ended at different times on
    /// one grid.
    pub fn widen_to(&mut self, width: Duration) {
        while self.width != 0 && self.width < width.ps() {
            self.halve();
        }
    }

    /// Width of a point; zero for a series without samples.
    pub fn interval(&self) -> Duration {
        Duration::from_ps(self.width)
    }

    /// Number of points, gaps included. Point `i` covers `i` to `i + 1` intervals after the start
    /// of the run.
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Whether the series has no points.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// The points in order of time; NaN where no sample fell.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.buckets.iter().map(move |b| match self.kind {
            _ if b.covered == 0.0 => f64::NAN,
            Aggregation::Mean => b.value / b.covered,
            Aggregation::Max => b.value,
            Aggregation::Rate => b.value / (b.covered / 1e12),
        })
    }

    /// The largest point, if there is one.
    pub fn peak(&self) -> Option<f64> {
        self.values().filter(|v| v.is_finite()).reduce(f64::max)
    }
}

fn merge(kind: Aggregation, a: Bucket, b: Bucket) -> Bucket {
    if a.covered == 0.0 || b.covered == 0.0 {
        return if a.covered == 0.0 { b } else { a };
    }
    let value = match kind {
        Aggregation::Mean | Aggregation::Rate => a.value + b.value,
        Aggregation::Max => a.value.max(b.value),
    };
    Bucket { value, covered: a.covered + b.covered }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn filled(kind: Aggregation, capacity: usize, samples: u64) -> Series {
        let mut series = Series::new(kind, capacity);
        for i in 1..=samples {
            series.push(Time::ZERO + MS(10 * i), MS(10), i as f64);
        }
        series
    }

    #[test]
    fn keeps_every_sample_until_it_is_full() {
        let series = filled(Aggregation::Mean, 4, 4);
        assert_eq!(series.interval(), MS(10));
        assert_eq!(series.values().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn merges_neighbours_when_full() {
        assert_eq!(filled(Aggregation::Mean, 4, 5).values().collect::<Vec<_>>(), [1.5, 3.5, 5.0]);
        assert_eq!(filled(Aggregation::Max, 4, 5).values().collect::<Vec<_>>(), [2.0, 4.0, 5.0]);
        // 1 + 2 in 20 ms is 150 a second; the last bucket is half covered and says so.
        assert_eq!(
            filled(Aggregation::Rate, 4, 5).values().collect::<Vec<_>>(),
            [150.0, 350.0, 500.0]
        );
        assert_eq!(filled(Aggregation::Max, 4, 5).interval(), MS(20));
    }

    #[test]
    fn memory_is_bounded_and_the_mean_survives() {
        let series = filled(Aggregation::Mean, 600, 100_000);
        assert!(series.len() <= 600 && series.len() > 300, "{}", series.len());
        let width = series.interval().ps() as f64;
        let total: f64 = series.values().map(|v| v * width).sum();
        let mean = total / (width * series.len() as f64);
        assert!((mean - 50_000.5).abs() < 200.0, "{mean}");
    }

    #[test]
    fn means_are_weighted_by_time() {
        let mut series = Series::new(Aggregation::Mean, 2);
        series.push(Time::ZERO + MS(30), MS(30), 1.0);
        series.push(Time::ZERO + MS(40), MS(10), 5.0);
        series.push(Time::ZERO + MS(100), MS(1), 9.0);
        assert_eq!(series.interval(), MS(60));
        assert_eq!(series.values().collect::<Vec<_>>(), [2.0, 9.0]);
    }

    #[test]
    fn gaps_stay_gaps() {
        let mut series = Series::new(Aggregation::Mean, 10);
        series.push(Time::ZERO + MS(10), MS(10), 1.0);
        series.push(Time::ZERO + MS(20), MS(10), f64::NAN);
        series.push(Time::ZERO + MS(30), MS(10), 3.0);
        let values: Vec<f64> = series.values().collect();
        assert!(values[1].is_nan() && values[2] == 3.0);
        assert_eq!(series.peak(), Some(3.0));
    }

    #[test]
    fn a_short_first_interval_leaves_no_holes() {
        let mut series = Series::new(Aggregation::Mean, 100);
        series.push(Time::ZERO + MS(3), MS(3), 1.0);
        for i in 0..20 {
            series.push(Time::ZERO + MS(13 + 10 * i), MS(10), 1.0);
        }
        assert_eq!(series.interval(), MS(12));
        assert!(series.values().all(|v| v == 1.0));
    }

    #[test]
    fn series_that_start_from_one_width_meet() {
        let mut early = Series::new(Aggregation::Mean, 4).starting_from(MS(10));
        let mut late = early.clone();
        early.push(Time::ZERO + MS(3), MS(3), 1.0);
        late.push(Time::ZERO + MS(90), MS(10), 1.0);
        early.widen_to(late.interval());
        assert_eq!((early.interval(), late.interval()), (MS(40), MS(40)));
    }

    #[test]
    fn late_and_early_series_share_a_grid() {
        let mut short = filled(Aggregation::Mean, 4, 3);
        let long = filled(Aggregation::Mean, 4, 16);
        short.widen_to(long.interval());
        assert_eq!(short.interval(), long.interval());
        assert_eq!(short.values().collect::<Vec<_>>(), [2.0]);
    }

    #[test]
    fn an_instant_far_away_ends_quickly() {
        let mut series = Series::new(Aggregation::Max, 2);
        series.push(Time::ZERO, Duration::ZERO, 1.0);
        series.push(Time::from_ps(u64::MAX - 1), Duration::ZERO, 2.0);
        assert_eq!(series.peak(), Some(2.0));
        assert!(series.len() <= 2);
    }
}
