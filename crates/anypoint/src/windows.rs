//! Receivers' windows, across the switch.

use ratewire_units::Bytes;

/// Treatment of the windows that receivers advertise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// No sender may send more than its receiver has room for: the peer gets the members' smallest
    /// window, each member an equal part of the peer's.
    Strict,
    /// Windows are not divided: the peer gets the members' largest window, each member the peer's
    /// whole window. Receivers hold their senders back by rate, or drop packets.
    Soft,
}

/// Windows that were last advertised.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    flow_control: FlowControl,
    payload: Bytes,
    members: Vec<Option<Bytes>>,
    for_peer: Bytes,
    peer: Bytes,
    /// Offset up to which the peer's window reaches.
    edge: u64,
}

impl Windows {
    pub(crate) fn new(flow_control: FlowControl, members: usize, payload: Bytes) -> Windows {
        let members = vec![None; members];
        let (for_peer, peer) = (Bytes::ZERO, Bytes::ZERO);
        Windows { flow_control, payload, members, for_peer, peer, edge: 0 }
    }

    /// Notes a member's window.
    pub(crate) fn set_member(&mut self, member: usize, window: Bytes) {
        if self.members[member] != Some(window) {
            self.members[member] = Some(window);
            self.update_for_peer();
        }
    }
    pub(crate) fn forget(&mut self, member: usize) {
        self.members[member] = None;
        self.update_for_peer();
    }

    /// Computes the window that the peer gets.
    fn update_for_peer(&mut self) {
        let known = self.members.iter().flatten().copied();
        self.for_peer = match self.flow_control {
            FlowControl::Strict => known.min(),
            FlowControl::Soft => known.max(),
        }
        .unwrap_or(Bytes::ZERO);
    }

    /// A member's last window; unlimited before the first.
    pub(crate) fn of_member(&self, member: usize) -> Bytes {
        self.members[member].unwrap_or(Bytes::MAX)
    }
    pub(crate) fn for_peer(&self) -> Bytes {
        self.for_peer
    }

    /// Notes the peer's window beyond `cumulative`; returns whether it reaches further than ever.
    pub(crate) fn set_peer(&mut self, cumulative: u64, window: Bytes) -> bool {
        self.peer = window;
        let edge = cumulative.saturating_add(window.get());
        let grown = edge > self.edge;
        self.edge = self.edge.max(edge);
        grown
    }

    /// Window for one of this many members: at least a packet, while there is room for one. The
    /// peer's window begins before what the peer has acknowledged, but not for good: `ahead` bytes
    /// of all members, and `own` of this one.
    pub(crate) fn for_member(&self, members: usize, ahead: Bytes, own: Bytes) -> Bytes {
        match self.flow_control {
            FlowControl::Soft => self.peer,
            FlowControl::Strict => {
                let room = self.peer.saturating_sub(ahead).get();
                let part = Bytes::new(room / members.max(1) as u64);
                part.max(self.payload.min(self.peer)) + own
            }
        }
    }
}
