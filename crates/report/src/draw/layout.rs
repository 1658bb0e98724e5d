//! Where the parts of a figure lie. The page's script computes the same places.

use super::axis::Tick;
use super::{Figure, FigureSeries};

/// Height of a scale of tiles with its title and labels, in heights of letters.
const SCALE: f64 = 4.1;

/// Approximate width of a text, in heights of letters.
pub(super) fn text_width(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | ' ' => 0.28,
        'f' | 't' | 'r' | '-' | '(' | ')' | '[' | ']' | '/' => 0.34,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.86,
        c if c.is_ascii_uppercase() => 0.68,
        c if c.is_ascii() => 0.556,
        c if (c as u32) < 0x1100 => 0.6,
        _ => 1.0,
    };
    text.chars().map(width).sum()
}

/// Places of a figure's parts, in the unit of the drawing.
pub(super) struct Layout<'a> {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Entries of the legend, with the left end and the middle line of each.
    pub(super) legend: Vec<(&'a FigureSeries, f64, f64)>,
    /// Left and upper corner of each panel's plane.
    pub(super) planes: Vec<(f64, f64)>,
    /// Width and height of a plane.
    pub(super) plane: (f64, f64),
    /// Number of panels beside each other.
    pub(super) columns: usize,
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y_ticks: Vec<Tick>,
    /// Whether the labels of the horizontal axis are upright.
    pub(super) upright: bool,
}

impl<'a> Layout<'a> {
    /// The layout at a width, with letters of the height `font`.
    pub(super) fn of(figure: &'a Figure, width: f64, font: f64) -> Layout<'a> {
        let panels = figure.panels.len().max(1);
        let (legend, top) = legend(figure, width, font);
        let top = top + if figure.scale.is_some() { SCALE * font } else { 0.0 };
        let most = (width / (15.0 * font)) as usize;
        let rows = panels.div_ceil(most.clamp(1, panels));
        let columns = panels.div_ceil(rows);
        let apart = panels > 1;
        let plane_height = |plane_width: f64| {
            if apart {
                (0.6 * plane_width).clamp(7.0 * font, 13.0 * font)
            } else {
                (0.44 * width).clamp(12.0 * font, 24.0 * font)
            }
        };
        // The ticks depend on the height, which depends on the width that labels leave.
        let high = plane_height(width / columns as f64);
        let y_ticks = figure.y.ticks((high / (2.6 * font)).clamp(2.0, 7.0));
        let widest = |ticks: &[Tick]| {
            ticks.iter().map(|tick| text_width(&tick.1)).fold(0.0, f64::max) * font
        };
        let left = 2.1 * font + widest(&y_ticks) + 0.6 * font;
        let right = 1.2 * font;
        let gaps = (columns - 1) as f64 * 1.6 * font;
        let plane = ((width - left - right - gaps) / columns as f64, high);
        let x_ticks = figure.x.ticks((plane.0 / (4.0 * font)).clamp(2.0, 9.0));
        let step = plane.0 / figure.x.names.len().max(1) as f64;
        let upright = !figure.x.names.is_empty() && widest(&x_ticks) + 0.4 * font > step;
        let labels = if upright { widest(&x_ticks) + 0.9 * font } else { 1.7 * font };
        let title = if apart { 1.6 * font } else { 0.6 * font };
        let row = title + plane.1 + labels;
        let place = |panel: usize| {
            let (column, row_number) = ((panel % columns) as f64, (panel / columns) as f64);
            (left + column * (plane.0 + 1.6 * font), top + title + row_number * (row + 0.4 * font))
        };
        Layout {
            width,
            height: top + rows as f64 * row + (rows - 1) as f64 * 0.4 * font + 1.4 * font,
            legend,
            planes: (0..figure.panels.len()).map(place).collect(),
            plane,
            columns,
            x_ticks,
            y_ticks,
            upright,
        }
    }
}

/// Entries of a legend with their places, and its height.
fn legend(figure: &Figure, width: f64, font: f64) -> (Vec<(&FigureSeries, f64, f64)>, f64) {
    let mut places = Vec::new();
    let (mut x, mut row) = (0.0, 0.0);
    for series in figure.legend() {
        let wide = (3.6 + text_width(&series.name)) * font;
        if x > 0.0 && x + wide > width {
            (x, row) = (0.0, row + 1.0);
        }
        places.push((series, x + 0.3 * font, (row * 1.45 + 0.8) * font));
        x += wide;
    }
    let height = if places.is_empty() { 0.0 } else { (row + 1.0) * 1.45 * font + 0.3 * font };
    (places, height)
}
