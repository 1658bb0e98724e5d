//! Switches and hosts whose queues pause each other.
//!
//! A node at an end of a link with a buffer that pauses it ([`PauseSpec`]) keeps what waits in a
//! [`SwitchQueues`] and not in the rows of its links, because the next to be sent is not the first
//! that came, and may not be sent at all for a while. Its links have an event for each departure;
//! all others go on being caught up with.
//!
//! What came by a paused link is accounted to that link until it leaves the node, as switches do. A
//! full buffer's frame goes out on the way back as soon as the packet being sent there has left,
//! and takes up time there; the transmitter obeys after the frame has arrived and the reaction time
//! has passed.
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
use crate::spec::LinkId;
use crate::speed::prefetch::{FIRST_LINE, prefetch_bytes};

pub use deadlock::Deadlock;
pub(crate) use signals::Wires;
pub(crate) use waiting::Leaving;

use buffer::Buffer;

/// All switches of a network.
#[derive(Debug, Default)]
pub(crate) struct Fabric {
    switches: Vec<SwitchNode>,
    /// By link, what it leads to; empty without switches.
    ends: Vec<End>,
    /// Those that pause the links that lead to them.
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

    /// The event of a link comes up: what is written of its far end. Returns whether there are
    /// switches.
    #[inline]
    pub(crate) fn foresee_end(&self, id: LinkId) -> bool {
        let Some(end) = self.ends.get(id.index()) else { return false };
        prefetch_index(from_ref(end), 0);
        true
    }

    /// A packet is about to leave by an outlet: those whose turn comes after it, of which the first
    /// is returned, and the buffer that it takes up room in.
    #[inline]
    pub(crate) fn foresee_turns(&self, outlet: &Outlet) -> Option<&Label> {
        let held = self.switches[outlet.node()].switch.foresee_turns(outlet.output())?;
        if let Some(buffer) = self.buffers.get(held.buffer as usize) {
            prefetch_bytes(buffer, FIRST_LINE);
        }
        Some(&held.label)
    }
}

/// Where a packet comes to a switch.
#[derive(Clone, Copy, Debug)]
struct End {
    /// The number of its link among the inputs there.
    input: u32,
    /// Which of all buffers pauses that link; [`NO_BUFFER`] if none does.
    buffer: u32,
}

/// The number of no buffer.
const NO_BUFFER: u32 = u32::MAX;

impl End {
    /// The end at which packets come that the switch's own node sends.
    const OWN: End = End { input: 0, buffer: NO_BUFFER };
}

/// A node that keeps what waits itself; what each packet needs comes first.
#[derive(Debug)]
#[repr(C, align(64))]
struct SwitchNode {
    switch: SwitchQueues<QueuedPacket>,
    has_classes: bool,
    /// By output.
    links: Vec<LinkId>,
    /// Those of them that can be paused.
    pausable: Vec<LinkId>,
    /// With queues by flow, by output: which flow has which.
    assignments: Vec<Assignment>,
    /// With queues by flow, by output and queue: bytes waiting.
    lane_bytes: Vec<u64>,
    random: Xoshiro256PlusPlus,
}

/// A packet that waits in a switch.
#[derive(Clone, Copy, Debug)]
struct QueuedPacket {
    label: Label,
    /// Which of all buffers it takes up room in; [`NO_BUFFER`] if it takes it up in its own link's
    /// queue.
    buffer: u32,
    /// The packet found its queue too long, and is counted against the queue it was in before.
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
