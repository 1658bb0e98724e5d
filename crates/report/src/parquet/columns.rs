//! The columns of each table. What is not known, or without limit, is null.

use arrow_array::builder::{Float64Builder, StringDictionaryBuilder, UInt32Builder, UInt64Builder};
use ratewire_units::{Bytes, Duration, Throughput};

use super::{Cells, Column, Sample, When};
use crate::{
    ConnectionSample, FlowInfo, FlowSample, GroupSample, LinkSample, RunInfo, SenderSample,
};

impl When {
    /// What every table begins with.
    pub(super) fn columns() -> Vec<Column<When>> {
        vec![
            float("time_s", |when, _| when.at.secs()),
            float("interval_s", |when, _| when.interval.secs()),
            name("law", |_, info| &info.law),
            count("seed", |_, info| info.seed),
        ]
    }
}

/// A window without limit is null, and so are what only a program's own sockets know, a round-trip time before the first
/// measurement and a pace nobody asked for.
impl Sample for FlowSample {
    fn columns() -> Vec<Column<FlowSample>> {
        vec![
            small("flow", |s, _| s.flow),
            name("flow_name", |s, info| flow_name(info, s.flow)),
            name("flow_law", |s, info| flow(info, s.flow).map_or(&info.law, |flow| &flow.law)),
            float("goodput_bps", |s, _| s.goodput.bps()),
            count_or_null("cwnd_bytes", |s| limit(s.cwnd)),
            count_or_null("in_flight_bytes", |s| s.in_flight.map(Bytes::get)),
            count_or_null("receive_window_bytes", |s| limit(s.receive_window)),
            float_or_null("srtt_s", |s| (!s.srtt.is_zero()).then(|| s.srtt.secs())),
            float_or_null("pacing_bps", |s| s.pacing.map(Throughput::bps)),
            count("retransmitted_bytes", |s, _| s.retransmitted.get()),
        ]
    }
}

impl Sample for LinkSample {
    fn columns() -> Vec<Column<LinkSample>> {
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

impl Sample for GroupSample {
    fn columns() -> Vec<Column<GroupSample>> {
        vec![
            small("group", |s, _| s.group),
            name("group_name", |s, info| group_name(info, s.group)),
            float("sent_bps", |s, _| s.sent.bps()),
            count("sent_messages", |s, _| s.sent_messages),
            count("delivered_messages", |s, _| s.delivered_messages),
        ]
    }
}

/// A connection is a flow, and goes by that.
impl Sample for ConnectionSample {
    fn columns() -> Vec<Column<ConnectionSample>> {
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

/// Before it begins a sender has no money, which is null and not nothing.
impl Sample for SenderSample {
    fn columns() -> Vec<Column<SenderSample>> {
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

fn group_name(info: &RunInfo, index: u32) -> &str {
    let groups = info.overlay.as_ref().map_or(&[][..], |overlay| &overlay.groups);
    groups.get(index as usize).map_or("", String::as_str)
}

/// A sender's group and node.
fn sender(info: &RunInfo, sample: &SenderSample) -> Option<(u32, u32)> {
    info.overlay.as_ref()?.senders.get(sample.sender as usize).copied()
}

fn float<S>(name: &'static str, of: fn(&S, &RunInfo) -> f64) -> Column<S> {
    Column { name, cells: Cells::Float(Float64Builder::new(), of) }
}

fn float_or_null<S>(name: &'static str, of: fn(&S) -> Option<f64>) -> Column<S> {
    Column { name, cells: Cells::FloatOrNull(Float64Builder::new(), of) }
}

fn count<S>(name: &'static str, of: fn(&S, &RunInfo) -> u64) -> Column<S> {
    Column { name, cells: Cells::Count(UInt64Builder::new(), of) }
}

fn count_or_null<S>(name: &'static str, of: fn(&S) -> Option<u64>) -> Column<S> {
    Column { name, cells: Cells::CountOrNull(UInt64Builder::new(), of) }
}

fn small<S>(name: &'static str, of: fn(&S, &RunInfo) -> u32) -> Column<S> {
    Column { name, cells: Cells::Small(UInt32Builder::new(), of) }
}

fn name<S>(name: &'static str, of: for<'a> fn(&'a S, &'a RunInfo) -> &'a str) -> Column<S> {
    Column { name, cells: Cells::Name(StringDictionaryBuilder::new(), of) }
}
