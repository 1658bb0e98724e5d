//! Values over time in two columns, as traces of links have them.

use ratewire_units::Duration;

use crate::calendar;
use crate::heading::{self, Heading, Unit, Wanted};
use crate::location::{Location, finite, in_place_of_a_number};
use crate::rows::{MAX_SECONDS, Row, rows};
use crate::vocabulary::BITS_FROM;
use crate::{InputError, Note};

/// The latest time before the shift, in seconds: Unix time of the year 5138. Unix time in
/// milliseconds is later.
const MAX_UNIX_SECONDS: f64 = 1e11;

/// The column of times.
pub(crate) const TIME: Wanted = Wanted {
    what: "the time",
    words: &["time", "t", "timestamp", "timestamps", "ts", "epoch", "unix", "elapsed"],
    others: &["rtt", "trip", "delay", "latency", "loss"],
    unit: Unit::Time,
    usual: "seconds",
};

/// What a trace holds beside its times.
pub(crate) struct Values<T> {
    /// [`TIME`], and the column of the values.
    pub columns: [Wanted; 2],
    /// A file that means a steady value.
    pub example: &'static str,
    /// Remedy for a row without a heading that has other than two columns.
    pub remedy: fn(&Row<'_>) -> &'static str,
    /// The value in a field, in a unit of so many bits per second, seconds or bytes.
    pub value: fn(&Row<'_>, &str, f64) -> Result<T, InputError>,
}

/// Reads the steps of a trace, shifted to start at 0; returns them with the time after which the
/// trace starts again.
///
/// # Errors
/// When there is no row, a row has other columns than the heading, or than two without one, a
/// time is not later than the one before it, negative, not a number or more than 9e6 s after the
/// first, or a value is refused.
pub(crate) fn read<T>(
    file: &str,
    text: &str,
    values: &Values<T>,
    notes: &mut Vec<Note>,
) -> Result<(Vec<(Duration, T)>, Duration), InputError> {
    let mut all = rows(file, text).peekable();
    let mut heading = heading::of(file, text, &mut all, &values.columns, notes)?;
    if values.columns[1].unit == Unit::Rate && are_bits(file, text, &heading) {
        heading.assume_bits(1, Location::whole(file));
    }
    let mut first = None;
    let mut zone = None;
    let mut steps: Vec<(Duration, T)> = Vec::new();
    for row in all {
        let [time, value] = heading.fields(&row, (values.remedy)(&row))?;
        let ps = match calendar::read(time) {
            Some((ps, of_row)) if *zone.get_or_insert(of_row) == of_row => ps,
            Some(_) => {
                return Err(row.at.error(
                    "a time in another time zone than that of the first row",
                    "times of one zone",
                    "write all times in one zone, or as Unix time",
                ));
            }
            None => time_of(&row, time, &heading)?,
        };
        let first = *first.get_or_insert(ps);
        let start = ps.checked_sub(first);
        let start = start.map(|ps| Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX)));
        let before = steps.last().map(|step| step.0);
        let Some(start) = start.filter(|start| before.is_none_or(|before| *start > before)) else {
            let seconds = |ps: u128| ps as f64 / 1e12;
            let before = first + u128::from(before.unwrap_or_default().ps());
            return Err(row.at.error(
                match zone {
                    Some(_) => "a time that is not after that of the row before".to_string(),
                    None => format!("{} s after {} s", seconds(ps), seconds(before)),
                },
                "times that increase from row to row",
                "sort the rows by time, and keep one of those with the same time",
            ));
        };
        if start.secs() > MAX_SECONDS {
            // What the file says may be more than a `Duration` holds.
            return Err(row.at.error(
                format!("{} s after the first row", (ps - first) as f64 / 1e12),
                format!("traces of up to {MAX_SECONDS:e} s"),
                "cut the trace, or name the unit of its times in a heading such as \"time_ms\"",
            ));
        }
        steps.push((start, (values.value)(&row, value, heading.columns[1].scale)?));
    }
    if steps.is_empty() {
        return Err(Location::whole(file).error(
            "no rows",
            format!("rows of two columns: {}", heading.names()),
            values.example,
        ));
    }
    let [time, value] = heading.unitless;
    // Dates need no unit.
    notes.extend(time.filter(|_| zone.is_none()).into_iter().chain(value));
    let period = steps[steps.len() - 1].0 + last_step(&steps);
    Ok((steps, period))
}

/// Whether rates without a unit are in bit/s, by the rule that holds for graph files too.
fn are_bits(file: &str, text: &str, heading: &Heading<2>) -> bool {
    let column = heading.columns[1];
    let rate = |row: Row<'_>| finite(heading.fields(&row, "").ok()?[1]);
    let slowest = rows(file, text).filter_map(rate).filter(|rate| *rate > 0.0).reduce(f64::min);
    let in_usual = |rate: f64| rate * column.scale >= BITS_FROM.bps() as f64;
    !column.is_unit_named && slowest.is_some_and(in_usual)
}

/// The time in a field, in picoseconds, before the shift.
fn time_of(row: &Row<'_>, field: &str, heading: &Heading<2>) -> Result<u128, InputError> {
    let column = heading.columns[0];
    let wrong = row.picoseconds(field, "time", column.scale, MAX_UNIX_SECONDS);
    // Without a unit, this is Unix time in milliseconds or less.
    let is_later = || finite(field).is_some_and(|time| time > MAX_UNIX_SECONDS);
    wrong.map_err(|error| {
        if column.is_unit_named || !is_later() {
            return error;
        }
        row.at.error(
            in_place_of_a_number(field),
            "times in seconds, as Unix time or from any other start",
            "if it is Unix time in milliseconds, name the columns and units in a first line, such as \
             \"time_ms throughput_mbps\"",
        )
    })
}

/// The median of the steps' lengths, which the file gives for all but the last.
fn last_step<T>(steps: &[(Duration, T)]) -> Duration {
    let mut lengths: Vec<u64> =
        steps.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0).ps()).collect();
    lengths.sort_unstable();
    let middle = lengths.len() / 2;
    match lengths.len() {
        0 => Duration::from_secs(1),
        n if n % 2 == 1 => Duration::from_ps(lengths[middle]),
        _ => Duration::from_ps(lengths[middle - 1].midpoint(lengths[middle])),
    }
}
