//! The soft state of a connection. A packet that passes creates it; a long silence drops it.

mod inbound;
mod outbound;

use ratewire_laws::Header;
use ratewire_transport::{Ack, Segment, SegmentKind};
use ratewire_units::{Bytes, Duration, Time};

use crate::config::SwitchConfig;
use crate::merge::Merge;
use crate::packets::{FrameOf, Output, Side};
use crate::persistent::PersistentState;
use crate::relay::{NewlyAcked, Relay, StreamPositions};
use crate::split::Split;

/// Delay before a gap that a failed member has left is closed again.
const CLOSE_AGAIN: Duration = Duration::from_millis(200);

/// Index of the last headers by direction.
const INBOUND: usize = 0;
const OUTBOUND: usize = 1;

/// State of a connection while packets pass.
#[derive(Debug)]
pub(crate) struct ActiveConnection {
    pub(crate) inbound: Relay,
    split: Split,
    pub(crate) outbound: Relay,
    merge: Merge,
    /// Members that have not answered the peer's request to open.
    unanswered: Vec<bool>,
    /// Members that have asked, either to open or for room.
    opening: Vec<bool>,
    asking: Vec<bool>,
    /// When gaps in the peer's stream are closed again; [`Time::NEVER`] without gaps.
    pub(crate) close_again: Time,
    /// Last headers of acknowledgements, for acknowledgements that the switch makes itself.
    last_header: [Header; 2],
    newly_acked: Vec<NewlyAcked>,
    /// Frames of their own sizes that have got their places.
    placed: u64,
}

/// The remains of an idle connection. No other party knows them: the peer's next packet does not
/// state where a member's stream continues.
#[derive(Clone, Debug)]
pub(crate) struct Idle {
    pub(crate) inbound: StreamPositions,
    pub(crate) outbound: StreamPositions,
}

impl Idle {
    /// Before a packet has passed.
    pub(crate) fn new(members: usize) -> Idle {
        Idle {
            inbound: StreamPositions::new(1, members),
            outbound: StreamPositions::new(members, 1),
        }
    }
}

impl ActiveConnection {
    pub(crate) fn new(config: &SwitchConfig, idle: &Idle) -> ActiveConnection {
        let &SwitchConfig { ref law, members, frame, packet, transforms, .. } = config;
        ActiveConnection {
            inbound: Relay::inbound(&idle.inbound),
            split: Split::new(law, members, packet, frame, transforms),
            outbound: Relay::outbound(&idle.outbound, config.peer_spreads),
            merge: Merge::new(law, members, packet, transforms),
            unanswered: vec![false; members],
            opening: vec![false; members],
            asking: vec![false; members],
            close_again: Time::NEVER,
            last_header: [Header::None; 2],
            newly_acked: Vec::new(),
            placed: 0,
        }
    }

    /// The remains if the connection is forgotten now; `None` while some party owes data or waits
    /// for an answer.
    pub(crate) fn rest(&self) -> Option<Idle> {
        let mut waiting = self.unanswered.iter().chain(&self.opening).chain(&self.asking);
        if waiting.any(|waits| *waits) {
            return None;
        }
        Some(Idle {
            inbound: self.inbound.idle_positions()?,
            outbound: self.outbound.idle_positions()?,
        })
    }

    #[expect(clippy::too_many_arguments, reason = "a packet, and where it is")]
    pub(crate) fn on_segment(
        &mut self,
        persistent: &mut PersistentState,
        now: Time,
        from: Side,
        segment: &Segment,
        frame: FrameOf<'_>,
        marked: bool,
        out: &mut Vec<Output>,
    ) {
        match (from, segment.kind) {
            (Side::Peer, SegmentKind::Open) => self.open_inbound(persistent, segment, out),
            (Side::Peer, _) if segment.payload == Bytes::ZERO => {
                self.probe_inbound(persistent, segment, out);
            }
            (Side::Peer, _) => self.inbound_data(persistent, now, segment, frame, marked, out),
            (Side::Member(k), SegmentKind::Open) => {
                self.opening[k] = true;
                let mut segment = *segment;
                let size = persistent.size(Bytes::ZERO);
                self.merge.data(now, persistent.law(), k, size, &mut segment.header);
                out.push(Output::Segment(Side::Peer, segment));
            }
            (Side::Member(k), _) => {
                self.outbound_data(persistent, now, k, segment, frame, marked, out);
            }
        }
    }

    pub(crate) fn on_ack(
        &mut self,
        persistent: &mut PersistentState,
        now: Time,
        from: Side,
        ack: &Ack,
        out: &mut Vec<Output>,
    ) {
        match from {
            Side::Peer => self.outbound_ack(persistent, now, ack, out),
            Side::Member(k) => self.inbound_ack(persistent, now, k, ack, out),
        }
    }

    /// Handles a member's failure. Returns how much of the peer's stream stays empty.
    pub(crate) fn fail(
        &mut self,
        persistent: &mut PersistentState,
        now: Time,
        member: usize,
        out: &mut Vec<Output>,
    ) -> Bytes {
        self.inbound.drop_target(member);
        self.outbound.drop_source(member);
        self.split.forget(member);
        self.merge.forget(member);
        persistent.windows.forget(member);
        self.opening[member] = false;
        self.asking[member] = false;
        let gaps = self.outbound.abandoned(0).iter().map(|(from, to)| to - from).sum();
        self.close_gaps(now, out);
        if core::mem::take(&mut self.unanswered[member]) && !self.unanswered.contains(&true) {
            self.answer_open(persistent, Header::None, out);
        }
        Bytes::new(gaps)
    }

    /// Has the peer skip data that failed members sent and that did not arrive.
    pub(crate) fn close_gaps(&mut self, now: Time, out: &mut Vec<Output>) {
        let gaps = self.outbound.abandoned(0);
        self.close_again = if gaps.is_empty() { Time::NEVER } else { now + CLOSE_AGAIN };
        out.extend(gaps.into_iter().map(|(from, to)| Output::skip(Side::Peer, from, to)));
    }
}
