//! Cost-benefit flow control for overlay multicast, sans-IO (Amir, Awerbuch, Danilov, Stanton:
//! "Flow Control for Many-to-Many Multicast: A Cost-Benefit Approach", CNDS-2001-1).
//!
//! An overlay is hosts ([`OverlayNode`], or [`daemon::Daemon`]) joined by connections. A client
//! hands its messages to its node, which sends them down a tree to the nodes with members of the
//! group. A node keeps a queue in front of each connection and states a [`Price`] that grows with
//! the queue; all nodes know all prices. A message costs the fee and the price of every link that
//! it crosses. The client pays from a [`Budget`]; a client that cannot pay waits. Queues stay short
//! without feedback from receivers, and control traffic does not grow with groups or members.
//!
//! | module | is | section |
//! |---|---|---|
//! | [`price`] | cost of a link | 4.2.1 |
//! | [`benefit`] | benefit of a message | 4.2.2 |
//! | [`budget`] | salary, savings, buying by chance, periods | 4.2.2, 4.2.3 |
//! | [`tree`] | shortest-path trees | 3.1 |
//! | [`queue`] | queue in front of a link | 4.2.1 |
//! | [`client`] | a client and the agent that buys for it | 4.2.2 |
//! | [`node`] | a simulated node that knows no failures: all of the above together | 3, 4.2 |
//! | [`groups`], [`ordering`] | its members, views, agreed order | 3.1 |
//! | [`membership`] | views of daemons that survive failures | none |
//! | [`daemon`] | a daemon, real or simulated: membership, prices and clients | 3, 4.2 |
//! | [`message`], [`wire`] | messages between nodes, and their bytes | 4.2.1 |
//! | [`optimum`] | the best result of any sharing | 6 |
//! | [`params`] | all settings, with their sources | 4.2, 6, 7 |
//!
//! Deliberate differences and decisions:
//! - Cost updates go down each node's own tree. Over reliable links this has the effect of
//!   flooding, but sends each node one copy. An update is sent only when some queue has changed by
//!   a quarter of a message. Stamps of the agreed order are sent as differences, and numbers take
//!   as many bytes as they need.
//! - A node uses its own prices as last sent, so that all nodes use the same prices.
//! - Updates overtake waiting messages: behind them they would be a queue's length old.
//! - Blocked clients read prices once an interval, when their node sends its own update.
//! - [`budget`] and [`benefit`] list what the paper leaves open about money and benefit.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod benefit;
pub mod budget;
pub mod client;
pub mod daemon;
pub mod fuzzing;
mod gauge;
pub mod groups;
mod ids;
mod layout;
pub mod membership;
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
pub use groups::{Delivery, DeliveryOrder, GroupSpec};
pub use ids::{ClientId, EdgeId, GroupId, MOST_NODES, NodeSet, OverlayNodeId};
pub use message::Message;
pub use node::{Overlay, OverlayNode};
pub use params::Params;
pub use price::{Dollars, Occupancy, Price};
pub use tree::{EdgeSpec, Trees, Unreachable};
