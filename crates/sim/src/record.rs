//! Records of a run in progress.

use core::ops::ControlFlow;

use ratewire_laws::{Bound, Header, Reason};
use ratewire_net::spec::{LinkId, NodeId};
use ratewire_net::{Captured, CapturedFrame, Hop, Observation, Trail};
use ratewire_overlay::Dollars;
use ratewire_transport::KeptBy;
use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::counters::{Disturbances, Drops, Pausing};

/// Events between two calls of [`Recorder::progress`], and packets that one event may send between
/// two. A recorder that ends the run must not wait for long, whatever an event costs.
pub(crate) const PROGRESS_EVERY: u64 = 1 << 14;

/// Index of a flow; listed flows come first, then arriving ones in the order of their starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// Receives the records of a run.
///
/// Calls come in order of time, except for packets where hosts take turns with the network: these
/// are reported before slightly earlier actions of hosts, and in order only among themselves.
pub trait Recorder: Send {
    /// A flow has started.
    fn flow_started(&mut self, started: &FlowStarted<'_>);
    /// Sample of an active flow over the last sampling interval.
    fn flow_sample(&mut self, sample: &FlowSample);
    /// Sample of all arriving flows over the last sampling interval, if a class of traffic exists.
    fn arriving_sample(&mut self, _sample: &ArrivingSample) {}
    /// Sample of a link over the last sampling interval.
    fn link_sample(&mut self, sample: &LinkSample);
    /// Sample of an overlay over the last sampling interval.
    fn overlay_sample(&mut self, _sample: &OverlaySample<'_>) {}
    /// A flow with an end has delivered all its data.
    fn flow_completed(&mut self, completed: &FlowCompleted);
    /// A packet has reached the far end of a captured link.
    fn packet(&mut self, _seen: &PacketSeen) {}
    /// A pause frame has arrived over a captured link, or at the start of one.
    ///
    /// It is reported with the next packet, before the next call of [`Recorder::progress`], or at
    /// the end: in order of time among packets, but not among samples.
    fn frame(&mut self, _seen: &CapturedFrame) {}
    /// A followed packet was acknowledged or lost.
    fn followed(&mut self, _followed: &Followed) {}
    /// Progress of the run; a break ends the run with the outcome so far, at its start with
    /// [`RunError::Stopped`](crate::RunError::Stopped).
    ///
    /// Called at each sampling instant, about every 16,384 events, and about every 16,384 packets
    /// that one event sends. The latter calls must break again if one has.
    fn progress(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Progress of a run, and its contents.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Time that the run has reached.
    pub now: Time,
    /// Packets in queues or on links.
    pub packets: u64,
    /// Flows that have started and not ended.
    pub flows: u64,
}

/// A flow has started.
#[derive(Clone, Copy, Debug)]
pub struct FlowStarted<'a> {
    /// Id of the flow.
    pub flow: FlowId,
    /// Name of the flow.
    pub name: &'a str,
    /// Sender.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Index into the run's laws.
    pub law: usize,
    /// Time of the start.
    pub at: Time,
    /// Payload to send, if it is given.
    pub size: Option<Bytes>,
    /// Index of its class of arriving traffic; `None` for listed flows.
    pub traffic: Option<usize>,
}

/// A packet at the far end of a captured link.
#[derive(Clone, Copy, Debug)]
pub struct PacketSeen {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// The packet.
    pub packet: Captured,
}

/// A followed packet, and its sender's state after the answer.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Whether it is the packet asked about ([`Follow::asked`](crate::setup::Follow)).
    pub asked: bool,
    /// Time at which it was sent.
    pub sent: Time,
    /// Size in network-layer bytes.
    pub size: Bytes,
    /// Route of the packet and of its acknowledgement.
    pub trail: Trail,
    /// Fate of the packet.
    pub fate: FollowedFate,
    /// Limit that keeps the sender from sending more.
    pub kept_by: KeptBy,
    /// Whether its socket found no room in the queue of its host's own link.
    pub blocked: bool,
    /// The law's explanation of its rate.
    pub reason: Reason,
    /// The law's window at that time, in payload.
    pub window: Bytes,
    /// The pace at that time, if the law sets one.
    pub pacing: Option<Throughput>,
    /// Smoothed RTT at that time; zero while unknown.
    pub srtt: Duration,
}

/// Fate of a followed packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FollowedFate {
    /// The packet's acknowledgement arrived at this time, with this header.
    Acknowledged(Time, Header),
    /// The packet arrived; its acknowledgement is combined with a later one.
    AcknowledgedLater,
    /// The packet, or its acknowledgement, was dropped or lost on the last link of its trail.
    Lost,
    /// The packet was still on its way at the end of the run.
    Underway,
}

