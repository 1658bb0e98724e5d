//! Outcome of a run.

pub use ratewire_net::Deadlock;
use ratewire_net::Observation;
use ratewire_net::spec::{LinkId, NodeId};
use ratewire_overlay::queue::LinkCounts;
use ratewire_overlay::{GroupId, SenderCounts};
use ratewire_units::{Bytes, Duration, Time};

pub use crate::counters::{Disturbances, Drops, Pausing};
use crate::delays::AllDelays;
use crate::record::FlowId;

/// Outcome of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Each flow, by id.
    pub flows: Vec<FlowOutcome>,
    /// Each link, by id.
    pub links: Vec<LinkOutcome>,
    /// Packets by their fate.
    pub packets: PacketCounts,
    /// Events the engine handled.
    pub events: u64,
    /// Data packets delivered to a receiving host, second copies included.
    pub data_packets_delivered: u64,
    /// Time at which the run ended.
    pub ended: Time,
    /// Round-trip times and one-way delays of packets.
    pub delays: AllDelays,
    /// Paused links that waited for each other for ever; the first such ring found.
    pub deadlock: Option<Deadlock>,
    /// The overlay, if there is one.
    pub overlay: Option<OverlayOutcome>,
}

impl Outcome {
    /// Packet transmissions: each packet, data or acknowledgement, once for each link that sent it.
    pub fn transmissions(&self) -> u64 {
        self.links.iter().map(|link| link.packets).sum()
    }
}

/// An overlay at the end of a run.
#[derive(Clone, Debug)]
pub struct OverlayOutcome {
    /// Each group.
    pub groups: Vec<GroupOutcome>,
    /// Each sending client.
    pub senders: Vec<SenderOutcome>,
    /// Each of its links.
    pub links: Vec<OverlayLinkOutcome>,
    /// By node: views of daemons that it has entered since the start.
    pub views: Vec<u64>,
}

impl OverlayOutcome {
    /// Bytes of the overlay that links carried for a client's message, mean; `None` without any.
    pub fn carried_message(&self) -> Option<f64> {
        let sum = |of: fn(&LinkCounts) -> u64| self.links.iter().map(|link| of(&link.counts)).sum();
        let (bytes, messages): (u64, u64) = (sum(|link| link.data.get()), sum(|link| link.taken));
        (messages > 0).then(|| bytes as f64 / messages as f64)
    }
}

/// A group at the end of a run.
#[derive(Clone, Debug)]
pub struct GroupOutcome {
    /// Messages that its senders paid for.
    pub sent: u64,
    /// Deliveries to nodes that these messages are owed.
    pub owed: u64,
    /// Messages handed to members, by node.
    pub delivered: Vec<u64>,
    /// Mean time from a purchase to the delivery at a node; `None` without any.
    pub latency_mean: Option<Duration>,
    /// Longest time from a purchase to the delivery at a node; `None` without any.
    pub latency_max: Option<Duration>,
    /// Number of view changes.
    pub views: u64,
}

/// A sending client at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct SenderOutcome {
    /// Group of the client.
    pub group: GroupId,
    /// Counters of the client.
    pub counts: SenderCounts,
}

/// A link of an overlay at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct OverlayLinkOutcome {
    /// Index of the flow that implements the link.
    pub flow: usize,
    /// Messages waiting, mean over the run.
    pub queue_mean: f64,
    /// Most messages waiting.
    pub queue_max: u64,
    /// Counters of its queue.
    pub counts: LinkCounts,
}

/// What became of all packets, data and acknowledgements.
///
/// `sent + duplicated = delivered + dropped + in_flight`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Packets that hosts sent into the network.
    pub sent: u64,
    /// Copies that links made of packets.
    pub duplicated: u64,
    /// Packets that arrived at their host.
    pub delivered: u64,
    /// Packets dropped by a queue, lost on a link, or met by a link that was down.
    pub dropped: u64,
    /// Packets in a queue or on a link at the end of the run.
    pub in_flight: u64,
}

impl PacketCounts {
    /// Whether every packet is accounted for.
    pub fn are_conserved(&self) -> bool {
        self.sent + self.duplicated == self.delivered + self.dropped + self.in_flight
    }
}

