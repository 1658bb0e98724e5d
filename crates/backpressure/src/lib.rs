//! Queues that protect themselves: one that lacks room pauses whoever fills it, and nothing is dropped.
//!
//! Sans-IO. What a switch or host is made of, each part for itself, to be put together by a world:
//!
//! - [`frames`]: what is sent upstream, byte for byte (802.3x PAUSE and 802.1Qbb PFC);
//! - [`headroom`]: how much room must be left when it is sent, and why;
//! - [`watch`]: when to send it: occupancy, two thresholds, refresh;
//! - [`gate`]: what it does to the transmitter that gets it;
//! - [`queues`]: how a switch holds what waits, and whose turn it is;
//! - [`flows`]: queues by flow, and pausing single ones, as backpressure flow control (BFC) has them;
//! - [`knot`]: buffers that wait for each other in a ring, for ever.
//!
//! Herbert and Primet, *A case for queue-to-queue, back-pressure-based congestion control for grid
//! networks*; IEEE 802.3 annex 31B; IEEE 802.1Qbb; Goyal and others, *Backpressure flow control*, NSDI
//! 2022.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod flows;
pub mod frames;
#[doc(hidden)]
pub mod fuzzing;
pub mod gate;
pub mod headroom;
pub mod knot;
pub mod lanes;
pub mod queues;
pub mod watch;
