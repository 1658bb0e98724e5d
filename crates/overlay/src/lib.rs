//! Cost-benefit flow control for overlay multicast, sans-IO (Amir, Awerbuch, Danilov, Stanton: "Flow
//! Control for Many-to-Many Multicast: A Cost-Benefit Approach", CNDS-2001-1).
//!
//! An overlay is hosts ([`Node`]) joined by connections. A client hands its messages to its node,
//! which sends them down a tree to the nodes that have members of the group. In front of each
//! connection a node keeps a queue and names a [`Price`] that grows with it; all nodes know all
//! prices. A message costs the fee and every link it crosses; the client pays out of a [`Budget`],
//! and one that cannot pay waits. So queues stay short without any feedback from receivers, and what
//! nodes tell each other does not grow with groups or members.
//!
//! | module | is | section |
//! |---|---|---|
//! | [`price`] | what a link costs | 4.2.1 |
//! | [`benefit`] | what a message is worth | 4.2.2 |
//! | [`budget`] | salary, savings, buying by chance, periods | 4.2.2, 4.2.3 |
//! | [`tree`] | shortest-path trees | 3.1 |
//! | [`queue`] | what waits in front of a link | 4.2.1 |
//! | [`client`] | a client and the agent that buys for it | 4.2.2 |
//! | [`node`] | a daemon: all of the above together | 3, 4.2 |
//! | [`groups`], [`ordering`] | members, views, agreed order | 3.1 |
//! | [`message`], [`wire`] | what nodes tell each other, and its bytes | 4.2.1 |
//! | [`optimum`] | the best that any sharing could do | 6 |
//! | [`params`] | all settings, with their sources | 4.2, 6, 7 |
//!
//! Deliberate differences and decisions:
//! - cost updates go down each node's own tree, which over reliable links does what flooding does and
//!   sends each node one copy; one is sent only when some queue has changed by a quarter of a message;
//!   stamps of the agreed order are told as differences, and numbers take as many bytes as they need;
//! - a node goes by its own prices as last told, so that all nodes go by the same;
//! - updates overtake waiting messages: behind them they would be a queue's length old;
//! - blocked clients look at prices once an interval, when their node sends its own update;
//! - see [`budget`] for what the paper leaves open about money, and [`benefit`] about worth.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod benefit;
pub mod budget;
pub mod client;
pub mod fuzzing;
pub mod groups;
mod ids;
mod layout;
pub mod message;
pub mod node;
pub mod optimum;
pub mod ordering;
pub mod params;
pub mod price;
pub mod queue;
pub mod tree;
pub mod wire;

pub use benefit::Benefit;
pub use budget::Budget;
pub use client::{SenderCounts, SenderSpec};
pub use groups::{Delivery, GroupSpec, Service};
pub use ids::{ClientId, EdgeId, GroupId, MOST_NODES, NodeId, NodeSet};
pub use message::Message;
pub use node::{Node, Overlay};
pub use params::Params;
pub use price::{Dollars, Occupancy, Price};
pub use tree::{EdgeSpec, Trees, Unreachable};
