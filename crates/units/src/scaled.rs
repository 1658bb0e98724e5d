//! Writing a value with the unit that fits.

use alloc::format;
use core::fmt;

/// Writes `value` with at most four significant decimals and no trailing zeros, then the unit.
pub(crate) fn write_scaled(f: &mut fmt::Formatter<'_>, value: f64, unit: &str) -> fmt::Result {
    let size = if value < 0.0 { -value } else { value };
    let decimals = if size >= 1000.0 {
        0
    } else if size >= 100.0 {
        1
    } else if size >= 10.0 {
        2
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    write!(f, "{text} {unit}")
}
