//! Statistics of several values.

use ratewire_statistics::percentile;

/// A statistic over several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistic {
    Mean,
    Percentile(u32),
    Max,
}

impl std::fmt::Display for Statistic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Statistic::Mean => f.write_str("mean"),
            Statistic::Percentile(percent) => write!(f, "p{percent}"),
            Statistic::Max => f.write_str("max"),
        }
    }
}

impl Statistic {
    /// The statistic of `values`; `None` if there are none.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        if values.is_empty() {
            return None;
        }
        match self {
            Statistic::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
            Statistic::Max => values.iter().copied().reduce(f64::max),
            Statistic::Percentile(percent) => percentile(values, percent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_what_it_says() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(Statistic::Percentile(99).of(&values), Some(198.0));
        assert_eq!(Statistic::Mean.of(&[1.0, 3.0]), Some(2.0));
        assert_eq!(Statistic::Max.of(&[1.0, 3.0, 2.0]), Some(3.0));
        assert_eq!(Statistic::Max.of(&[]), None);
    }
}
