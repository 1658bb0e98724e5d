//! Headings of tables: which column holds what, and in which unit.
//!
//! A heading is a first row without any number. The last comment above the first row counts as one
//! if it names all columns that the reader looks for.

mod cell;

use std::iter::Peekable;

use cell::{Cell, cells};

use crate::location::{Location, finite, quoted};
use crate::rows::{self, Row};
use crate::{InputError, Note};

/// The word of quantities that a round trip is not.
pub(crate) const ONE_WAY: &str = "oneway";

/// A quantity that a reader looks for in a table.
pub(crate) struct Wanted {
    /// Its name in messages.
    pub what: &'static str,
    /// Words that name it, in lower case.
    pub words: &'static [&'static str],
    /// Words with which the name is that of something else.
    pub others: &'static [&'static str],
    pub unit: Unit,
    /// The unit where the heading names none; empty for [`Unit::None`].
    pub usual: &'static str,
}

/// What a quantity is counted in.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    /// A time.
    Time,
    /// A rate.
    Rate,
    /// An amount of data.
    Size,
    /// Nothing, or a name.
    None,
}

/// Where a quantity is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Column {
    /// Number of the column, from 0.
    pub at: usize,
    /// Seconds, bits per second or bytes of a unit.
    pub scale: f64,
    /// Whether the heading names the unit.
    pub is_unit_named: bool,
}

/// Which columns hold the quantities that a reader looks for, in its order.
#[derive(Debug)]
pub(crate) struct Heading<const N: usize> {
    pub columns: [Column; N],
    /// Number of all columns.
    count: usize,
    /// What stands between columns; `None` for blanks, tabs or commas.
    separator: Option<char>,
    /// Of columns whose heading names no unit: the unit that is taken for granted.
    pub unitless: [Option<Note>; N],
    /// The columns, for messages.
    names: String,
    /// Whether the file has the heading.
    is_given: bool,
}

impl<const N: usize> Heading<N> {
    /// The columns, for messages.
    pub fn names(&self) -> &str {
        &self.names
    }

    /// The fields of a row that the reader looks for. `remedy` is that of a file without a heading.
    pub fn fields<'a>(&self, row: &Row<'a>, remedy: &str) -> Result<[&'a str; N], InputError> {
        let mut fields = match self.separator {
            Some(separator) => rows::cells(row.text, separator),
            None => row.fields.clone(),
        };
        // Some programs write a separator after the last column too.
        if fields.len() == self.count + 1 && fields.last() == Some(&"") {
            fields.pop();
        }
        let count = fields.len();
        if count == self.count {
            return Ok(self.columns.map(|column| fields[column.at]));
        }
        let s = if count == 1 { "" } else { "s" };
        let given = "give each row as many columns as the heading; a field with blanks or commas \
                     stands in double quotes";
        Err(row.at.error(
            format!("{count} column{s}"),
            format!("{} columns: {}", self.count, self.names),
            if self.is_given { given } else { remedy },
        ))
    }
}

impl<const N: usize> Heading<N> {
    /// The heading of a table that begins with this row, where a blank may be part of a field.
    fn separated_as(mut self, first: &Row<'_>) -> Heading<N> {
        if first.fields.len() != N {
            let fits = |separator: &char| rows::cells(first.text, *separator).len() == N;
            self.separator = [',', ';', '\t'].into_iter().find(fits);
        }
        self
    }
}

impl<const N: usize> Heading<N> {
    /// Takes the numbers of a column that names no unit for bit/s.
    pub fn assume_bits(&mut self, column: usize, at: Location<'_>) {
        self.columns[column].scale = 1.0;
        self.unitless[column] = Some(at.note(
            "the rates have no unit and are read in bit/s: in Mbit/s even the slowest would be a \
             Tbit/s or more",
            "name the unit in a first line, such as \"time_s,throughput_bps\"",
        ));
    }
}

impl Wanted {
    /// Seconds, bits per second or bytes of the usual unit.
    fn scale(&self) -> f64 {
        cell::unit(self.usual).map_or(1.0, |(_, scale)| scale)
    }
}

/// The columns of a table without a heading.
fn usual<const N: usize>(wanted: &[Wanted; N]) -> Heading<N> {
    let column = |at: usize| Column { at, scale: wanted[at].scale(), is_unit_named: false };
    let name = |one: &Wanted| match one.unit {
        Unit::None => one.what.to_string(),
        _ => format!("{} in {}", one.what, one.usual),
    };
    let names = wanted.iter().map(name).collect::<Vec<_>>().join(", ");
    let columns = std::array::from_fn(column);
    let unitless = std::array::from_fn(|_| None);
    Heading { columns, count: N, separator: None, unitless, names, is_given: false }
}

