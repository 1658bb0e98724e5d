//! Relative weights of any size.

/// Scales weights so that the largest is at least 1/2 and less than 1, and their sum is finite.
///
/// Each weight is multiplied by the same power of two, which rounds nothing: shares stay the same
/// to the last bit. A weight so much smaller than the largest that it cannot be drawn becomes 0.
/// Weights are finite and not negative; without a weight above 0 nothing changes.
pub fn scale<'a>(weights: impl Iterator<Item = &'a mut f64>) {
    let mut weights: Vec<&mut f64> = weights.collect();
    let most = weights.iter().fold(0.0, |most: f64, weight| most.max(**weight));
    let (_, exponent) = libm::frexp(most);
    for weight in &mut weights {
        **weight = libm::scalbn(**weight, -exponent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled<const N: usize>(mut weights: [f64; N]) -> [f64; N] {
        scale(weights.iter_mut());
        weights
    }

    #[test]
    fn sums_are_finite_and_shares_exact() {
        assert_eq!(
            scaled([1e308, 1e308]),
            scaled([1.0, 1.0]).map(|one| one * scaled([1e308])[0] * 2.0)
        );
        assert_eq!(scaled([3.0, 1.0]), [0.75, 0.25]);
        assert_eq!(scaled([5e-324, 1.5e-323]), [0.25, 0.75]);
        let [large, small] = scaled([f64::MAX, f64::MIN_POSITIVE]);
        assert!((0.5..1.0).contains(&large) && small < 1e-300);
        for x in [0.1, 0.3, 7.3, 1e200, 1e-200] {
            let [a, b, c] = scaled([x, x / 3.0, 1.0 / 7.0 * x]);
            assert_eq!((b / a, c / a), ((x / 3.0) / x, (1.0 / 7.0 * x) / x), "{x}");
        }
        assert_eq!(scaled([0.0]), [0.0]);
        assert_eq!(scaled([]), []);
    }
}
