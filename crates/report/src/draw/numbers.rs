//! Numbers as a drawing has them. The page's script writes the same.

/// A number with at most two decimals.
pub(super) fn short(value: f64) -> String {
    let rounded = libm::floor(value * 100.0 + 0.5) / 100.0;
    if rounded == 0.0 { "0".into() } else { rounded.to_string() }
}

/// A pair of coordinates.
pub(super) fn at(x: f64, y: f64) -> String {
    format!("{} {}", short(x), short(y))
}