impl Followed {
    /// Index in `trail.there` of the hop that limited the rate; `None` if no port did.
    pub fn bound(&self) -> Option<usize> {
        let there = &self.trail.there;
        match self.reason.bound {
            _ if self.kept_by == KeptBy::Application => None,
            // The receiver's window then only limits how much may wait in queues.
            Bound::Queues => self.held_at().or_else(|| self.waited_at()).or(Some(0)),
            _ if self.kept_by != KeptBy::Law => None,
            _ if self.blocked => self.held_at().or(Some(0)),
            Bound::Source | Bound::Share(_) => None,
            Bound::Hop(n) => {
                let wrote = there.iter().enumerate().filter(|(_, hop)| hop.changed_it());
                wrote.map(|(i, _)| i).nth(n)
            }
            Bound::Port(id) => there.iter().position(|hop| hop.link.port_id() == id),
            Bound::LastChange => {
                self.least_share().or_else(|| there.iter().rposition(Hop::changed_it))
            }
        }
    }

    /// The hop at which pauses held the packet longest.
    fn held_at(&self) -> Option<usize> {
        let held = |(i, hop): (usize, &Hop)| Some((i, hop.held?.paused));
        let held = self.trail.there.iter().enumerate().filter_map(held);
        held.max_by_key(|(_, paused)| *paused).map(|(i, _)| i)
    }

    /// The hop at which the packet waited longest, if it waited.
    fn waited_at(&self) -> Option<usize> {
        let waits = self.trail.there.iter().enumerate().map(|(i, hop)| (i, hop.waited()));
        waits
            .filter(|(_, wait)| *wait > Some(Duration::ZERO))
            .max_by_key(|(_, w)| *w)
            .map(|(i, _)| i)
    }

    /// The hop that lets the smallest share of packets pass unchanged, if it is less than all.
    fn least_share(&self) -> Option<usize> {
        let share = |(i, hop): (usize, &Hop)| match hop.reason.as_ref()?.bound {
            Bound::Share(share) if share < 1.0 => Some((i, share)),
            _ => None,
        };
        let shares = self.trail.there.iter().enumerate().filter_map(share);
        shares.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(i, _)| i)
    }
}

/// Arriving flows, which are not sampled one by one, over one sampling interval.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingSample {
    /// End of the interval.
    pub at: Time,
    /// Length of the interval.
    pub interval: Duration,
    /// Payload of these flows that arrived in the interval, as in [`FlowSample::delivered`].
    pub delivered: Bytes,
}

