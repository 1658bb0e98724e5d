//! Cost-benefit flow control for overlay multicast, sans-IO (Amir, Awerbuch, Danilov, Stanton:
//! "Flow Control for Many-to-Many Multicast: A Cost-Benefit Approach", CNDS-2001-1).
//!
//! An overlay is hosts joined by connections, each with a [daemon](daemon::Daemon). A client hands
//! its messages to its daemon, which sends them down a tree to the daemons with members of the
//! group. A daemon keeps a queue in front of each connection and states a [`Price`] that grows with
//! the queue; all daemons know all prices. A message costs the fee and the price of every link that
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
//! | [`level`] | the length of a queue as daemons tell it | 4.2.1 |
//! | [`client`] | a sending client of a scenario | 4.2.2 |
//! | [`membership`] | groups, their order, and views that survive failures | 3.1 |
//! | [`daemon`] | a daemon, real or simulated: membership, prices and clients | 3, 4.2 |
//! | [`optimum`] | the best result of any sharing | 6 |
//! | [`params`] | all settings, with their sources | 4.2, 6, 7 |
//!
//! Deliberate differences and decisions:
//! - Cost updates go down each daemon's own tree. Over reliable links this has the effect of
//!   flooding, but sends each daemon one copy. An update is sent only when some queue has changed
//!   by a quarter of a message. Stamps of the agreed order are sent as differences, and numbers
//!   take as many bytes as they need.
//! - A daemon uses its own prices as last sent, so that all daemons use the same prices.
//! - Updates overtake waiting messages: behind them they would be a queue's length old.
//! - Simulated clients that are blocked read prices once an interval, when their daemon sends its
//!   own update; real ones at once.
//! - [`budget`] and [`benefit`] list what the paper leaves open about money and benefit.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod benefit;
pub mod budget;
mod burst;
pub mod client;
pub mod daemon;
pub mod fuzzing;
mod gauge;
mod ids;
pub mod level;
pub mod membership;
pub mod optimum;
pub mod params;
pub mod price;
pub mod queue;
pub mod tree;

pub use benefit::{Benefit, WEIGHTS};
pub use budget::Budget;
pub use burst::BudgetRule;
pub use client::{DeliveryOrder, SenderCounts, SenderSpec};
pub use ids::{ClientId, EdgeId, GroupId, MOST_NODES, NodeSet, OverlayNodeId};
pub use params::Params;
pub use price::{Dollars, Occupancy, Price};
pub use tree::{EdgeSpec, Trees, Unreachable};
