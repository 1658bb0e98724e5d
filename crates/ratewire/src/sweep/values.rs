//! The values of a swept key, as a command line has them: `10M..10G:log7`, `0.5bdp,1bdp,4bdp`.

use ratewire_report::{SweepAxis, SweepValue};
use ratewire_units::quantity::{RATE_UNITS, SIZE_UNITS, TIME_UNITS, split as split_quantity};

/// Most values of one axis.
const MOST: usize = 10_000;
/// Significant digits of values between the ends of a range, and of a step between two.
const DIGITS: i32 = 4;
/// Units without a size of their own, of which a range has whole numbers if its ends are whole.
const WHOLE_UNITS: [&str; 3] = ["", "packet", "packets"];

/// Splits a list of values and expands its ranges.
///
/// | text | values |
/// |---|---|
/// | `a,b` | a and b; commas in brackets and quotes do not separate |
/// | `1..5` | 1, 2, 3, 4, 5 |
/// | `A..B:lin5` | 5 values in equal steps |
/// | `A..B:log7` | 7 values in equal ratios |
///
/// # Errors
/// What is wrong with a range, and how it is written.
pub fn expand_values(text: &str) -> Result<Vec<String>, String> {
    let mut values = Vec::new();
    for part in split(text) {
        match range(part)? {
            Some(range) => values.extend(range),
            None => values.push(part.to_string()),
        }
        if values.len() > MOST {
            return Err(format!("more than {MOST} values"));
        }
    }
    if values.iter().any(String::is_empty) {
        return Err("a value is missing between two commas".to_string());
    }
    for (at, value) in values.iter().enumerate() {
        if values[..at].contains(value) {
            return Err(format!("{value} is listed twice"));
        }
    }
    Ok(values)
}

/// Splits at commas outside brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// The values of a range; `None` if the text is no range.
fn range(text: &str) -> Result<Option<Vec<String>>, String> {
    let Some((low, rest)) = text.split_once("..") else { return Ok(None) };
    let (low, rest) = (low.trim(), rest.trim());
    let Some((high, how)) = rest.rsplit_once(':') else {
        // Windows of expectations have two dots as well: `1 s .. 2 s`.
        if let (Ok(low), Ok(high)) = (low.parse::<u64>(), rest.parse::<u64>()) {
            return whole(low, high).map(Some);
        }
        let ends = Quantity::parse(low).zip(Quantity::parse(rest));
        return match ends {
            Some((from, to)) if from.unit == to.unit && from.unit != "s" => Err(format!(
                "{text}: how many values? write {low}..{rest}:lin5 for equal steps, or \
                 {low}..{rest}:log7 for equal ratios"
            )),
            _ => Ok(None),
        };
    };
    let wrong = |why: String| Err(format!("{text}: {why}"));
    let written = "write A..B:lin5 for equal steps, or A..B:log7 for equal ratios";
    let (is_log, count) = match (how.strip_prefix("log"), how.strip_prefix("lin")) {
        (Some(count), _) => (true, count),
        (None, Some(count)) => (false, count),
        (None, None) => return wrong(format!("{how:?} is no kind of range; {written}")),
    };
    let Some(count) = count.parse().ok().filter(|count| (2..=MOST).contains(count)) else {
        return wrong(format!("{count:?} is no number of values from 2 to {MOST}; {written}"));
    };
    match between(low, high.trim(), is_log, count) {
        Ok(values) => Ok(Some(values)),
        Err(why) => wrong(why),
    }
}

fn whole(low: u64, high: u64) -> Result<Vec<String>, String> {
    match high.checked_sub(low) {
        None => Err(format!("{low}..{high} has no values: write the lesser number first")),
        Some(steps) if steps >= MOST as u64 => {
            Err(format!("{low}..{high}: more than {MOST} values"))
        }
        Some(_) => Ok((low..=high).map(|n| n.to_string()).collect()),
    }
}

