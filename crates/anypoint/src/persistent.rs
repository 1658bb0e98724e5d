//! What a switch knows of a connection whether packets pass or not.

use ratewire_laws::AnyLaw;
use ratewire_units::Bytes;

use crate::config::SwitchConfig;
use crate::routing::{Member, Routing};
use crate::windows::Windows;

/// The part of a connection that outlives idleness.
#[derive(Debug)]
pub(crate) struct PersistentState {
    pub(crate) config: SwitchConfig,
    pub(crate) routing: Box<dyn Routing>,
    pub(crate) members: Vec<Member>,
    /// Number of members that are up.
    pub(crate) up: usize,
    /// Receivers' windows; they hold until the receiver is sent something.
    pub(crate) windows: Windows,
    /// Empty bytes that have arrived in each member's stream.
    pub(crate) skipped: Vec<Bytes>,
}

impl PersistentState {
    pub(crate) fn members_up(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|k| self.members[*k].is_up).collect()
    }
    /// Payload of a frame.
    pub(crate) fn frame(&self) -> u64 {
        self.config.frame.get()
    }
    /// Payload of a full packet.
    pub(crate) fn payload(&self) -> u64 {
        self.config.payload.get()
    }
    /// Network-layer size of a packet with this payload.
    pub(crate) fn size(&self, payload: Bytes) -> Bytes {
        payload + (self.config.packet - self.config.payload)
    }
    pub(crate) fn law(&self) -> &AnyLaw {
        &self.config.law
    }
}