/// A flow over one sampling interval.
#[derive(Clone, Copy, Debug)]
pub struct FlowSample {
    /// End of the interval.
    pub at: Time,
    /// Length of the interval.
    pub interval: Duration,
    /// Id of the flow.
    pub flow: FlowId,
    /// Payload that arrived in the interval, in order or not, each byte counted once.
    ///
    /// Data behind a hole count when they arrive, not when the hole is filled.
    pub delivered: Bytes,
    /// Payload sent again in the interval.
    pub retransmitted: Bytes,
    /// Packets that have carried payload again since the sender was opened.
    pub retransmitted_packets: u64,
    /// The law's window at the end of the interval, payload; [`Bytes::MAX`] if it has none, or it
    /// is unknown.
    pub window: Bytes,
    /// Payload outstanding at the end of the interval, if the sender can be asked.
    pub in_flight: Option<Bytes>,
    /// The receiver's window as last advertised; [`Bytes::MAX`] if unknown.
    pub receive_window: Bytes,
    /// Smoothed RTT; zero while unknown.
    pub srtt: Duration,
    /// Latest RTT sample; zero while unknown.
    pub rtt: Duration,
    /// Pace, if the law sets one.
    pub pacing: Option<Throughput>,
}

/// A link over one sampling interval.
#[derive(Clone, Copy, Debug)]
pub struct LinkSample {
    /// End of the interval.
    pub at: Time,
    /// Length of the interval.
    pub interval: Duration,
    /// Id of the link.
    pub link: LinkId,
    /// Share of the interval in which the link sent, 0 to 1.
    ///
    /// A link with a trace counts the time of each packet at the mean rate, so the share may exceed
    /// 1 while the trace is faster.
    pub busy: f64,
    /// Network-layer bytes sent in the interval.
    pub sent: Bytes,
    /// Mean backlog in packets over the interval, without the packet in transmission.
    pub queue_packets_mean: f64,
    /// Largest backlog in packets in the interval.
    pub queue_packets_max: u32,
    /// Mean backlog in bytes over the interval.
    pub queue_bytes_mean: f64,
    /// Largest backlog in bytes in the interval.
    pub queue_bytes_max: Bytes,
    /// Backlog in packets at the end of the interval.
    pub queue_packets: u32,
    /// Backlog in bytes at the end of the interval.
    pub queue_bytes: Bytes,
    /// Packets sent in the interval.
    pub packets: u64,
    /// Packets dropped in the interval, by reason.
    pub drops: Drops,
    /// Packets marked in the interval.
    pub marks: u64,
    /// Packets that the policer corrected or dropped in the interval.
    pub clamps: u64,
    /// Counters of pausing over the interval.
    pub pausing: Pausing,
    /// Share of the interval in which the link was paused, 0 to 1.
    pub paused: f64,
    /// Outages in the interval, and packets that arrived twice.
    pub disturbances: Disturbances,
}

impl LinkSample {
    /// Changes at a link between two observations, the later one at `at`.
    pub fn of(
        link: LinkId,
        before: &Observation,
        seen: &Observation,
        at: Time,
        interval: Duration,
    ) -> LinkSample {
        let ps = interval.ps() as f64;
        LinkSample {
            at,
            interval,
            link,
            busy: seen.busy.saturating_sub(before.busy).ps() as f64 / ps,
            // The packet in transmission counts in part, and a changed rate rounds the part anew.
            sent: seen.sent_bytes.saturating_sub(before.sent_bytes),
            queue_packets_mean: (seen.area_packets - before.area_packets) as f64 / ps,
            queue_packets_max: seen.peak_packets,
            queue_bytes_mean: (seen.area_bytes - before.area_bytes) as f64 / ps,
            queue_bytes_max: seen.peak_bytes,
            queue_packets: seen.waiting_packets,
            queue_bytes: seen.waiting_bytes,
            packets: seen.sent_packets - before.sent_packets,
            drops: Drops::between(before, seen),
            marks: seen.marked - before.marked,
            clamps: seen.clamps() - before.clamps(),
            pausing: Pausing::between(before, seen),
            paused: seen.paused.saturating_sub(before.paused).ps() as f64 / ps,
            disturbances: Disturbances::between(before, seen),
        }
    }
}

