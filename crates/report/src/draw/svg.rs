//! A figure as SVG, without furniture of the page. The page's script draws the same.

use super::layout::{Entry, Layout, Sheet};
use super::series::Pen;
use super::text::LINE;
use super::write::{INK, at, short, text, upright};
use super::{Error, Figure, Length, SeriesKind, Style, tiles};
use crate::markup::escape;

/// Colour of lines behind the series.
const GRID: &str = "#dddddd";

impl Style {
    fn sheet(&self) -> Sheet {
        Sheet {
            width: self.width_in_points(),
            height: self.height.map(Length::in_points),
            font: self.font.in_points(),
        }
    }
}

impl Figure {
    /// Checks that the style leaves room for what the figure draws.
    pub(super) fn check_room(&self, style: &Style) -> Result<(), Error> {
        style.check()?;
        let sheet = style.sheet();
        let least = |what: &str, is: f64, lacks: f64| {
            // A tenth of an inch more than is needed is on the safe side of rounding.
            let least = libm::ceil((is + lacks) / 7.2) / 10.0;
            let letters = style.font;
            Err(Error::Size(format!(
                "{} has no room in {} of {what} with letters of {letters}; allowed: {what} from \
                 {least}in, or smaller letters",
                self.name,
                Length::points(is)
            )))
        };
        match Layout::of(self, sheet).lacks(sheet.font) {
            (Some(lacks), _) => least("width", sheet.width, lacks),
            (None, Some(lacks)) => least("height", sheet.height.unwrap_or_default(), lacks),
            (None, None) => Ok(()),
        }
    }

    /// The figure as an SVG document, whose unit is a point.
    pub fn svg(&self, style: &Style) -> String {
        let sheet = style.sheet();
        let font = sheet.font;
        let layout = Layout::of(self, sheet);
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

impl Pen<'_> {
    fn legend(&self) -> String {
        let entry = |Entry { series, name, x, y }: &Entry<'_>| {
            let end = x + 2.4 * self.font;
            let line = match series.kind {
                SeriesKind::Dots | SeriesKind::Marks | SeriesKind::Claimed => String::new(),
                _ => self.stroke(series, &format!("M{}H{}", at(*x, *y), short(end))),
            };
            let mark = self.marker(series, (x + end) / 2.0, *y);
            line + &mark + &text(end + 0.4 * self.font, y + 0.35 * self.font, "start", name)
        };
        self.layout.legend.iter().map(entry).collect()
    }

    fn titles(&self) -> String {
        let (layout, font) = (self.layout, self.font);
        let above = |lines: &[String], i: usize| LINE * (lines.len() - 1 - i) as f64 * font;
        let x = layout.x_title.iter().enumerate().map(|(i, line)| {
            let base = layout.height - 0.5 * font - above(&layout.x_title, i);
            text(layout.across, base, "middle", line)
        });
        let y =
            layout.y_title.iter().enumerate().map(|(i, line)| {
                upright((1.0 + LINE * i as f64) * font, layout.up, "middle", line)
            });
        let ends =
            (layout.planes.first(), layout.planes.iter().map(|plane| plane.0).reduce(f64::max));
        let scale = match (&self.figure.scale, ends) {
            (Some(scale), (Some(first), Some(last))) => {
                tiles::bar(scale, (first.0, last + layout.plane.0), INK, font)
            }
            _ => String::new(),
        };
        scale + &x.chain(y).collect::<String>()
    }

    fn panel(&self, number: usize, corner: (f64, f64)) -> String {
        let (figure, layout, font) = (self.figure, self.layout, self.font);
        let ((left, top), (wide, high)) = (corner, layout.plane);
        let (right, bottom) = (left + wide, top + high);
        let mut out = String::new();
        if figure.is_cut() {
            out += &format!(
                "<clipPath id=\"plane{number}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\
                 </clipPath>\n",
                short(left),
                short(top),
                short(wide),
                short(high)
            );
        }
        if figure.panels.len() > 1 {
            let title = &layout.titles[number];
            out.extend(title.iter().enumerate().map(|(i, line)| {
                let above = LINE * (title.len() - 1 - i) as f64 + 0.45;
                text(left, top - above * font, "start", line)
            }));
        }
        let (mut grid, mut labels) = (String::new(), String::new());
        for (value, label) in &layout.x_ticks {
            let (x, _) = self.place(corner, *value, figure.y.low);
            grid += &format!("M{}V{}", at(x, top), short(bottom));
            labels += &if layout.upright {
                upright(x + 0.35 * font, bottom + 0.4 * font, "end", label)
            } else {
                text(x, bottom + 1.15 * font, "middle", label)
            };
        }
        for (value, label) in &layout.y_ticks {
            let (_, y) = self.place(corner, figure.x.low, *value);
            grid += &format!("M{}H{}", at(left, y), short(right));
            if number.is_multiple_of(layout.columns) {
                labels += &text(left - layout.beside_plane, y + 0.35 * font, "end", label);
            }
        }
        let thin = short(0.06 * font);
        // Between tiles there is nothing to read off, and lines would cross their numbers.
        if figure.scale.is_none() {
            out += &format!("<path d=\"{grid}\" stroke=\"{GRID}\" stroke-width=\"{thin}\"/>\n");
        }
        out += &labels;
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
        out += &self.all_series(number, corner);
        let frame = format!("M{}V{}H{}", at(left, top), short(bottom), short(right));
        out + &format!(
            "<path d=\"{frame}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"{thin}\"/>\n"
        )
    }
}
