//! Steps of a slider: values around a number, in its own unit.

use std::ops::RangeInclusive;

/// Preferred numbers of a decade (ISO 3, R20): neighbours differ by about an eighth.
const PREFERRED: [f64; 20] = [
    1.0, 1.12, 1.25, 1.4, 1.6, 1.8, 2.0, 2.24, 2.5, 2.8, 3.15, 3.55, 4.0, 4.5, 5.0, 5.6, 6.3, 7.1,
    8.0, 9.0,
];
/// Ratio of the slider's ends to the value.
const REACH: f64 = 10.0;
/// Numbers that have a slider. Others are no quantities of a network, and the largest have no end
/// of decades.
const SLIDING: RangeInclusive<f64> = 1e-12..=1e15;

/// Numbers that a key allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) is_whole: bool,
}

impl Range {
    /// A rate, a time or a size. Zero is rarely meant, and can be written.
    pub(super) const POSITIVE: Range =
        Range { min: f64::MIN_POSITIVE, max: f64::INFINITY, is_whole: false };

    /// The range around a value whose key describes its values in words. A share ends at 1, or at
    /// 100 %; a number up to 1 without a unit may be one, and a field takes any other.
    pub(super) fn of_value(text: &str) -> Range {
        let (digits, end) = match text.strip_suffix('%') {
            Some(digits) => (digits.trim_end(), 100.0),
            None => (text, 1.0),
        };
        let is_share = digits.parse::<f64>().is_ok_and(|number| number <= end);
        Range { max: if is_share { end } else { f64::INFINITY }, ..Range::POSITIVE }
    }

    pub(super) fn whole(min: u64, max: u64) -> Range {
        Range { min: min as f64, max: max as f64, is_whole: true }
    }
}

/// Values from a tenth to ten times a quantity such as `100 Mbit/s`, with the quantity itself in
/// its place, and with the range's end where that is zero or within reach. Empty if the text is no
/// number with at most a unit.
pub(super) fn steps(text: &str, range: Range) -> Vec<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let is_unit = |c: char| c.is_ascii_alphabetic() || "/%µ ".contains(c);
    let Some(value) = digits.parse::<f64>().ok().filter(|_| unit.chars().all(is_unit)) else {
        return Vec::new();
    };
    // Half a packet and half a byte are no sizes.
    let is_whole = range.is_whole || ["packets", "packet", "B"].contains(&unit.trim());
    let middle = if value > 0.0 { value } else { 1.0 };
    if !SLIDING.contains(&middle) {
        return Vec::new();
    }
    let (low, high) = ((middle / REACH).max(range.min), (middle * REACH).min(range.max));
    let ends = [range.min, range.max].into_iter().filter(|end| *end == 0.0 || *end == high);
    let mut all: Vec<(f64, String)> = ends.map(|end| (end, number(end))).collect();
    let mut decade = 1.0;
    while decade > low {
        decade /= 10.0;
    }
    while decade * 10.0 <= low {
        decade *= 10.0;
    }
    while decade <= high {
        let of_decade = PREFERRED.iter().map(|preferred| preferred * decade);
        let rounded = of_decade.map(|step| if is_whole { step.round() } else { step });
        all.extend(rounded.filter(|step| (low..=high).contains(step)).map(|s| (s, number(s))));
        decade *= 10.0;
    }
    // As the scenario writes it, also where a step is as large.
    all.retain(|(step, _)| (step - value).abs() > 1e-9 * middle);
    all.push((value, digits.to_string()));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.dedup_by(|a, b| a.1 == b.1);
    all.into_iter().map(|(_, number)| number + unit).collect()
}

/// A number with three significant digits.
fn number(value: f64) -> String {
    let mut decimals = 2;
    let mut size = value;
    while size > 0.0 && size < 1.0 && decimals < 12 {
        size *= 10.0;
        decimals += 1;
    }
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slider_has_a_decade_on_either_side() {
        let rates = steps("100 Mbit/s", Range::POSITIVE);
        let (first, last) = (&rates[..3], rates.last().expect("steps"));
        assert_eq!(first, ["10 Mbit/s", "11.2 Mbit/s", "12.5 Mbit/s"]);
        assert_eq!((last.as_str(), rates.len()), ("1000 Mbit/s", 41));
        assert!(rates.contains(&"100 Mbit/s".to_string()));
        let packets = steps("10 packets", Range::POSITIVE);
        assert_eq!(packets[..4], ["1 packets", "2 packets", "3 packets", "4 packets"]);
        assert_eq!(steps("3", Range::whole(1, 5)), ["1", "2", "3", "4", "5"]);
        let share = steps("0.5", Range { min: 0.0, max: 1.0, is_whole: false });
        assert_eq!((share[0].as_str(), share.last().expect("steps").as_str()), ("0", "1"));
        assert_eq!(steps("0 s", Range::POSITIVE)[..3], ["0 s", "0.1 s", "0.112 s"]);
        assert_eq!(steps("1.0 bdp", Range::POSITIVE).iter().filter(|s| *s == "1.0 bdp").count(), 1);
    }

    #[test]
    fn shares_have_an_end() {
        let last = |text: &str| steps(text, Range::of_value(text)).pop().expect("steps");
        for (text, end) in [
            ("0.5", "1"),
            ("1", "1"),
            ("0.01", "0.1"),
            ("50 %", "100 %"),
            ("5%", "50%"),
            ("200 %", "2000 %"),
            ("2", "20"),
            ("0.5 bdp", "5 bdp"),
        ] {
            assert_eq!(last(text), end, "{text}");
        }
    }

    #[test]
    fn what_is_no_quantity_has_no_steps() {
        for text in [
            &"9".repeat(309),
            "1000000000000000000",
            "unlimited",
            "[1, 2]",
            "-3",
            "5 s .. 30 s",
            "",
            ".",
            "1.2.3",
            "{ a = 1 }",
        ] {
            assert!(steps(text, Range::POSITIVE).is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn steps_rise_and_have_the_value(value in SLIDING, whole in any::<bool>()) {
            let text = if whole { format!("{}", value.ceil()) } else { format!("{value}") };
            let all = steps(&text, Range { is_whole: whole, ..Range::POSITIVE });
            prop_assert!(all.contains(&text), "{:?}", all);
            let numbers: Vec<f64> = all.iter().map(|step| step.parse().unwrap()).collect();
            prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", numbers);
            prop_assert!(all.len() < 60);
        }

        #[test]
        fn every_number_has_few_steps(value in any::<f64>(), whole in any::<bool>()) {
            let text = format!("{}", value.abs());
            let all = steps(&text, Range { is_whole: whole, ..Range::POSITIVE });
            let is_short = |step: &String| step.len() < 30 || *step == text;
            prop_assert!(all.len() < 60 && all.iter().all(is_short), "{:?}", all);
        }
    }
}
