//! Flows from a file: Ratewire's own format.
//!
//! One flow per line, four columns separated by blanks, tabs or commas:
//!
//! ```text
//! # a comment
//! start_seconds from to bytes
//! 0.0           s1   d1 1500000
//! 0.25          "New York" Vienna#2 20000
//! ```
//!
//! The header line may be left out. Names are those of the scenario's nodes; one with blanks or
//! commas stands in double quotes. A `#` starts a comment at the start of a column only, since
//! `Vienna#2` is the name of the second node called Vienna. Lines need not be in order of time.

use ratewire_units::{Bytes, Duration, Time};

use crate::InputError;
use crate::location::{Location, in_place_of_a_number, quoted};
use crate::rows::{Row, rows};

/// The header line, word by word.
const HEADER: [&str; 4] = ["start_seconds", "from", "to", "bytes"];

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

/// Reads flows, sorted by start; those that start together keep the file's order.
///
/// # Errors
/// When there is no flow, a line has not four columns, a start is negative, not a number or above
/// 9e6 s, a size is not a whole number of at least 1, or a flow goes from a node to itself.
pub fn parse(file: &str, text: &str) -> Result<Vec<FlowArrival>, InputError> {
    let mut flows = Vec::new();
    for (i, row) in rows(file, text).enumerate() {
        if i == 0 && row.fields == HEADER {
            continue;
        }
        flows.push(flow(&row)?);
    }
    if flows.is_empty() {
        return Err(Location::whole(file).error(
            "no flows",
            "lines of four columns: start_seconds from to bytes",
            "write one line per flow, such as \"0 s1 d1 1000000\"",
        ));
    }
    flows.sort_by_key(|flow| flow.start);
    Ok(flows)
}

fn flow(row: &Row<'_>) -> Result<FlowArrival, InputError> {
    let remedy = "put names with blanks or commas in double quotes";
    let [start, from, to, bytes] = row.exactly(&HEADER.join(" "), remedy)?;
    let start = row.seconds(start, "start")?;
    let size: u64 = bytes.parse().ok().filter(|size| *size > 0).ok_or_else(|| {
        row.at.error(
            in_place_of_a_number(bytes),
            "a whole number of bytes, at least 1",
            "write the size in bytes, without a unit",
        )
    })?;
    for name in [from, to] {
        if name.is_empty() {
            return Err(row.at.error("an empty name", "a node's name", "name the node"));
        }
    }
    if from == to {
        return Err(row.at.error(
            format!("a flow from {} to itself", quoted(from)),
            "two different nodes",
            "name another node, or delete the line",
        ));
    }
    Ok(FlowArrival {
        start: Time::ZERO + Duration::from_ps(start.ps()),
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
        parse("f.txt", text).unwrap_err().to_string()
    }

    #[test]
    fn reads_with_and_without_a_header() {
        let text = "# flows\nstart_seconds from to bytes\n0.5 a b 10\n0, c, \"New York\", 20\n";
        let flows = parse("f", text).unwrap();
        assert_eq!(flows.len(), 2);
        assert_eq!((flows[0].from.as_str(), flows[0].to.as_str()), ("c", "New York"));
        assert_eq!(flows[0].line, 4);
        assert_eq!(flows[1].start, Time::ZERO + Duration::from_millis(500));
        assert_eq!(parse("f", "1 a b 3").unwrap()[0].size, Bytes::new(3));
    }

    #[test]
    fn sorts_stably() {
        let flows = parse("f", "2 a b 1\n1 a b 2\n2 a b 3\n1 a b 4\n").unwrap();
        let sizes: Vec<u64> = flows.iter().map(|flow| flow.size.get()).collect();
        assert_eq!(sizes, [2, 4, 1, 3]);
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(refused("").contains("f.txt: found no flows"));
        assert!(refused("start_seconds from to bytes\n").contains("no flows"));
        assert!(refused("0 a b 1\n0 New York c 1\n").starts_with("f.txt:2: found 5 columns"));
        assert!(refused("start from to bytes\n").contains("f.txt:1: found text that is no number"));
        assert!(refused("-1 a b 1\n").contains("\"-1\""));
        assert!(refused("0 a b 0\n").contains("at least 1"));
        assert!(refused("0 a b 1MB\n").contains("without a unit"));
        assert!(refused("0 a a 1\n").contains("to itself"));
        assert!(refused("0 \"\" a 1\n").contains("an empty name"));
    }
}
