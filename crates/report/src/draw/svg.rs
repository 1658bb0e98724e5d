//! A figure as SVG, without furniture of the page. The page's script draws the same.

use super::layout::{Layout, text_width};
use super::marks::{MARKS, places};
use super::{Figure, FigureSeries, PALETTE, SeriesKind};
use crate::markup::escape;

/// Colours of text and axes, and of lines behind the series.
const INK: &str = "#000000";
const GRID: &str = "#dddddd";
/// Dashes, in widths of the line; the first is a full line.
const DASHES: [&[f64]; 4] = [&[], &[5.0, 2.5], &[1.5, 2.0], &[6.0, 2.0, 1.5, 2.0]];
/// Height of letters, points.
const FONT: f64 = 8.0;

/// Number of columns of a paper that a figure is as wide as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// One column: 3.5 inches, as in IEEE journals; ACM's is a little narrower.
    #[default]
    One,
    /// Two columns: 7.16 inches, as in IEEE journals; ACM's two are a little narrower.
    Two,
}

/// How a figure is drawn for a paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// The width.
    pub columns: Columns,
    /// Whether letters have serifs, as in the text of most papers.
    pub serif: bool,
}

impl Style {
    /// Width in points.
    fn width(&self) -> f64 {
        match self.columns {
            Columns::One => 252.0,
            Columns::Two => 515.5,
        }
    }

    fn family(&self) -> &'static str {
        match self.serif {
            false => "'Liberation Sans', Helvetica, Arial, sans-serif",
            true => "'Liberation Serif', 'Times New Roman', Times, serif",
        }
    }
}

/// A number with at most two decimals.
fn short(value: f64) -> String {
    let rounded = libm::floor(value * 100.0 + 0.5) / 100.0;
    if rounded == 0.0 { "0".into() } else { rounded.to_string() }
}

/// A number with four significant digits.
fn brief(value: f64) -> String {
    format!("{value:.3e}").parse::<f64>().unwrap_or(value).to_string()
}

fn at(x: f64, y: f64) -> String {
    format!("{} {}", short(x), short(y))
}

impl Figure {
    /// The figure as an SVG document, whose unit is a point.
    pub fn svg(&self, style: &Style) -> String {
        let font = FONT;
        let layout = Layout::of(self, style.width(), font);
        let (width, height) = (short(layout.width), short(layout.height));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}pt\" height=\"{height}pt\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{}\" font-size=\"{}\" fill=\"{INK}\">\n\
             <title>{}</title>\n",
            style.family(),
            short(font),
            escape(&self.title)
        );
        let pen = Pen { figure: self, layout: &layout, font };
        out += &pen.legend();
        for (panel, corner) in layout.planes.iter().enumerate() {
            out += &pen.panel(panel, *corner);
        }
        out += &pen.titles();
        out + "</svg>\n"
    }
}

/// Draws the parts of a figure.
struct Pen<'a> {
    figure: &'a Figure,
    layout: &'a Layout<'a>,
    font: f64,
}

