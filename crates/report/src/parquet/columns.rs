//! The columns of each table. Unknown values and missing limits are null.

use ratewire_units::{Bytes, Duration, Throughput};

use super::cells::{Cells, Counts, Floats, Smalls, Texts};
use super::fields::{Field, Kind};
use super::{Begins, Row, When};
use crate::{ConnectionRow, FlowInfo, FlowRow, GroupRow, LinkRow, RunInfo, SenderRow, Transfer};

/// A column: its name and type, its cells so far, and how to read a cell from a row.
pub struct Column<R> {
    pub(super) field: Field,
    cells: Filled<R>,
}

enum Filled<R> {
    Float(Floats, fn(&R, &RunInfo) -> f64),
    FloatOrNull(Floats, fn(&R) -> Option<f64>),
    Count(Counts, fn(&R, &RunInfo) -> u64),
    CountOrNull(Counts, fn(&R) -> Option<u64>),
    Small(Smalls, fn(&R, &RunInfo) -> u32),
    Name(Texts, for<'a> fn(&'a R, &'a RunInfo) -> &'a str),
    /// One text in every row.
    Constant(Texts, String),
}

impl<R> Column<R> {
    /// Adds the cell of a row.
    pub(super) fn add(&mut self, row: &R, info: &RunInfo) {
        match &mut self.cells {
            Filled::Float(cells, of) => cells.push(Some(of(row, info))),
            Filled::FloatOrNull(cells, of) => cells.push(of(row)),
            // Parquet keeps the bits of numbers without a sign in those of numbers with one.
            Filled::Count(cells, of) => cells.push(Some(of(row, info).cast_signed())),
            Filled::CountOrNull(cells, of) => cells.push(of(row).map(u64::cast_signed)),
            Filled::Small(cells, of) => cells.push(Some(of(row, info).cast_signed())),
            Filled::Name(cells, of) => cells.push(of(row, info)),
            Filled::Constant(cells, text) => cells.push(text),
        }
    }

    /// The cells, whatever their type.
    pub(super) fn cells(&mut self) -> &mut dyn Cells {
        match &mut self.cells {
            Filled::Float(cells, _) | Filled::FloatOrNull(cells, _) => cells,
            Filled::Count(cells, _) | Filled::CountOrNull(cells, _) => cells,
            Filled::Small(cells, _) => cells,
            Filled::Name(cells, _) | Filled::Constant(cells, _) => cells,
        }
    }
}

impl Begins for When {
    fn columns() -> Vec<Column<When>> {
        vec![
            float("time_s", |when, _| when.at.secs()),
            float("interval_s", |when, _| when.interval.secs()),
        ]
    }
}

impl Begins for () {
    fn columns() -> Vec<Column<()>> {
        Vec::new()
    }
}

/// The columns that distinguish the runs of a table.
pub(super) fn run<R>() -> [Column<R>; 3] {
    [
        name("world", |_, info| info.world.name()),
        name("law", |_, info| &info.law),
        count("seed", |_, info| info.seed),
    ]
}

/// A column for each value set in place of the scenario's own, called by its key.
///
/// Law and seed have columns already. Another key with the name of a column is called `set.KEY`.
pub(super) fn values<R>(values: &[(String, String)], own: &[String]) -> Vec<Column<R>> {
    let others = values.iter().filter(|(key, _)| !["law", "seed"].contains(&key.as_str()));
    let column = |(key, value): &(String, String)| {
        let name = if own.contains(key) { format!("set.{key}") } else { key.clone() };
        let cells = Filled::Constant(Texts::new(false), value.clone());
        Column { field: Field::new(name, Kind::Name), cells }
    };
    others.map(column).collect()
}

/// Null are: a window without limit, values that only a program's sockets know, a round-trip time
/// before the first measurement, a pace that the law does not ask for, and a rate at a link where
/// none is sampled.
impl Row for FlowRow {
    type Begins = When;

    fn columns() -> Vec<Column<FlowRow>> {
        vec![
            small("flow", |s, _| s.flow),
            name("flow_name", |s, info| flow_name(info, s.flow)),
            name("flow_law", |s, info| flow_law(info, s.flow)),
            float("goodput_bps", |s, _| s.goodput.bps()),
            count_or_null("cwnd_bytes", |s| limit(s.cwnd)),
            count_or_null("in_flight_bytes", |s| s.in_flight.map(Bytes::get)),
            count_or_null("receive_window_bytes", |s| limit(s.receive_window)),
            float_or_null("srtt_s", |s| (!s.srtt.is_zero()).then(|| s.srtt.secs())),
            float_or_null("pacing_bps", |s| s.pacing.map(Throughput::bps)),
            count("retransmitted_bytes", |s, _| s.retransmitted.get()),
            float_or_null("at_link_bps", |s| s.at_link.map(Throughput::bps)),
        ]
    }
}

impl Row for LinkRow {
    type Begins = When;

    fn columns() -> Vec<Column<LinkRow>> {
        vec![
            small("link", |s, _| s.link),
            name("link_name", |s, info| {
                info.topology.links.get(s.link as usize).map_or("", |link| &link.name)
            }),
            float("utilisation", |s, _| s.utilisation),
            float("throughput_bps", |s, _| s.throughput.bps()),
            float("queue_packets_mean", |s, _| s.queue_packets_mean),
            small("queue_packets_max", |s, _| s.queue_packets_max),
            float("queue_bytes_mean", |s, _| s.queue_bytes_mean),
            count("drops_packets", |s, _| s.drops),
            count("marks_packets", |s, _| s.marks),
            float("paused", |s, _| s.paused),
        ]
    }
}