/// The heading of a table, or its usual columns; takes the row of a heading off `rows`.
pub(crate) fn of<'a, const N: usize>(
    file: &'a str,
    text: &'a str,
    rows: &mut Peekable<impl Iterator<Item = Row<'a>>>,
    wanted: &[Wanted; N],
    notes: &mut Vec<Note>,
) -> Result<Heading<N>, InputError> {
    let Some(first) = rows.peek() else { return Ok(usual(wanted)) };
    if !is_heading(first) {
        let heading = in_comment(file, text, first, wanted, notes);
        return Ok(heading.unwrap_or_else(|| usual(wanted).separated_as(first)));
    }
    let heading = read(first.at, first.text, wanted, notes)?;
    rows.next();
    Ok(heading)
}

/// Whether a row names columns: none of its fields is a number, and one starts with a letter.
fn is_heading(row: &Row<'_>) -> bool {
    let has_letter = |field: &&str| field.starts_with(|c: char| c.is_alphabetic());
    row.fields.iter().all(|field| finite(field).is_none()) && row.fields.iter().any(has_letter)
}

/// Reads the heading on this line of the file.
///
/// # Errors
/// When no column, or more than one, holds a quantity, or a unit is unknown.
fn read<const N: usize>(
    at: Location<'_>,
    line: &str,
    wanted: &[Wanted; N],
    notes: &mut Vec<Note>,
) -> Result<Heading<N>, InputError> {
    let (names, separator) = cells(line);
    let cells: Vec<Cell<'_>> = names.iter().map(|name| Cell::read(name)).collect();
    let mut found = Vec::new();
    for one in wanted {
        found.push(column(at, &cells, one)?);
    }
    let unused = (0..cells.len()).filter(|i| found.iter().all(|column| column.at != *i));
    let unused: Vec<&str> = unused.map(|i| cells[i].name).filter(|name| !name.is_empty()).collect();
    if !unused.is_empty() {
        let what: Vec<&str> = wanted.iter().map(|one| one.what).collect();
        let is = if unused.len() == 1 { "is" } else { "are" };
        notes.push(at.note(
            format!("{} {is} not used", columns(&unused)),
            format!("used columns: {}", what.join(", ")),
        ));
    }
    let unitless = std::array::from_fn(|i| {
        let (column, Wanted { unit, usual, .. }) = (found[i], &wanted[i]);
        if *unit == Unit::None || column.is_unit_named {
            return None;
        }
        let name = cells[column.at].name;
        Some(at.note(
            format!("{} names no unit: read as {usual}", columns(&[name])),
            format!("write the unit into the heading, such as \"{name} ({usual})\""),
        ))
    });
    Ok(Heading {
        columns: std::array::from_fn(|i| found[i]),
        count: cells.len(),
        separator,
        unitless,
        names: names.join(", "),
        is_given: true,
    })
}

/// The heading in the last comment above the first row, if there is one with so many columns.
fn in_comment<const N: usize>(
    file: &str,
    text: &str,
    first: &Row<'_>,
    wanted: &[Wanted; N],
    notes: &mut Vec<Note>,
) -> Option<Heading<N>> {
    let number = first.line.checked_sub(1).filter(|number| *number > 0)?;
    let line = text.lines().nth(number - 1)?.trim_start().strip_prefix('#')?;
    let line = line.trim_start_matches('#').trim();
    let mut found = Vec::new();
    let heading = read(Location::line(file, number), line, wanted, &mut found).ok()?;
    heading.fields(first, "").ok()?;
    notes.append(&mut found);
    Some(heading)
}

/// `names` in quotes, after the word for one or for several of them.
fn columns(names: &[&str]) -> String {
    let list: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let s = if names.len() == 1 { "" } else { "s" };
    format!("the column{s} {}", list.join(", "))
}

