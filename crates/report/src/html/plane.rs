//! A plane to draw in: axes, ticks and grid as SVG, linear or logarithmic.

use super::text::{coordinate, escape};

/// How a quantity lies along an axis.
pub(super) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    ticks: Vec<(f64, String)>,
}

/// Width, height and margins of every plane, in the drawing's own units.
pub(super) const WIDTH: f64 = 560.0;
pub(super) const HEIGHT: f64 = 330.0;
/// Least room left of the axis.
const LEFT: f64 = 80.0;
/// Room for a character of a label, which a narrow page draws at 16.
const CHARACTER: f64 = 9.2;
/// Between label and axis.
const GAP: f64 = 7.0;
/// Room for the axis's title.
const TITLE: f64 = 22.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 46.0;

impl Axis {
    /// A logarithmic axis around `values` (those above zero), with ticks that `label` writes.
    pub(super) fn log(values: impl Iterator<Item = f64>, label: impl Fn(f64) -> String) -> Axis {
        let (low, high) = values
            .filter(|v| v.is_finite() && *v > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if high > 0.0 { (low / 1.15, high * 1.15) } else { (0.1, 10.0) };
        let decades = libm::log10(high / low);
        let steps: &[f64] = match decades {
            d if d < 1.2 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            d if d < 3.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let every = libm::ceil(decades / 7.0).max(1.0) as i32;
        let mut ticks = Vec::new();
        for decade in libm::floor(libm::log10(low)) as i32..=libm::ceil(libm::log10(high)) as i32 {
            if steps.len() == 1 && decade.rem_euclid(every) != 0 {
                continue;
            }
            for step in steps {
                let value = step * libm::pow(10.0, f64::from(decade));
                if value >= low && value <= high {
                    ticks.push((value, label(value)));
                }
            }
        }
        Axis { low, high, log: true, ticks }
    }

    /// From zero to around the largest of `values`, with ticks that `label` writes.
    pub(super) fn linear(values: impl Iterator<Item = f64>, label: impl Fn(f64) -> String) -> Axis {
        let most = values.filter(|v| v.is_finite()).fold(0.0_f64, f64::max);
        let high = if most > 0.0 { most * 1.06 } else { 1.0 };
        let decade = libm::pow(10.0, libm::floor(libm::log10(high / 4.0)));
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|s| s * decade);
        let step = step.into_iter().find(|s| high / s <= 5.5).unwrap_or(high);
        let count = libm::floor(high / step) as usize;
        let mut ticks: Vec<_> =
            (0..=count).map(|i| i as f64 * step).map(|v| (v, label(v))).collect();
        // Ticks between whole numbers would repeat a neighbour's label.
        ticks.dedup_by(|a, b| a.1 == b.1);
        Axis { low: 0.0, high, log: false, ticks }
    }

    /// Zero to one, in quarters, as percentages.
    pub(super) fn parts() -> Axis {
        let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|v| (v, format!("{:.0} %", v * 100.0)));
        Axis { low: 0.0, high: 1.0, log: false, ticks: ticks.into() }
    }

    /// Where `value` lies, 0 to 1.
    fn part(&self, value: f64) -> f64 {
        let part = if self.log {
            libm::log(value.max(self.low) / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        part.clamp(0.0, 1.0)
    }
}

/// Two axes and their titles.
pub(super) struct Plane {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) x_title: String,
    pub(super) y_title: String,
}

impl Plane {
    /// Where the drawing begins: right of the longest label.
    fn left(&self) -> f64 {
        let longest = self.y.ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
        let title = if self.y_title.is_empty() { 0.0 } else { TITLE };
        (title + longest as f64 * CHARACTER + GAP).max(LEFT)
    }

    /// Where a point lies in the drawing, to a tenth of a unit.
    pub(super) fn at(&self, x: f64, y: f64) -> (String, String) {
        let left = self.left();
        let px = left + self.x.part(x) * (WIDTH - left - RIGHT);
        let py = HEIGHT - BOTTOM - self.y.part(y) * (HEIGHT - TOP - BOTTOM);
        (coordinate(px, 1), coordinate(py, 1))
    }

    /// The whole drawing: grid, axes, then `marks`, described to screen readers by `label`.
    pub(super) fn svg(&self, marks: &str, label: &str) -> String {
        let mut out = format!(
            "<svg class=\"plane\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
            escape(label)
        );
        let (left, bottom) = (self.left(), HEIGHT - BOTTOM);
        for (value, text) in &self.x.ticks {
            let (x, _) = self.at(*value, self.y.low);
            out.push_str(&format!(
                "<path class=\"grid\" d=\"M{x} {TOP}V{bottom}\"/>\
                 <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                bottom + 17.0,
                escape(text)
            ));
        }
        for (value, text) in &self.y.ticks {
            let (_, y) = self.at(self.x.low, *value);
            out.push_str(&format!(
                "<path class=\"grid\" d=\"M{left} {y}H{}\"/>\
                 <text x=\"{}\" y=\"{y}\" dy=\".33em\" text-anchor=\"end\">{}</text>\n",
                WIDTH - RIGHT,
                left - GAP,
                escape(text)
            ));
        }
        out.push_str(&format!(
            "<text class=\"title\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"title\" transform=\"translate(13 {}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>\n",
            (left + WIDTH - RIGHT) / 2.0,
            HEIGHT - 6.0,
            escape(&self.x_title),
            (TOP + bottom) / 2.0,
            escape(&self.y_title)
        ));
        out + marks + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_axes_have_a_few_ticks_over_any_range() {
        for (low, high) in [(1.0, 1.0), (1.0, 3.0), (0.01, 5.0), (1e-9, 1e9), (1e3, 1e7)] {
            let axis = Axis::log([low, high].into_iter(), |v| format!("{v}"));
            assert!((1..=9).contains(&axis.ticks.len()), "{low} {high}: {:?}", axis.ticks);
            assert!(axis.part(low) >= 0.0 && axis.part(high) <= 1.0);
        }
    }

    #[test]
    fn linear_axes_begin_at_zero() {
        for high in [1e-9, 0.97, 1.0, 77.5, 4e9] {
            let axis = Axis::linear([high / 3.0, high].into_iter(), |v| format!("{v}"));
            assert!((3..=7).contains(&axis.ticks.len()), "{high}: {:?}", axis.ticks);
            assert_eq!(axis.part(0.0), 0.0, "{high}");
            assert!(axis.part(high) < 1.0 && axis.ticks.iter().all(|t| axis.part(t.0) <= 1.0));
        }
        let whole = Axis::linear([0.0].into_iter(), |v| format!("{v:.0}"));
        let labels: Vec<&str> = whole.ticks.iter().map(|t| t.1.as_str()).collect();
        assert_eq!(labels, ["0", "1"]);
    }

    #[test]
    fn long_labels_have_room() {
        let starts = |unit: &str, y_title: &str| {
            let label = |v| format!("{v:.0} {unit}");
            let axis = || Axis::linear([60_000.0].into_iter(), label);
            Plane { x: axis(), y: axis(), x_title: String::new(), y_title: y_title.into() }.left()
        };
        assert_eq!(starts("", ""), 80.0);
        assert_eq!(starts("packets", ""), 13.0 * CHARACTER + GAP);
        assert_eq!(starts("packets", "queue"), starts("packets", "") + TITLE);
    }

    #[test]
    fn nothing_to_draw_is_still_an_axis() {
        let axis = Axis::log([f64::NAN, 0.0, -1.0].into_iter(), |v| format!("{v}"));
        assert!(axis.low < axis.high && !axis.ticks.is_empty());
    }
}
