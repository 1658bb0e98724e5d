//! Draws the series of a panel. The page's script draws the same.

use super::layout::Layout;
use super::marks::{MARKS, places};
use super::write::{INK, at, short};
use super::{Figure, FigureSeries, PALETTE, SeriesKind, tiles};

/// Dashes, in widths of the line; the first is a full line.
const DASHES: [&[f64]; 4] = [&[], &[5.0, 2.5], &[1.5, 2.0], &[6.0, 2.0, 1.5, 2.0]];

/// Draws the parts of a figure.
pub(super) struct Pen<'a> {
    pub(super) figure: &'a Figure,
    pub(super) layout: &'a Layout<'a>,
    pub(super) font: f64,
}

impl Pen<'_> {
    pub(super) fn place(&self, (left, top): (f64, f64), x: f64, y: f64) -> (f64, f64) {
        let (wide, high) = self.layout.plane;
        (left + self.figure.x.part(x) * wide, top + (1.0 - self.figure.y.part(y)) * high)
    }

    /// All series of a panel, from the back to the front.
    pub(super) fn all_series(&self, number: usize, corner: (f64, f64)) -> String {
        let all = &self.figure.panels[number].series;
        let drawn = all.iter().enumerate().map(|(i, series)| {
            let (lines, markers) = self.series(corner, series, all.get(i + 1), (i, all.len()));
            // Lines end at the edges of the plane where an axis leaves out values.
            match self.figure.is_cut() && !lines.is_empty() {
                true => format!("<g clip-path=\"url(#plane{number})\">\n{lines}</g>\n{markers}"),
                false => lines + &markers,
            }
        });
        drawn.collect()
    }

    /// A series: its lines, areas and dots, and its markers.
    fn series(
        &self,
        corner: (f64, f64),
        series: &FigureSeries,
        below: Option<&FigureSeries>,
        (number, of): (usize, usize),
    ) -> (String, String) {
        let places_of = |series: &FigureSeries| -> Vec<Option<(f64, f64)>> {
            series.points.iter().map(|(x, y)| Some(self.place(corner, *x, (*y)?))).collect()
        };
        let points = places_of(series);
        let shown = series.points.iter().zip(&points).filter(|((x, y), _)| {
            self.figure.x.shows(*x) && y.is_some_and(|y| self.figure.y.shows(y))
        });
        let there: Vec<(f64, f64)> = shown.filter_map(|(_, place)| *place).collect();
        let markers = || there.iter().map(|(x, y)| self.marker(series, *x, *y)).collect();
        match series.kind {
            SeriesKind::Line | SeriesKind::Steps => {
                let path = line(&points, series.kind == SeriesKind::Steps);
                let marked = places(there.len(), number, of).into_iter().map(|i| there[i]);
                let markers = marked.map(|(x, y)| self.marker(series, x, y)).collect();
                (self.stroke(series, &path), markers)
            }
            SeriesKind::Band => {
                let lower = below.map_or_else(Vec::new, places_of);
                (self.band(series, &points, &lower), String::new())
            }
            SeriesKind::Dots => {
                let path: String =
                    there.iter().map(|(x, y)| format!("M{}h0", at(*x, *y))).collect();
                let dots = format!(
                    "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" \
                     stroke-linecap=\"round\" stroke-opacity=\"0.5\"/>\n",
                    colour(series),
                    short(0.24 * self.font)
                );
                (dots, String::new())
            }
            SeriesKind::Joined => {
                let lines = self.stroke(series, &line(&points, false));
                (lines + &self.intervals(corner, series), markers())
            }
            SeriesKind::Tiles => (self.tiles(corner, series), String::new()),
            SeriesKind::Marks | SeriesKind::Claimed => (self.intervals(corner, series), markers()),
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

    /// Rectangles, with their values if all have room.
    fn tiles(&self, corner: (f64, f64), series: &FigureSeries) -> String {
        let figure = self.figure;
        let Some(scale) = &figure.scale else { return String::new() };
        let wide = self.layout.plane.0 / figure.x.names.len().max(1) as f64;
        let tall = self.layout.plane.1 / figure.y.names.len().max(1) as f64;
        let letters = (self.font, tiles::have_values(figure, (wide, tall), self.font));
        let tile = |((x, y), value): (&(f64, Option<f64>), &Option<f64>)| {
            let corner = self.place(corner, x - 0.5, (*y)? + 0.5);
            Some(tiles::tile(scale, (*value)?, corner, (wide, tall), letters))
        };
        series.points.iter().zip(&series.values).filter_map(tile).collect()
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

    pub(super) fn stroke(&self, series: &FigureSeries, path: &str) -> String {
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

    pub(super) fn marker(&self, series: &FigureSeries, x: f64, y: f64) -> String {
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
