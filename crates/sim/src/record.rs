//! What a run tells while it runs.

use core::ops::ControlFlow;

use ratewire_laws::{Bound, Header, Reason};
use ratewire_net::spec::{LinkId, NodeId};
use ratewire_net::{Captured, CapturedFrame, Hop, Observation, Trail};
use ratewire_overlay::Dollars;
use ratewire_transport::KeptBy;
use ratewire_units::{Bytes, Duration, Throughput, Time};

/// Index of a flow, in the order of starting for arriving ones; listed flows come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// Takes what a run records, as it happens. Calls come in order of time, but packets only among
/// themselves: where hosts take turns with the network, they are told of before what hosts do a
/// little earlier.
pub trait Recorder {
    /// A flow has started.
    fn flow_started(&mut self, started: &FlowStarted<'_>);
    /// A flow over the last sampling interval; for flows that are active.
    fn flow_sample(&mut self, sample: &FlowSample);
    /// All flows of arriving traffic over the last sampling interval, where any arrive.
    fn arriving_sample(&mut self, _sample: &ArrivingSample) {}
    /// A link over the last sampling interval.
    fn link_sample(&mut self, sample: &LinkSample);
    /// An overlay over the last sampling interval.
    fn overlay_sample(&mut self, _sample: &OverlaySample<'_>) {}
    /// A flow with an end has delivered everything.
    fn flow_completed(&mut self, completed: &FlowCompleted);
    /// A packet has reached the far end of a captured link.
    fn packet(&mut self, _seen: &PacketSeen) {}
    /// A frame that pauses a link has come by a captured link, or to the start of one. Told when
    /// the next packet is or before the next call of [`Recorder::progress`], and at the end: in
    /// order of time among packets, but not among samples.
    fn frame(&mut self, _seen: &CapturedFrame) {}
    /// A followed packet was acknowledged, or lost.
    fn followed(&mut self, _followed: &Followed) {}
    /// How far the run has come; called about every 65,536 events. A break ends the run with
    /// [`RunError::Stopped`](crate::RunError::Stopped).
    fn progress(&mut self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// How far a run has come, and what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The time reached.
    pub now: Time,
    /// Packets that wait or are on their way.
    pub packets: u64,
    /// Flows that have started and not ended.
    pub flows: u64,
}

/// A flow has started.
#[derive(Clone, Copy, Debug)]
pub struct FlowStarted<'a> {
    /// Which.
    pub flow: FlowId,
    /// Its name.
    pub name: &'a str,
    /// Sender.
    pub from: NodeId,
    /// Receiver.
    pub to: NodeId,
    /// Index into the run's laws.
    pub law: usize,
    /// When.
    pub at: Time,
    /// What it is to carry, if that is given.
    pub size: Option<Bytes>,
    /// The class of arriving traffic it is of, by index; `None` for listed flows.
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

/// A packet that was followed, and what its sender made of the answer.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Whether it is the one that was asked about ([`Follow::asked`](crate::setup::Follow)).
    pub asked: bool,
    /// When it was sent.
    pub sent: Time,
    /// Network-layer bytes.
    pub size: Bytes,
    /// Where it and its acknowledgement went.
    pub trail: Trail,
    /// What became of it.
    pub fate: Fate,
    /// Who keeps the sender from sending more.
    pub kept_by: KeptBy,
    /// Whether its socket found no room in the queue of its host's own link.
    pub blocked: bool,
    /// What the law says of the rate it sends at.
    pub reason: Reason,
    /// The law's window then, payload.
    pub window: Bytes,
    /// The pace then, if the law sets one.
    pub pacing: Option<Throughput>,
    /// Smoothed RTT then; zero while unknown.
    pub srtt: Duration,
}

/// What became of a followed packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// Its acknowledgement has arrived at this time, with this header.
    Acknowledged(Time, Header),
    /// It has arrived; its acknowledgement waits for another's.
    AcknowledgedLater,
    /// It, or its acknowledgement, was dropped or lost on the last link of its trail.
    Lost,
    /// It was still on its way when the run ended.
    Underway,
}

impl Followed {
    /// The hop, by index into `trail.there`, that bound the rate; `None` if no port did.
    pub fn bound(&self) -> Option<usize> {
        let there = &self.trail.there;
        match self.reason.bound {
            _ if self.kept_by == KeptBy::Application => None,
            // The receiver's window is then only how much may wait in them.
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

    /// The hop where the packet was held back by pauses for longest.
    fn held_at(&self) -> Option<usize> {
        let held = |(i, hop): (usize, &Hop)| Some((i, hop.held?.paused));
        let held = self.trail.there.iter().enumerate().filter_map(held);
        held.max_by_key(|(_, paused)| *paused).map(|(i, _)| i)
    }

    /// The hop where it waited longest, if it waited.
    fn waited_at(&self) -> Option<usize> {
        let waits = self.trail.there.iter().enumerate().map(|(i, hop)| (i, hop.waited()));
        waits
            .filter(|(_, wait)| *wait > Some(Duration::ZERO))
            .max_by_key(|(_, w)| *w)
            .map(|(i, _)| i)
    }

    /// The hop that lets the least share of packets pass unchanged, if one says that it is not all.
    fn least_share(&self) -> Option<usize> {
        let share = |(i, hop): (usize, &Hop)| match hop.reason.as_ref()?.bound {
            Bound::Share(share) if share < 1.0 => Some((i, share)),
            _ => None,
        };
        let shares = self.trail.there.iter().enumerate().filter_map(share);
        shares.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(i, _)| i)
    }
}

/// Flows of arriving traffic, which are not sampled one by one, over one sampling interval.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingSample {
    /// End of the interval.
    pub at: Time,
    /// Its length.
    pub interval: Duration,
    /// Payload of theirs that arrived in the interval, as [`FlowSample::delivered`].
    pub delivered: Bytes,
}

/// A flow over one sampling interval.
#[derive(Clone, Copy, Debug)]
pub struct FlowSample {
    /// End of the interval.
    pub at: Time,
    /// Its length.
    pub interval: Duration,
    /// Which flow.
    pub flow: FlowId,
    /// Payload that arrived in the interval, in order or not, each byte counted once: what is held
    /// back behind a hole counts when it arrives, not all at once when the hole is filled.
    pub delivered: Bytes,
    /// Payload sent for the second time in the interval.
    pub retransmitted: Bytes,
    /// The law's window at the end of the interval, payload; [`Bytes::MAX`] where it has none, or
    /// none is known.
    pub window: Bytes,
    /// Payload outstanding at the end of the interval, where the sender can be asked.
    pub in_flight: Option<Bytes>,
    /// The receiver's window, as last advertised; [`Bytes::MAX`] where none is known.
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
    /// Its length.
    pub interval: Duration,
    /// Which link.
    pub link: LinkId,
    /// Share of the interval in which it was sending, 0 to 1. A link with a trace counts what each
    /// packet takes at the mean rate, which may be more than 1 where the trace is faster.
    pub busy: f64,
    /// Network-layer bytes sent in the interval.
    pub sent: Bytes,
    /// Packets waiting, mean over the interval, the one being sent not counted.
    pub queue_packets_mean: f64,
    /// Most packets waiting in the interval.
    pub queue_packets_max: u32,
    /// Bytes waiting, mean over the interval.
    pub queue_bytes_mean: f64,
    /// Most bytes waiting in the interval.
    pub queue_bytes_max: Bytes,
    /// Packets waiting at the end of the interval.
    pub queue_packets: u32,
    /// Bytes waiting at the end of the interval.
    pub queue_bytes: Bytes,
    /// Packets dropped in the interval, for whatever reason.
    pub drops: u64,
    /// Packets marked in the interval.
    pub marks: u64,
    /// How often the link was paused in the interval.
    pub pauses: u64,
    /// Share of the interval in which it was, 0 to 1.
    pub paused: f64,
}

impl LinkSample {
    /// What has happened at a link between two observations, the later one at `at`.
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
            sent: seen.sent_bytes - before.sent_bytes,
            queue_packets_mean: (seen.area_packets - before.area_packets) as f64 / ps,
            queue_packets_max: seen.peak_packets,
            queue_bytes_mean: (seen.area_bytes - before.area_bytes) as f64 / ps,
            queue_bytes_max: seen.peak_bytes,
            queue_packets: seen.waiting_packets,
            queue_bytes: seen.waiting_bytes,
            drops: seen.drops() - before.drops(),
            marks: seen.marked - before.marked,
            pauses: seen.pauses - before.pauses,
            paused: seen.paused.saturating_sub(before.paused).ps() as f64 / ps,
        }
    }
}

