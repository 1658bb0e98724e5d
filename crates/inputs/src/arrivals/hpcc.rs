//! Flow lists of the HPCC simulator and of those that grew from it.
//!
//! The first line is the number of flows. Each line after it is a flow: sender, receiver, priority
//! group, destination port, bytes, start in seconds. Some descendants leave out the port, or both.
//! Hosts have the numbers of the simulator's nodes, of which hosts are usually the first. The
//! simulator reads as many flows as the first line says, and nothing after them.
//!
//! Source of the format: `ReadFlowInput` in `simulation/scratch/third.cc` and
//! `traffic_gen/traffic_gen.py` of alibaba-edu/High-Precision-Congestion-Control; without a port:
//! `network-load-balance.cc` of conweave-project/conweave-ns3.

use std::collections::BTreeSet;

use super::{FlowArrival, FlowList, arrival};
use crate::location::{Location, in_place_of_a_number, whole};
use crate::rows::{MAX_SECONDS, Row, rows};
use crate::{InputError, Note};

const FORM: &str = "six columns: from to class port bytes start_seconds (or without port, or \
                    without class and port)";

pub(super) fn parse(file: &str, text: &str, notes: &mut Vec<Note>) -> Result<FlowList, InputError> {
    let mut all = rows(file, text);
    let Some(first) = all.next() else { return Ok(list(Vec::new())) };
    let count = first.fields.first().and_then(|field| whole(field)).ok_or_else(|| {
        first.at.error(
            in_place_of_a_number(first.fields.first().unwrap_or(&"")),
            "the number of flows, a whole number, in the first line of a flow list of HPCC's form",
            "write the number of the lines that follow",
        )
    })?;
    let mut flows = Vec::new();
    let mut classes = BTreeSet::new();
    let mut has_port = false;
    for row in all.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
        flows.push(flow(&row)?);
        if row.fields.len() > 4 {
            classes.insert(row.fields[2]);
        }
        has_port |= row.fields.len() > 5;
    }
    let whole_file = Location::whole(file);
    if (flows.len() as u64) < count {
        notes.push(whole_file.note(
            format!("the first line says {count} flows, and the file has {}", flows.len()),
            "all of them are used; correct the first line, or see what the file lacks",
        ));
    }
    if let Some(next) = all.next() {
        let more = 1 + all.count();
        notes.push(next.at.note(
            format!("lines after the {count} flows that the first line counts: {more}, not used"),
            "HPCC's simulator does not read them either; to use them, raise the number in the \
             first line",
        ));
    }
    if !classes.is_empty() {
        let names: Vec<&str> = classes.iter().copied().take(8).collect();
        let more = if classes.len() > names.len() { " ..." } else { "" };
        let port = if has_port { ", nor the destination port" } else { "" };
        notes.push(whole_file.note(
            format!("the priority group ({}{more}) is not used{port}", names.join(", ")),
            "all flows of a [[traffic]] have the `class` of its `transport`; for several classes, \
             split the file",
        ));
    }
    Ok(list(flows))
}

fn list(flows: Vec<FlowArrival>) -> FlowList {
    FlowList { flows, are_numbered: true, hosts: None }
}

fn flow(row: &Row<'_>) -> Result<FlowArrival, InputError> {
    let (from, to, bytes, start) = match row.fields.as_slice() {
        [from, to, bytes, start] => (*from, *to, *bytes, *start),
        [from, to, class, bytes, start] => {
            number(row, class, "a priority group")?;
            (*from, *to, *bytes, *start)
        }
        [from, to, class, port, bytes, start] => {
            number(row, class, "a priority group")?;
            number(row, port, "a destination port")?;
            (*from, *to, *bytes, *start)
        }
        other => {
            let s = if other.len() == 1 { "" } else { "s" };
            return Err(row.at.error(
                format!("{} column{s}", other.len()),
                FORM,
                "correct the line; or, if this is no flow list of HPCC's form, delete the first \
                 line, which has a single number",
            ));
        }
    };
    let from = number(row, from, "the number of a host")?;
    let to = number(row, to, "the number of a host")?;
    let start = row.picoseconds(start, "start", 1.0, MAX_SECONDS)?;
    arrival(row, start, (&from.to_string(), &to.to_string()), row.bytes(bytes)?)
}

fn number(row: &Row<'_>, field: &str, what: &str) -> Result<u64, InputError> {
    whole(field).ok_or_else(|| {
        let allowed = format!("{what}: a whole number, 0 or more");
        row.at.error(in_place_of_a_number(field), allowed, "correct the number, or delete the line")
    })
}

#[cfg(test)]
mod tests {
    use ratewire_units::{Duration, Time};

    use super::super::parse;
    use super::*;

    fn read(text: &str) -> (FlowList, Vec<String>) {
        let mut notes = Vec::new();
        let list = parse("f.txt", text, &mut notes).unwrap_or_else(|error| panic!("{error}"));
        (list, notes.iter().map(Note::to_string).collect())
    }

    fn refused(text: &str) -> String {
        parse("f.txt", text, &mut Vec::new()).unwrap_err().to_string()
    }

    #[test]
    fn reads_all_three_widths() {
        for (line, told) in [
            ("2 1 3 100 500000 2.000000001", Some("the priority group (3) is not used, nor the")),
            ("2 1 3 500000 2.000000001", Some("the priority group (3) is not used;")),
            ("2 1 500000.0 2.000000001", None),
        ] {
            let (list, notes) = read(&format!("1 \n{line}\n"));
            assert!(list.are_numbered && list.hosts.is_none());
            let [flow] = list.flows.as_slice() else { panic!("{list:?}") };
            assert_eq!((flow.from.as_str(), flow.to.as_str()), ("2", "1"));
            assert_eq!((flow.size.get(), flow.line), (500_000, 2));
            assert_eq!(flow.start, Time::ZERO + Duration::from_nanos(2_000_000_001));
            assert_eq!(notes.len(), usize::from(told.is_some()), "{notes:?}");
            assert!(told.is_none_or(|told| notes[0].contains(told)), "{notes:?}");
        }
    }

    #[test]
    fn as_many_flows_as_the_first_line_says() {
        let flows = "2 1 9 1\n3 1 9 1\n4 1 9 1\n";
        let (list, notes) = read(&format!("2\n{flows}\nFirst line: # of flows\nsrc0 dst0\n"));
        assert_eq!(list.flows.len(), 2);
        assert!(notes[0].starts_with("line 4: lines after the 2 flows"), "{notes:?}");
        assert!(notes[0].contains(": 3, not used"), "{notes:?}");
        let (list, notes) = read(&format!("4\n{flows}"));
        assert_eq!(list.flows.len(), 3);
        assert!(notes[0].contains("says 4 flows, and the file has 3"), "{notes:?}");
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(refused("1\n2 1 3\n").starts_with("f.txt:2: found 3 columns"));
        assert!(refused("1.5\n2 1 9 1\n").contains("the number of flows"));
        assert!(refused("1\ns1 d1 9 1\n").contains("the number of a host"));
        assert!(refused("1\n1 1 9 1\n").contains("to itself"));
        assert!(refused("1\n2 1 3 100 0 1\n").contains("at least 1"));
        assert!(refused("1\n2 1 high 100 9 1\n").contains("a priority group"));
        assert!(refused("0\n").contains("no flows"));
    }
}
