//! Overlays: nodes of `ratewire-overlay` on hosts, whose links are flows of this engine.
//!
//! A link takes a message from its queue when its connection could send it, so that what waits,
//! waits where it is priced; a connection holds less than a packet of what was never sent. A
//! message is at the far end when the last of its bytes is there in order. Clients are not hosts of
//! the network: each is a line of some rate to its node, which is all that their node sees of them.

pub mod optimum;
mod running;
pub mod spec;
mod tally;
mod workload;

pub(crate) use running::Running;
#[doc(hidden)]
pub use workload::workload;
