//! The name of a column, taken apart.

use ratewire_units::quantity::{RATE_UNITS, SIZE_UNITS, TIME_UNITS};

use super::{Unit, Wanted};
use crate::rows;

/// The names of the columns, and what stands between them: commas, semicolons or tabs if there are
/// any, else blanks. A unit in brackets belongs to the name before it.
pub(super) fn cells(line: &str) -> (Vec<&str>, Option<char>) {
    let separator = [',', ';', '\t'].into_iter().find(|c| line.contains(*c));
    if let Some(separator) = separator {
        return (rows::cells(line, separator), Some(separator));
    }
    let mut list = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (cell, after) = rest.split_at(end_of_cell(rest));
        list.push(cell.trim_matches('"'));
        rest = after.trim_start();
    }
    (list, None)
}

/// Where the first of several cells ends that blanks separate.
fn end_of_cell(rest: &str) -> usize {
    let has_bracket = |rest: &str| rest.trim_start().starts_with(['(', '[']);
    let mut depth = 0_i32;
    for (i, c) in rest.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ if c.is_whitespace() && depth <= 0 && !has_bracket(&rest[i..]) => return i,
            _ => {}
        }
    }
    rest.len()
}

/// A column's name, taken apart.
pub(super) struct Cell<'a> {
    pub name: &'a str,
    /// Words in lower case, units included.
    words: Vec<String>,
    /// The unit, and its size in seconds, bits per second or bytes.
    pub unit: Option<(Unit, f64)>,
    /// Number of the words that are the unit.
    unit_words: usize,
    /// What stands in the place of a unit of a rate and is none.
    pub strange: Option<String>,
}

impl<'a> Cell<'a> {
    pub fn read(name: &'a str) -> Cell<'a> {
        let of_unit = |c: char| c.is_alphanumeric() || "/%".contains(c);
        let mut words = Vec::new();
        for word in name.split(|c| !of_unit(c)).filter(|word| !word.is_empty()) {
            if unit(word).is_some() { words.push(word) } else { words.extend(humps(word)) }
        }
        let mut cell = Cell { name, words: Vec::new(), unit: None, unit_words: 0, strange: None };
        let mut at = 0;
        while at < words.len() {
            let (found, length) = unit_at(&words[at..]);
            if found.is_some() {
                (cell.unit, cell.unit_words) = (found, length);
            } else if is_like_a_rate_unit(words[at]) {
                cell.strange = Some(words[at].to_string());
            }
            cell.words.extend(words[at..at + length].iter().map(|word| word.to_lowercase()));
            at += length;
        }
        cell.strange = cell.strange.or_else(|| in_brackets(name).map(str::to_string));
        cell
    }

    pub fn has(&self, list: &[&str]) -> bool {
        self.words.iter().any(|word| list.contains(&word.as_str()))
    }

    pub fn is(&self, wanted: &Wanted) -> bool {
        let unit = self.unit.map(|(unit, _)| unit);
        let is_unit_alone = self.unit_words == self.words.len() && wanted.unit != Unit::None;
        let is_rate = wanted.unit == Unit::Rate && unit == Some(Unit::Rate);
        let is_named = self.has(wanted.words) || is_unit_alone && unit == Some(wanted.unit);
        (is_named || is_rate) && !self.has(wanted.others)
    }
}

/// What stands in brackets as units do: `[flits/cycle]`, `(flits/cycle)`, but not `(DL)`.
fn in_brackets(name: &str) -> Option<&str> {
    let within = |open: char, close: char| {
        let (_, rest) = name.split_once(open)?;
        rest.split_once(close).map(|(inner, _)| inner.trim()).filter(|inner| !inner.is_empty())
    };
    within('[', ']').or_else(|| within('(', ')').filter(|inner| inner.contains('/')))
}

/// Splits `throughputMbps` where a large letter follows a small one.
fn humps(word: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let mut start = 0;
    let pairs = word.char_indices().zip(word.chars().skip(1));
    for ((at, c), next) in pairs {
        if c.is_lowercase() && next.is_uppercase() {
            list.push(&word[start..at + c.len_utf8()]);
            start = at + c.len_utf8();
        }
    }
    list.push(&word[start..]);
    list
}

/// The unit that these words begin with, such as `["Mbit", "per", "s"]`, and its number of words,
/// at least 1.
fn unit_at(words: &[&str]) -> (Option<(Unit, f64)>, usize) {
    let is = |at: usize, list: &[&str]| {
        words.get(at).is_some_and(|word| list.contains(&word.to_lowercase().as_str()))
    };
    let per = usize::from(is(1, &["per"]));
    if is(1 + per, &["s", "sec", "second"]) {
        let rate = unit(&format!("{}/s", words[0].trim_end_matches('s')));
        if let Some((Unit::Rate, scale)) = rate {
            return (Some((Unit::Rate, scale)), 2 + per);
        }
    }
    (unit(words[0]), 1)
}

/// A unit by a name that has one meaning in a heading.
pub(super) fn unit(word: &str) -> Option<(Unit, f64)> {
    let lower = word.to_lowercase();
    let of = |units: &[(&str, f64)], name: &str| {
        units.iter().find(|(known, _)| *known == name).map(|(_, scale)| *scale)
    };
    let time = TIME_NAMES.iter().find(|(names, _)| names.contains(&lower.as_str()));
    if let Some((_, unit)) = time {
        return of(TIME_UNITS, unit).map(|scale| (Unit::Time, scale));
    }
    // "MBps" is megabytes, "Mbps" and "mbps" are megabits; "MBPS" may be either.
    let rate = of(RATE_UNITS, word).or_else(|| of(RATE_UNITS, &word.replace("Bps", "B/s")));
    let bits = || {
        let known = |(name, _): &&(&str, f64)| name.to_lowercase() == lower && !name.contains('B');
        let found = RATE_UNITS.iter().find(known).map(|(_, scale)| *scale);
        found.filter(|_| !word.contains('B'))
    };
    if let Some(scale) = rate.or_else(bits) {
        return Some((Unit::Rate, scale));
    }
    let size = match lower.as_str() {
        "byte" | "bytes" => Some(1.0),
        _ => of(SIZE_UNITS, word),
    };
    size.map(|scale| (Unit::Size, scale))
}

/// Whether a word is written as a unit of a rate is.
fn is_like_a_rate_unit(word: &str) -> bool {
    let lower = word.to_lowercase();
    lower.ends_with("bps") || lower.ends_with("/s") || lower.ends_with("bit")
}

/// Names of units of time in headings, in lower case, by the unit.
const TIME_NAMES: &[(&[&str], &str)] = &[
    (&["s", "sec", "secs", "second", "seconds"], "s"),
    (&["ms", "msec", "msecs", "millis", "millisecond", "milliseconds"], "ms"),
    (
        &["us", "\u{b5}s", "\u{3bc}s", "usec", "usecs", "micros", "microsecond", "microseconds"],
        "us",
    ),
    (&["ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"], "ns"),
    (&["min", "minute", "minutes"], "min"),
    (&["h", "hour", "hours"], "h"),
];
