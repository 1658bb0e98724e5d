//! Packets and events at a switch.

use ratewire_anypoint::{Output, Side};
use ratewire_laws::Header;
use ratewire_net::{Body, Content};
use ratewire_transport::{Ack, Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Time};

use super::Junctions;

/// The switch at the end of an edge, and the side of the switch that the edge is at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) switch: u32,
    side: Side,
}

impl Junctions {
    /// The switch at which packets of an edge arrive; `None` if they arrive at a host.
    #[inline]
    pub(crate) fn place(&self, flow: u32, is_ack: bool) -> Option<Place> {
        let ends = self.ends(flow);
        let (switch, side) = if is_ack { ends.from } else { ends.to }?;
        Some(Place { switch, side })
    }

    /// Processes a packet that has arrived at a switch. What the switch sends comes after it in
    /// [`Junctions::out`].
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Time,
        at: Place,
        content: &Content,
        ack: Option<&Ack>,
        marked: bool,
    ) {
        let (junction, side) = (&mut self.list[at.switch as usize], at.side);
        if let Some(ack) = ack {
            return junction.switch.on_ack(now, side, ack, &mut self.out);
        }
        let segment = segment(&content.body, content.header);
        let key = match side {
            Side::Peer => junction.keys.content(segment.offset / junction.frame),
            Side::Member(_) => [0; 8],
        };
        junction.switch.on_segment(now, side, &segment, key[..].into(), marked, &mut self.out);
    }

    /// The flow of an output of a switch.
    #[inline]
    pub(crate) fn flow_of(&self, switch: u32, output: &Output) -> Option<u32> {
        let junction = &self.list[switch as usize];
        match *output {
            Output::Segment(side, _) | Output::Skip(side, _) => match side {
                Side::Peer => junction.peer.outbound,
                Side::Member(k) => junction.members[k].inbound,
            },
            Output::Ack(Side::Peer, _) => junction.peer.inbound,
            Output::Ack(Side::Member(k), _) => junction.members[k].outbound,
        }
    }

    /// The output of a switch that takes the place of the followed packet, sent in flow `followed`.
    #[cold]
    pub(crate) fn continues(
        &self,
        switch: u32,
        is_ack: bool,
        followed: Option<u32>,
    ) -> Option<usize> {
        let is_data = |output: &Output| matches!(output, Output::Segment(..));
        let is_for_it =
            |output: &Output| followed.is_some() && self.flow_of(switch, output) == followed;
        let out = &self.out;
        let data = (!is_ack).then(|| out.iter().position(is_data)).flatten();
        let ack = || out.iter().position(|output| !is_data(output) && is_for_it(output));
        data.or_else(ack).or_else(|| (!out.is_empty()).then_some(0))
    }

    /// Sets a switch's timer; returns the time if it is earlier than before.
    pub(crate) fn next_timer(&mut self, switch: u32) -> Option<Time> {
        let junction = &mut self.list[switch as usize];
        let due = junction.switch.deadline();
        (due < junction.timer_at).then(|| {
            junction.timer_at = due;
            due
        })
    }

    /// Handles the due timer of a switch.
    pub(crate) fn on_timer(&mut self, now: Time, switch: u32) {
        let junction = &mut self.list[switch as usize];
        junction.timer_at = Time::NEVER;
        junction.switch.on_timer(now, &mut self.out);
    }

    /// Both flows of a member's edge.
    pub(crate) fn edge(&self, switch: u32, member: u32) -> impl Iterator<Item = u32> + use<> {
        let edge = self.list[switch as usize].members[member as usize];
        [edge.inbound, edge.outbound].into_iter().flatten()
    }

    /// A member has failed, and its flows have ended.
    pub(crate) fn fail(&mut self, now: Time, switch: u32, member: u32) {
        self.list[switch as usize].switch.fail(now, member as usize, &mut self.out);
    }

    /// A member has recovered, and its flows are about to start again.
    pub(crate) fn recover(&mut self, switch: u32, member: u32) {
        self.list[switch as usize].switch.recover(member as usize);
    }
}

fn segment(body: &Body, header: Header) -> Segment {
    let (kind, offset, payload, stamp) = match *body {
        Body::Data { offset, payload, stamp } => {
            (SegmentKind::Data { again: false }, offset, payload, stamp)
        }
        Body::Open | Body::Ack { .. } | Body::Kept(_) => (SegmentKind::Open, 0, 0, Stamp::NONE),
    };
    Segment { kind, offset, payload: Bytes::new(u64::from(payload)), stamp, header }
}
