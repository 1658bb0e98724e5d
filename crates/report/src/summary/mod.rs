//! The exact figures of a run, as written to `summary.json`. Field names carry their units.

use std::collections::BTreeMap;

use ratewire_units::Duration;
use serde::{Deserialize, Serialize};

use crate::figure::{bytes, measured, plural};
use crate::{FidelitySummary, QueueLimit, RunInfo, World};

mod delays;
mod laws;
mod overlay;
mod traffic;

pub use delays::DelaySummary;
pub(crate) use laws::LawTotals;
pub use overlay::{ConnectionSummary, GroupSummary, OverlaySummary};
pub use traffic::TrafficSummary;

/// The figures of one run. `serde_json` turns a figure that is not a number into `null`, so every
/// figure that may be missing is an `Option`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// The scenario's name.
    pub scenario: String,
    /// The law the run was made for.
    pub law: String,
    /// The seed of every random stream.
    pub seed: u64,
    /// Where the run took place.
    pub world: World,
    /// The version of Ratewire that made the run.
    pub version: String,
    /// Length of the run, seconds.
    pub duration_s: f64,
    /// Length that the run was to have, seconds, if it was interrupted: its figures are partial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_duration_s: Option<f64>,
    /// Beginning of the part of the run that figures are about, seconds, if they are not about all
    /// of it. Flows that complete count if they started in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_from_s: Option<f64>,
    /// End of that part, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_to_s: Option<f64>,
    /// Jain's index of the rates at which payload of long flows arrived, in order or not, while all
    /// of them ran, over their max-min fair rates: 1 when all have their fair parts, 1/n when one
    /// has everything. At a single bottleneck fair parts are equal, or as weights where a law has
    /// an option for them. `None` with fewer than two long flows.
    pub jain_index: Option<f64>,
    /// Jain's index of the listed flows' goodputs over their max-min fair rates, by windows: mean
    /// over the time in which at least two flows were active. `None` without such a time.
    pub jain_over_time: Option<f64>,
    /// How soon flows shared fairly, one entry a change. Changes soon followed by another are left
    /// out.
    pub settlings: Vec<Settling>,
    /// Largest of all round-trip time samples of all flows, seconds.
    pub rtt_max_s: Option<f64>,
    /// Round-trip times of all flows, each sample counted once; `None` without any.
    pub rtt: Option<DelaySummary>,
    /// Times of data packets of all flows from one host to the other; `None` without any.
    pub one_way: Option<DelaySummary>,
    /// Share of the data packets that were dropped or lost, 0 to 1; `None` without any.
    pub loss_share: Option<f64>,
    /// Flows of arriving traffic that started; `None` if no traffic arrives.
    pub arrived_flows: Option<u64>,
    /// Flows of a given size that had started and not completed when the run ended; `None` if no
    /// flow has a size.
    pub unfinished_flows: Option<u64>,
    /// Values of figures that were asked for, by name; `None` where there was nothing to measure.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, Option<f64>>,
    /// One entry a class of arriving traffic, in index order.
    pub traffic: Vec<TrafficSummary>,
    /// One entry a flow, in index order.
    pub flows: Vec<FlowSummary>,
    /// One entry a link direction, in index order.
    pub links: Vec<LinkSummary>,
    /// Flow completion times, if any flow completed.
    pub completions: Option<CompletionSummary>,
    /// The overlay, if there is one.
    pub overlay: Option<OverlaySummary>,
    /// Where every packet went.
    pub conservation: Conservation,
    /// A deadlock: paused links that waited for each other for ever.
    pub deadlock: Option<DeadlockSummary>,
    /// What the engine did.
    pub engine: EngineFigures,
    /// Fidelity of a run in real time; `None` in simulated time.
    pub fidelity: Option<FidelitySummary>,
}

/// A deadlock: paused links that waited for each other for ever.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeadlockSummary {
    /// Time at which the deadlock was found, seconds.
    pub at_s: f64,
    /// Names of the links, each waiting for the next and the last for the first.
    pub ring: Vec<String>,
}

