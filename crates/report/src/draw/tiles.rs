//! Heat maps: tiles in the colours of a scale, their values, and the scale above them. The page's
//! script draws the same.

use super::axis::spaced;
use super::text::{fitted, text_width};
use super::write::{at, short};
use super::{Figure, FigureAxis};
use crate::compare::FigureUnit;
use crate::markup::escape;

/// Colours of the scale at equal steps from its low end: viridis (van der Walt, Smith 2015), whose
/// lightness grows evenly, also in grey and for eyes that see fewer colours.
const COLOURS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 45, 123],
    [59, 82, 139],
    [44, 114, 142],
    [33, 145, 140],
    [40, 174, 128],
    [94, 201, 98],
    [173, 220, 48],
    [253, 231, 37],
];
/// Steps of the scale as it is drawn.
const STEPS: usize = 48;
/// Ratio of the largest to the smallest value from which a scale is logarithmic.
const WIDE: f64 = 50.0;
/// Height of a scale with its title and labels, in heights of letters.
const HEIGHT: f64 = 4.1;
/// Brightness of a tile above which its value is dark.
const BRIGHT: f64 = 120.0;

/// The scale of a figure's tiles. Shares and indices have all that is possible: what differs little
/// looks alike. Others begin at zero, or are logarithmic if values differ much.
pub(super) fn scale(
    title: &str,
    unit: FigureUnit,
    unit_name: &str,
    values: impl Iterator<Item = f64>,
) -> FigureAxis {
    let (least, most) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, 0.0_f64), |(least, most), v| (least.min(v), most.max(v)));
    let (low, high) = match unit {
        FigureUnit::Share => (0.0, most.max(100.0)),
        FigureUnit::Index => (0.0, most.max(1.0)),
        _ if least > 0.0 && most / least >= WIDE => (least, most),
        _ => (0.0, if most > 0.0 { most } else { 1.0 }),
    };
    let log = low > 0.0;
    let title = if log { format!("{title}, logarithmic") } else { title.to_string() };
    FigureAxis { title, unit: unit_name.into(), low, high, log, ..FigureAxis::default() }
}

/// The height that a scale takes above the panels.
pub(super) fn height(figure: &Figure, font: f64) -> f64 {
    if figure.scale.is_some() { HEIGHT * font } else { 0.0 }
}

/// The colour at a part of the scale, 0 to 1.
fn colour(part: f64) -> [u8; 3] {
    let along = part * (COLOURS.len() - 1) as f64;
    let below = (libm::floor(along) as usize).min(COLOURS.len() - 2);
    let rest = along - below as f64;
    std::array::from_fn(|i| {
        let (from, to) = (f64::from(COLOURS[below][i]), f64::from(COLOURS[below + 1][i]));
        libm::floor(from + (to - from) * rest + 0.5) as u8
    })
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Three significant digits: `84.0`, `0.410`; whole numbers from 100 on.
fn brief(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (2.0 - libm::floor(libm::log10(value.abs()))).clamp(0.0, 6.0);
    let step = libm::pow(10.0, decimals);
    // Both languages round a half up here, which they do not where they write numbers.
    format!("{:.*}", decimals as usize, libm::floor(value * step + 0.5) / step)
}

/// Whether tiles of a size have their values: only where those of all have room.
pub(super) fn have_values(figure: &Figure, (wide, tall): (f64, f64), font: f64) -> bool {
    let all = figure.panels.iter().flat_map(|panel| &panel.series);
    let mut values = all.flat_map(|series| series.values.iter().flatten());
    let has_room = |value: &f64| (text_width(&brief(*value)) + 0.5) * font < wide;
    1.2 * font < tall && values.all(has_room)
}

/// A tile between two corners, with its value if tiles have theirs.
pub(super) fn tile(
    scale: &FigureAxis,
    value: f64,
    (left, top): (f64, f64),
    (wide, tall): (f64, f64),
    (font, has_value): (f64, bool),
) -> String {
    let own = colour(scale.part(value));
    let gap = 0.06 * font;
    let mut out = format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
        short(left + gap),
        short(top + gap),
        short(wide - 2.0 * gap),
        short(tall - 2.0 * gap),
        hex(own)
    );
    let label = brief(value);
    if has_value {
        let [red, green, blue] = own.map(f64::from);
        let brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
        out += &format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{label}</text>\n",
            short(left + wide / 2.0),
            short(top + tall / 2.0 + 0.35 * font),
            if brightness > BRIGHT { "#000000" } else { "#ffffff" }
        );
    }
    out
}

