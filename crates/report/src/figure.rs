//! Numbers as people read them: the same text in the terminal and on the page.

use ratewire_units::{Bytes, Duration, Throughput};

/// Text of a figure that does not exist.
pub(crate) const NONE: &str = "–";

/// A whole number: `12,345,678`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A mean count: three significant digits, or all digits before the point.
pub(crate) fn mean(value: f64) -> String {
    if !value.is_finite() {
        return NONE.into();
    }
    let decimals = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    if decimals == 0 && value >= 0.0 {
        count(libm::round(value) as u64)
    } else {
        format!("{value:.decimals$}")
    }
}

/// A part of one, as a percentage: `98.1 %`, `0.013 %`.
pub(crate) fn percent(part: f64) -> String {
    match part * 100.0 {
        value if !value.is_finite() => NONE.into(),
        // What happened seldom did happen.
        value if value > 0.0 && value < 0.1 => {
            let decimals = (1.0 - libm::floor(libm::log10(value))).min(4.0) as usize;
            format!("{value:.decimals$} %")
        }
        value => format!("{value:.1} %"),
    }
}

/// An index between 0 and 1: `0.987`.
pub(crate) fn index(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map_or(NONE.into(), |v| format!("{v:.3}"))
}

/// Bits per second with the unit that fits.
pub(crate) fn rate(bps: f64) -> String {
    if bps.is_finite() { Throughput::new(bps / 8.0).to_string() } else { NONE.into() }
}

/// The part of a run that is measured: `measured 5 s to 30 s`.
pub(crate) fn measured(from: f64, to: f64) -> String {
    let text = |s| Duration::from_secs_f64(s).to_string();
    format!("measured {} to {}", text(from), text(to))
}

/// Seconds with the unit that fits, three or four significant digits.
pub(crate) fn seconds(s: Option<f64>) -> String {
    match s.filter(|s| s.is_finite() && *s >= 0.0) {
        // [`Duration`] rounds to picoseconds, so no digit is shown that was not measured.
        Some(s) => Duration::from_secs_f64(s).to_string().replace("us", "µs"),
        None => NONE.into(),
    }
}

/// Bytes with the unit that fits.
pub(crate) fn bytes(n: u64) -> String {
    Bytes::new(n).to_string()
}

/// A count with its noun: `1 flow`, `3 flows`.
pub(crate) fn plural(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(n as u64), if n == 1 { "" } else { "s" })
}

/// How many claims hold: `1 of 1 claim holds`, `2 of 3 claims hold`.
pub(crate) fn held(passed: usize, claims: usize) -> String {
    let verb = if claims == 1 { "holds" } else { "hold" };
    format!("{} of {} {verb}", count(passed as u64), plural(claims, "claim"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_well() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(12), "12");
        assert_eq!(
            [mean(0.0), mean(1.234), mean(45.67), mean(1234.5)],
            ["0", "1.23", "45.7", "1,235"]
        );
        let shares = [0.981_4, 0.001, 0.000_5, 0.000_000_1, 0.0].map(percent);
        assert_eq!(shares, ["98.1 %", "0.1 %", "0.050 %", "0.0000 %", "0.0 %"]);
        assert_eq!(rate(24.13e6), "24.13 Mbit/s");
        assert_eq!(seconds(Some(0.000_050)), "50 µs");
        assert_eq!(plural(1, "flow"), "1 flow");
        assert_eq!(plural(2000, "flow"), "2,000 flows");
        assert_eq!(held(1, 1), "1 of 1 claim holds");
        assert_eq!(held(0, 2), "0 of 2 claims hold");
    }

    #[test]
    fn what_is_missing_is_a_dash() {
        for text in [mean(f64::NAN), percent(f64::NAN), rate(f64::INFINITY), index(None)] {
            assert_eq!(text, NONE);
        }
        assert_eq!(seconds(Some(f64::NAN)), NONE);
    }
}