/// The column that holds this quantity.
fn column(at: Location<'_>, cells: &[Cell<'_>], wanted: &Wanted) -> Result<Column, InputError> {
    let mut these = (0..cells.len()).filter(|i| cells[*i].is(wanted));
    let example = wanted.words[0];
    let Some(first) = these.next() else {
        let of_round_trips = || cells.iter().find(|cell| cell.has(&["rtt", "trip"]));
        if wanted.words.contains(&ONE_WAY)
            && let Some(cell) = of_round_trips()
        {
            return Err(at.error(
                format!("{} of round trips, and none for {}", columns(&[cell.name]), wanted.what),
                "delays of one way",
                format!(
                    "halve the numbers if both ways are alike, and call the column {example:?}"
                ),
            ));
        }
        return Err(at.error(
            format!("a heading that names no column for {}", wanted.what),
            format!("one with a name such as \"{example}\""),
            "name the columns so, or delete the heading",
        ));
    };
    if let Some(second) = these.next() {
        let both = columns(&[cells[first].name, cells[second].name]);
        return Err(at.error(
            format!("{both}, which may both be {}", wanted.what),
            format!("one column for {}", wanted.what),
            "delete the other one, or give its heading a name without such a word",
        ));
    }
    let cell = &cells[first];
    let scale = match cell.unit {
        Some((unit, scale)) if unit == wanted.unit => Some(scale),
        _ => None,
    };
    if wanted.unit == Unit::Rate
        && scale.is_none()
        && let Some(strange) = &cell.strange
    {
        return Err(at.error(
            format!("{} in the unit {}", columns(&[cell.name]), quoted(strange)),
            "a unit such as kbit/s, Mbit/s, Mbps, or MB/s for bytes",
            "write the unit with a small b for bits, and a large B for bytes; convert rates in \
             others",
        ));
    }
    let usual = wanted.scale();
    Ok(Column { at: first, scale: scale.unwrap_or(usual), is_unit_named: scale.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: [Wanted; 2] = [
        Wanted {
            what: "the time",
            words: &["time", "t", "timestamp", "elapsed", "epoch"],
            others: &["rtt"],
            unit: Unit::Time,
            usual: "seconds",
        },
        Wanted {
            what: "the rate",
            words: &["throughput", "bandwidth", "bw", "rate", "bitrate", "capacity"],
            others: &["loss"],
            unit: Unit::Rate,
            usual: "Mbit/s",
        },
    ];

    fn of(line: &str) -> Result<(Heading<2>, Vec<String>), String> {
        let mut notes = Vec::new();
        let heading = read(Location::line("f", 1), line, &WANTED, &mut notes);
        let heading = heading.map_err(|error| error.to_string())?;
        let told = notes.iter().chain(heading.unitless.iter().flatten());
        let told = told.map(Note::to_string).collect();
        Ok((heading, told))
    }

    /// Column and unit of the time, then of the rate.
    fn read_as(line: &str) -> ((usize, f64), (usize, f64)) {
        let ([time, rate], _) = of(line).map(|(heading, told)| (heading.columns, told)).unwrap();
        ((time.at, time.scale), (rate.at, rate.scale))
    }

    #[test]
    fn names_and_units_are_read_as_people_write_them() {
        for line in [
            "time_s,throughput_mbps",
            "seconds Mbit/s",
            "time (s) throughput (Mbit/s)",
            "Time [s]\tBandwidth [Mbps]",
            "\"time (s)\", \"throughput (Mbit/s)\"",
            "timestampSec,bandwidthMbps",
            "t_sec,bw_mbit_per_s",
            "elapsed seconds,Mbit per second",
        ] {
            assert_eq!(read_as(line), ((0, 1.0), (1, 1e6)), "{line}");
            assert_eq!(of(line).unwrap().1, [""; 0], "{line}");
        }
        assert_eq!(read_as("kbps,ms"), ((1, 1e-3), (0, 1e3)));
        assert_eq!(read_as("Timestamp_us,rate (MB/s)"), ((0, 1e-6), (1, 8e6)));
        assert_eq!(read_as("time_ms,capacity_MBps"), ((0, 1e-3), (1, 8e6)));
        assert_eq!(read_as("epoch_ns;x,bitrate_bps".replace(';', ",").as_str()).0, (0, 1e-9));
    }

    #[test]
    fn what_is_not_said_is_told() {
        let (heading, told) = of("time,throughput").unwrap();
        assert_eq!((heading.columns[0].scale, heading.columns[1].scale), (1.0, 1e6));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[1].starts_with("line 1: the column \"throughput\" names no unit"), "{told:?}");
        let (heading, told) = of("time_s,rtt_ms,rate_kbps,loss_rate").unwrap();
        assert_eq!((heading.count, heading.columns[1].at), (4, 2));
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("the columns \"rtt_ms\", \"loss_rate\" are not used"), "{told:?}");
    }

    #[test]
    fn a_heading_that_is_not_clear_is_refused() {
        let refused = |line: &str| of(line).unwrap_err();
        assert!(refused("a,b").contains("names no column for the time"));
        assert!(refused("time_s,rsrp").contains("names no column for the rate"));
        let both = refused("time_s,DL_bitrate,UL_bitrate");
        assert!(
            both.contains("\"DL_bitrate\", \"UL_bitrate\", which may both be the rate"),
            "{both}"
        );
        assert!(refused("time_s,rate_MBPS").contains("in the unit \"MBPS\""));
        assert!(refused("time_s,rate KB/S").contains("in the unit \"KB/S\""));
        for line in ["time_s,bandwidth[flits/cycle]", "time_s bandwidth (flits/cycle)"] {
            assert!(refused(line).contains("in the unit \"flits/cycle\""), "{line}");
        }
        assert!(refused("time_s,rate [packets]").contains("in the unit \"packets\""));
        assert_eq!(of("time_s,rate (DL)").unwrap().1.len(), 1, "no unit");
    }
}
