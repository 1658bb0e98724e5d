//! Flows from a file: Ratewire's own format, HPCC's and htsim's.
//!
//! Ratewire's own format has one flow a line, four columns separated by blanks, tabs or commas:
//!
//! ```text
//! # a comment
//! start_seconds from to bytes
//! 0.0           s1   d1 1500000
//! 0.25          "New York" Vienna#2 20000
//! ```
//!
//! The heading may be left out, or name the columns in another order, such as
//! `src,dst,size,start_us`. Names are those of the scenario's nodes; one with blanks or commas
//! stands in double quotes. A `#` starts a comment at the start of a column only, since `Vienna#2`
//! is the name of the second node called Vienna. Lines need not be in order of time.
//!
//! A first line with a single number is that of HPCC's lists (`hpcc`); one that starts with
//! `Nodes`, `Connections` or `1->0` is that of htsim's connection matrices (`htsim`). Both number
//! their hosts.

mod hpcc;
mod htsim;

use ratewire_units::{Bytes, Duration, Time};

use crate::heading::{self, Heading, Unit, Wanted};
use crate::location::{Location, finite, quoted};
use crate::rows::{MAX_SECONDS, Row, rows};
use crate::{InputError, Note};

/// The columns of the own format.
const COLUMNS: [Wanted; 4] = [
    Wanted {
        what: "start_seconds",
        words: &["start", "arrival", "time", "timestamp"],
        others: &["end", "finish", "stop", "duration", "fct", "completion"],
        unit: Unit::Time,
        usual: "seconds",
    },
    Wanted {
        what: "from",
        words: &["from", "src", "source", "sender"],
        others: &["port"],
        unit: Unit::None,
        usual: "",
    },
    Wanted {
        what: "to",
        words: &["to", "dst", "dest", "destination", "receiver"],
        others: &["port"],
        unit: Unit::None,
        usual: "",
    },
    Wanted {
        what: "bytes",
        words: &["bytes", "size"],
        others: &["packet", "header"],
        unit: Unit::Size,
        usual: "bytes",
    },
];

/// One flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowArrival {
    /// When the flow starts.
    pub start: Time,
    /// The node that sends.
    pub from: String,
    /// The node that receives; never the same.
    pub to: String,
    /// Data that the flow sends; at least 1 byte.
    pub size: Bytes,
    /// The line it stands on, from 1, for errors about names that a scenario does not know.
    pub line: usize,
}

/// The flows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowList {
    /// Flows sorted by start; those that start together keep the file's order.
    pub flows: Vec<FlowArrival>,
    /// Whether `from` and `to` are numbers of hosts, counted from 0, in place of names.
    pub are_numbered: bool,
    /// How many hosts the file is for, if it says so.
    pub hosts: Option<u64>,
}

/// Reads flows.
///
/// # Errors
/// When there is no flow, a line has other columns than its format, a start is negative, not a
/// number or above 9e6 s, a size is not a whole number of at least 1, a flow goes from a node to
/// itself, or a flow needs what no file of flows can say here, such as a trigger.
pub fn parse(file: &str, text: &str, notes: &mut Vec<Note>) -> Result<FlowList, InputError> {
    let first = rows(file, text).next();
    let mut list = match first.as_ref().map(|row| row.fields.as_slice()) {
        Some([count]) if finite(count).is_some() => hpcc::parse(file, text, notes)?,
        Some([first, ..]) if htsim::begins(first) => htsim::parse(file, text, notes)?,
        _ => own(file, text, notes)?,
    };
    if list.flows.is_empty() {
        return Err(Location::whole(file).error(
            "no flows",
            "lines of four columns: start_seconds from to bytes",
            "write one line per flow, such as \"0 s1 d1 1000000\"",
        ));
    }
    list.flows.sort_by_key(|flow| flow.start);
    Ok(list)
}

fn own(file: &str, text: &str, notes: &mut Vec<Note>) -> Result<FlowList, InputError> {
    let mut all = rows(file, text).peekable();
    let heading = heading::of(file, text, &mut all, &COLUMNS, notes)?;
    let flows = all.map(|row| flow(&row, &heading)).collect::<Result<_, _>>()?;
    notes.extend(heading.unitless.into_iter().flatten());
    Ok(FlowList { flows, are_numbered: false, hosts: None })
}