impl Pen<'_> {
    fn text(&self, x: f64, y: f64, anchor: &str, text: &str) -> String {
        format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>\n",
            short(x),
            short(y),
            escape(text)
        )
    }

    fn upright(&self, x: f64, y: f64, anchor: &str, text: &str) -> String {
        format!(
            "<text transform=\"translate({}) rotate(-90)\" text-anchor=\"{anchor}\">{}</text>\n",
            at(x, y),
            escape(text)
        )
    }

    fn legend(&self) -> String {
        let entry = |(series, x, y): &(&FigureSeries, f64, f64)| {
            let end = x + 2.4 * self.font;
            let line = match series.kind {
                SeriesKind::Dots | SeriesKind::Marks | SeriesKind::Claimed => String::new(),
                _ => self.stroke(series, &format!("M{}H{}", at(*x, *y), short(end))),
            };
            let mark = self.marker(series, (x + end) / 2.0, *y);
            line + &mark
                + &self.text(end + 0.4 * self.font, y + 0.35 * self.font, "start", &series.name)
        };
        self.layout.legend.iter().map(entry).collect()
    }

    fn titles(&self) -> String {
        let (layout, font) = (self.layout, self.font);
        let Some((left, top)) = layout.planes.first().copied() else { return String::new() };
        let last = layout.planes.iter().map(|plane| plane.1).fold(top, f64::max);
        let right = layout.planes.iter().map(|plane| plane.0).fold(left, f64::max);
        let across = (left + right + layout.plane.0) / 2.0;
        let up = (top + last + layout.plane.1) / 2.0;
        let x = self.text(across, layout.height - 0.5 * font, "middle", &self.figure.x.label());
        x + &self.upright(font, up, "middle", &self.figure.y.label())
    }

    fn place(&self, (left, top): (f64, f64), x: f64, y: f64) -> (f64, f64) {
        let (wide, high) = self.layout.plane;
        (left + self.figure.x.part(x) * wide, top + (1.0 - self.figure.y.part(y)) * high)
    }

    fn panel(&self, number: usize, corner: (f64, f64)) -> String {
        let (figure, layout, font) = (self.figure, self.layout, self.font);
        let panel = &figure.panels[number];
        let ((left, top), (wide, high)) = (corner, layout.plane);
        let (right, bottom) = (left + wide, top + high);
        let mut out = String::new();
        if figure.panels.len() > 1 {
            out += &self.text(left, top - 0.45 * font, "start", &panel.title);
        }
        let (mut grid, mut labels) = (String::new(), String::new());
        for (value, label) in &layout.x_ticks {
            let (x, _) = self.place(corner, *value, figure.y.low);
            grid += &format!("M{}V{}", at(x, top), short(bottom));
            labels += &if layout.upright {
                self.upright(x + 0.35 * font, bottom + 0.4 * font, "end", label)
            } else {
                self.text(x, bottom + 1.15 * font, "middle", label)
            };
        }
        for (value, label) in &layout.y_ticks {
            let (_, y) = self.place(corner, figure.x.low, *value);
            grid += &format!("M{}H{}", at(left, y), short(right));
            if number.is_multiple_of(layout.columns) {
                labels += &self.text(left - 0.4 * font, y + 0.35 * font, "end", label);
            }
        }
        let thin = short(0.06 * font);
        out += &format!("<path d=\"{grid}\" stroke=\"{GRID}\" stroke-width=\"{thin}\"/>\n{labels}");
        for mark in figure.marks.iter().filter(|x| **x > figure.x.low && **x < figure.x.high) {
            let (x, _) = self.place(corner, *mark, figure.y.low);
            out += &format!(
                "<path d=\"M{}V{}\" stroke=\"{INK}\" stroke-width=\"{thin}\" stroke-dasharray=\"{} {}\"/>\n",
                at(x, top),
                short(bottom),
                short(0.3 * font),
                short(0.3 * font)
            );
        }
        for (i, series) in panel.series.iter().enumerate() {
            out += &self.series(corner, series, panel.series.get(i + 1), (i, panel.series.len()));
        }
        let frame = format!("M{}V{}H{}", at(left, top), short(bottom), short(right));
        out + &format!(
            "<path d=\"{frame}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"{thin}\"/>\n"
        )
    }

    fn series(
        &self,
        corner: (f64, f64),
        series: &FigureSeries,
        below: Option<&FigureSeries>,
        (number, of): (usize, usize),
    ) -> String {
        let places_of = |series: &FigureSeries| -> Vec<Option<(f64, f64)>> {
            series.points.iter().map(|(x, y)| Some(self.place(corner, *x, (*y)?))).collect()
        };
        let points = places_of(series);
        let there: Vec<(f64, f64)> = points.iter().copied().flatten().collect();
        let markers = |chosen: &mut dyn Iterator<Item = (f64, f64)>| -> String {
            chosen.map(|(x, y)| self.marker(series, x, y)).collect()
        };
        match series.kind {
            SeriesKind::Line | SeriesKind::Steps => {
                let path = line(&points, series.kind == SeriesKind::Steps);
                let marked = places(there.len(), number, of);
                self.stroke(series, &path) + &markers(&mut marked.into_iter().map(|i| there[i]))
            }
            SeriesKind::Band => {
                let lower = below.map_or_else(Vec::new, places_of);
                self.band(series, &points, &lower)
            }
            SeriesKind::Dots => {
                let path: String =
                    there.iter().map(|(x, y)| format!("M{}h0", at(*x, *y))).collect();
                format!(
                    "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" \
                     stroke-linecap=\"round\" stroke-opacity=\"0.5\"/>\n",
                    colour(series),
                    short(0.24 * self.font)
                )
            }
            SeriesKind::Joined => {
                self.stroke(series, &line(&points, false))
                    + &self.intervals(corner, series)
                    + &markers(&mut there.into_iter())
            }
            SeriesKind::Tiles => self.tiles(corner, series),
            SeriesKind::Marks | SeriesKind::Claimed => {
                self.intervals(corner, series) + &markers(&mut there.into_iter())
            }
        }
    }

    /// Areas between two edges, one for each run of points that both have.
    fn band(
        &self,
        series: &FigureSeries,
        upper: &[Option<(f64, f64)>],
        lower: &[Option<(f64, f64)>],
    ) -> String {
        let mut path = String::new();
        let (mut there, mut back) = (Vec::new(), Vec::new());
        let both = |i: usize| Some((upper[i]?, (*lower.get(i)?)?));
        for i in 0..=upper.len() {
            if let Some((one, other)) = (i < upper.len()).then(|| both(i)).flatten() {
                there.push(at(one.0, one.1));
                back.push(at(other.0, other.1));
            } else if !there.is_empty() {
                back.reverse();
                path += &format!("M{}L{}Z", there.join("L"), back.join("L"));
                (there, back) = (Vec::new(), Vec::new());
            }
        }
        format!("<path d=\"{path}\" fill=\"{}\" fill-opacity=\"0.2\"/>\n", colour(series))
    }

    /// Rectangles, with their values where those have room.
    fn tiles(&self, corner: (f64, f64), series: &FigureSeries) -> String {
        let (figure, font) = (self.figure, self.font);
        let (low, high) = figure.shades();
        let wide = self.layout.plane.0 / figure.x.names.len().max(1) as f64;
        let tall = self.layout.plane.1 / figure.y.names.len().max(1) as f64;
        let mut out = String::new();
        for ((x, y), value) in series.points.iter().zip(&series.values) {
            let (Some(y), Some(value)) = (y, value) else { continue };
            let part = if low == high { 0.5 } else { (value - low) / (high - low) };
            let (left, top) = self.place(corner, x - 0.5, y + 0.5);
            out += &format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
                short(left),
                short(top),
                short(wide),
                short(tall),
                colour(series),
                short(0.08 + 0.84 * part)
            );
            let label = brief(*value);
            if text_width(&label) * font < wide && 1.2 * font < tall {
                out +=
                    &self.text(left + wide / 2.0, top + tall / 2.0 + 0.35 * font, "middle", &label);
            }
        }
        out
    }

    /// The bars of intervals.
    fn intervals(&self, corner: (f64, f64), series: &FigureSeries) -> String {
        let half = 0.3 * self.font;
        let mut path = String::new();
        for ((x, y), margin) in series.points.iter().zip(&series.margins) {
            let (Some(y), Some(margin)) = (y, margin) else { continue };
            let (px, high) = self.place(corner, *x, y + margin);
            let (_, low) = self.place(corner, *x, y - margin);
            for edge in [high, low] {
                path += &format!("M{}H{}", at(px - half, edge), short(px + half));
            }
            path += &format!("M{}V{}", at(px, high), short(low));
        }
        if path.is_empty() {
            return path;
        }
        let width = short(0.09 * self.font);
        format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"/>\n",
            colour(series)
        )
    }

    fn stroke(&self, series: &FigureSeries, path: &str) -> String {
        let width = 0.13 * self.font;
        let dash: Vec<String> =
            DASHES[series.dash % 4].iter().map(|part| short(part * width)).collect();
        let dash = match dash.is_empty() {
            true => String::new(),
            false => format!(" stroke-dasharray=\"{}\"", dash.join(" ")),
        };
        format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" \
             stroke-linejoin=\"round\"{dash}/>\n",
            colour(series),
            short(width)
        )
    }

    fn marker(&self, series: &FigureSeries, x: f64, y: f64) -> String {
        if series.kind == SeriesKind::Claimed {
            return format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
                short(x),
                short(y),
                short(0.5 * self.font),
                colour(series),
                short(0.12 * self.font)
            );
        }
        let size = 0.26 * self.font;
        let corners = MARKS[series.mark % MARKS.len()];
        let corners = corners.iter().map(|(dx, dy)| at(x + dx * size, y + dy * size));
        let corners = corners.collect::<Vec<_>>().join("L");
        format!("<path d=\"M{corners}Z\" fill=\"{}\"/>\n", colour(series))
    }
}

fn colour(series: &FigureSeries) -> &'static str {
    usize::try_from(series.hue).map_or(INK, |hue| PALETTE[hue % PALETTE.len()])
}

/// A path through points, with gaps.
fn line(points: &[Option<(f64, f64)>], steps: bool) -> String {
    let mut path = String::new();
    let mut is_down = false;
    for point in points {
        let Some((x, y)) = *point else {
            is_down = false;
            continue;
        };
        path += &match (is_down, steps) {
            (false, _) => format!("M{}", at(x, y)),
            (true, false) => format!("L{}", at(x, y)),
            (true, true) => format!("H{}V{}", short(x), short(y)),
        };
        is_down = true;
    }
    path
}
