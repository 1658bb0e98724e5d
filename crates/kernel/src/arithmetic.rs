//! Arithmetic beneath the laws, for tests of its own.

unsafe extern "C" {
    safe fn rw_native_mul_shift(a: u64, b: u64, shift: u32) -> u64;
    safe fn rw_native_share_times(n: u64, d: u64, of: u64) -> u64;
    safe fn rw_native_share_part(n: u64, d: u64, of: u32) -> u64;
}

/// A share in the laws' units of 2^-16.
pub(crate) fn share(sixteen_bits: u32) -> f64 {
    f64::from(sixteen_bits) / 65536.0
}

/// A share of up to 2^16, in the laws' units.
pub(crate) fn fixed(share: f64) -> u32 {
    (share * 65536.0 + 0.5) as u32
}

/// `a b / 2^shift` rounded down, at most `2^63 - 1`; `shift` below 64.
pub fn mul_shift(a: u64, b: u64, shift: u32) -> u64 {
    rw_native_mul_shift(a, b, shift)
}

/// `n / d * of`, as the laws compute shares; at most `2^63 - 1`. `n` is below `2^62`, `n / d`
/// counts as less than `2^32`, and the result for a `d` of 0 is 0.
pub fn share_times(n: u64, d: u64, of: u64) -> u64 {
    rw_native_share_times(n, d, of)
}

/// `n / d * of` by one product, which is all that a packet has time for.
pub fn share_part(n: u64, d: u64, of: u32) -> u64 {
    rw_native_share_part(n, d, of)
}
