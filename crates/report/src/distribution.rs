//! Percentiles of a stream: exact while all values are kept, within 1 % beyond.

use ratewire_statistics::percentile;

use crate::Histogram;

/// A distribution: a list of values up to a limit, a histogram beyond.
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    most: usize,
    values: Vec<f64>,
    /// The histogram of all values, once they exceed the limit.
    rough: Option<Histogram>,
}

impl Distribution {
    /// A distribution that is exact for up to `most` values.
    pub(crate) fn new(most: usize) -> Distribution {
        Distribution { most, values: Vec::new(), rough: None }
    }

    /// Counts one value, as [`Histogram::add`] does.
    pub(crate) fn add(&mut self, value: f64) {
        if let Some(rough) = &mut self.rough {
            rough.add(value);
        } else if value.is_finite() && self.values.len() < self.most {
            self.values.push(value);
        } else if value.is_finite() {
            let mut rough = Histogram::default();
            let kept = std::mem::take(&mut self.values);
            kept.into_iter().chain([value]).for_each(|value| rough.add(value));
            self.rough = Some(rough);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.rough.as_ref().map_or(self.values.len() as u64, Histogram::count)
    }

    /// The exact mean; `None` without values.
    pub(crate) fn mean(&self) -> Option<f64> {
        match &self.rough {
            Some(rough) => rough.mean(),
            None if self.values.is_empty() => None,
            None => Some(self.values.iter().sum::<f64>() / self.values.len() as f64),
        }
    }

    /// The value that `percent` percent of all values do not exceed, by nearest rank; `None`
    /// without values.
    pub(crate) fn percentile(&self, percent: u32) -> Option<f64> {
        match &self.rough {
            Some(rough) => rough.quantile(f64::from(percent) / 100.0),
            None => percentile(&self.values, percent),
        }
    }

    /// Whether percentiles are exact.
    pub(crate) fn is_exact(&self) -> bool {
        self.rough.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_until_there_are_too_many_values() {
        let mut all = Distribution::new(200);
        (1..=200).for_each(|i| all.add(f64::from(i) / 3.0));
        all.add(f64::NAN);
        assert!(all.is_exact());
        assert_eq!((all.percentile(50), all.percentile(99)), (Some(100.0 / 3.0), Some(66.0)));
        let mean = all.mean();
        all.add(mean.unwrap());
        assert!(!all.is_exact());
        assert_eq!(all.count(), 201);
        assert!((all.percentile(99).unwrap() / 66.0 - 1.0).abs() < 0.0101);
        assert!((all.mean().unwrap() / mean.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn of_nothing_there_is_no_percentile() {
        let none = Distribution::new(10);
        assert_eq!((none.percentile(50), none.mean(), none.count()), (None, None, 0));
    }
}
