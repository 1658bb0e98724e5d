//! The backlog of a queue.

use ratewire_units::Bytes;

/// Packets that wait in a queue; the packet in transmission does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of packets.
    pub packets: u32,
    /// Sum of the packets' network-layer bytes.
    pub bytes: Bytes,
}
