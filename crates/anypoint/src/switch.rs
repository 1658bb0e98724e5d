//! The switch: packets in, packets out.

use ratewire_laws::junction::Junction;
use ratewire_laws::{AnyLaw, Header};
use ratewire_transport::{Ack, Segment, SegmentKind};
use ratewire_units::{Bytes, Duration, Throughput, Time};

use crate::merge::Merge;
use crate::relay::{Fresh, Place, Relay, Sent};
use crate::routing::{Frame, Member, Routing};
use crate::split::Split;
use crate::windows::{FlowControl, Windows};

/// How long a gap that a failed member has left waits to be closed again.
const CLOSE_AGAIN: Duration = Duration::from_millis(200);

/// What a switch is to do.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// The law of the connection: its headers are split and merged.
    pub law: AnyLaw,
    /// How many members the ensemble has.
    pub members: usize,
    /// Payload of a frame: what is routed as one.
    pub frame: Bytes,
    /// Payload of a full packet.
    pub payload: Bytes,
    /// Network-layer size of a full packet.
    pub packet: Bytes,
    /// What becomes of receivers' windows.
    pub flow_control: FlowControl,
    /// Part of the members' traffic that is moved between them in a round trip, towards equal rates.
    /// XCP moves 0.1 between flows (SIGCOMM 2002, gamma); the paper's switch 0.
    pub shuffle: f64,
}

/// A neighbour of the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Whom the ensemble appears to as one.
    Peer,
    /// A member of the ensemble, by index.
    Member(usize),
}

/// A packet that leaves the switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Output {
    /// Data.
    Segment(Side, Segment),
    /// Says that a range of the peer's stream will stay empty: it counts as arrived, and carries nothing.
    Skip(Segment),
    /// An acknowledgement.
    Ack(Side, Ack),
}

/// One connection of a peer with an ensemble.
#[derive(Debug)]
pub struct Switch {
    law: AnyLaw,
    frame: u64,
    payload: u64,
    routing: Box<dyn Routing>,
    members: Vec<Member>,
    /// How many of them are up.
    up: usize,
    inbound: Relay,
    split: Split,
    outbound: Relay,
    merge: Merge,
    windows: Windows,
    /// The peer has asked to open, and these have not answered yet.
    unanswered: Vec<bool>,
    /// These members have asked: to open, and whether there is room.
    opening: Vec<bool>,
    asking: Vec<bool>,
    /// When gaps in the peer's stream are closed again; [`Time::NEVER`] while there are none.
    close_again: Time,
    /// What the gaps came to.
    skipped: Bytes,
    /// The headers that acknowledgements carried last, for those that the switch makes itself.
    last_header: [Header; 2],
    fresh: Vec<Fresh>,
}

/// Which of the two last headers.
const INBOUND: usize = 0;
const OUTBOUND: usize = 1;

impl Switch {
    /// A switch whose members are all up.
    pub fn new(config: SwitchConfig, routing: Box<dyn Routing>) -> Switch {
        let SwitchConfig { law, members: count, frame, payload, packet, flow_control, shuffle } =
            config;
        let frame = frame.max(Bytes::new(1));
        Switch {
            frame: frame.get(),
            payload: payload.get(),
            routing,
            members: vec![Member { is_up: true, outstanding: Bytes::ZERO }; count],
            up: count,
            inbound: Relay::inbound(count),
            split: Split::new(&law, count, packet, frame),
            outbound: Relay::outbound(count),
            merge: Merge::new(&law, count, packet, shuffle),
            windows: Windows::new(flow_control, count, payload),
            unanswered: vec![false; count],
            opening: vec![false; count],
            asking: vec![false; count],
            close_again: Time::NEVER,
            skipped: Bytes::ZERO,
            last_header: [Header::None; 2],
            fresh: Vec::new(),
            law,
        }
    }