impl DeadlockSummary {
    /// The deadlock in a sentence.
    pub fn text(&self) -> String {
        let first = self.ring.first().map_or("", String::as_str);
        let at = crate::figure::seconds(Some(self.at_s));
        let ring = self.ring.join(" waits for ");
        format!("Deadlock, found at {at}: {ring} waits for {first}, each paused for ever.")
    }
}

/// The figures of one flow over its life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowSummary {
    /// Index of the flow.
    pub flow: u32,
    /// Name of the flow.
    pub name: String,
    /// The law the flow obeyed.
    pub law: String,
    /// Name of the sending node.
    pub from: String,
    /// Name of the receiving node.
    pub to: String,
    /// Time at which the application first had data, seconds.
    pub start_s: f64,
    /// Size that the application asked to send, bytes; `None` for unlimited data.
    pub size_bytes: Option<u64>,
    /// Data delivered in order to the receiving application, bytes.
    pub delivered_bytes: u64,
    /// `delivered_bytes` over the flow's life (start to completion or end of the run), bits per
    /// second.
    pub goodput_bps: f64,
    /// Share of the data that all listed flows delivered over the run, 0 to 1. Of an ensemble's
    /// edges the total counts those that end at hosts, so each byte counts once.
    pub share: f64,
    /// Time from the flow's start until the last byte was delivered, seconds; `None` if it did not
    /// finish.
    pub completion_s: Option<f64>,
    /// Data sent again, bytes.
    pub retransmitted_bytes: u64,
    /// Packets sent again.
    pub retransmitted_packets: u64,
    /// Mean of the round-trip time samples, seconds.
    pub rtt_mean_s: Option<f64>,
    /// Least of the round-trip time samples, seconds.
    pub rtt_min_s: Option<f64>,
    /// Largest of the round-trip time samples, seconds.
    pub rtt_max_s: Option<f64>,
    /// Its round-trip time samples; `None` without any, and beyond the first 1,000 flows.
    pub rtt: Option<DelaySummary>,
    /// Times of its data packets from one host to the other, which begin in the sender's queue;
    /// `None` where they are not known, as with ACP and beyond the first 1,000 flows.
    pub one_way: Option<DelaySummary>,
    /// Share of its data packets that were dropped or lost, 0 to 1; `None` where it is not known.
    pub loss_share: Option<f64>,
    /// Power (Kleinrock 1979): `goodput_bps` over `rtt_mean_s`.
    pub power_bps2: Option<f64>,
    /// Packets of the flow that policers corrected or dropped.
    pub clamps: u64,
}

/// A change (a flow joins or leaves, a link changes) after which flows had to share anew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settling {
    /// What changed: `s2->d2 joins at 10 s`.
    pub event: String,
    /// Time of the change, seconds.
    pub at_s: f64,
    /// Flows that share the network after the change.
    pub flows: u64,
    /// Length of the windows in which shares are taken, seconds.
    pub window_s: f64,
    /// Time from the change until every flow's part of what all get is within 10 % of the part that
    /// its max-min fair rate is of all fair rates, and stays there until
    /// the next change, seconds; `None` if they never did.
    pub took_s: Option<f64>,
}