/// A flow at the end of a run.
#[derive(Clone, Debug)]
pub struct FlowOutcome {
    /// Id of the flow.
    pub flow: FlowId,
    /// Name of the flow.
    pub name: String,
    /// Sender.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Index into the run's laws.
    pub law: usize,
    /// Class of arriving traffic, by index.
    pub traffic: Option<usize>,
    /// Time of the start; `None` if the run ended first, or if the flow was to stop before.
    pub started: Option<Time>,
    /// Time at which the last byte had arrived and the end was known; `None` without an end, or if
    /// it was not reached.
    pub completed: Option<Time>,
    /// Payload delivered in order.
    pub delivered: Bytes,
    /// Payload sent again.
    pub retransmitted: Bytes,
    /// Packets that carried payload again.
    pub retransmitted_packets: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets that reached the receiver and found no room in its buffer.
    pub refused: u64,
    /// Smallest RTT sample; `None` without any.
    pub min_rtt: Option<Duration>,
    /// Largest RTT sample; `None` without any.
    pub max_rtt: Option<Duration>,
    /// Mean of the RTT samples; `None` without any.
    pub mean_rtt: Option<Duration>,
    /// Packets of the flow that policers corrected or dropped.
    pub clamps: u64,
}

/// A link at the end of a run.
#[derive(Clone, Debug)]
pub struct LinkOutcome {
    /// Id of the link.
    pub link: LinkId,
    /// Time spent sending. A link with a trace counts the time of each packet at the mean rate.
    pub busy: Duration,
    /// Network-layer bytes sent.
    pub sent: Bytes,
    /// Packets sent.
    pub packets: u64,
    /// Packets waiting, mean over the run.
    pub queue_packets_mean: f64,
    /// Bytes waiting, mean over the run.
    pub queue_bytes_mean: f64,
    /// Most packets waiting.
    pub queue_packets_max: u32,
    /// Most bytes waiting.
    pub queue_bytes_max: Bytes,
    /// Packets dropped, by reason.
    pub drops: Drops,
    /// Packets marked.
    pub marks: u64,
    /// Packets that the policer corrected or dropped.
    pub clamps: u64,
    /// Counters of pausing.
    pub pausing: Pausing,
    /// Outages, and packets that arrived twice.
    pub disturbances: Disturbances,
}

impl LinkOutcome {
    /// Outcome of a link, from its observation at the end.
    pub fn of(link: LinkId, seen: &Observation, ended: Time) -> LinkOutcome {
        let ps = ended.ps().max(1) as f64;
        LinkOutcome {
            link,
            busy: seen.busy,
            sent: seen.sent_bytes,
            packets: seen.sent_packets,
            queue_packets_mean: seen.area_packets as f64 / ps,
            queue_bytes_mean: seen.area_bytes as f64 / ps,
            queue_packets_max: seen.peak_packets_run,
            queue_bytes_max: seen.peak_bytes_run,
            drops: Drops::between(&Observation::default(), seen),
            marks: seen.marked,
            clamps: seen.clamps(),
            pausing: Pausing::between(&Observation::default(), seen),
            disturbances: Disturbances::between(&Observation::default(), seen),
        }
    }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_transport::App;
    use ratewire_units::Rate;

    use super::*;
    use crate::dumbbell::{BOTTLENECK, Dumbbell};
    use crate::record::NoRecorder;

    #[test]
    fn a_packet_counts_as_a_transmission_at_each_link_that_sends_it() {
        let law = AnyLaw::new("newreno", &[]).expect("a registered law");
        let (rate, rtt) = (Rate::from_mbps(10), Duration::from_millis(20));
        // A queue of five packets drops the rest of a slow start.
        for (queue, size) in [(1000, 100_000), (5, 1_000_000)] {
            let mut setup = Dumbbell::new(law.clone(), 2, rate, rtt, queue).setup();
            for flow in &mut setup.flows {
                flow.app = App::sized(Bytes::new(size));
            }
            let outcome = crate::run(&setup, &mut NoRecorder).expect("a dumbbell runs");
            let PacketCounts { delivered, dropped, in_flight, .. } = outcome.packets;
            assert_eq!((in_flight, dropped > 0), (0, queue == 5));
            // Three links for a packet that arrives, and one for those that the bottleneck drops.
            assert_eq!(outcome.links[BOTTLENECK.0 as usize].drops.full, dropped);
            assert_eq!(outcome.transmissions(), 3 * delivered + dropped);
        }
    }

    #[test]
    fn a_carried_message_is_as_long_as_links_had_it() {
        let link = |taken, bytes| OverlayLinkOutcome {
            flow: 0,
            queue_mean: 0.0,
            queue_max: 0,
            counts: LinkCounts { taken, data: Bytes::new(bytes), ..LinkCounts::default() },
        };
        let overlay = |links| OverlayOutcome {
            groups: Vec::new(),
            senders: Vec::new(),
            links,
            views: Vec::new(),
        };
        let outcome = overlay(vec![link(3, 3_120), link(1, 1_040)]);
        assert_eq!(outcome.carried_message(), Some(1_040.0));
        assert_eq!(overlay(vec![link(0, 0)]).carried_message(), None);
    }
}
