//! Tables in plain text: rows of fields, comments, numbers.

use ratewire_units::Duration;

use crate::InputError;
use crate::location::{Location, finite, in_place_of_a_number};

/// The latest time a file may hold, in seconds: half of what [`Duration`] does, so that a step
/// after it still fits (104 days).
pub(crate) const MAX_SECONDS: f64 = 9e6;

/// A line that holds fields.
pub(crate) struct Row<'a> {
    pub(crate) at: Location<'a>,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) fields: Vec<&'a str>,
}

/// The rows of a table: fields separated by blanks, tabs or commas; a field in double quotes may
/// hold those. Empty lines are skipped, and everything from a `#` that starts a field.
///
/// A `#` inside a field is kept: `Vienna#2` is a node's name.
pub(crate) fn rows<'a>(file: &'a str, text: &'a str) -> impl Iterator<Item = Row<'a>> {
    text.lines()
        .enumerate()
        .map(move |(i, line)| Row {
            at: Location::line(file, i + 1),
            line: i + 1,
            fields: fields(line),
        })
        .filter(|row| !row.fields.is_empty())
}

fn fields(line: &str) -> Vec<&str> {
    let separates = |c: char| c.is_whitespace() || c == ',';
    let mut list = Vec::new();
    let mut rest = line.trim_start_matches(separates);
    while !rest.is_empty() && !rest.starts_with('#') {
        // A quote that is never closed is kept as it stands, for the error to show.
        let quote = rest.strip_prefix('"').and_then(|inner| inner.split_once('"'));
        let (field, after) = match quote {
            Some(parts) => parts,
            None => rest.split_at(rest.find(separates).unwrap_or(rest.len())),
        };
        list.push(field);
        rest = after.trim_start_matches(separates);
    }
    list
}

impl<'a> Row<'a> {
    /// The fields, which must be exactly `N`.
    pub(crate) fn exactly<const N: usize>(
        &self,
        columns: &str,
        remedy: &str,
    ) -> Result<[&'a str; N], InputError> {
        <[&str; N]>::try_from(self.fields.as_slice()).map_err(|_| {
            let count = self.fields.len();
            let plural = if count == 1 { "" } else { "s" };
            self.at.error(
                format!("{count} column{plural}"),
                format!("{N} columns: {columns}"),
                remedy,
            )
        })
    }

    /// A finite number within `0 ..= max`.
    pub(crate) fn number(&self, field: &str, what: &str, max: f64) -> Result<f64, InputError> {
        finite(field).filter(|value| (0.0..=max).contains(value)).ok_or_else(|| {
            self.at.error(
                in_place_of_a_number(field),
                format!("{what}: a number, 0 or more, at most {max:e}"),
                "correct the number, or delete the line",
            )
        })
    }

    /// A time in seconds.
    pub(crate) fn seconds(&self, field: &str, what: &str) -> Result<Duration, InputError> {
        let seconds = self.number(field, &format!("{what} in seconds"), MAX_SECONDS)?;
        Ok(Duration::from_secs_f64(seconds))
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
    }

    #[test]
    fn rows_keep_their_line_numbers() {
        let list: Vec<_> = rows("f", "# a\n\n1 2\r\n3 4\n").collect();
        assert_eq!(list.len(), 2);
        assert_eq!(list[0].at.error("", "", "").line, Some(3));
        assert_eq!(list[1].fields, ["3", "4"]);
    }
}
