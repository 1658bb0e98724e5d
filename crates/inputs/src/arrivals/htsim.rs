//! Connection matrices of htsim (`.cm`).
//!
//! A head of `Nodes N` and `Connections M`, then a connection a line: `1->0 id 7 start 0 size
//! 2000000`. The start is in picoseconds, the size in bytes. A size of 0 has no end there. Words
//! after the connection come in any order.
//!
//! Source of the format: `ConnectionMatrix::load` in `sim/datacenter/connection_matrix.cpp` of
//! Broadcom/csg-htsim. It reads starts in picoseconds, though `ConnectionMatrix::save` writes them
//! in microseconds.

use std::collections::BTreeSet;

use ratewire_units::{Duration, Time};

use super::{FlowArrival, FlowList, arrival};
use crate::location::{Location, in_place_of_a_number, whole};
use crate::rows::{MAX_SECONDS, Row, rows};
use crate::{InputError, Note};

/// Whether a line that starts with this word is one of a connection matrix.
pub(super) fn begins(word: &str) -> bool {
    ["Nodes", "Connections", "Triggers", "Failures"].contains(&word) || ends(word).is_some()
}

/// The two hosts of `1->0`.
fn ends(word: &str) -> Option<(u64, u64)> {
    let (from, to) = word.split_once("->")?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

pub(super) fn parse(file: &str, text: &str, notes: &mut Vec<Note>) -> Result<FlowList, InputError> {
    let (mut hosts, mut connections) = (None, None);
    let (mut triggers, mut failures) = (0, 0);
    let mut found = Found::default();
    let mut flows = Vec::new();
    for row in rows(file, text) {
        match row.fields[0] {
            "Nodes" => hosts = Some(of_head(&row)?),
            "Connections" => connections = Some((row.line, of_head(&row)?)),
            "Triggers" | "Failures" => {
                of_head(&row)?;
            }
            "trigger" => triggers += 1,
            "failure" => failures += 1,
            word => {
                let ends = ends(word).ok_or_else(|| unknown(&row, word))?;
                flows.push(connection(&row, ends, &mut found)?);
            }
        }
    }
    if let Some((line, count)) = connections.filter(|(_, count)| *count != flows.len() as u64) {
        return Err(Location::line(file, line).error(
            format!("{count} connections, where the file has {}", flows.len()),
            "the number of lines such as \"1->0 start 0 size 1000\"",
            "correct the number, or see what the file lacks: htsim refuses it, too",
        ));
    }
    let whole_file = Location::whole(file);
    if triggers > 0 || found.has_done_triggers {
        notes.push(whole_file.note(
            "triggers are not used",
            "they start no flow of this file: every flow has a `start`",
        ));
    }
    if failures > 0 {
        notes.push(whole_file.note(
            format!("failures are not used: {failures}"),
            "say in a [[change]] of the scenario when which link fails",
        ));
    }
    if !found.unused.is_empty() {
        let unused: Vec<&str> = found.unused.into_iter().collect();
        notes.push(whole_file.note(
            format!("of the connections, {} not used", unused.join(" and ")),
            "flows are numbered by their starts and have the `class` of the traffic's `transport`",
        ));
    }
    let latest = flows.iter().map(|flow| flow.start).max().unwrap_or(Time::ZERO);
    let doubt = match latest.since(Time::ZERO) {
        _ if found.has_fractions => Some("some have fractions of one"),
        latest if !latest.is_zero() && latest < MICROSECOND => Some("all are below 1 us"),
        _ => None,
    };
    if let Some(doubt) = doubt {
        notes.push(whole_file.note(
            format!("starts are read in picoseconds, as htsim does, and {doubt}"),
            "if they are microseconds, as its own writer and forks of it leave them, multiply them \
             by 1e6",
        ));
    }
    Ok(FlowList { flows, are_numbered: true, hosts })
}

/// What was found in connections beside ends, start and size.
#[derive(Default)]
struct Found {
    unused: BTreeSet<&'static str>,
    has_done_triggers: bool,
    has_fractions: bool,
}

/// The number of a line of the head.
fn of_head(row: &Row<'_>) -> Result<u64, InputError> {
    let found = row.fields.get(1).copied().unwrap_or_default();
    whole(found).ok_or_else(|| {
        let allowed = format!("a whole number after {}", row.fields[0]);
        row.at.error(in_place_of_a_number(found), allowed, "correct the number")
    })
}

fn unknown(row: &Row<'_>, word: &str) -> InputError {
    let is_plain = word.len() <= 32 && word.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    let found = if is_plain { format!("the word {word:?}") } else { "another word".to_string() };
    row.at.error(
        found,
        "connections such as \"1->0 id 7 start 0 size 2000000\", with `prio` if need be",
        "leave the word out; or write the flows in Ratewire's own format, \
         \"start_seconds from to bytes\"",
    )
}

fn connection(
    row: &Row<'_>,
    (from, to): (u64, u64),
    found: &mut Found,
) -> Result<FlowArrival, InputError> {
    let (mut start, mut size) = (None, None);
    let mut words = row.fields[1..].iter().copied();
    while let Some(word) = words.next() {
        if word == "addon" || word == "trigger" {
            return Err(row.at.error(
                "a flow that a trigger starts",
                "flows with a start in picoseconds",
                "give it a `start`, or leave the flow out; flows of a file cannot wait for others",
            ));
        }
        if !["id", "prio", "start", "size", "send_done_trigger", "recv_done_trigger"]
            .contains(&word)
        {
            return Err(unknown(row, word));
        }
        let value = words.next().unwrap_or_default();
        let number = row.number(value, &format!("a number after {word}"), 9e18)?;
        match word {
            "id" => {
                found.unused.insert("id");
            }
            "prio" => {
                found.unused.insert("prio");
            }
            "start" => {
                found.has_fractions |= number.fract() != 0.0;
                start = Some(row.picoseconds(value, "start", PICOSECOND, MAX_SECONDS)?);
            }
            "size" if number == 0.0 => {
                return Err(row.at.error(
                    "a flow of size 0, which has no end in htsim",
                    "a size of at least 1 byte",
                    "give it a size, or write it as a [[flow]] of the scenario",
                ));
            }
            "size" => size = Some(row.bytes(value)?),
            _ => found.has_done_triggers = true,
        }
    }
    let missing = |what: &str| {
        row.at.error(
            format!("a connection without `{what}`"),
            "connections such as \"1->0 start 0 size 2000000\"",
            format!("add its {what}"),
        )
    };
    let start = start.ok_or_else(|| missing("start"))?;
    let size = size.ok_or_else(|| missing("size"))?;
    arrival(row, start, (&from.to_string(), &to.to_string()), size)
}

const MICROSECOND: Duration = Duration::from_micros(1);

/// In seconds.
const PICOSECOND: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn read(text: &str) -> (FlowList, Vec<String>) {
        let mut notes = Vec::new();
        let list = parse("f.cm", text, &mut notes).unwrap_or_else(|error| panic!("{error}"));
        (list, notes.iter().map(Note::to_string).collect())
    }

    fn refused(text: &str) -> String {
        parse("f.cm", text, &mut Vec::new()).unwrap_err().to_string()
    }

    const HEAD: &str = "Nodes 4\nConnections 1\n";

    #[test]
    fn starts_are_picoseconds_and_sizes_bytes() {
        let text = "# two\nNodes 4\nConnections 2\n1->0 start 2000000.0 size 500000\n\
                    2->0 size 5e5 start 0\n";
        let (list, notes) = read(text);
        assert!(list.are_numbered);
        assert_eq!((list.hosts, list.flows.len(), notes), (Some(4), 2, Vec::new()));
        let [first, second] = list.flows.as_slice() else { panic!("{list:?}") };
        assert_eq!((first.from.as_str(), first.to.as_str(), first.line), ("2", "0", 5));
        assert_eq!(second.start, Time::ZERO + Duration::from_micros(2));
        assert_eq!((first.size, second.size), (second.size, first.size));
        assert_eq!(first.size.get(), 500_000);
    }

    #[test]
    fn what_is_not_used_is_told() {
        let flow = "1->0 id 7 start 0.5 size 9 prio 1 send_done_trigger 2";
        let (list, notes) = read(&format!(
            "{HEAD}Triggers 1\nFailures 1\n{flow}\ntrigger id 2 oneshot\n\
             failure switch_type TOR switch_id 0 link_id 2\n"
        ));
        assert_eq!(list.flows.len(), 1);
        let all = notes.join("\n");
        for part in
            ["triggers are not used", "failures are not used: 1", "id and prio not used", "1e6"]
        {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    #[test]
    fn starts_that_may_be_microseconds_are_told() {
        let notes = |starts: [&str; 2]| {
            let [a, b] = starts;
            read(&format!("Nodes 4\n1->0 start {a} size 9\n2->0 start {b} size 9\n")).1
        };
        let told = notes(["0", "999999"]);
        assert!(told[0].contains("picoseconds, as htsim does, and all are below 1 us"), "{told:?}");
        assert!(told[0].contains("multiply them by 1e6"), "{told:?}");
        assert_eq!(notes(["0.5", "3"]).len(), 1, "one note of the unit");
        for starts in [["0", "0"], ["0", "1000000"], ["5", "2e9"]] {
            assert_eq!(notes(starts), [""; 0], "{starts:?}");
        }
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let wrong = |line: &str| refused(&format!("{HEAD}{line}\n"));
        let triggered = wrong("1->0 id 1 trigger 3 size 9");
        assert!(triggered.starts_with("f.cm:3: found a flow that a trigger starts"), "{triggered}");
        assert!(wrong("1->0 start 0 size 0").contains("has no end in htsim"));
        assert!(wrong("1->0 start 0").contains("without `size`"));
        assert!(wrong("1->0 size 1").contains("without `start`"));
        assert!(wrong("1->0 start 0 size").contains("found nothing"));
        assert!(wrong("1->0 start 0 size 1 type web").contains("the word \"type\""));
        assert!(wrong("1->1 start 0 size 1").contains("to itself"));
        assert!(wrong("connection 1").contains("the word \"connection\""));
        let count = refused("Nodes 4\nConnections 2\n1->0 start 0 size 1\n");
        assert!(count.starts_with("f.cm:2: found 2 connections, where the file has 1"), "{count}");
        assert!(refused("Nodes many\n").contains("a whole number after Nodes"));
    }
}