    /// Payload of the peer's stream that members have acknowledged.
    pub fn acknowledged_inbound(&self) -> Bytes {
        self.inbound.acknowledged(0)
    }
    /// Payload of a member's stream that the peer has acknowledged.
    pub fn acknowledged_outbound(&self, member: usize) -> Bytes {
        self.outbound.acknowledged(member)
    }
    /// Payload on its way to the peer, or to a member.
    pub fn outstanding(&self, to: Side) -> Bytes {
        match to {
            Side::Peer => self.outbound.outstanding(0),
            Side::Member(k) => self.inbound.outstanding(k),
        }
    }
    /// Payload of the peer's stream that stayed empty: failed members had sent it and nobody sends it
    /// again.
    pub fn skipped(&self) -> Bytes {
        self.skipped
    }
    /// Ranges that are remembered: all the state that grows with what is outstanding.
    pub fn remembered(&self) -> usize {
        self.inbound.len() + self.outbound.len()
    }

    /// A packet has come from a sender; `content` is what the frame it belongs to begins with, `marked`
    /// whether it was marked on the way.
    pub fn on_segment(
        &mut self,
        now: Time,
        from: Side,
        segment: &Segment,
        content: &[u8],
        marked: bool,
        out: &mut Vec<Output>,
    ) {
        match (from, segment.kind) {
            (Side::Peer, SegmentKind::Open) => self.open_inbound(segment, out),
            (Side::Peer, _) if segment.payload == Bytes::ZERO => self.probe_inbound(segment, out),
            (Side::Peer, _) => self.inbound_data(now, segment, content, marked, out),
            (Side::Member(k), _) if !self.members[k].is_up => {}
            (Side::Member(k), SegmentKind::Open) => {
                self.opening[k] = true;
                let mut segment = *segment;
                self.merge.data(now, &self.law, k, &mut segment.header);
                out.push(Output::Segment(Side::Peer, segment));
            }
            (Side::Member(k), _) => self.outbound_data(now, k, segment, marked, out),
        }
    }

    /// An acknowledgement has come from a receiver.
    pub fn on_ack(&mut self, now: Time, from: Side, ack: &Ack, out: &mut Vec<Output>) {
        match from {
            Side::Peer => self.outbound_ack(now, ack, out),
            Side::Member(k) if self.members[k].is_up => self.inbound_ack(k, ack, out),
            Side::Member(_) => {}
        }
    }

    /// When [`Switch::on_timer`] wants to be called; [`Time::NEVER`] if something has to arrive first.
    pub fn deadline(&self) -> Time {
        self.close_again
    }