impl Row for GroupRow {
    type Begins = When;

    fn columns() -> Vec<Column<GroupRow>> {
        vec![
            small("group", |s, _| s.group),
            name("group_name", |s, info| group_name(info, s.group)),
            float("sent_bps", |s, _| s.sent.bps()),
            count("sent_messages", |s, _| s.sent_messages),
            count("delivered_messages", |s, _| s.delivered_messages),
        ]
    }
}

/// A connection is named by its flow.
impl Row for ConnectionRow {
    type Begins = When;

    fn columns() -> Vec<Column<ConnectionRow>> {
        vec![
            small("flow", |s, _| s.flow),
            name("flow_name", |s, info| flow_name(info, s.flow)),
            float("price_dollars", |s, _| s.price),
            float("waiting_messages_mean", |s, _| s.waiting_mean),
            count("waiting_messages_max", |s, _| s.waiting_max),
            count("data_bytes", |s, _| s.data.get()),
            count("control_bytes", |s, _| s.control.get()),
        ]
    }
}

/// Before a sender begins, its money is null, not zero.
impl Row for SenderRow {
    type Begins = When;

    fn columns() -> Vec<Column<SenderRow>> {
        vec![
            small("sender", |s, _| s.sender),
            name("host_name", |s, info| {
                sender(info, s).map_or("", |(_, node)| info.node_name(node))
            }),
            name("group_name", |s, info| {
                sender(info, s).map_or("", |(group, _)| group_name(info, group))
            }),
            float("sent_bps", |s, _| s.sent.bps()),
            float_or_null("money_dollars", |s| s.money),
            float_or_null("period_s", |s| s.period.map(Duration::secs)),
            float("blocked_s", |s, _| s.blocked.secs()),
        ]
    }
}

/// A transfer that did not complete has no completion time and no slowdown. A transfer of arriving
/// traffic is named by its class: a name of its own would be as many names as rows.
impl Row for Transfer {
    type Begins = ();

    fn columns() -> Vec<Column<Transfer>> {
        vec![
            varied(small("flow", |t, _| t.flow)),
            name("flow_name", |t, info| match t.traffic {
                Some(class) => info.traffic.get(class as usize).map_or("", |class| &class.name),
                None => flow_name(info, t.flow),
            }),
            name("flow_law", |t, info| match t.traffic {
                Some(class) => {
                    info.traffic.get(class as usize).map_or(&info.law, |class| &class.law)
                }
                None => flow_law(info, t.flow),
            }),
            name("from_name", |t, info| info.node_name(t.from)),
            name("to_name", |t, info| info.node_name(t.to)),
            count("size_bytes", |t, _| t.size.get()),
            varied(float("start_s", |t, _| t.start.secs())),
            varied(float_or_null("completion_s", |t| t.took.map(Duration::secs))),
            float_or_null("ideal_s", |t| t.ideal.map(Duration::secs)),
            varied(float_or_null("slowdown", |t| Some(t.took?.secs() / t.ideal?.secs()))),
            count("retransmitted_bytes", |t, _| t.retransmitted.get()),
        ]
    }
}

fn limit(bytes: Bytes) -> Option<u64> {
    (bytes != Bytes::MAX).then(|| bytes.get())
}

fn flow(info: &RunInfo, index: u32) -> Option<&FlowInfo> {
    info.flows.get(index as usize)
}

fn flow_name(info: &RunInfo, index: u32) -> &str {
    flow(info, index).map_or("", |flow| &flow.name)
}

fn flow_law(info: &RunInfo, index: u32) -> &str {
    flow(info, index).map_or(&info.law, |flow| &flow.law)
}

fn group_name(info: &RunInfo, index: u32) -> &str {
    let groups = info.overlay.as_ref().map_or(&[][..], |overlay| &overlay.groups);
    groups.get(index as usize).map_or("", String::as_str)
}

/// A sender's group and node.
fn sender(info: &RunInfo, sample: &SenderRow) -> Option<(u32, u32)> {
    info.overlay.as_ref()?.senders.get(sample.sender as usize).copied()
}

/// A column whose values hardly repeat.
fn varied<R>(mut column: Column<R>) -> Column<R> {
    column.field.is_varied = true;
    column
}

fn float<R>(name: &'static str, of: fn(&R, &RunInfo) -> f64) -> Column<R> {
    let cells = Filled::Float(Floats::new(false), of);
    Column { field: Field::new(name, Kind::Float), cells }
}

fn float_or_null<R>(name: &'static str, of: fn(&R) -> Option<f64>) -> Column<R> {
    let cells = Filled::FloatOrNull(Floats::new(true), of);
    Column { field: Field::or_null(name, Kind::Float), cells }
}

fn count<R>(name: &'static str, of: fn(&R, &RunInfo) -> u64) -> Column<R> {
    let cells = Filled::Count(Counts::new(false), of);
    Column { field: Field::new(name, Kind::Count), cells }
}

fn count_or_null<R>(name: &'static str, of: fn(&R) -> Option<u64>) -> Column<R> {
    let cells = Filled::CountOrNull(Counts::new(true), of);
    Column { field: Field::or_null(name, Kind::Count), cells }
}

fn small<R>(name: &'static str, of: fn(&R, &RunInfo) -> u32) -> Column<R> {
    let cells = Filled::Small(Smalls::new(false), of);
    Column { field: Field::new(name, Kind::Small), cells }
}

fn name<R>(name: &'static str, of: for<'a> fn(&'a R, &'a RunInfo) -> &'a str) -> Column<R> {
    let cells = Filled::Name(Texts::new(false), of);
    Column { field: Field::new(name, Kind::Name), cells }
}
