//! Values with their margins, as people read them.

use super::FigureUnit;
use crate::figure::{count, index, mean, percent, rate, seconds};

/// A value with its margin: `99.12 ± 0.13 %`. The margin has two digits and is rounded up, so no
/// interval looks narrower than it is; the value has as many decimals, and of whole numbers its own
/// first two digits too. Without a margin the text is
/// that of a single run.
pub(crate) fn shown(unit: FigureUnit, value: f64, margin: Option<f64>) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    let value = value.abs();
    let Some(margin) = margin else {
        return sign.to_string() + &plain(unit, value);
    };
    let (scale, name, most) = match unit {
        FigureUnit::Share => (1e2, " %", 2),
        FigureUnit::Index => (1.0, "", 4),
        FigureUnit::Packets | FigureUnit::Count | FigureUnit::Ratio => (1.0, "", 2),
        FigureUnit::Power | FigureUnit::Rate => match value.max(margin) {
            bps if bps >= 1e9 => (1e-9, " Gbit/s", 3),
            bps if bps >= 1e6 => (1e-6, " Mbit/s", 3),
            bps if bps >= 1e3 => (1e-3, " kbit/s", 3),
            _ => (1.0, " bit/s", 0),
        },
        FigureUnit::Seconds => match value.max(margin) {
            s if s >= 1.0 => (1.0, " s", 3),
            s if s >= 1e-3 => (1e3, " ms", 2),
            _ => (1e6, " µs", 2),
        },
    };
    let (value, margin) = (value * scale, margin * scale);
    // Below 0, digits before the point are zeros.
    let decimals = (1.0 - libm::floor(libm::log10(margin))).min(f64::from(most)) as i32;
    let step = libm::pow(10.0, f64::from(-decimals));
    // A margin that is a whole number of steps but for rounding must not become one step more.
    let margin = (libm::ceil(margin / step - 1e-9) + 0.0) * step;
    let text = |v: f64, step: f64| match decimals {
        ..=0 => count((libm::round(v / step) * step) as u64),
        _ => format!("{v:.*}", decimals as usize),
    };
    // A margin of hundreds does not make 24 and 21 the same.
    let own = libm::pow(10.0, libm::floor(libm::log10(value.max(1.0))) - 1.0).max(1.0);
    let squared = if unit == FigureUnit::Power { "²" } else { "" };
    format!("{sign}{} ± {}{name}{squared}", text(value, step.min(own)), text(margin, step))
}

/// A mean with the least and the largest of its values: `61 (20 to 150)`, `45.9 (45.5 to 46.3) ms`.
pub(crate) fn shown_with_range(unit: FigureUnit, mean: f64, [low, high]: [f64; 2]) -> String {
    let texts = [mean, low, high].map(|value| shown(unit, value, None));
    let parts = texts.each_ref().map(|text| text.split_once(' ').unwrap_or((text, "")));
    let [(mean, unit), (low, of_low), (high, of_high)] = parts;
    if [of_low, of_high] == [unit; 2] {
        return format!("{mean} ({low} to {high}) {unit}").trim_end().to_string();
    }
    let [mean, low, high] = &texts;
    format!("{mean} ({low} to {high})")
}

fn plain(unit: FigureUnit, value: f64) -> String {
    match unit {
        FigureUnit::Share => percent(value),
        FigureUnit::Index => index(Some(value)),
        FigureUnit::Seconds => seconds(Some(value)),
        FigureUnit::Rate => rate(value),
        FigureUnit::Power => rate(value) + "²",
        _ if value == libm::floor(value) => count(value as u64),
        FigureUnit::Packets | FigureUnit::Count | FigureUnit::Ratio => mean(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_have_two_digits_and_values_follow() {
        let cases = [
            (FigureUnit::Share, 0.991_234, 0.001_21, "99.12 ± 0.13 %"),
            (FigureUnit::Share, 0.991_234, 0.000_001, "99.12 ± 0.01 %"),
            (FigureUnit::Index, 0.998_71, 0.000_4, "0.9987 ± 0.0004"),
            (FigureUnit::Packets, 295.3, 12.0, "295 ± 12"),
            (FigureUnit::Packets, 1.763, 0.05, "1.76 ± 0.05"),
            (FigureUnit::Count, 10_876.4, 1_234.5, "10,900 ± 1,300"),
            (FigureUnit::Seconds, 0.4, 0.689, "400 ± 690 ms"),
            (FigureUnit::Packets, 8.0, 340.0, "8 ± 340"),
            (FigureUnit::Count, 24.0, 114.0, "24 ± 120"),
            (FigureUnit::Count, 1_234.0, 20_000.0, "1,200 ± 20,000"),
            (FigureUnit::Count, 0.0, 0.0, "0.00 ± 0.00"),
            (FigureUnit::Index, 0.559_8, 0.000_055_74, "0.5598 ± 0.0001"),
            (FigureUnit::Seconds, 0.354, 0.012, "354 ± 12 ms"),
            (FigureUnit::Seconds, 1.354, 0.012, "1.354 ± 0.012 s"),
            (FigureUnit::Seconds, 42e-6, 3e-6, "42.0 ± 3.0 µs"),
            (FigureUnit::Seconds, -0.354, 0.012, "−354 ± 12 ms"),
            (FigureUnit::Ratio, 0.0, 2.0, "0.0 ± 2.0"),
            (FigureUnit::Rate, 9.612e6, 31e3, "9.612 ± 0.031 Mbit/s"),
            (FigureUnit::Rate, 999e6, 1.2e9, "1.0 ± 1.2 Gbit/s"),
            (FigureUnit::Power, 9.612e6, 31e3, "9.612 ± 0.031 Mbit/s²"),
            (FigureUnit::Rate, 12.0, 3.0, "12 ± 3 bit/s"),
        ];
        for (unit, value, margin, text) in cases {
            assert_eq!(shown(unit, value, Some(margin)), text);
        }
    }

    #[test]
    fn a_range_has_its_unit_once() {
        let text = |mean, low, high| shown_with_range(FigureUnit::Seconds, mean, [low, high]);
        assert_eq!(text(0.046, 0.045, 0.047), "46 (45 to 47) ms");
        assert_eq!(text(0.9, 0.5, 1.25), "900 ms (500 ms to 1.25 s)");
        assert_eq!(shown_with_range(FigureUnit::Packets, 61.0, [20.0, 150.0]), "61 (20 to 150)");
    }

    #[test]
    fn what_does_not_vary_reads_as_in_a_single_run() {
        assert_eq!(shown(FigureUnit::Count, 722.0, None), "722");
        assert_eq!(shown(FigureUnit::Packets, 1.763, None), "1.76");
        assert_eq!(shown(FigureUnit::Share, 0.981_4, None), "98.1 %");
        assert_eq!(shown(FigureUnit::Seconds, -0.05, None), "−50 ms");
    }
}