/// The figures of one link direction and its queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkSummary {
    /// Index of the link.
    pub link: u32,
    /// Name of the link.
    pub name: String,
    /// Name of the sending node.
    pub from: String,
    /// Name of the receiving node.
    pub to: String,
    /// Capacity, bits per second.
    pub rate_bps: u64,
    /// One-way propagation delay, seconds.
    pub delay_s: f64,
    /// Capacity of the queue, bytes; `None` if given in packets or without limit.
    pub room_bytes: Option<u64>,
    /// Capacity of the queue, packets; `None` if given in bytes or without limit.
    pub room_packets: Option<u64>,
    /// Whether the scenario calls the link the bottleneck.
    pub bottleneck: bool,
    /// Whether it is one of the links that are expected to limit flows, whatever law they run:
    /// where flows with unlimited data get the least each, else where the most is on offer for the
    /// rate.
    pub expected_bottleneck: bool,
    /// Share of the run in which the link was busy, 0 to 1.
    pub utilisation: f64,
    /// Throughput over the run, headers included, bits per second.
    pub throughput_bps: f64,
    /// Packets waiting, mean over time.
    pub queue_packets_mean: f64,
    /// Packets waiting, 99th percentile over time.
    pub queue_packets_p99: f64,
    /// Packets waiting, most at any instant.
    pub queue_packets_max: u64,
    /// Bytes waiting, mean over time.
    pub queue_bytes_mean: f64,
    /// Bytes waiting, 99th percentile over time.
    pub queue_bytes_p99: f64,
    /// Bytes waiting, most at any instant.
    pub queue_bytes_max: u64,
    /// Packets dropped, by reason (`queue full`, `lost on the link`, ...).
    pub drops: BTreeMap<String, u64>,
    /// Share of the packets that were dropped or lost, among these and those that it sent, 0 to 1;
    /// `None` without any.
    pub loss_share: Option<f64>,
    /// Packets given a congestion mark.
    pub marks: u64,
    /// Packets whose header the policer corrected, or that it dropped.
    pub clamps: u64,
    /// Pauses of the link; `None` if it was never paused and sent no pause frames.
    pub pausing: Option<PausingSummary>,
    /// Outages of the link, and packets that arrived twice; `None` without any.
    pub disturbances: Option<DisturbancesSummary>,
}

/// What disturbed a link without a drop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DisturbancesSummary {
    /// How often the link went down.
    pub outages: u64,
    /// Time for which the link was down, seconds.
    pub down_s: f64,
    /// Packets that arrived twice.
    pub duplicated: u64,
}

/// Pauses of a link, and the pause frames that it sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PausingSummary {
    /// How often the far end paused the link.
    pub pauses: u64,
    /// Time for which the link was paused, seconds.
    pub paused_s: f64,
    /// Frames sent on the link that pause or resume links in the other direction.
    pub frames: u64,
    /// Packets dropped because the buffer at the far end had no room.
    pub overflowed: u64,
}

/// Flow completion times, from the application's request to the last byte delivered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompletionSummary {
    /// Flows that completed.
    pub flows: u64,
    /// Whether medians and percentiles are exact. With more than a million flows they are within
    /// half a percent.
    pub percentiles_exact: bool,
    /// Mean, seconds.
    pub mean_s: f64,
    /// Median, seconds.
    pub median_s: f64,
    /// 95th percentile, seconds; `None` with fewer than 20 flows.
    pub p95_s: Option<f64>,
    /// 99th percentile, seconds; of fewer than 100 flows the largest, which tables leave out.
    pub p99_s: f64,
    /// 99.9th percentile, seconds; `None` with fewer than 1,000 flows.
    pub p999_s: Option<f64>,
    /// Median of completion time over the time alone on the path.
    pub slowdown_median: Option<f64>,
    /// 95th percentile of completion time over the time alone on the path; `None` with fewer than
    /// 20 flows.
    pub slowdown_p95: Option<f64>,
    /// 99th percentile of completion time over the time alone on the path.
    pub slowdown_p99: Option<f64>,
    /// 99.9th percentile of completion time over the time alone on the path; `None` with fewer than
    /// 1,000 flows.
    pub slowdown_p999: Option<f64>,
    /// By flow size, smallest first; sizes of which no flow completed are left out.
    pub by_size: Vec<SizeSummary>,
    /// By flow size, in up to 20 bins of a twentieth of the flows each. Flows of one size are in
    /// one bin.
    pub by_twentieth: Vec<SizeSummary>,
    /// By class of traffic, listed flows first; empty if all flows are of one class.
    pub by_traffic: Vec<ClassSummary>,
}

/// The completed flows of one class of traffic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassSummary {
    /// Name of the class; `listed flows` for flows of none.
    pub name: String,
    /// Their completion times.
    pub completions: CompletionSummary,
}

