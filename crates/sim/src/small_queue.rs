//! TCP Small Queues: hosts hold a sender back while its packets fill their own queue.
//!
//! A window must not fill the queue of its own host's link, which is inside the host and would have
//! room without end. The sender therefore waits while that queue has enough of its packets; the one
//! in transmission does not count. It learns of them in one of two ways ([`Knowledge`]).

use ratewire_net::spec::{DriverSpec, LinkSpec};

/// How a flow learns of its packets in the queue of its host's own link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knowledge {
    /// The flow does not keep its queue small.
    Unneeded,
    /// A plain link foretells when each packet starts, so a sender that waits needs a timer, and
    /// the link no event. Once a step has changed the link, the flow looks at its queue.
    Foretold,
    /// The flow looks at the queue of a link with a discipline, a trace, a shared medium or
    /// changes, and looks again when a packet has left.
    Seen,
}

/// Whether a host can hold back its senders by what is in the queue of its own link: sockets do not
/// wait there in another way, and the far end does not pause the link.
pub(crate) fn is_possible(own: &LinkSpec) -> bool {
    own.driver == DriverSpec::default() && own.pause.is_none()
}
