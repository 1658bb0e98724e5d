//! Where the parts of a figure lie. The page's script computes the same places.

use super::axis::{self, Tick};
use super::text::{LINE, fitted, text_width, wrapped};
use super::{Figure, FigureAxis, FigureSeries, tiles};

/// Least height and width of a plane, in heights of letters.
const LEAST: (f64, f64) = (4.0, 4.0);

/// The sheet that a figure is drawn on, in the unit of the drawing.
#[derive(Clone, Copy)]
pub(super) struct Sheet {
    pub(super) width: f64,
    /// The width and the content choose it if `None`.
    pub(super) height: Option<f64>,
    /// Height of letters.
    pub(super) font: f64,
}

/// An entry of the legend: its series and name, the left end and the middle line.
pub(super) struct Entry<'a> {
    pub(super) series: &'a FigureSeries,
    pub(super) name: String,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Places of a figure's parts, in the unit of the drawing.
pub(super) struct Layout<'a> {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) legend: Vec<Entry<'a>>,
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
    /// Lines of each panel's title, and of the titles of both axes.
    pub(super) titles: Vec<Vec<String>>,
    pub(super) x_title: Vec<String>,
    pub(super) y_title: Vec<String>,
    /// Distance of labels from the plane beside them: rings go beyond it.
    pub(super) beside_plane: f64,
    /// The middles of both titles: those of the planes, unless a title has no room there.
    pub(super) across: f64,
    pub(super) up: f64,
}

impl<'a> Layout<'a> {
    /// The layout on a sheet.
    pub(super) fn of(figure: &'a Figure, sheet: Sheet) -> Layout<'a> {
        let Sheet { width, height, font } = sheet;
        let panels = figure.panels.len().max(1);
        let most = (width / (15.0 * font)) as usize;
        let rows = panels.div_ceil(most.clamp(1, panels));
        let columns = panels.div_ceil(rows);
        let high = if panels > 1 {
            (0.6 * (width / columns as f64)).clamp(7.0 * font, 13.0 * font)
        } else {
            (0.44 * width).clamp(12.0 * font, 24.0 * font)
        };
        let mut layout = Layout::with(figure, sheet, (rows, columns), high);
        // Labels depend on the height of planes, which depends on that of labels.
        for _ in 0..3 {
            let Some(height) = height else { break };
            let high = layout.plane.1 + (height - layout.height) / rows as f64;
            layout = Layout::with(figure, sheet, (rows, columns), high.max(0.1 * font));
        }
        layout
    }

    /// The layout with planes of a height.
    fn with(
        figure: &'a Figure,
        sheet: Sheet,
        (rows, columns): (usize, usize),
        high: f64,
    ) -> Layout<'a> {
        let Sheet { width, font, .. } = sheet;
        let (legend, top) = legend(figure, width, font);
        let top = top + tiles::height(figure, font);
        let apart = figure.panels.len() > 1;
        let wide = |label: &str| text_width(label) * font;
        let widest = |ticks: &[Tick]| ticks.iter().map(|tick| wide(&tick.1)).fold(0.0, f64::max);
        let y_ticks = figure.y.ticks((high / (2.6 * font)).clamp(2.0, 7.0));
        let y_ticks = axis::spaced(&figure.y, y_ticks, |_| 1.25 * font / high);
        let y_ticks = shortened(y_ticks, 0.35 * width / font);
        let above = if apart { (LINE + 0.4) * font } else { 0.6 * font };
        // Below the legend, the title has the height of all planes and of the labels below them.
        let beside = rows as f64 * high + above + 3.1 * font;
        let y_title = wrapped(&figure.y.label(), beside / font);
        let beside_plane = if figure.has_claims() { 0.7 * font } else { 0.4 * font };
        let left = (0.9 + LINE * y_title.len() as f64) * font
            + widest(&y_ticks)
            + 0.2 * font
            + beside_plane;
        // Labels at the ends of the axis go beyond it.
        let x_wanted = |wide: f64| (wide / (4.0 * font)).clamp(2.0, 9.0);
        let ends =
            ends(&figure.x, x_wanted(width / columns as f64)).map(|label| wide(&label) / 2.0);
        let right = (1.2 * font).max(ends[1] + 0.2 * font);
        let gap = (1.6 * font).max(ends[0] + ends[1] + 0.5 * font);
        let plane_width = (width - left - right - (columns - 1) as f64 * gap) / columns as f64;
        let plane = (plane_width.max(0.1 * font), high);
        let x_ticks = figure.x.ticks(x_wanted(plane.0));
        let step = plane.0 / figure.x.names.len().max(1) as f64;
        let upright = !figure.x.names.is_empty() && widest(&x_ticks) + 0.4 * font > step;
        let x_ticks = axis::spaced(&figure.x, x_ticks, |label| match upright {
            true => 1.1 * font / plane.0,
            false => (wide(label) + 0.4 * font) / plane.0,
        });
        let x_ticks = if upright { shortened(x_ticks, 14.0) } else { x_ticks };
        let labels = if upright { widest(&x_ticks) + 0.9 * font } else { 1.7 * font };
        let titles = figure.panels.iter().map(|panel| wrapped(&panel.title, plane.0 / font));
        let titles: Vec<Vec<String>> = titles.collect();
        let lines = titles.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let title = if apart { (LINE * lines as f64 + 0.4) * font } else { 0.6 * font };
        let row = title + plane.1 + labels;
        let place = |panel: usize| {
            let (column, row_number) = ((panel % columns) as f64, (panel / columns) as f64);
            (left + column * (plane.0 + gap), top + title + row_number * (row + 0.4 * font))
        };
        let x_title = wrapped(&figure.x.label(), width / font - 0.4);
        let below = (1.4 + LINE * (x_title.len() - 1) as f64) * font;
        let height = top + rows as f64 * row + (rows - 1) as f64 * 0.4 * font + below;
        let half = |lines: &[String]| lines.iter().map(|line| wide(line)).fold(0.0, f64::max) / 2.0;
        let (x_half, y_half) = (half(&x_title) + 0.2 * font, half(&y_title));
        let across = left + ((plane.0 + gap) * columns as f64 - gap) / 2.0;
        let up =
            (2.0 * (top + title) + rows as f64 * (row + 0.4 * font) - 0.4 * font - title - labels)
                / 2.0;
        Layout {
            width,
            height,
            across: across.min(width - x_half).max(x_half),
            up: up.max(top + y_half),
            legend,
            planes: (0..figure.panels.len()).map(place).collect(),
            plane,
            columns,
            x_ticks,
            y_ticks,
            upright,
            titles,
            x_title,
            y_title,
            beside_plane,
        }
    }