/// The completed flows of about one size. Percentiles are `None` if there are too few flows
/// to show them: fewer than 20, 100 and 1,000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SizeSummary {
    /// Least size, bytes.
    pub from_bytes: u64,
    /// Sizes are below this, bytes; `None` for no bound.
    pub below_bytes: Option<u64>,
    /// Flows that completed.
    pub flows: u64,
    /// Median of completion time, seconds.
    pub median_s: Option<f64>,
    /// 95th percentile of completion time, seconds.
    pub p95_s: Option<f64>,
    /// 99th percentile of completion time, seconds.
    pub p99_s: Option<f64>,
    /// 99.9th percentile of completion time, seconds.
    pub p999_s: Option<f64>,
    /// Median of completion time over the time alone on the path.
    pub slowdown_median: Option<f64>,
    /// 95th percentile of completion time over the time alone on the path.
    pub slowdown_p95: Option<f64>,
    /// 99th percentile of completion time over the time alone on the path.
    pub slowdown_p99: Option<f64>,
    /// 99.9th percentile of completion time over the time alone on the path.
    pub slowdown_p999: Option<f64>,
}

/// Fewest values that a 99th percentile needs: one beyond it.
const FEWEST_OF_P99: u64 = 100;

impl CompletionSummary {
    /// The 99th percentiles of time and slowdown; `None` if there are too few flows to show them.
    pub(crate) fn p99(&self) -> (Option<f64>, Option<f64>) {
        let is_shown = self.flows >= FEWEST_OF_P99;
        (Some(self.p99_s).filter(|_| is_shown), self.slowdown_p99.filter(|_| is_shown))
    }
}

/// Packets sent + duplicated = delivered + dropped + in flight, checked in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Conservation {
    /// Packets that hosts sent.
    pub sent_packets: u64,
    /// Copies that links made of packets.
    pub duplicated_packets: u64,
    /// Packets that reached their destination.
    pub delivered_packets: u64,
    /// Packets dropped anywhere.
    pub dropped_packets: u64,
    /// Packets in queues and on wires when the run ended.
    pub in_flight_packets: u64,
}

/// What the engine did. No wall-clock time here: the same run gives the same file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineFigures {
    /// Events handled.
    pub events: u64,
    /// Data packets delivered to hosts.
    pub data_packets_delivered: u64,
}

impl Summary {
    /// A summary with the names and rates of `info`, and every counter at zero.
    pub fn of(info: &RunInfo) -> Summary {
        let name = |index: u32| info.node_name(index).to_string();
        let flows = info.flows.iter().zip(0..).map(|(f, flow)| FlowSummary {
            flow,
            name: f.name.clone(),
            law: f.law.clone(),
            from: name(f.from),
            to: name(f.to),
            ..FlowSummary::default()
        });
        let links = info.topology.links.iter().zip(0..).map(|(l, link)| LinkSummary {
            link,
            name: l.name.clone(),
            from: name(l.from),
            to: name(l.to),
            rate_bps: l.rate.bps(),
            delay_s: l.delay.secs(),
            room_bytes: match l.room {
                QueueLimit::Bytes(bytes) => Some(bytes.get()),
                QueueLimit::Unlimited | QueueLimit::Packets(_) => None,
            },
            room_packets: match l.room {
                QueueLimit::Packets(packets) => Some(u64::from(packets)),
                QueueLimit::Unlimited | QueueLimit::Bytes(_) => None,
            },
            bottleneck: l.bottleneck,
            expected_bottleneck: l.expected_bottleneck,
            ..LinkSummary::default()
        });
        Summary {
            scenario: info.scenario.clone(),
            law: info.law.clone(),
            seed: info.seed,
            world: info.world,
            version: info.version.clone(),
            duration_s: info.duration.secs(),
            measured_from_s: info.measured.map(|(from, _)| from.secs()),
            measured_to_s: info.measured.map(|(_, to)| to.secs()),
            traffic: info.traffic.iter().map(TrafficSummary::of).collect(),
            flows: flows.collect(),
            links: links.collect(),
            ..Summary::default()
        }
    }

