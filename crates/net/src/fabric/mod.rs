//! Switches and hosts whose queues pause each other.
//!
//! A node at an end of a link with a pausing buffer ([`PauseSpec`]) keeps waiting packets in a
//! [`SwitchQueues`], not in the FIFOs of its links. The next packet to be sent is not the first
//! that came, and may have to wait for a pause. The node's links have an event for each departure;
//! all other links compute departures later.
//!
//! A packet that came over a paused link counts for that link until it leaves the node, as in real
//! switches. A full buffer sends its frame on the link back as soon as the packet in transmission
//! there has left, and the frame takes time there. The transmitter reacts after the frame has
//! arrived and the reaction time has passed.
//!
//! [`PauseSpec`]: crate::spec::PauseSpec

mod buffer;
mod build;
mod deadlock;
mod signals;
mod waiting;

use core::slice::from_ref;

use prefetch_index::prefetch_index;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_backpressure::flows::Assignment;
use ratewire_backpressure::queues::SwitchQueues;

use crate::link::{FarTally, Outlet};
use crate::packet::Label;
use crate::prefetch::{FIRST_LINE, prefetch_bytes};
use crate::spec::LinkId;

pub use deadlock::Deadlock;
pub(crate) use signals::Wires;
pub(crate) use waiting::Leaving;

use buffer::Buffer;

/// All switches of a network.
#[derive(Debug, Default)]
pub(crate) struct Fabric {
    switches: Vec<SwitchNode>,
    /// Far end of each link; empty without switches.
    ends: Vec<End>,
    /// Buffers that pause links to a switch.
    buffers: Vec<Buffer>,
    deadlock: Option<Deadlock>,
}

impl Fabric {
    /// The buffer that pauses a link, if one does.
    #[inline]
    pub(crate) fn buffer(&self, id: LinkId) -> Option<&Buffer> {
        let number = self.ends.get(id.index())?.buffer;
        self.buffers.get(number as usize)
    }
    fn buffer_mut(&mut self, id: LinkId) -> Option<&mut Buffer> {
        let number = self.ends.get(id.index())?.buffer;
        self.buffers.get_mut(number as usize)
    }

    /// The counters of the buffer at a link's far end.
    pub(crate) fn far_tally(&self, id: LinkId) -> FarTally {
        self.buffer(id).map_or(FarTally::default(), Buffer::tally)
    }

    /// Prefetches the far end of a link whose event comes up, if there are switches.
    #[inline]
    pub(crate) fn foresee_end(&self, id: LinkId) {
        if let Some(end) = self.ends.get(id.index()) {
            prefetch_index(from_ref(end), 0);
        }
    }

    /// Prefetches for a packet that is about to leave by an outlet: the next packets, of which the
    /// first is returned, and the buffer that the packet occupies.
    #[inline]
    pub(crate) fn foresee_turns(&self, outlet: &Outlet) -> Option<&Label> {
        let held = self.switches[outlet.node()].switch.foresee_turns(outlet.output())?;
        if let Some(buffer) = self.buffers.get(held.buffer as usize) {
            prefetch_bytes(buffer, FIRST_LINE);
        }
        Some(&held.label)
    }
}

/// The input of a switch at which packets arrive.
#[derive(Clone, Copy, Debug)]
struct End {
    /// Index of the link among the inputs of the switch.
    input: u32,
    /// Index of the buffer that pauses the link; [`NO_BUFFER`] if none does.
    buffer: u32,
}

/// Index of no buffer.
const NO_BUFFER: u32 = u32::MAX;

impl End {
    /// The input of packets that the switch's own node sends.
    const OWN: End = End { input: 0, buffer: NO_BUFFER };
}

/// A node that keeps waiting packets itself; fields of the packet path come first.
#[derive(Debug)]
#[repr(C, align(64))]
struct SwitchNode {
    switch: SwitchQueues<QueuedPacket>,
    has_classes: bool,
    /// Links by output.
    links: Vec<LinkId>,
    /// Links among these that can be paused.
    pausable: Vec<LinkId>,
    /// With queues by flow: the assignment of flows to queues, by output.
    assignments: Vec<Assignment>,
    /// With queues by flow: waiting bytes, by output and queue.
    lane_bytes: Vec<u64>,
    random: Xoshiro256PlusPlus,
}

/// A packet that waits in a switch.
#[derive(Clone, Copy, Debug)]
struct QueuedPacket {
    label: Label,
    /// Index of the buffer that the packet occupies; [`NO_BUFFER`] if it counts for the queue of
    /// its own link.
    buffer: u32,
    /// Whether the packet found its queue too long, and is counted against its previous queue.
    counted: bool,
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn a_packet_touches_one_cache_line_of_a_buffer() {
        assert_eq!(offset_of!(Buffer, spec), 64);
        assert!(size_of::<QueuedPacket>() <= 48, "with its links in a switch's list one line");
    }
}
