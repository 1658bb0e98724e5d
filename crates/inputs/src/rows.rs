//! Tables in plain text: rows of fields, comments, numbers.

use ratewire_units::quantity::TIME_UNITS;

use crate::InputError;
use crate::location::{Location, finite, in_place_of_a_number, whole};

/// The latest time a file may hold, in seconds: half of what a `Duration` does, so that a step
/// after it still fits (104 days).
pub(crate) const MAX_SECONDS: f64 = 9e6;

const PS_PER_SECOND: f64 = 1e12;

/// The name of a unit of time of so many seconds.
fn unit_name(seconds: f64) -> &'static str {
    let is_it = |(_, size): &&(&str, f64)| *size == seconds;
    match TIME_UNITS.iter().find(is_it) {
        Some((name, _)) if *name != "s" => name,
        _ => "seconds",
    }
}

/// A line that holds fields.
pub(crate) struct Row<'a> {
    pub(crate) at: Location<'a>,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) text: &'a str,
    pub(crate) fields: Vec<&'a str>,
}

/// The rows of a table: fields separated by blanks, tabs or commas; a field in double quotes may
/// hold those. Two commas have an empty field between them. Empty lines are skipped, and everything
/// from a `#` that starts a field.
///
/// A `#` inside a field is kept: `Vienna#2` is a node's name.
pub(crate) fn rows<'a>(file: &'a str, text: &'a str) -> impl Iterator<Item = Row<'a>> {
    text.lines()
        .enumerate()
        .map(move |(i, line)| Row {
            at: Location::line(file, i + 1),
            line: i + 1,
            text: line,
            fields: fields(line),
        })
        .filter(|row| !row.fields.is_empty())
}

fn fields(line: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let (field, after) = field(rest, |c| c.is_whitespace() || c == ',');
        list.push(field);
        let after = after.trim_start();
        rest = after.strip_prefix(',').unwrap_or(after).trim_start();
    }
    list
}

/// The cells between separators, with a blank on either side taken off, up to a `#` that starts a
/// cell or follows a blank. Two separators have an empty cell between them.
pub(crate) fn cells(line: &str, separator: char) -> Vec<&str> {
    let mut list = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches(' ');
        let (cell, after) = field(rest, |c| c == separator);
        // What follows a closing quote is no part of a quoted cell.
        let is_quoted = after.trim().is_empty() || after.trim_start().starts_with(separator);
        let (cell, after) = if is_quoted {
            (cell, after)
        } else {
            rest.split_at(rest.find(separator).unwrap_or(rest.len()))
        };
        if cell.starts_with('#') {
            return list;
        }
        let end = cell.find(" #").unwrap_or(cell.len());
        list.push(cell[..end].trim());
        match after.trim_start_matches(' ').strip_prefix(separator) {
            Some(next) if end == cell.len() => rest = next,
            _ => return list,
        }
    }
}

/// The first field of `rest`, and what follows it. A quote that is never closed is kept as it
/// stands, for the error to show.
pub(crate) fn field(rest: &str, separates: impl Fn(char) -> bool) -> (&str, &str) {
    match rest.strip_prefix('"').and_then(|inner| inner.split_once('"')) {
        Some(parts) => parts,
        None => rest.split_at(rest.find(separates).unwrap_or(rest.len())),
    }
}

