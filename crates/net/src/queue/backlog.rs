//! How much waits in a queue.

use ratewire_units::Bytes;

/// Packets that wait, the one being sent not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many.
    pub packets: u32,
    /// Their network-layer bytes.
    pub bytes: Bytes,
}
