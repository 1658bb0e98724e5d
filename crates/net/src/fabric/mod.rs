//! Switches and hosts whose queues pause each other.
//!
//! A node at an end of a link with a buffer that pauses it ([`PauseSpec`]) keeps what waits in a
//! [`Switch`] and not in the rows of its links, because the next to be sent is not the first that came, and
//! may not be sent at all for a while. Its links have an event for each departure; all others go on being
//! caught up with.
//!
//! What came by a paused link is accounted to that link until it leaves the node, as switches do. A full
//! buffer's frame goes out on the way back as soon as the packet being sent there has left, and takes up
//! time there; the transmitter obeys after the frame has arrived and the reaction time has passed.
//!
//! [`PauseSpec`]: crate::spec::PauseSpec

mod build;
mod deadlock;
mod passage;
mod signals;
mod tap;

use core::ops::{Deref, DerefMut};
use core::slice::from_ref;
use std::collections::VecDeque;

use prefetch_index::prefetch_index;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_backpressure::flows::{Assignment, Filter, Lanes};
use ratewire_backpressure::frames::{CLASSES, Control};
use ratewire_backpressure::gate::Gate;
use ratewire_backpressure::queues::Switch;
use ratewire_backpressure::watch::Watch;
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::network::Network;
use crate::packet::Label;
use crate::spec::{LinkId, PauseSpec, Sockets};
use crate::speed::foresight::{FIRST_LINE, prefetch_bytes};

pub use deadlock::Deadlock;
pub use tap::CapturedFrame;

/// All switches of a network.
#[derive(Debug, Default)]
pub(crate) struct Fabric {
    switches: Vec<Node>,
    /// By link, what it leads to; empty without switches.
    ends: Vec<End>,
    /// Those that pause the links that lead to them.
    buffers: Vec<Buffer>,
    deadlock: Option<Deadlock>,
    /// Links whose hosts' sockets may go on.
    roomy: Vec<LinkId>,
    /// Frames not yet taken, of tapped links.
    tapped: Vec<tap::Tapped>,
}

impl Fabric {
    /// The event of a link comes up: what is written of its far end. Returns whether there are switches.
    #[inline]
    pub(crate) fn foresee_end(&self, id: LinkId) -> bool {
        let Some(end) = self.ends.get(id.index()) else { return false };
        prefetch_index(from_ref(end), 0);
        true
    }

    /// A packet is about to leave by an outlet: those whose turn comes after it, of which the first is returned, and the
    /// buffer that it takes up room in.
    #[inline]
    pub(crate) fn foresee_turns(&self, outlet: &Outlet) -> Option<&Label> {
        let held = self.switches[outlet.node as usize].switch.foresee_turns(outlet.output)?;
        if let Some(buffer) = self.buffers.get(held.buffer as usize) {
            prefetch_bytes(buffer, FIRST_LINE);
        }
        Some(&held.label)
    }
}

impl Network {
    /// Whether a socket may send a packet of this size on its host's own link now. If not, and if sockets
    /// wait there, [`Network::take_roomy`] will name the link when there is room again.
    pub fn admits(&mut self, id: LinkId, size: u32) -> bool {
        let link = &mut self.links[id.index()];
        let waiting = link.waiting_all();
        let has_room = link.has_room_beside(waiting, size);
        if let Some(outlet) = link.outlet_mut() {
            outlet.wanted |= !has_room;
        }
        has_room
    }

    pub(crate) fn far_tally(&self, id: LinkId) -> FarTally {
        self.buffer(id).map_or(FarTally::default(), |buffer| FarTally {
            intake: buffer.intake.len() as u64,
            overflowed: buffer.overflowed,
            refused: buffer.refused,
        })
    }

    /// The links whose hosts' sockets may go on, since this was last asked.
    pub fn take_roomy(&mut self) -> Vec<LinkId> {
        core::mem::take(&mut self.fabric.roomy)
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
    /// Of packets that the switch's own node sends.
    const OWN: End = End { input: 0, buffer: NO_BUFFER };
}

/// A node that keeps what waits itself; what each packet needs comes first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Node {
    pub(crate) switch: Switch<Held>,
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
pub(crate) struct Held {
    pub(crate) label: Label,
    /// Which of all buffers it takes up room in; [`NO_BUFFER`] if it takes it up in its own link's queue.
    buffer: u32,
    /// It found its queue too long, and is counted against the queue it was in before.
    counted: bool,
}

/// A link that starts at a switch, laid out so that a packet touches two cache lines of it.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Outlet {
    /// When it is to be looked at whose turn it is; [`Time::NEVER`] if something else will tell.
    turn_at: Time,
    /// When the buffer at its far end wants to be called.
    far_due: Time,
    /// The switch.
    node: u32,
    /// The link's number among the outputs there.
    output: u32,
    sockets: Sockets,
    /// Its switch has virtual output queues.
    is_virtual: bool,
    /// A socket waits for room.
    wanted: bool,
    /// Its far end takes packets in one by one.
    pub(crate) has_intake: bool,
    /// What it is told, in order.
    told: VecDeque<Told>,
    bursts: Option<Box<Coalescing>>,
    gate: Gate,
    rate: Rate,
    /// Frames sent on it, which tell others to stop or go on.
    control_frames: u64,
}

