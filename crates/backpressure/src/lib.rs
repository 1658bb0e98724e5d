//! Queues that protect themselves: a queue that lacks room pauses its upstream, and nothing is
//! dropped.
//!
//! Sans-IO: the parts of a switch or host, each by itself, for a world to put together:
//!
//! - [`frames`]: the frames sent upstream, byte for byte (802.3x PAUSE and 802.1Qbb PFC);
//! - [`messages`]: the same between hops that have no Ethernet;
//! - [`headroom`]: the room that must be left when a frame is sent, and why;
//! - [`watch`]: when to send a frame: occupancy, two thresholds, refresh;
//! - [`gate`]: the transmitter that obeys a frame;
//! - [`queues`]: the queues of a switch, and their round robin;
//! - [`flows`]: queues by flow that are paused one by one, as in backpressure flow control (BFC);
//! - [`knot`]: buffers that wait for each other in a ring, for ever.
//!
//! Herbert and Primet, *A case for queue-to-queue, back-pressure-based congestion control for grid
//! networks*; IEEE 802.3 annex 31B; IEEE 802.1Qbb; Goyal and others, *Backpressure flow control*,
//! NSDI 2022.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod error;
pub mod flows;
pub mod frames;
#[doc(hidden)]
pub mod fuzzing;
pub mod gate;
pub mod headroom;
pub mod knot;
pub mod lanes;
pub mod messages;
pub mod queues;
pub mod watch;

pub use error::Error;