    /// Called at [`Switch::deadline`].
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Output>) {
        if now >= self.close_again {
            self.close_gaps(now, out);
        }
    }

    /// A member has failed. What it has not acknowledged goes to others as soon as the peer sends it
    /// again; what it had sent and did not arrive is skipped.
    pub fn fail(&mut self, now: Time, member: usize, out: &mut Vec<Output>) {
        let before = core::mem::replace(
            &mut self.members[member],
            Member { is_up: false, outstanding: Bytes::ZERO },
        );
        self.up -= usize::from(before.is_up);
        self.inbound.drop_target(member);
        self.outbound.drop_source(member);
        self.split.forget(member);
        self.merge.forget(member);
        self.windows.forget(member);
        self.opening[member] = false;
        self.asking[member] = false;
        let gaps = self.outbound.abandoned(0).iter().map(|(from, to)| to - from).sum();
        self.skipped += Bytes::new(gaps);
        self.close_gaps(now, out);
        if core::mem::take(&mut self.unanswered[member]) && !self.unanswered.contains(&true) {
            self.answer_open(Header::None, out);
        }
    }

    /// A member is there again, with new streams both ways.
    pub fn recover(&mut self, member: usize) {
        self.up += usize::from(!self.members[member].is_up);
        self.members[member].is_up = true;
    }

    fn members_up(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|k| self.members[*k].is_up).collect()
    }

    // Inbound.

    /// All members are asked, and the peer is answered when all have answered.
    fn open_inbound(&mut self, segment: &Segment, out: &mut Vec<Output>) {
        for k in self.members_up() {
            self.unanswered[k] = true;
            let mut segment = *segment;
            self.split.open(&self.law, k, &mut segment.header);
            out.push(Output::Segment(Side::Member(k), segment));
        }
    }

    fn answer_open(&mut self, header: Header, out: &mut Vec<Output>) {
        let ack = self.ack_to_peer(header, false);
        out.push(Output::Ack(Side::Peer, Ack { opens: true, ..ack }));
    }

    /// The peer asks whether there is room: who has least knows.
    fn probe_inbound(&mut self, segment: &Segment, out: &mut Vec<Output>) {
        let up = self.members_up().into_iter();
        if let Some(k) = up.min_by_key(|k| self.windows.of_member(*k)) {
            let segment = Segment { offset: self.inbound.next(k), ..*segment };
            out.push(Output::Segment(Side::Member(k), segment));
        }
    }

    fn inbound_data(
        &mut self,
        now: Time,
        segment: &Segment,
        content: &[u8],
        marked: bool,
        out: &mut Vec<Output>,
    ) {
        let Segment { offset, payload, .. } = *segment;
        if self.inbound.is_acknowledged(0, offset, offset.saturating_add(payload.get())) {
            let ack = self.ack_to_peer(self.last_header[INBOUND], false);
            out.push(Output::Ack(Side::Peer, ack));
            return;
        }
        // Whole to one member; but a packet that is not where one is expected to begin may have parts with
        // places of their own.
        let (mut offset, end) = (offset, offset.saturating_add(payload.get()));
        while offset < end {
            let known = self.inbound.find(0, offset);
            let Some(place) = known.or_else(|| self.route(offset, end, content)) else { return };
            let (k, at) = (place.target as usize, place.at + (offset - place.start));
            let payload = Bytes::new(place.end.min(end) - offset);
            let mut segment = Segment { offset: at, payload, ..*segment };
            let wish = self.split.data(now, &self.law, k, payload, &mut segment.header);
            self.inbound.note(k, at, Sent { payload: payload.get() as u32, wish, marked });
            out.push(Output::Segment(Side::Member(k), segment));
            offset += payload.get();
        }
    }

    /// Gives the frame of the packet from `offset` to `end` a place, and those before it that were lost on
    /// their way here, if the module can tell where they go: so that each member's order is the peer's.
    fn route(&mut self, offset: u64, end: u64, content: &[u8]) -> Option<Place> {
        // A frame of several packets is where its number says, one of a packet is the packet: in the
        // stream of a merging switch it may begin anywhere.
        let start = if self.frame > self.payload { offset - offset % self.frame } else { offset };
        let end =
            if self.frame > self.payload { end.max(start.saturating_add(self.frame)) } else { end };
        if !self.routing.reads_content() {
            let mut lost = self.inbound.placed(0);
            while lost < start {
                let next = (lost - lost % self.frame).saturating_add(self.frame).min(start);
                self.place(lost, next, &[])?;
                lost = next;
            }
        }
        self.place(start, end, content)?;
        self.inbound.find(0, offset)
    }

    fn place(&mut self, start: u64, end: u64, content: &[u8]) -> Option<()> {
        let frame = Frame { number: start / self.frame, content };
        let k = self.routing.route(&frame, &self.members)?;
        self.inbound.place(0, start, end, k);
        self.members[k].outstanding = self.inbound.outstanding(k);
        Some(())
    }

    fn inbound_ack(&mut self, k: usize, ack: &Ack, out: &mut Vec<Output>) {
        self.windows.set_member(k, ack.window);
        let mut header = ack.header;
        if ack.opens {
            self.split.acknowledge(&self.law, k, 0.0, &mut header);
            self.unanswered[k] = false;
            if !self.unanswered.contains(&true) {
                self.answer_open(header, out);
            }
            return;
        }
        let mut fresh = core::mem::take(&mut self.fresh);
        self.inbound.acknowledge(k, ack, &mut fresh);
        self.members[k].outstanding = self.inbound.outstanding(k);
        let (wish, marked) = fresh.first().map_or((0.0, false), |f| (f.wish, f.marked));
        self.fresh = fresh;
        self.split.acknowledge(&self.law, k, wish, &mut header);
        self.last_header[INBOUND] = header;
        if let (Junction::Changes, Some(change)) = (self.law.junction(), self.law.fed_back(&header))
        {
            self.inbound.hold(0, change.get());
        }
        out.push(Output::Ack(Side::Peer, self.ack_to_peer(header, ack.marked || marked)));
    }

    /// To the peer all below is acknowledged that no member still owes.
    fn ack_to_peer(&mut self, mut header: Header, marked: bool) -> Ack {
        let (sack, told) = self.inbound.sack(0);
        if self.law.junction() == Junction::Changes {
            let change = Throughput::new(self.inbound.release(0, told));
            self.law.feed_back(&mut header, change);
        }
        Ack {
            opens: false,
            cumulative: self.inbound.below(0),
            window: self.windows.for_peer(),
            sack,
            marked,
            header,
        }
    }

    // Outbound.

    fn outbound_data(
        &mut self,
        now: Time,
        k: usize,
        segment: &Segment,
        marked: bool,
        out: &mut Vec<Output>,
    ) {
        let Segment { offset, payload, .. } = *segment;
        let end = offset.saturating_add(payload.get());
        if payload == Bytes::ZERO {
            self.asking[k] = true;
            let segment = Segment { offset: self.outbound.next(0), ..*segment };
            out.push(Output::Segment(Side::Peer, segment));
            return;
        }
        if self.outbound.is_acknowledged(k, offset, end) {
            let ack = self.ack_to_member(k, self.last_header[OUTBOUND], false);
            out.push(Output::Ack(Side::Member(k), ack));
            return;
        }
        // What was lost on its way here keeps a place, so that the peer gets each member's data in order.
        let placed = self.outbound.placed(k).max(self.outbound.below(k));
        if end > placed {
            if offset > placed {
                self.outbound.place(k, placed, offset, 0);
            }
            self.outbound.place(k, offset.max(placed), end, 0);
        }
        let Some(place) = self.outbound.find(k, offset) else { return };
        let at = place.at + (offset - place.start);
        let mut segment = Segment { offset: at, ..*segment };
        let wish = self.merge.data(now, &self.law, k, &mut segment.header);
        self.outbound.note(0, at, Sent { payload: payload.get() as u32, wish, marked });
        out.push(Output::Segment(Side::Peer, segment));
    }

    fn outbound_ack(&mut self, now: Time, ack: &Ack, out: &mut Vec<Output>) {
        let grown = self.windows.set_peer(ack.cumulative, ack.window);
        let mut fresh = core::mem::take(&mut self.fresh);
        self.outbound.acknowledge(0, ack, &mut fresh);
        self.merge.acknowledge(now, &self.law, &fresh, &ack.header);
        self.last_header[OUTBOUND] = ack.header;
        if ack.opens {
            for k in self.members_up() {
                if !core::mem::take(&mut self.opening[k]) {
                    continue;
                }
                let ack = self.ack_to_member(k, ack.header, ack.marked);
                out.push(Output::Ack(Side::Member(k), Ack { opens: true, ..ack }));
            }
        }
        for one in &fresh {
            let marked = ack.marked || one.marked;
            let ack = self.ack_to_member(one.source, ack.header, marked);
            out.push(Output::Ack(Side::Member(one.source), ack));
        }
        // News of nothing but room concerns all, an answer who asked.
        if fresh.is_empty() && !ack.opens {
            for k in self.members_up() {
                if grown || self.asking[k] {
                    let ack = self.ack_to_member(k, self.last_header[OUTBOUND], false);
                    out.push(Output::Ack(Side::Member(k), ack));
                }
            }
        }
        self.fresh = fresh;
        if self.close_again != Time::NEVER && self.outbound.abandoned(0).is_empty() {
            self.close_again = Time::NEVER;
        }
    }

    fn ack_to_member(&mut self, k: usize, mut header: Header, marked: bool) -> Ack {
        self.asking[k] = false;
        self.merge.feed_back(&self.law, k, &mut header);
        Ack {
            opens: false,
            cumulative: self.outbound.below(k),
            window: self.windows.for_member(self.up),
            sack: self.outbound.sack(k).0,
            marked,
            header,
        }
    }

    /// Tells the peer not to wait for what failed members had sent and what did not arrive.
    fn close_gaps(&mut self, now: Time, out: &mut Vec<Output>) {
        let gaps = self.outbound.abandoned(0);
        self.close_again = if gaps.is_empty() { Time::NEVER } else { now + CLOSE_AGAIN };
        let kind = SegmentKind::Data { again: true };
        out.extend(gaps.into_iter().map(|(from, to)| {
            let payload = Bytes::new(to - from);
            Output::Skip(Segment { kind, offset: from, payload, header: Header::None })
        }));
    }
}
