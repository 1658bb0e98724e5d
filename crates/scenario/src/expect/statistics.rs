//! Statistics of several values.

use super::Statistic;

impl Statistic {
    /// Of `values`; `None` without any.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        if values.is_empty() {
            return None;
        }
        match self {
            Statistic::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
            Statistic::Max => values.iter().copied().reduce(f64::max),
            Statistic::Percentile(percent) => {
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                // Nearest rank: the smallest value that so many percent do not exceed.
                let rank = (sorted.len() * percent as usize).div_ceil(100).max(1);
                Some(sorted[rank - 1])
            }
        }
    }
}

/// Jain's index; `None` when nothing was delivered.
pub(super) fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(Statistic::Percentile(99).of(&values), Some(198.0));
        assert_eq!(Statistic::Percentile(50).of(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(Statistic::Percentile(99).of(&[3.0]), Some(3.0));
        assert_eq!(Statistic::Mean.of(&[1.0, 3.0]), Some(2.0));
        assert_eq!(Statistic::Max.of(&[]), None);
    }

    #[test]
    fn jain_goes_from_one_nth_to_one() {
        assert_eq!(jain(&[5.0, 5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
