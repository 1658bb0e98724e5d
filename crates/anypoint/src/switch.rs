//! The switch: packets in, packets out.

use ratewire_transport::{Ack, Segment};
use ratewire_units::{Bytes, Time};

use crate::config::SwitchConfig;
use crate::connection::{ActiveConnection, Idle};
use crate::packets::{FrameOf, Output, Side};
use crate::persistent::PersistentState;
use crate::routing::{Member, Routing};
use crate::windows::Windows;

/// One connection of a peer with an ensemble.
#[derive(Debug)]
pub struct Switch {
    persistent: PersistentState,
    /// Soft state of the connection, unless it is idle.
    connection: Option<Box<ActiveConnection>>,
    /// Remains of the connection: positions of its streams when it was last idle.
    rest: Idle,
    /// When a packet last passed.
    passed: Time,
    /// When to check whether the connection is idle.
    look_at: Time,
    /// Bytes of all gaps in the peer's stream.
    skipped: Bytes,
}

impl Switch {
    /// A switch whose members are all up.
    pub fn new(config: SwitchConfig, routing: Box<dyn Routing>) -> Switch {
        let count = config.members;
        let config = SwitchConfig { frame: config.frame.max(Bytes::new(1)), ..config };
        Switch {
            connection: None,
            rest: Idle::new(count),
            persistent: PersistentState {
                windows: Windows::new(config.flow_control, count, config.payload),
                config,
                routing,
                members: vec![Member { is_up: true, ..Member::default() }; count],
                up: count,
                skipped: vec![Bytes::ZERO; count],
            },
            passed: Time::ZERO,
            look_at: Time::NEVER,
            skipped: Bytes::ZERO,
        }
    }

    /// Payload of the peer's stream that members have acknowledged.
    pub fn acknowledged_inbound(&self) -> Bytes {
        let rest = self.rest.inbound.below(0);
        self.connection.as_ref().map_or(rest, |connection| connection.inbound.acknowledged(0))
    }
    /// Payload of a member's stream that the peer has acknowledged.
    pub fn acknowledged_outbound(&self, member: usize) -> Bytes {
        let rest = self.rest.outbound.below(member);
        self.connection.as_ref().map_or(rest, |connection| connection.outbound.acknowledged(member))
    }
    /// Offset below which the whole stream from that side is acknowledged for good.
    pub fn acknowledged_below(&self, from: Side) -> u64 {
        match (&self.connection, from) {
            (Some(connection), Side::Peer) => connection.inbound.below(0),
            (Some(connection), Side::Member(k)) => connection.outbound.below(k),
            (None, Side::Peer) => self.rest.inbound.below[0],
            (None, Side::Member(k)) => self.rest.outbound.below[k],
        }
    }
    /// Offset at which the stream to that side continues.
    pub fn next_offset(&self, to: Side) -> u64 {
        match (&self.connection, to) {
            (Some(connection), Side::Peer) => connection.outbound.next(0),
            (Some(connection), Side::Member(k)) => connection.inbound.next(k),
            (None, Side::Peer) => self.rest.outbound.ends[0],
            (None, Side::Member(k)) => self.rest.inbound.ends[k],
        }
    }
    /// Payload on its way to the peer, or to a member.
    pub fn outstanding(&self, to: Side) -> Bytes {
        match (&self.connection, to) {
            (Some(connection), Side::Peer) => connection.outbound.outstanding(0),
            (Some(connection), Side::Member(k)) => connection.inbound.outstanding(k),
            (None, Side::Peer) => self.rest.outbound.outstanding(0),
            (None, Side::Member(k)) => self.rest.inbound.outstanding(k),
        }
    }
    /// Payload of the streams to that side that stayed empty. In the peer's stream, failed members
    /// had sent it and nobody sends it again; in a member's stream, it went to another member.
    pub fn skipped(&self, to: Side) -> Bytes {
        match to {
            Side::Peer => self.skipped,
            Side::Member(k) => self.persistent.skipped[k],
        }
    }
    /// Number of ranges kept: all state that grows with outstanding data.
    pub fn remembered(&self) -> usize {
        match &self.connection {
            Some(connection) => connection.inbound.len() + connection.outbound.len(),
            None => self.rest.inbound.len() + self.rest.outbound.len(),
        }
    }
    /// Network-layer size of a packet with this payload.
    pub fn size(&self, payload: Bytes) -> Bytes {
        self.persistent.size(payload)
    }
    /// Whether only positions of streams are known: nothing has passed yet, or not for long.
    pub fn is_idle(&self) -> bool {
        self.connection.is_none()
    }

