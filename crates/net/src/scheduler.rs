//! The event queue that a network needs from its caller.

use ratewire_units::Time;

use crate::spec::LinkId;

/// An event queue for the links of a network.
///
/// A link's last scheduled time replaces all earlier ones: the network ignores a call at another
/// time.
pub trait Scheduler {
    /// Schedules a call of [`Network::on_event`](crate::Network::on_event) for `link` at `at`.
    fn schedule(&mut self, at: Time, link: LinkId);

    /// Schedules a call of [`Network::release`](crate::Network::release) for `link` at `at`; the
    /// call before it has been made.
    ///
    /// Only networks with hosts that take time to process packets use it
    /// ([`Network::let_host_process`](crate::Network::let_host_process)).
    fn schedule_release(&mut self, at: Time, link: LinkId);
}
