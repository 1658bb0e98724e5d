//! Shapes of markers: closed polygons around the origin.

/// A polygon by its corners.
pub(super) type Mark = &'static [(f64, f64)];

/// The markers, by number; `look.rs` gives them to laws. The page's script has the same.
pub(crate) const MARKS: [Mark; 11] =
    [CIRCLE, SQUARE, TRIANGLE, DIAMOND, TURNED, PLUS, CROSS, STAR, HOURGLASS, BOW_TIE, HOUSE];

const CIRCLE: Mark = &[
    (1.0, 0.0),
    (0.866, 0.5),
    (0.5, 0.866),
    (0.0, 1.0),
    (-0.5, 0.866),
    (-0.866, 0.5),
    (-1.0, 0.0),
    (-0.866, -0.5),
    (-0.5, -0.866),
    (0.0, -1.0),
    (0.5, -0.866),
    (0.866, -0.5),
];
const SQUARE: Mark = &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
const TRIANGLE: Mark = &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)];
const DIAMOND: Mark = &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)];
const TURNED: Mark = &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)];
const PLUS: Mark = &[
    (-0.4, -1.2),
    (0.4, -1.2),
    (0.4, -0.4),
    (1.2, -0.4),
    (1.2, 0.4),
    (0.4, 0.4),
    (0.4, 1.2),
    (-0.4, 1.2),
    (-0.4, 0.4),
    (-1.2, 0.4),
    (-1.2, -0.4),
    (-0.4, -0.4),
];
const CROSS: Mark = &[
    (-1.1, -0.6),
    (-0.6, -1.1),
    (0.0, -0.5),
    (0.6, -1.1),
    (1.1, -0.6),
    (0.5, 0.0),
    (1.1, 0.6),
    (0.6, 1.1),
    (0.0, 0.5),
    (-0.6, 1.1),
    (-1.1, 0.6),
    (-0.5, 0.0),
];
const STAR: Mark = &[
    (0.0, -1.4),
    (0.35, -0.45),
    (1.3, -0.45),
    (0.55, 0.15),
    (0.85, 1.1),
    (0.0, 0.55),
    (-0.85, 1.1),
    (-0.55, 0.15),
    (-1.3, -0.45),
    (-0.35, -0.45),
];
const HOURGLASS: Mark =
    &[(-1.0, -1.2), (1.0, -1.2), (0.25, 0.0), (1.0, 1.2), (-1.0, 1.2), (-0.25, 0.0)];
const BOW_TIE: Mark =
    &[(-1.2, -1.0), (0.0, -0.25), (1.2, -1.0), (1.2, 1.0), (0.0, 0.25), (-1.2, 1.0)];
const HOUSE: Mark = &[(0.0, -1.3), (1.1, -0.2), (0.8, 1.0), (-0.8, 1.0), (-1.1, -0.2)];

/// Markers of a line with many points.
const ALONG: usize = 7;

/// Indices of the points of a line that have a marker. Lines of one panel have theirs at different
/// places.
pub(super) fn places(points: usize, line: usize, lines: usize) -> Vec<usize> {
    let along = ALONG.min(points);
    let offset = (line as f64 + 0.5) / lines as f64;
    let place = |k: usize| ((k as f64 + offset) / along as f64 * points as f64) as usize;
    (0..along).map(place).collect()
}
