//! Percentiles.

/// The smallest of `values` that `percent` percent of them do not exceed (nearest rank); `None`
/// without values.
pub fn percentile(values: &[f64], percent: u32) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() * percent as usize).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(percentile(&values, 99), Some(198.0));
        assert_eq!(percentile(&values, 0), Some(1.0));
        assert_eq!(percentile(&values, 100), Some(200.0));
        assert_eq!(percentile(&[3.0, 1.0, 2.0], 50), Some(2.0));
        assert_eq!(percentile(&[3.0], 99), Some(3.0));
        assert_eq!(percentile(&[], 50), None);
    }
}
