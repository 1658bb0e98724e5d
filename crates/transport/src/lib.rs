//! A reliable, framed transport with selective acknowledgement, sans-IO.
//!
//! A flow has a [`Sender`] and a [`Receiver`]. Neither has a clock or a network: the caller passes
//! the time and arrivals, and asks what to send and when to call next.
//!
//! After any call to a [`Sender`], ask [`Sender::poll_transmit`] until it returns `None`, then
//! [`Sender::deadline`]. Calling either, or [`Sender::on_timer`], too often is harmless.
//!
//! Features:
//! - SACK (RFC 2018), and two ways to repair losses ([`Recovery`]): the pipe of RFC 6675 with loss
//!   detection by time beside it, or RACK-TLP (RFC 8985) with PRR (RFC 9937) and repairs that are
//!   undone (RFC 3522, RFC 3708, RFC 5682);
//! - retransmission timeout by RFC 6298, and a tail-loss probe (RFC 8985);
//! - delayed acknowledgements, and a receive window of fixed size or opening by itself;
//! - pacing and ECN echo.
//!
//! Window and pace come from the flow's law.
//!
//! Deliberate differences:
//! - sequence numbers are 64-bit stream offsets and never wrap;
//! - with [`Recovery::Sack`], a packet counts as lost when three packets beyond it have arrived
//!   (RFC 6675), or one sent a quarter RTT after it; the latter also finds lost retransmissions;
//! - an acknowledgement returns the [`Epoch`] of its packet in place of TCP's timestamp, and one
//!   bit for data that had arrived before in place of a block of DSACK; neither takes room in a
//!   packet;
//! - a retransmission and new data that leave at one instant may arrive in either order: RACK takes
//!   the retransmission for overtaken only by what leaves later;
//! - a closed window is probed with an empty packet, not with a byte of data;
//! - each marked packet is echoed once, as in RFC 8257 (3.2); RFC 3168 repeats the echo until a CWR
//!   arrives. Marked packets are acknowledged at once, as in Linux, and the sender reacts once a
//!   window;
//! - a flow ends without an exchange of FINs.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod app;
mod config;
#[doc(hidden)]
pub mod fuzzing;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
#[cfg(test)]
mod short_paths;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod varying;
mod writing;

pub use app::{App, PauseAfter, Phase, Reader, Writer};
pub use config::{AckRules, Jitter, ReceiveWindow, Recovery, TransportConfig};
pub use receiver::{Receiver, Reply};
pub use rtt::RttEstimator;
pub use segment::{Ack, Epoch, SackBlocks, Segment, SegmentKind, Stamp};
pub use sender::{KeptBy, Sender, SenderStats};
pub use varying::{Draws, Seeds, Spread, Varying};