/// An overlay over one sampling interval.
#[derive(Clone, Copy, Debug)]
pub struct OverlaySample<'a> {
    /// End of the interval.
    pub at: Time,
    /// Length of the interval.
    pub interval: Duration,
    /// Each group.
    pub groups: &'a [GroupSample],
    /// Each link.
    pub links: &'a [OverlayLinkSample],
    /// Each sending client.
    pub senders: &'a [SenderSample],
    /// Deliveries owed to messages that were paid for in the interval.
    pub owed: u64,
}

/// A group over one sampling interval.
#[derive(Clone, Debug, Default)]
pub struct GroupSample {
    /// Messages that its senders paid for.
    pub sent: u64,
    /// Messages handed to members, by node.
    pub delivered: Vec<u64>,
}

/// A sending client of an overlay over one sampling interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderSample {
    /// Messages that it paid for.
    pub sent: u64,
    /// Money at the end; `None` before the client starts.
    pub money: Option<Dollars>,
    /// Time between salaries at the end; `None` before the client starts.
    pub period: Option<Duration>,
    /// Time for which a message of it waited to be sent.
    pub blocked: Duration,
}

/// A link of an overlay over one sampling interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverlayLinkSample {
    /// Messages waiting at its node, mean over the interval.
    pub queue_mean: f64,
    /// Most messages waiting.
    pub queue_max: u64,
    /// Price at the end, as its node last announced it.
    pub price: Dollars,
    /// Bytes of clients' messages that the link took.
    pub data: Bytes,
    /// Bytes of control messages that the link took.
    pub control: Bytes,
}

/// A flow with an end has delivered all its data.
#[derive(Clone, Copy, Debug)]
pub struct FlowCompleted {
    /// Id of the flow.
    pub flow: FlowId,
    /// Index into the run's laws.
    pub law: usize,
    /// Class of arriving traffic, by index; `None` for listed flows.
    pub traffic: Option<usize>,
    /// Delivered payload.
    pub size: Bytes,
    /// Time of the start.
    pub start: Time,
    /// Time from the start to the last byte's arrival.
    pub took: Duration,
    /// Time that the flow would have taken alone: the packets of a handshake, if it has one, at
    /// each link and both ways; the propagation delays; the flow's packets at the slowest link of
    /// its path; and the largest of them at each other link. Packets have no law's header.
    pub ideal: Duration,
    /// Payload sent again.
    pub retransmitted: Bytes,
}

/// Records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn flow_started(&mut self, _: &FlowStarted<'_>) {}
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, _: &LinkSample) {}
    fn flow_completed(&mut self, _: &FlowCompleted) {}
}

/// Writes recorders that pass all calls on.
macro_rules! passed_on {
    ($($call:ident: $record:ty),* $(,)?) => {
        impl<R: Recorder + ?Sized> Recorder for &mut R {
            $(fn $call(&mut self, record: $record) {
                (**self).$call(record);
            })*
            fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
                (**self).progress(progress)
            }
        }

        /// A recorder that may be missing.
        impl<R: Recorder> Recorder for Option<R> {
            $(fn $call(&mut self, record: $record) {
                self.iter_mut().for_each(|recorder| recorder.$call(record));
            })*
            fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
                self.iter_mut().try_for_each(|recorder| recorder.progress(progress))
            }
        }

        /// Two recorders of one run; the first is called first, and either can end the run.
        impl<A: Recorder, B: Recorder> Recorder for (A, B) {
            $(fn $call(&mut self, record: $record) {
                self.0.$call(record);
                self.1.$call(record);
            })*
            fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
                let (first, second) = (self.0.progress(progress), self.1.progress(progress));
                first?;
                second
            }
        }
    };
}
passed_on! {
    flow_started: &FlowStarted<'_>,
    flow_sample: &FlowSample,
    arriving_sample: &ArrivingSample,
    link_sample: &LinkSample,
    overlay_sample: &OverlaySample<'_>,
    flow_completed: &FlowCompleted,
    packet: &PacketSeen,
    frame: &CapturedFrame,
    followed: &Followed,
}
