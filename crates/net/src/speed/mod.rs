//! What makes simulations fast and changes no result, but for the order of what happens at one
//! instant.
//!
//! A network starts without any of it. Its caller
//! - asks for delay lines with [`Network::use_delay_lines`](crate::Network::use_delay_lines),
//! - lets hosts lag, and their bursts use delay lines, with
//!   [`HostLag::begin`](lag::HostLag::begin),
//! - looks ahead with [`LookAhead`](look_ahead::LookAhead).
//!
//! All numbers stand in [`tuning`], but for those of [`crate::prefetch`], which every run uses.

pub(crate) mod burst;
pub(crate) mod delay_line;
pub(crate) mod lag;
pub(crate) mod look_ahead;
pub(crate) mod tuning;
