//! Writes parts of an SVG document: numbers, places and texts.

use crate::markup::escape;

/// Colour of text and axes.
pub(super) const INK: &str = "#000000";

/// A number with at most two decimals.
pub(super) fn short(value: f64) -> String {
    let rounded = libm::floor(value * 100.0 + 0.5) / 100.0;
    if rounded == 0.0 { "0".into() } else { rounded.to_string() }
}

/// A pair of coordinates.
pub(super) fn at(x: f64, y: f64) -> String {
    format!("{} {}", short(x), short(y))
}

/// A text at a place.
pub(super) fn text(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>\n",
        short(x),
        short(y),
        escape(text)
    )
}

/// A text that is read from below.
pub(super) fn upright(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!(
        "<text transform=\"translate({}) rotate(-90)\" text-anchor=\"{anchor}\">{}</text>\n",
        at(x, y),
        escape(text)
    )
}