/// An overlay over one sampling interval.
#[derive(Clone, Copy, Debug)]
pub struct OverlaySample<'a> {
    /// End of the interval.
    pub at: Time,
    /// Its length.
    pub interval: Duration,
    /// Each group.
    pub groups: &'a [GroupSample],
    /// Each link.
    pub links: &'a [OverlayLinkSample],
    /// Each sending client.
    pub senders: &'a [SenderSample],
    /// Deliveries to nodes that messages paid for in the interval are owed.
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
    /// What it held at the end; `None` before it begins.
    pub money: Option<Dollars>,
    /// Time between its salaries at the end; `None` before it begins.
    pub period: Option<Duration>,
}

/// A link of an overlay over one sampling interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverlayLinkSample {
    /// Messages waiting at its node, mean over the interval.
    pub queue_mean: f64,
    /// Most messages waiting.
    pub queue_max: u64,
    /// What it cost at the end, as its node had last told.
    pub price: Dollars,
    /// Bytes of clients' messages that it took.
    pub data: Bytes,
    /// Bytes of what nodes tell each other that it took.
    pub control: Bytes,
}

/// A flow with an end has delivered everything.
#[derive(Clone, Copy, Debug)]
pub struct FlowCompleted {
    /// Which.
    pub flow: FlowId,
    /// Index into the run's laws.
    pub law: usize,
    /// Class of arriving traffic, by index; `None` for listed flows.
    pub traffic: Option<usize>,
    /// Payload.
    pub size: Bytes,
    /// When it started.
    pub start: Time,
    /// From the start to the last byte's arrival.
    pub took: Duration,
    /// What it would have taken alone: a round trip to open it, if it opens with a handshake, one
    /// propagation delay, and the transmission of every packet on the slowest link of its path.
    pub ideal: Duration,
    /// Payload sent for the second time.
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

/// A recorder that may be missing.
impl<R: Recorder> Recorder for Option<R> {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        if let Some(recorder) = self {
            recorder.flow_started(started);
        }
    }
    fn flow_sample(&mut self, sample: &FlowSample) {
        if let Some(recorder) = self {
            recorder.flow_sample(sample);
        }
    }
    fn arriving_sample(&mut self, sample: &ArrivingSample) {
        if let Some(recorder) = self {
            recorder.arriving_sample(sample);
        }
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        if let Some(recorder) = self {
            recorder.link_sample(sample);
        }
    }
    fn overlay_sample(&mut self, sample: &OverlaySample<'_>) {
        if let Some(recorder) = self {
            recorder.overlay_sample(sample);
        }
    }
    fn flow_completed(&mut self, completed: &FlowCompleted) {
        if let Some(recorder) = self {
            recorder.flow_completed(completed);
        }
    }
    fn packet(&mut self, seen: &PacketSeen) {
        if let Some(recorder) = self {
            recorder.packet(seen);
        }
    }
    fn frame(&mut self, seen: &CapturedFrame) {
        if let Some(recorder) = self {
            recorder.frame(seen);
        }
    }
    fn followed(&mut self, followed: &Followed) {
        if let Some(recorder) = self {
            recorder.followed(followed);
        }
    }
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.as_mut().map_or(ControlFlow::Continue(()), |recorder| recorder.progress(progress))
    }
}

