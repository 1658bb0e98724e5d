//! Code that makes simulations fast and changes no result, except for the order of events at one
//! instant.
//!
//! - Links whose packets take equally long share delay lines, each with one event
//!   ([`Network::use_delay_lines`]).
//! - Hosts lag behind the network, and both work in turns (`engine/turns`).
//! - Hosts put packets on their own links in advance, before their processing is over
//!   ([`Network::let_host_process`]).
//! - Plain links work out departures as packets arrive ([`Network::book_departures`]), and packets
//!   enter links ahead that only one other link feeds ([`Network::merge_links`]).
//! - Memory that coming events need is fetched into the caches ([`LookAhead`]).
//!
//! [`Speed`] says which of these a run uses. All constants are in [`tuning`].
//!
//! [`tuning`]: crate::tuning
//! [`LookAhead`]: ratewire_net::LookAhead
//! [`Network::use_delay_lines`]: ratewire_net::Network::use_delay_lines
//! [`Network::let_host_process`]: ratewire_net::Network::let_host_process
//! [`Network::book_departures`]: ratewire_net::Network::book_departures
//! [`Network::merge_links`]: ratewire_net::Network::merge_links

/// The means of speed that a run uses.
///
/// Results do not depend on them, except for the order of events at one instant.
///
/// Senders and overlay nodes prefetch their own memory in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed {
    pub(crate) delay_lines: bool,
    pub(crate) host_lag: HostLagging,
    pub(crate) look_ahead: bool,
    pub(crate) sends_in_advance: bool,
    pub(crate) books_departures: bool,
    pub(crate) merges_links: bool,
}

/// Hosts that lag behind the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostLagging {
    Never,
    /// Hosts lag where this pays.
    WhereMany,
    /// Hosts lag wherever they can.
    #[cfg(test)]
    Everywhere,
}

impl Speed {
    /// All means, each where it pays.
    pub const fn full() -> Speed {
        Speed {
            delay_lines: true,
            host_lag: HostLagging::WhereMany,
            look_ahead: true,
            sends_in_advance: true,
            books_departures: true,
            merges_links: true,
        }
    }

    /// No means: every link has its own events, and hosts and links act in the order of time.
    pub const fn off() -> Speed {
        Speed {
            delay_lines: false,
            host_lag: HostLagging::Never,
            look_ahead: false,
            sends_in_advance: false,
            books_departures: false,
            merges_links: false,
        }
    }

    /// These means, without hosts that lag.
    pub const fn without_host_lag(self) -> Speed {
        Speed { host_lag: HostLagging::Never, ..self }
    }
}

impl Default for Speed {
    fn default() -> Speed {
        Speed::full()
    }
}