fn flow(row: &Row<'_>, heading: &Heading<4>) -> Result<FlowArrival, InputError> {
    let remedy = "put names with blanks or commas in double quotes";
    let [start, from, to, bytes] = heading.fields(row, remedy)?;
    let [start_unit, _, _, byte_unit] = heading.columns.map(|column| column.scale);
    let start = row.picoseconds(start, "start", start_unit, MAX_SECONDS)?;
    let size = if byte_unit == 1.0 {
        row.bytes(bytes)?
    } else {
        let size = row.number(bytes, "size in the unit of the heading", MAX_SIZE / byte_unit)?;
        (size * byte_unit + 0.5) as u64
    };
    if size == 0 {
        return Err(row.at.error("a flow of 0 bytes", "sizes above 0", "delete the line"));
    }
    for name in [from, to] {
        if name.is_empty() {
            return Err(row.at.error("an empty name", "a node's name", "name the node"));
        }
    }
    arrival(row, start, (from, to), size)
}

/// Largest size in another unit than bytes.
const MAX_SIZE: f64 = 9e15;

/// A flow that starts after so many picoseconds.
fn arrival(
    row: &Row<'_>,
    start: u128,
    (from, to): (&str, &str),
    size: u64,
) -> Result<FlowArrival, InputError> {
    if from == to {
        return Err(row.at.error(
            format!("a flow from {} to itself", quoted(from)),
            "two different nodes",
            "name another node, or delete the line",
        ));
    }
    let start = Duration::from_ps(u64::try_from(start).unwrap_or(u64::MAX));
    Ok(FlowArrival {
        start: Time::ZERO + start,
        from: from.to_string(),
        to: to.to_string(),
        size: Bytes::new(size),
        line: row.line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse("f.txt", text, &mut Vec::new()).unwrap_err().to_string()
    }

    fn read(text: &str) -> Vec<FlowArrival> {
        parse("f.txt", text, &mut Vec::new()).unwrap_or_else(|error| panic!("{error}")).flows
    }

    #[test]
    fn reads_with_and_without_a_header() {
        let text = "# flows\nstart_seconds from to bytes\n0.5 a b 10\n0, c, \"New York\", 20\n";
        let flows = read(text);
        assert_eq!(flows.len(), 2);
        assert_eq!((flows[0].from.as_str(), flows[0].to.as_str()), ("c", "New York"));
        assert_eq!(flows[0].line, 4);
        assert_eq!(flows[1].start, Time::ZERO + Duration::from_millis(500));
        assert_eq!(read("1 a b 3")[0].size, Bytes::new(3));
    }

    #[test]
    fn numbers_may_be_written_as_floats() {
        let flows = read("0.0 a b 1000.0\n1e-3 a b 1e6\n");
        let sizes: Vec<u64> = flows.iter().map(|flow| flow.size.get()).collect();
        assert_eq!(sizes, [1_000, 1_000_000]);
        assert_eq!(flows[1].start, Time::ZERO + Duration::from_millis(1));
        assert!(refused("0 a b 1000.5\n").contains("whole number of bytes"));
        let nothing = "start_s from to size_KB\n0 a b 0\n";
        assert!(refused(nothing).starts_with("f.txt:2: found a flow of 0 bytes"));
    }

    #[test]
    fn a_heading_may_name_the_columns_in_any_order() {
        let text = "src,dst,flow size (KB),start_us,fct_us\ns1,d1,1.5,250,9\n";
        let mut notes = Vec::new();
        let list = parse("f.csv", text, &mut notes).unwrap();
        let FlowArrival { start, from, to, size, line } = &list.flows[0];
        assert_eq!((from.as_str(), to.as_str(), size.get(), *line), ("s1", "d1", 1500, 2));
        assert_eq!(*start, Time::ZERO + Duration::from_micros(250));
        assert_eq!(notes.len(), 1);
        assert!(notes[0].to_string().contains("the column \"fct_us\" is not used"));
        let mut none = Vec::new();
        parse("f", "start_seconds from to bytes\n0 a b 1\n", &mut none).unwrap();
        assert_eq!(none, []);
    }

    #[test]
    fn sorts_stably() {
        let flows = read("2 a b 1\n1 a b 2\n2 a b 3\n1 a b 4\n");
        let sizes: Vec<u64> = flows.iter().map(|flow| flow.size.get()).collect();
        assert_eq!(sizes, [2, 4, 1, 3]);
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(refused("").contains("f.txt: found no flows"));
        assert!(refused("start_seconds from to bytes\n").contains("no flows"));
        assert!(refused("0 a b 1\n0 New York c 1\n").starts_with("f.txt:2: found 5 columns"));
        assert!(refused("start from bytes\n").contains("f.txt:1: found a heading that names no"));
        assert!(refused("-1 a b 1\n").contains("\"-1\""));
        assert!(refused("0 a b 0\n").contains("at least 1"));
        assert!(refused("0 a b 1MB\n").contains("without a unit"));
        assert!(refused("0 a a 1\n").contains("to itself"));
        assert!(refused("0 \"\" a 1\n").contains("an empty name"));
    }
}
