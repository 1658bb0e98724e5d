//! Code that makes simulations fast and changes no result, except for the order of events at one
//! instant.
//!
//! - Links whose packets take equally long share delay lines, each with one event
//!   ([`Network::use_delay_lines`]).
//! - Hosts lag behind the network, and both work in turns ([`turns`]).
//! - Hosts put packets on their own links in advance, before their processing is over
//!   ([`Network::let_host_process`]).
//! - Data that coming events will need are fetched into the caches ([`foresight`]).
//!
//! [`Speed`] says which of these a run uses. All constants are in [`tuning`].
//!
//! [`Speed`]: crate::Speed
//! [`tuning`]: crate::tuning
//! [`Network::use_delay_lines`]: ratewire_net::Network::use_delay_lines
//! [`Network::let_host_process`]: ratewire_net::Network::let_host_process

pub(super) mod foresight;
pub(super) mod turns;
