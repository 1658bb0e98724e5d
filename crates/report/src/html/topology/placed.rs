//! Positions of the nodes of a drawing.

/// The preferred side of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Right,
    Left,
    Above,
    Below,
}

/// A drawing's size and the place of each node in it, y downwards.
pub(super) struct Placed {
    pub(super) at: Vec<(f64, f64)>,
    pub(super) side: Vec<Side>,
    /// Nodes whose labels stand upright because their row is tight.
    pub(super) upright: Vec<bool>,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Nodes of a map whose coordinates are not known.
    pub(super) guessed: Vec<bool>,
    /// Whether the drawing is legible at half its size, on a phone without scrolling.
    pub(super) fits: bool,
}

/// Distance between hosts in a column or in a row.
pub(super) const COLUMN_GAP: f64 = 30.0;