    /// The width and the height that the sheet lacks, if the planes are too small to be read.
    pub(super) fn lacks(&self, font: f64) -> (Option<f64>, Option<f64>) {
        let rows = self.planes.len().div_ceil(self.columns.max(1)) as f64;
        let of = |least: f64, is: f64, times: f64| {
            (is < least * font).then_some((least * font - is) * times)
        };
        (of(LEAST.0, self.plane.0, self.columns as f64), of(LEAST.1, self.plane.1, rows))
    }
}

/// The labels at both ends of an axis of numbers; empty of an axis of names, whose labels stay
/// within it.
fn ends(axis: &FigureAxis, wanted: f64) -> [String; 2] {
    let ticks = if axis.names.is_empty() { axis.ticks(wanted) } else { Vec::new() };
    [ticks.first(), ticks.last()].map(|tick| tick.map_or_else(String::new, |tick| tick.1.clone()))
}

/// The ticks with labels that have room.
fn shortened(ticks: Vec<Tick>, room: f64) -> Vec<Tick> {
    ticks.into_iter().map(|(value, label)| (value, fitted(&label, room))).collect()
}

/// Entries of a legend with their places, and its height.
fn legend(figure: &Figure, width: f64, font: f64) -> (Vec<Entry<'_>>, f64) {
    let mut entries = Vec::new();
    let (mut x, mut row) = (0.0, 0.0);
    for series in figure.legend() {
        let name = fitted(&series.name, width / font - 3.6);
        let wide = (3.6 + text_width(&name)) * font;
        if x > 0.0 && x + wide > width {
            (x, row) = (0.0, row + 1.0);
        }
        entries.push(Entry { series, name, x: x + 0.3 * font, y: (row * 1.45 + 0.8) * font });
        x += wide;
    }
    let height = if entries.is_empty() { 0.0 } else { (row + 1.0) * 1.45 * font + 0.3 * font };
    (entries, height)
}
