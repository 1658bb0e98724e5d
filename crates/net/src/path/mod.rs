//! The way of a packet: its route, and its passage through each link.
//!
//! [`Network`](network::Network) has a part for each thing that a packet meets. Only the files of
//! this folder use all parts, each only those named before it:
//!
//! | file | a packet |
//! |---|---|
//! | `follow` | is followed, or dropped |
//! | `departure` | leaves a queue |
//! | `contention`, `switch` | waits for its turn |
//! | `arrival` | comes to a link |
//! | `event`, `host` | reaches the far end, or is put on its first link |
//! | `sending` | is made |
//!
//! `change` changes links, and `observation` looks at them.

mod arrival;
mod change;
mod contention;
mod departure;
mod event;
mod follow;
mod host;
pub(crate) mod network;
mod observation;
pub mod pathfinder;
mod processing;
pub(crate) mod sending;
mod switch;
pub(crate) mod trail;