    /// Length of the part of the run that figures are about, seconds.
    pub fn measured_s(&self) -> f64 {
        let to = self.measured_to_s.unwrap_or(self.duration_s).min(self.duration_s);
        (to - self.measured_from_s.unwrap_or(0.0)).max(0.0)
    }

    /// Beginning and end of the part of the run that figures are about, seconds.
    fn part(&self) -> (f64, f64) {
        let to = self.measured_to_s.unwrap_or(self.duration_s);
        (self.measured_from_s.unwrap_or(0.0), to)
    }

    /// Whether a flow began in the part of the run that figures are about.
    pub(crate) fn has_begun(&self, flow: &FlowSummary) -> bool {
        let (from, to) = self.part();
        (from..to).contains(&flow.start_s)
    }

    /// Whether a flow ran in the part of the run that figures are about.
    pub(crate) fn has_run(&self, flow: &FlowSummary) -> bool {
        let (from, to) = self.part();
        let end = flow.completion_s.map_or(f64::INFINITY, |took| flow.start_s + took);
        flow.start_s < to && end > from
    }

    /// The run's length, and the part of it that figures are about: `30 s, measured 5 s to 30 s`.
    pub(crate) fn lasted(&self) -> String {
        let all = Duration::from_secs_f64(self.duration_s).to_string();
        match (self.measured_from_s, self.measured_to_s) {
            (Some(from), Some(to)) => format!("{all}, {}", measured(from, to)),
            _ => all,
        }
    }

    /// How much of an interrupted run there is, `12 s of 30 s`; `None` if it came to its end.
    pub fn partial(&self) -> Option<String> {
        let planned = Duration::from_secs_f64(self.planned_duration_s?);
        Some(format!("{} of {planned}", Duration::from_secs_f64(self.duration_s)))
    }

    /// The text of `summary.json`, ending in a newline.
    ///
    /// # Errors
    /// None in practice: every field has a JSON form.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

impl LinkSummary {
    /// Capacity of the link's queue, as people read it.
    pub(crate) fn room_text(&self) -> String {
        match (self.room_packets, self.room_bytes) {
            (Some(packets), _) => plural(packets as usize, "packet"),
            (None, Some(size)) => bytes(size),
            (None, None) => "unlimited".into(),
        }
    }
    /// Packets dropped, for any reason.
    pub fn drops_total(&self) -> u64 {
        self.drops.values().sum()
    }
}

impl Conservation {
    /// Whether every packet is accounted for.
    pub fn holds(&self) -> bool {
        let out = u128::from(self.delivered_packets)
            + u128::from(self.dropped_packets)
            + u128::from(self.in_flight_packets);
        u128::from(self.sent_packets) + u128::from(self.duplicated_packets) == out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trips_and_names_units() {
        let mut summary =
            Summary { law: "xcp".into(), jain_index: Some(0.5), ..Summary::default() };
        let drops = BTreeMap::from([("queue full".to_string(), 7)]);
        summary.links.push(LinkSummary { rate_bps: 10, drops, ..LinkSummary::default() });
        summary.flows.push(FlowSummary { size_bytes: Some(3), ..FlowSummary::default() });
        let text = summary.to_json().unwrap();
        for field in ["goodput_bps", "queue_packets_p99", "delivered_packets", "duration_s"] {
            assert!(text.contains(field), "{field}");
        }
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
        assert_eq!(summary.links[0].drops_total(), 7);
    }

    #[test]
    fn conservation_notices_a_lost_packet() {
        let mut c = Conservation { sent_packets: 10, delivered_packets: 7, ..Default::default() };
        (c.dropped_packets, c.in_flight_packets) = (2, 1);
        assert!(c.holds());
        c.sent_packets = 11;
        assert!(!c.holds());
        (c.duplicated_packets, c.dropped_packets) = (1, 4);
        assert!(c.holds());
    }
}
