//! Code that makes simulations fast and changes no result, except for the order of events at one
//! instant.
//!
//! A new network uses none of it. Its caller
//! - asks for delay lines with [`Network::use_delay_lines`](crate::Network::use_delay_lines),
//! - has departures worked out as packets arrive, with
//!   [`Network::book_departures`](crate::Network::book_departures),
//! - lets packets enter links ahead with [`Network::merge_links`](crate::Network::merge_links),
//! - lets hosts lag with [`HostLag::begin`](lag::HostLag::begin),
//! - looks ahead with [`LookAhead`](look_ahead::LookAhead).
//!
//! All constants are in [`tuning`], but for those of [`crate::prefetch`], which every run uses.

pub(crate) mod delay_line;
pub(crate) mod lag;
pub(crate) mod look_ahead;
pub(crate) mod tuning;