/// Values from `low` to `high`, whose texts are the first and the last.
fn between(low: &str, high: &str, is_log: bool, count: usize) -> Result<Vec<String>, String> {
    let ends = Quantity::parse(low).zip(Quantity::parse(high));
    let Some((from, to)) = ends.filter(|(from, to)| from.unit == to.unit) else {
        return Err(format!("{low} and {high} are no numbers with units of one kind"));
    };
    if from.base() >= to.base() {
        return Err("write the lesser value first".to_string());
    }
    if is_log && from.base() <= 0.0 {
        return Err("equal ratios need values above 0".to_string());
    }
    let (a, b) = (from.base(), to.base());
    let is_whole = WHOLE_UNITS.contains(&from.unit) && from.is_whole && to.is_whole;
    let at = |step: usize| {
        let part = step as f64 / (count - 1) as f64;
        if is_log { a * libm::pow(b / a, part) } else { a + (b - a) * part }
    };
    let value = |step: usize| {
        let (value, digits) = (at(step), digits(at(step), at(step) - at(step - 1)));
        let value = if is_whole { libm::round(value) } else { rounded(value, digits) };
        from.unit_of(value, &to, digits)
    };
    let inner = (1..count - 1).map(value);
    let values = [low.to_string()].into_iter().chain(inner).chain([high.to_string()]);
    let values: Vec<String> = values.collect();
    if values.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(format!(
            "there are no {count} whole numbers between {low} and {high}; write 1.0 for fractions"
        ));
    }
    Ok(values)
}

/// Power of ten of the first significant digit: 2 of 123, -1 of 0.123.
fn magnitude(value: f64) -> i32 {
    libm::floor(libm::log10(value.abs())) as i32
}

/// Significant digits that distinguish a value from one that is a step away.
fn digits(value: f64, step: f64) -> i32 {
    DIGITS.max(magnitude(value) - magnitude(step) + DIGITS)
}

/// The number with this many significant digits.
fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 {
        return value;
    }
    let magnitude = magnitude(value);
    let shift = libm::pow(10.0, f64::from((digits - 1 - magnitude).abs()));
    match magnitude < digits {
        true => libm::round(value * shift) / shift,
        false => libm::round(value / shift) * shift,
    }
}

/// A number with a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Quantity<'a> {
    /// The number, in its own unit.
    number: f64,
    is_whole: bool,
    /// The unit as it is written.
    written: &'a str,
    /// Size of the written unit in the base unit.
    size: f64,
    /// The base unit: `bit/s`, `s`, `B`, or the written unit.
    unit: &'a str,
}