    /// Handles a packet from a sender. `marked` says whether the packet was marked on its path.
    pub fn on_segment(
        &mut self,
        now: Time,
        from: Side,
        segment: &Segment,
        frame: FrameOf<'_>,
        marked: bool,
        out: &mut Vec<Output>,
    ) {
        if self.knows(from) {
            let (connection, persistent) = self.wake(now);
            connection.on_segment(persistent, now, from, segment, frame, marked, out);
        }
    }

    /// Whether data of the peer must wait because data before it is missing: the routing module
    /// reads frames, and those that are missing could not keep their place. Whoever has the bytes
    /// keeps them, calls [`Switch::hold`] and gives them in order.
    pub fn must_wait(&self, offset: u64) -> bool {
        let placed = match &self.connection {
            Some(connection) => connection.inbound.placed(0),
            None => self.rest.inbound.below[0],
        };
        self.persistent.routing.reads_content() && offset > placed
    }

    /// Acknowledges to the peer that data which must wait has come. The peer sends it again if that
    /// was in vain, as after any selective acknowledgement.
    pub fn hold(&mut self, now: Time, start: u64, end: u64, out: &mut Vec<Output>) {
        let (connection, persistent) = self.wake(now);
        connection.hold(persistent, start, end, out);
    }

    /// Notes that data which was held is about to be given to [`Switch::on_segment`], or is
    /// dropped.
    pub fn release(&mut self, start: u64, end: u64) {
        if let Some(connection) = &mut self.connection {
            connection.inbound.retract_received(0, start, end);
        }
    }

    /// Handles an acknowledgement from a receiver.
    pub fn on_ack(&mut self, now: Time, from: Side, ack: &Ack, out: &mut Vec<Output>) {
        if self.knows(from) {
            let (connection, persistent) = self.wake(now);
            connection.on_ack(persistent, now, from, ack, out);
        }
    }

    /// Whether packets from a side count: not those of a member that is down.
    fn knows(&self, from: Side) -> bool {
        match from {
            Side::Peer => true,
            Side::Member(k) => self.persistent.members[k].is_up,
        }
    }

    /// When to call [`Switch::on_timer`]; [`Time::NEVER`] if something has to arrive first.
    pub fn deadline(&self) -> Time {
        self.connection.as_ref().map_or(Time::NEVER, |c| c.close_again.min(self.look_at))
    }

    /// Does what is due; call it at [`Switch::deadline`].
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Output>) {
        let Some(connection) = &mut self.connection else { return };
        if now >= connection.close_again {
            connection.close_gaps(now, out);
        }
        if now < self.look_at {
            return;
        }
        let idle_expiry = self.persistent.config.idle_expiry;
        let expires = self.passed + idle_expiry;
        if now < expires {
            self.look_at = expires;
        } else if let Some(rest) = connection.rest() {
            self.rest = rest;
            self.connection = None;
        } else {
            self.look_at = now + idle_expiry;
        }
    }

    /// Handles a member's failure. Its unacknowledged data goes to other members as soon as the
    /// peer sends it again; data that it sent and that did not arrive is skipped.
    pub fn fail(&mut self, now: Time, member: usize, out: &mut Vec<Output>) {
        let before = core::mem::take(&mut self.persistent.members[member]);
        self.persistent.up -= usize::from(before.is_up);
        let (connection, persistent) = self.wake(now);
        let skipped = connection.fail(persistent, now, member, out);
        self.skipped += skipped;
    }

    /// Brings a member back, with new streams both ways.
    pub fn recover(&mut self, member: usize) {
        self.persistent.up += usize::from(!self.persistent.members[member].is_up);
        self.persistent.members[member].is_up = true;
    }

    /// The connection, set up if need be, for an event at this time.
    fn wake(&mut self, now: Time) -> (&mut ActiveConnection, &mut PersistentState) {
        self.passed = now;
        let config = &self.persistent.config;
        let connection = self.connection.get_or_insert_with(|| {
            self.look_at = now + config.idle_expiry;
            Box::new(ActiveConnection::new(config, &self.rest))
        });
        (connection, &mut self.persistent)
    }
}
