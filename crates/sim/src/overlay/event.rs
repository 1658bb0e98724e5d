//! Events of an overlay, and what follows from them.

use std::ops::Range;

use ratewire_overlay::EdgeId;
use ratewire_units::Time;

/// An overlay event at a time that was set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OverlayEvent {
    /// A node's timer.
    Node(u32),
    Start(u32),
    Stop(u32),
    /// A client joins or leaves.
    Change(u32),
    Fault(u32),
    /// The ends of a cut link notice: the link, and the number of the connection.
    Notice(EdgeId, u32),
}

/// What is to be done after an event, in this order.
#[derive(Debug, Default)]
pub(crate) struct Consequences {
    /// Flows whose connections have ended.
    pub(crate) close: Vec<usize>,
    /// Flows of new connections.
    pub(crate) open: Vec<usize>,
    /// An event that is to come.
    pub(crate) later: Option<(Time, OverlayEvent)>,
    /// Nodes that may have something to deliver and to send.
    pub(crate) nodes: Range<usize>,
}
