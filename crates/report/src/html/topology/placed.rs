//! Where the nodes of a drawing are.

/// Where a label would rather be.
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
    /// Whether it can be read at half its size, on a phone, without being scrolled.
    pub(super) fits: bool,
}

/// What separates hosts that stand in a column or in a row.
pub(super) const COLUMN_GAP: f64 = 30.0;
