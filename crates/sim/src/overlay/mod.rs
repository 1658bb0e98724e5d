//! Overlays: daemons of `ratewire-overlay` on hosts, whose links are flows of this engine.
//!
//! A link takes a message from its queue when its connection could send the message. So messages
//! wait where they are priced, and a connection holds less than a packet of unsent data. A message
//! has arrived when its last byte is there in order. Clients are not hosts of the network: each has
//! a line of some rate to its node, and the node sees nothing else of the client.

mod daemons;
mod event;
pub mod optimum;
mod samples;
mod tally;
mod workload;

#[doc(inline)]
pub use crate::setup::overlay as spec;
pub(crate) use daemons::Daemons;
pub(crate) use event::OverlayEvent;
#[doc(hidden)]
pub use workload::workload;