/// The scale between two ends: what it stands for, its colours, and labels below them.
pub(super) fn bar(scale: &FigureAxis, (left, right): (f64, f64), ink: &str, font: f64) -> String {
    // A long title begins before the scale.
    let title = fitted(&scale.label(), right / font + 0.7);
    let start = left.min(right + font - text_width(&title) * font).max(0.3 * font);
    let mut out = format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"start\">{}</text>\n",
        short(start),
        short(0.9 * font),
        escape(&title)
    );
    let wide = right - left;
    let step = wide / STEPS as f64;
    for i in 0..STEPS {
        // Neighbours overlap: nothing shines through between them.
        let more = if i + 1 < STEPS { 0.1 * font } else { 0.0 };
        out += &format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
            short(left + i as f64 * step),
            short(1.4 * font),
            short(step + more),
            short(0.8 * font),
            hex(colour((i as f64 + 0.5) / STEPS as f64))
        );
    }
    let mut ticks = String::new();
    let ticks_of = scale.ticks((wide / (5.0 * font)).clamp(2.0, 6.0));
    for (value, label) in spaced(scale, ticks_of, |label| (text_width(label) + 0.5) * font / wide) {
        let x = left + scale.part(value) * wide;
        ticks += &format!("M{}V{}", at(x, 2.2 * font), short(2.5 * font));
        out += &format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            short(x),
            short(3.4 * font),
            escape(&label)
        );
    }
    out + &format!(
        "<path d=\"{ticks}\" stroke=\"{ink}\" stroke-width=\"{}\"/>\n",
        short(0.06 * font)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(unit: FigureUnit, values: &[f64]) -> FigureAxis {
        scale("Utilisation", unit, "%", values.iter().copied())
    }

    /// Distance of two colours in the cube of red, green and blue.
    fn apart(one: [u8; 3], other: [u8; 3]) -> f64 {
        let sum = (0..3).map(|i| (f64::from(one[i]) - f64::from(other[i])).powi(2)).sum::<f64>();
        libm::sqrt(sum)
    }

    #[test]
    fn values_that_differ_little_look_alike() {
        let shares = of(FigureUnit::Share, &[94.0, 96.0]);
        assert_eq!((shares.low, shares.high), (0.0, 100.0));
        let [near, far] = [(94.0, 96.0), (4.0, 96.0)]
            .map(|(a, b)| apart(colour(shares.part(a)), colour(shares.part(b))));
        assert!(near < 40.0 && far > 200.0, "{near} {far}");
        let queues = of(FigureUnit::Packets, &[8.0, 9.0]);
        assert_eq!((queues.low, queues.high, queues.log), (0.0, 9.0, false));
        assert_eq!(of(FigureUnit::Index, &[0.97]).high, 1.0);
    }

    #[test]
    fn a_wide_scale_is_logarithmic_and_says_so() {
        let wide = of(FigureUnit::Packets, &[0.5, 900.0]);
        assert!(wide.log && wide.label() == "Utilisation, logarithmic (%)", "{wide:?}");
        assert!(!of(FigureUnit::Packets, &[0.0, 900.0]).log, "zero has no logarithm");
        let none = of(FigureUnit::Packets, &[]);
        assert_eq!((none.low, none.high), (0.0, 1.0));
    }

    #[test]
    fn values_have_three_digits() {
        let texts = [84.0, 0.41, 100.5, 12_345.6, 0.0, 99.96, 2e-9].map(brief);
        assert_eq!(texts, ["84.0", "0.410", "101", "12346", "0", "100.0", "0.000000"]);
    }

    #[test]
    fn a_value_is_readable_on_every_tile() {
        let scale = of(FigureUnit::Share, &[]);
        for value in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
            let svg = tile(&scale, value, (0.0, 0.0), (60.0, 20.0), (8.0, true));
            let ink = if svg.contains("fill=\"#ffffff\"") { 255.0 } else { 0.0 };
            let [r, g, b] = colour(scale.part(value)).map(f64::from);
            let brightness = 0.299 * r + 0.587 * g + 0.114 * b;
            assert!(f64::abs(ink - brightness) > 100.0, "{value}: {svg}");
            assert!(!svg.contains("opacity"), "nothing shines through: {svg}");
        }
        assert!(!tile(&scale, 94.0, (0.0, 0.0), (60.0, 20.0), (8.0, false)).contains("<text"));
    }
}
