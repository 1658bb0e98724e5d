//! How a network says when it wants to be called.

use ratewire_units::Time;

use crate::spec::LinkId;

/// Takes note of when a link wants to be called.
///
/// Of several times noted for one link the last is the one that holds; a call at another is
/// ignored.
pub trait Scheduler {
    /// [`Network::on_event`](crate::Network::on_event) is to be called for `link` at `at`.
    fn schedule(&mut self, at: Time, link: LinkId);
}