/// Two recorders of one run, the first told first; either can end the run.
impl<A: Recorder, B: Recorder> Recorder for (A, B) {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        self.0.flow_started(started);
        self.1.flow_started(started);
    }
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.0.flow_sample(sample);
        self.1.flow_sample(sample);
    }
    fn arriving_sample(&mut self, sample: &ArrivingSample) {
        self.0.arriving_sample(sample);
        self.1.arriving_sample(sample);
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        self.0.link_sample(sample);
        self.1.link_sample(sample);
    }
    fn overlay_sample(&mut self, sample: &OverlaySample<'_>) {
        self.0.overlay_sample(sample);
        self.1.overlay_sample(sample);
    }
    fn flow_completed(&mut self, completed: &FlowCompleted) {
        self.0.flow_completed(completed);
        self.1.flow_completed(completed);
    }
    fn packet(&mut self, seen: &PacketSeen) {
        self.0.packet(seen);
        self.1.packet(seen);
    }
    fn frame(&mut self, seen: &CapturedFrame) {
        self.0.frame(seen);
        self.1.frame(seen);
    }
    fn followed(&mut self, followed: &Followed) {
        self.0.followed(followed);
        self.1.followed(followed);
    }
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        let (first, second) = (self.0.progress(progress), self.1.progress(progress));
        first?;
        second
    }
}
