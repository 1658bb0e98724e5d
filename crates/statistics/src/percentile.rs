//! Percentiles.

/// The smallest of `values` that `percent` percent of them do not exceed (nearest rank); `None`
/// without values.
pub fn percentile(values: &[f64], percent: u32) -> Option<f64> {
    let rank = (values.len() * percent as usize).div_ceil(100).max(1);
    if rank > values.len() {
        return None;
    }
    let mut values = values.to_vec();
    // Selecting one value needs no sorting of the others.
    let (_, value, _) = values.select_nth_unstable_by(rank - 1, f64::total_cmp);
    Some(*value)
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
