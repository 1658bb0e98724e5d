//! What makes simulations fast and changes no result, but for the order of what happens at one
//! instant.
//!
//! - Links whose packets take equally long share delay lines, each with one event
//!   ([`Network::use_delay_lines`]).
//! - Hosts lag behind the network, and both work in turns ([`turns`]).
//! - What events to come will need is fetched into the caches ([`foresight`]).
//!
//! [`Speed`] says which of them a run uses. All numbers stand in [`tuning`].
//!
//! [`Network::use_delay_lines`]: ratewire_net::Network::use_delay_lines

pub(super) mod foresight;
pub(crate) mod tuning;
pub(super) mod turns;

/// Which means of going fast a run uses. Results do not depend on them, but for what happens at one
/// instant, which may come in another order.
///
/// Senders and overlay nodes fetch their own memory ahead in any run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed {
    pub(super) delay_lines: bool,
    pub(super) host_lag: HostLagging,
    pub(super) look_ahead: bool,
}

/// Where hosts lag behind the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostLagging {
    Never,
    /// Where it is worth it.
    WhereMany,
    /// Wherever they can.
    #[cfg(test)]
    Everywhere,
}

impl Speed {
    /// Every means, each where it is worth it.
    pub const fn full() -> Speed {
        Speed { delay_lines: true, host_lag: HostLagging::WhereMany, look_ahead: true }
    }

    /// No means: every link has events of its own, and hosts and links act in the order of time.
    pub const fn off() -> Speed {
        Speed { delay_lines: false, host_lag: HostLagging::Never, look_ahead: false }
    }

    /// These means, but no hosts that lag.
    pub const fn without_host_lag(self) -> Speed {
        Speed { host_lag: HostLagging::Never, ..self }
    }
}

impl Default for Speed {
    fn default() -> Speed {
        Speed::full()
    }
}
