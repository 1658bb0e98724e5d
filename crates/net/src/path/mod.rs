//! The way of a packet: its route, and its passage through each link.
//!
//! [`Network`](network::Network) has a part for each thing that a packet meets. Only the files of
//! this folder use all parts.

mod change;
mod contention;
mod follow;
mod host;
pub(crate) mod network;
mod passage;
pub mod pathfinder;
mod processing;
mod rare;
pub(crate) mod sending;
mod switch;
pub(crate) mod trail;
