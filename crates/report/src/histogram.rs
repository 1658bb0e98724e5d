//! Quantiles of a stream in bounded memory: a histogram with buckets 1 % apart.

use std::collections::BTreeMap;

/// Each bucket is this much wider than the one below, so a quantile is off by 1 % at most.
const GROWTH: f64 = 1.02;

/// Counts positive values by their logarithm. Quantiles are within 1 % of the exact ones, the mean
/// is exact; memory grows with the range of the values (350 buckets per factor of 1,000), not with
/// their number.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    buckets: BTreeMap<i32, u64>,
    count: u64,
    sum: f64,
    max: f64,
}

impl Histogram {
    /// Counts one value, in a unit of the caller's choice. Values that are not finite are left out;
    /// zero and negative values count in the smallest bucket.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        let bucket = if value > 0.0 {
            libm::floor(libm::log(value) / libm::log(GROWTH)) as i32
        } else {
            i32::MIN
        };
        *self.buckets.entry(bucket).or_default() += 1;
        self.count += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }

    /// Number of values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean of the values; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The value that a part `q` (0 to 1) of the values do not exceed; `None` without values.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = libm::ceil(q.clamp(0.0, 1.0) * self.count as f64).max(1.0) as u64;
        let mut seen = 0;
        for (&bucket, &count) in &self.buckets {
            seen += count;
            if seen >= rank {
                let middle = f64::from(bucket) + 0.5;
                let value = if bucket == i32::MIN { 0.0 } else { libm::pow(GROWTH, middle) };
                return Some(value.min(self.max));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_quantile_is_beyond_the_largest_value() {
        let mut histogram = Histogram::default();
        (0..100).for_each(|_| histogram.add(300.0));
        assert_eq!(histogram.quantile(0.99), Some(300.0));
    }

    #[test]
    fn quantiles_are_within_one_percent() {
        let mut histogram = Histogram::default();
        for i in 1..=10_000 {
            histogram.add(f64::from(i) * 1e-4);
        }
        for (q, exact) in [(0.5, 0.5), (0.99, 0.99), (1.0, 1.0), (0.01, 0.01)] {
            let got = histogram.quantile(q).unwrap();
            assert!((got / exact - 1.0).abs() < 0.0101, "{q}: {got}");
        }
        assert!((histogram.mean().unwrap() - 0.500_05).abs() < 1e-9);
        assert!(histogram.buckets.len() < 500);
    }

    #[test]
    fn nothing_and_zero() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.quantile(0.5), histogram.mean()), (None, None));
        histogram.add(f64::NAN);
        histogram.add(0.0);
        assert_eq!((histogram.quantile(0.5), histogram.count()), (Some(0.0), 1));
    }
}
