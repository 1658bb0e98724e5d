//! Quantiles of a stream in bounded memory: a histogram whose buckets are equally wide on a
//! logarithmic scale.

/// Counts values of at least zero. Quantiles are within 0.5 % of the exact ones, and each further
/// one of `BITS` halves that; the mean, the smallest and the largest value are exact. Memory grows
/// with the range of the values (1 KiB for a factor of two, and twice as much for each further
/// bit), not with their number.
///
/// A bucket is a number's exponent with the first `BITS` of its mantissa, because that takes no
/// logarithm: hosts of a simulation count every packet.
#[derive(Clone, Debug)]
pub struct Histogram<const BITS: u32 = 7> {
    /// The lowest bucket that is kept.
    lowest: u64,
    /// Values by bucket, from the lowest.
    buckets: Vec<u64>,
    /// Values of zero and below.
    zeros: u64,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl<const BITS: u32> Default for Histogram<BITS> {
    fn default() -> Histogram<BITS> {
        Histogram {
            lowest: 0,
            buckets: Vec::new(),
            zeros: 0,
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl<const BITS: u32> Histogram<BITS> {
    /// Bits of a number that do not matter.
    const REST_BITS: u32 = f64::MANTISSA_DIGITS - 1 - BITS;

    /// Counts one value, in a unit of the caller's choice. Values that are not finite are left out;
    /// negative values count as zeros in quantiles.
    #[inline]
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if value <= 0.0 {
            self.zeros += 1;
        } else {
            *self.bucket(value.to_bits() >> Self::REST_BITS) += 1;
        }
    }

    #[inline]
    fn bucket(&mut self, bucket: u64) -> &mut u64 {
        // Below the lowest, the difference wraps to a place that there is not.
        let place = bucket.wrapping_sub(self.lowest) as usize;
        if place >= self.buckets.len() {
            return self.make_room(bucket);
        }
        &mut self.buckets[place]
    }

    #[cold]
    fn make_room(&mut self, bucket: u64) -> &mut u64 {
        if self.buckets.is_empty() {
            self.lowest = bucket;
        }
        let missing = self.lowest.saturating_sub(bucket) as usize;
        self.buckets.splice(0..0, std::iter::repeat_n(0, missing));
        self.lowest = self.lowest.min(bucket);
        let place = (bucket - self.lowest) as usize;
        self.buckets.resize(self.buckets.len().max(place + 1), 0);
        &mut self.buckets[place]
    }

    /// Counts all values of another histogram.
    pub fn merge(&mut self, other: &Histogram<BITS>) {
        for (bucket, count) in (other.lowest..).zip(&other.buckets) {
            if *count > 0 {
                *self.bucket(bucket) += count;
            }
        }
        self.zeros += other.zeros;
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean of the values; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The smallest value; `None` without values.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value; `None` without values.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// The value that a part `q` (0 to 1) of the values do not exceed; `None` without values.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = libm::ceil(q.clamp(0.0, 1.0) * self.count as f64).max(1.0) as u64;
        let mut seen = self.zeros;
        if seen >= rank {
            return Some(0.0);
        }
        for (bucket, count) in (self.lowest..).zip(&self.buckets) {
            seen += count;
            if seen >= rank {
                let middle = f64::from_bits(bucket << Self::REST_BITS | 1 << (Self::REST_BITS - 1));
                return Some(middle.clamp(self.min, self.max));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_quantile_is_beyond_the_smallest_or_largest_value() {
        let mut histogram = Histogram::<7>::default();
        (0..100).for_each(|_| histogram.add(300.0));
        assert_eq!(
            (histogram.quantile(0.01), histogram.quantile(0.99)),
            (Some(300.0), Some(300.0))
        );
        assert_eq!((histogram.min(), histogram.max()), (Some(300.0), Some(300.0)));
    }

    #[test]
    fn quantiles_are_as_near_as_there_are_bits() {
        for scale in [1e-12, 1e-4, 3e11] {
            quantiles_are_near::<7>(scale, 0.0051);
            quantiles_are_near::<10>(scale, 0.000_51);
        }
    }

    fn quantiles_are_near<const BITS: u32>(scale: f64, within: f64) {
        {
            let mut histogram = Histogram::<BITS>::default();
            // From the top, so that buckets are added below.
            (1..=10_000).rev().for_each(|i| histogram.add(f64::from(i) * scale));
            for (q, exact) in [(0.5, 5e3), (0.99, 9.9e3), (1.0, 1e4), (0.01, 100.0)] {
                let got = histogram.quantile(q).unwrap() / scale;
                assert!((got / exact - 1.0).abs() < within, "{q}: {got}");
            }
            assert!((histogram.mean().unwrap() / scale - 5_000.5).abs() < 1e-3);
            assert!(histogram.buckets.len() < 15 << BITS, "{}", histogram.buckets.len());
        }
    }

    #[test]
    fn merged_histograms_are_those_of_all_values() {
        let of = |values: &[f64]| {
            let mut histogram = Histogram::<7>::default();
            values.iter().for_each(|value| histogram.add(*value));
            histogram
        };
        let (low, high) = ([0.0, 1e-3, 2e-3], [5.0, 7.0]);
        for (first, second) in [(&low[..], &high[..]), (&high, &low), (&[], &low)] {
            let mut merged = of(first);
            merged.merge(&of(second));
            let all = of(&[first, second].concat());
            for q in [0.0, 0.3, 0.5, 0.9, 1.0] {
                assert_eq!(merged.quantile(q), all.quantile(q), "{first:?} {second:?} {q}");
            }
            let figures = |it: &Histogram| (it.count(), it.mean(), it.min(), it.max());
            assert_eq!(figures(&merged), figures(&all));
        }
    }

    #[test]
    fn nothing_and_zero() {
        let mut histogram = Histogram::<7>::default();
        assert_eq!((histogram.quantile(0.5), histogram.mean()), (None, None));
        assert_eq!((histogram.min(), histogram.max()), (None, None));
        histogram.add(f64::NAN);
        histogram.add(0.0);
        assert_eq!((histogram.quantile(0.5), histogram.count()), (Some(0.0), 1));
    }
}