/// A frame for a transmitter.
#[derive(Clone, Copy, Debug)]
struct Told {
    /// When it leaves; until then it may yet say something else.
    starts: Time,
    /// When the transmitter obeys.
    obeyed: Time,
    what: What,
}

/// What a transmitter is told.
#[derive(Clone, Copy, Debug)]
enum What {
    Frame(Control),
    Map(Lanes),
}

/// Packets released in bursts.
#[derive(Clone, Copy, Debug)]
struct Coalescing {
    packets: u32,
    every: Duration,
    /// Packets that are released and not sent.
    released: u32,
    /// When those that wait are released, however few.
    due: Time,
}

/// The buffer at the far end of a link that it pauses; what each packet needs comes first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Buffer {
    watches: Watches,
    /// The link that it pauses.
    link: LinkId,
    /// The switch at the far end.
    node: u32,
    spec: PauseSpec,
    /// With queues by flow: packets counted against those of the near end.
    filter: Option<Filter>,
    /// When the next map is sent; [`Time::NEVER`] if none has to be.
    map_at: Time,
    map_sent: Time,
    /// Packets that found no room.
    overflowed: u64,
    /// Those of them that had come to be taken in.
    refused: u64,
    intake: VecDeque<Label>,
    intake_at: Time,
}

/// The watches of a buffer.
#[derive(Debug)]
enum Watches {
    Whole(Watch),
    ByClass(Box<[Watch; CLASSES]>),
}

impl Watches {
    /// That of a class.
    fn of(&self, class: u8) -> &Watch {
        match self {
            Watches::Whole(watch) => watch,
            Watches::ByClass(watches) => &watches[usize::from(class)],
        }
    }
    fn of_mut(&mut self, class: u8) -> &mut Watch {
        match self {
            Watches::Whole(watch) => watch,
            Watches::ByClass(watches) => &mut watches[usize::from(class)],
        }
    }
}

impl Deref for Watches {
    type Target = [Watch];
    fn deref(&self) -> &[Watch] {
        match self {
            Watches::Whole(watch) => from_ref(watch),
            Watches::ByClass(watches) => &watches[..],
        }
    }
}
impl DerefMut for Watches {
    fn deref_mut(&mut self) -> &mut [Watch] {
        match self {
            Watches::Whole(watch) => core::slice::from_mut(watch),
            Watches::ByClass(watches) => &mut watches[..],
        }
    }
}

/// What pausing has come to at a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PauseTally {
    pub(crate) pauses: u64,
    pub(crate) paused: Duration,
    pub(crate) control_frames: u64,
}

/// What the buffer at the far end of a link has come to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FarTally {
    /// Packets that have come and wait to be taken in.
    pub(crate) intake: u64,
    /// Packets that found no room.
    pub(crate) overflowed: u64,
    /// Those of them that had come to be taken in.
    pub(crate) refused: u64,
}

impl Outlet {
    /// When the link has an event for something else than an arrival.
    #[inline]
    pub(crate) fn next_due(&self) -> Time {
        let told = self.told.front().map_or(Time::NEVER, |told| told.obeyed);
        self.turn_at.min(told).min(self.far_due)
    }

    pub(crate) fn tally(&mut self, now: Time) -> PauseTally {
        PauseTally {
            pauses: self.gate.pauses(),
            paused: self.gate.paused(now),
            control_frames: self.control_frames,
        }
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }
}

impl Buffer {
    fn next_due(&self) -> Time {
        let refresh = self.watches.iter().map(Watch::deadline).fold(Time::NEVER, Time::min);
        refresh.min(self.map_at).min(self.intake_at)
    }

    /// What is in it, of the fullest class, and above what it pauses its link.
    pub(crate) fn level(&self) -> (Bytes, Bytes) {
        let held = self.watches.iter().map(Watch::held);
        (held.fold(Bytes::ZERO, Bytes::max), self.spec.xoff)
    }

    fn has_room_for(&self, label: &Label) -> bool {
        self.watches.of(label.class).has_room_for(Bytes::new(u64::from(label.size)))
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn a_packet_touches_two_cache_lines_of_an_outlet_and_one_of_a_buffer() {
        assert_eq!(offset_of!(Outlet, bursts), 64);
        assert!(offset_of!(Outlet, gate) + size_of::<Time>() <= 128, "the first class's time");
        assert_eq!(offset_of!(Buffer, spec), 64);
        assert!(size_of::<Held>() <= 48, "with its links in a switch's list one line");
    }
}