impl Row<'_> {
    /// A finite number within `0 ..= max`.
    pub(crate) fn number(&self, field: &str, what: &str, max: f64) -> Result<f64, InputError> {
        let number = finite(field).filter(|value| (0.0..=max).contains(value));
        number.ok_or_else(|| self.no_number(field, what, max))
    }

    fn no_number(&self, field: &str, what: &str, max: f64) -> InputError {
        let remedy = if field.contains([';', ',']) {
            "separate columns by commas, semicolons, blanks or tabs, and write decimals with a point"
        } else {
            "correct the number, or delete the line"
        };
        let allowed = format!("{what}: a number, 0 or more, at most {max:e}");
        self.at.error(in_place_of_a_number(field), allowed, remedy)
    }

    /// A time up to `max` seconds, written in units of `unit` seconds, in picoseconds.
    ///
    /// The two sides of a decimal point are read apart, because a float holds a Unix time to some
    /// hundred nanoseconds only.
    pub(crate) fn picoseconds(
        &self,
        field: &str,
        what: &str,
        unit: f64,
        max: f64,
    ) -> Result<u128, InputError> {
        let time = self.number(field, &format!("{what} in {}", unit_name(unit)), max / unit)?;
        let each = unit * PS_PER_SECOND;
        let digits = field.trim().trim_start_matches('+');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        Ok(match whole.parse::<u64>() {
            Ok(whole) if are_digits(fraction) => {
                let part: f64 = format!("0.{fraction}0").parse().unwrap_or(0.0);
                u128::from(whole) * each as u128 + (part * each + 0.5) as u128
            }
            _ => (time * each + 0.5) as u128,
        })
    }

    /// A whole number of bytes, at least 1, however it is written.
    pub(crate) fn bytes(&self, field: &str) -> Result<u64, InputError> {
        whole(field).filter(|size| *size > 0).ok_or_else(|| {
            self.at.error(
                in_place_of_a_number(field),
                "a whole number of bytes, at least 1",
                "write the size in bytes, without a unit",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_what_people_write() {
        assert_eq!(fields("1 2\t3"), ["1", "2", "3"]);
        assert_eq!(fields(" 1, 2 ,3,"), ["1", "2", "3"]);
        assert_eq!(fields("0 Vienna#2 b # note"), ["0", "Vienna#2", "b"]);
        assert_eq!(fields("0 \"Washington, DC\" b"), ["0", "Washington, DC", "b"]);
        assert_eq!(fields("\"open b"), ["\"open", "b"]);
        assert_eq!(fields("  # only a comment"), [""; 0]);
        assert_eq!(fields("0,3.5"), ["0", "3.5"]);
        assert_eq!(fields("1,,3"), ["1", "", "3"], "an empty cell does not shift the others");
        assert_eq!(fields(",1 , ,3"), ["", "1", "", "3"]);
    }

    #[test]
    fn cells_are_those_of_csv() {
        assert_eq!(cells("a, b c ,,\"d, e\",", ','), ["a", "b c", "", "d, e", ""]);
        assert_eq!(cells("1;2,5", ';'), ["1", "2,5"]);
        assert_eq!(cells("\"a\"b,c", ','), ["\"a\"b", "c"]);
        assert_eq!(cells("1,2 # note, more", ','), ["1", "2"]);
        assert_eq!(cells("1,#2", ','), ["1"]);
        assert_eq!(cells("a\tb", '\t'), ["a", "b"]);
    }

    #[test]
    fn times_are_exact_however_late() {
        let row = Row { at: Location::line("f", 1), line: 1, text: "", fields: Vec::new() };
        let ps = |field: &str, unit: f64| row.picoseconds(field, "time", unit, 1e11).unwrap();
        assert_eq!(ps("1669852800.1", 1.0), 1_669_852_800_100_000_000_000);
        assert_eq!(ps("1669852800100.25", 1e-3), 1_669_852_800_100_250_000_000);
        assert_eq!(ps("1e-3", 1.0), 1_000_000_000);
        assert_eq!(ps("+.5", 1.0), 500_000_000_000);
        assert_eq!(ps("3.", 1e-9), 3_000);
        let wrong = row.picoseconds("1e12", "time", 1e-3, 1e5).unwrap_err().to_string();
        assert!(wrong.contains("time in ms: a number, 0 or more, at most 1e8"), "{wrong}");
    }

    #[test]
    fn rows_keep_their_line_numbers() {
        let list: Vec<_> = rows("f", "# a\n\n1 2\r\n3 4\n").collect();
        assert_eq!(list.len(), 2);
        assert_eq!(list[0].at.error("", "", "").line, Some(3));
        assert_eq!(list[1].fields, ["3", "4"]);
    }
}
