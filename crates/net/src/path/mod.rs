//! A packet's way: over which links, and through each of them.
//!
//! [`Network`](network::Network) has a part for each thing that a packet meets; the files of this
//! folder alone see all of them.

mod change;
mod contention;
mod extra;
mod follow;
pub(crate) mod network;
mod passage;
pub(crate) mod routes;
pub mod routing;
pub(crate) mod sending;
mod switch;
pub(crate) mod trail;
