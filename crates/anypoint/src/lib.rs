//! The Anypoint transport switch, sans-IO (Yocum and Chase, *Explicit rate control for Anypoint
//! communication*; Yocum and others, USITS 2003).
//!
//! A peer has one connection with an ensemble of members and takes it for a single host. A
//! [`Switch`] stands between them and changes the packets that pass. It keeps no payload and
//! acknowledges nothing of its own: acknowledgements, windows and congestion headers are those of
//! the hosts. `docs/explain/anypoint.md` has its rules, and the paper's equations.
//!
//! A caller makes a [`Switch`] with a [`routing`] module, and hands it each packet of either
//! [`Side`] ([`Switch::on_segment`], [`Switch::on_ack`]). It sends what the switch gives, an
//! [`Output`] a packet.
//!
//! | part | is |
//! |---|---|
//! | [`routing`] | modules that choose the member of a frame |
//! | `switch` | packets in, packets out |
//! | `connection` | the soft state of a connection: a packet that passes creates it |
//! | `relay` | places of bytes in streams, and what is not acknowledged |
//! | `merge`, `split` | headers of several flows as those of one, and those of one as of several |
//! | `windows` | receivers' windows across the switch |
//! | `ratios` | the part of the peer's traffic that goes to each member |
//! | `ranges` | acknowledged ranges of a stream |
//! | [`fuzzing`] | properties of any sequence of packets, losses and failures |

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod config;
mod connection;
pub mod fuzzing;
mod merge;
mod packets;
mod persistent;
mod ranges;
mod ratios;
mod relay;
pub mod routing;
mod split;
mod switch;
#[cfg(test)]
mod tests;
mod windows;

pub use config::{SwitchConfig, Transforms};
pub use packets::{FrameOf, Output, Side};
pub use switch::Switch;
pub use windows::FlowControl;
