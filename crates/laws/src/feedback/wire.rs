//! Numbers on the wire.
//!
//! Rates, times, losses and prices are IEEE 754 binary32, big-endian: 24 bits of precision (6e-8 of
//! the value) at any magnitude, so no law is limited to a range of speeds. Infinity means that no
//! router has written the field.

use alloc::format;

use crate::law::HeaderError;

/// First byte of a header on its way to the receiver.
const FORWARD: u8 = 1;
/// First byte of a header on its way back, which routers do not change.
const RETURNED: u8 = 2;

/// First byte of a header.
pub(crate) fn format(returned: bool) -> u8 {
    if returned { RETURNED } else { FORWARD }
}

/// Splits off the header's `N` bytes. Also returns whether it is on its way back.
pub(crate) fn parse<const N: usize>(bytes: &[u8]) -> Result<(&[u8; N], bool), HeaderError> {
    let bytes = bytes.first_chunk::<N>().ok_or_else(|| {
        HeaderError::new(format!("{} bytes, where the header takes {N}", bytes.len()))
    })?;
    match bytes[0] {
        FORWARD => Ok((bytes, false)),
        RETURNED => Ok((bytes, true)),
        other => Err(HeaderError::new(format!("format {other}, where there are 1 and 2"))),
    }
}

/// Writes a real number at `at`.
pub(crate) fn put_real(bytes: &mut [u8], at: usize, value: f64) {
    bytes[at..at + 4].copy_from_slice(&(value as f32).to_be_bytes());
}

/// Reads a real number at `at` that is not below `least`.
pub(crate) fn real(bytes: &[u8], at: usize, name: &str, least: f64) -> Result<f64, HeaderError> {
    let value = f64::from(f32::from_bits(word(bytes, at)));
    if value >= least {
        Ok(value)
    } else {
        Err(HeaderError::new(format!("{name} {value}, where {least} is the least")))
    }
}

/// Writes a whole number at `at`.
pub(crate) fn put_word(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}

/// Reads a whole number at `at`.
pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