impl<'a> Quantity<'a> {
    fn parse(text: &'a str) -> Option<Quantity<'a>> {
        let text = text.trim();
        let (number, written) = split_quantity(text).ok()?;
        let is_whole = text[..text.len() - written.len()].chars().all(|c| !".eE".contains(c));
        let size_in = |units: &[(&str, f64)]| {
            units.iter().find(|(name, _)| *name == written).map(|(_, size)| *size)
        };
        // `10M` is a rate.
        let short = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
        let rate = || size_in(RATE_UNITS).or_else(|| size_in(&short)).map(|size| (size, "bit/s"));
        let time = || size_in(TIME_UNITS).map(|size| (size, "s"));
        let bytes = || size_in(SIZE_UNITS).map(|size| (size, "B"));
        let (size, unit) = rate().or_else(time).or_else(bytes).unwrap_or((1.0, written));
        Some(Quantity { number, is_whole, written, size, unit })
    }

    fn base(&self) -> f64 {
        self.number * self.size
    }

    /// A value between `self` and `other` as text, in the larger unit that does not exceed it.
    fn unit_of(&self, base: f64, other: &Quantity<'_>, digits: i32) -> String {
        let unit = if base >= other.size { other } else { self };
        let number = base / unit.size;
        // Without the error of a division.
        let is_whole = number == libm::floor(number);
        let number = if is_whole { number } else { rounded(number, digits) };
        let space = if unit.written.len() > 1 { " " } else { "" };
        format!("{number}{space}{}", unit.written)
    }
}

/// The axis of a key, with the values as numbers if they are quantities of one unit.
pub(super) fn axis(key: &str, values: &[String]) -> SweepAxis {
    let all: Option<Vec<Quantity<'_>>> = values.iter().map(|text| Quantity::parse(text)).collect();
    let all = all.filter(|all| all.iter().all(|quantity| quantity.unit == all[0].unit));
    let number = |at: usize| all.as_ref().map(|all| all[at].base());
    let value =
        |(at, text): (usize, &String)| SweepValue { text: text.clone(), number: number(at) };
    SweepAxis {
        key: key.to_string(),
        unit: all.as_ref().and_then(|all| all.first()).map_or("", |first| first.unit).to_string(),
        values: values.iter().enumerate().map(value).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        expand_values(text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn lists_and_ranges_are_expanded() {
        for (text, expected) in [
            ("10M", &["10M"][..]),
            ("0.5bdp, 1bdp,4bdp", &["0.5bdp", "1bdp", "4bdp"]),
            ("1..4,8", &["1", "2", "3", "4", "8"]),
            ("10M..10G:log7", &["10M", "31.62M", "100M", "316.2M", "1G", "3.162G", "10G"]),
            ("5 ms..1 s:lin3", &["5 ms", "502.5 ms", "1 s"]),
            ("10 Mbit/s..30 Mbit/s:lin3", &["10 Mbit/s", "20 Mbit/s", "30 Mbit/s"]),
            ("1..1000:log4", &["1", "10", "100", "1000"]),
            ("10packets..50packets:lin3", &["10packets", "30 packets", "50packets"]),
            ("0.5bdp..2bdp:log3", &["0.5bdp", "1 bdp", "2bdp"]),
            ("0.0..1.0:lin3", &["0.0", "0.5", "1.0"]),
            ("1000.1..1000.4:lin4", &["1000.1", "1000.2", "1000.3", "1000.4"]),
            ("999.99M..1000M:lin3", &["999.99M", "999.995M", "1000M"]),
            ("1 s .. 2 s", &["1 s .. 2 s"]),
            ("{ random = 0.01, burst = 2 },none", &["{ random = 0.01, burst = 2 }", "none"]),
            ("'a,b',c", &["'a,b'", "c"]),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
        assert_eq!(values("0.001..0.1:log5")[1], "0.003162");
    }

    #[test]
    fn wrong_ranges_say_what_is_allowed() {
        for (text, says) in [
            ("1M..2M:exp3", "write A..B:lin5 for equal steps"),
            ("1M..2M:log", "no number of values from 2 to 10000"),
            ("1M..2M:log1", "no number of values"),
            ("1M..2ms:lin3", "no numbers with units of one kind"),
            ("2M..1M:lin3", "the lesser value first"),
            ("5M..10M", "how many values? write 5M..10M:lin5 for equal steps"),
            ("0.5 bdp..2 bdp", "write 0.5 bdp..2 bdp:lin5"),
            ("5..1", "the lesser number first"),
            ("0..1G:log3", "no numbers with units of one kind"),
            ("0M..1G:log3", "values above 0"),
            ("0..1:lin3", "write 1.0 for fractions"),
            ("1,,2", "a value is missing"),
            ("", "a value is missing"),
            ("1..3,2", "2 is listed twice"),
            ("0..10000", "more than 10000 values"),
        ] {
            let why = expand_values(text).expect_err(text);
            assert!(why.contains(says), "{text}: {why}");
        }
    }

    #[test]
    fn quantities_of_one_unit_are_numbers() {
        let numbers = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
            let axis = axis("key", &texts);
            (axis.unit, axis.values.iter().map(|value| value.number).collect::<Vec<_>>())
        };
        let known =
            |unit: &str, all: &[f64]| (unit.to_string(), all.iter().copied().map(Some).collect());
        assert_eq!(numbers(&["10M", "1 Gbit/s"]), known("bit/s", &[1e7, 1e9]));
        assert_eq!(numbers(&["5 ms", "1 s"]), known("s", &[0.005, 1.0]));
        assert_eq!(numbers(&["0.5bdp", "4 bdp"]), known("bdp", &[0.5, 4.0]));
        assert_eq!(numbers(&["1", "20"]), known("", &[1.0, 20.0]));
        assert_eq!(numbers(&["1 bdp", "10 packets"]), (String::new(), vec![None, None]));
        assert_eq!(numbers(&["red", "pie"]), (String::new(), vec![None, None]));
    }
}
