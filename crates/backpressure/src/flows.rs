//! Queues by flow that are paused one by one: the parts of backpressure flow control (BFC; Goyal
//! and others, NSDI 2022) in a port.
//!
//! - Each output has a set of first-in-first-out queues. A flow that was silent for long gets a
//!   random queue that is empty and not paused; if there is none, any queue ([`Assignment`]).
//! - A packet names the queue of the upstream transmitter in which it waited. If it enters a queue
//!   that is too long, the upstream queue is paused ([`threshold`]). The packet counts against the
//!   upstream queue from its arrival to its departure ([`Filter`]); the queue resumes when the
//!   count is 0.
//! - A map says which queues are paused, one bit a queue ([`LaneSet`]). It is sent when it changes.
//!
//! Differences from the authors' code: their code sends the map every microsecond, changed or
//! not. Here each change of a bit sends the map, at most once every [`TAU`] if bits are only added.
//! Their filter has 1024 entries, which queues of one output never share; here each queue has one
//! entry.

use ratewire_units::{Bytes, Duration, Rate, Time};

/// Shortest time between maps that only pause more queues.
pub const TAU: Duration = Duration::from_micros(1);
/// Silence after which a flow gets a new queue.
pub const SILENCE: Duration = Duration::from_micros(6);
/// Maximum number of queues of an output.
pub const MOST_QUEUES: u32 = 128;

/// Entries for flows. Flows that share an entry share a queue.
const ENTRIES: u64 = 4096;

/// A set of the queues of one transmitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneSet(pub u128);

impl LaneSet {
    /// Whether the set contains a queue.
    #[inline]
    pub fn contains(self, lane: u32) -> bool {
        self.0 >> lane & 1 == 1
    }
}

/// Packets counted against the queues of the upstream transmitter.
#[derive(Clone, Debug)]
pub struct Filter {
    counts: Vec<u32>,
    paused: LaneSet,
}

impl Filter {
    /// A filter for a transmitter with this many queues.
    pub fn new(queues: u32) -> Filter {
        Filter { counts: vec![0; queues as usize], paused: LaneSet::default() }
    }
    /// The queues that the upstream must pause.
    pub fn paused(&self) -> LaneSet {
        self.paused
    }
    /// Counts a packet of this queue that has found too long a queue. Returns whether the map has
    /// changed.
    pub fn count(&mut self, lane: u32) -> bool {
        self.counts[lane as usize] += 1;
        self.paused.0 |= 1 << lane;
        self.counts[lane as usize] == 1
    }
    /// Takes off a counted packet that has left. Returns whether the map has changed.
    pub fn uncount(&mut self, lane: u32) -> bool {
        self.counts[lane as usize] -= 1;
        let over = self.counts[lane as usize] == 0;
        if over {
            self.paused.0 &= !(1 << lane);
        }
        over
    }
}

/// Length of a queue above which its upstream queue is paused: the bytes that it sends until a
/// pause, or the end of one, takes effect, if `active` queues share the output. `(HRTT + tau) mu /
/// N_active`.
pub fn threshold(rate: Rate, hop_round_trip: Duration, active: u32) -> Bytes {
    let sent = rate.bytes_in(hop_round_trip + TAU);
    Bytes::new(sent.get() / u64::from(active.max(1)))
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    queue: u32,
    waiting: u32,
    last: Option<Time>,
}

/// The queue of an output that each flow has.
#[derive(Clone, Debug)]
pub struct Assignment {
    queues: u32,
    entries: Vec<Entry>,
}

impl Assignment {
    /// An assignment for an output with this many queues.
    pub fn new(queues: u32) -> Assignment {
        Assignment { queues, entries: vec![Entry::default(); ENTRIES as usize] }
    }

    /// The queue for a packet of a flow that arrives now. `is_free` says whether a queue is empty
    /// and not paused; `random` gives the choice.
    pub fn place(
        &mut self,
        now: Time,
        flow: u32,
        random: impl FnOnce() -> u64,
        is_free: impl Fn(u32) -> bool,
    ) -> u32 {
        let entry = &mut self.entries[slot(flow)];
        let silent = entry.last.is_none_or(|last| now.since(last) > SILENCE);
        if entry.waiting == 0 && silent {
            let free: Vec<u32> = (0..self.queues).filter(|queue| is_free(*queue)).collect();
            let draw = random();
            entry.queue = match free.len() as u64 {
                0 => (draw % u64::from(self.queues)) as u32,
                count => free[(draw % count) as usize],
            };
        }
        entry.waiting += 1;
        entry.last = Some(now);
        entry.queue
    }

    /// Notes that a packet of a flow leaves its queue.
    pub fn leave(&mut self, now: Time, flow: u32) {
        let entry = &mut self.entries[slot(flow)];
        entry.waiting -= 1;
        entry.last = Some(now);
    }
}

/// Spreads neighbours: flows that start together have consecutive numbers.
fn slot(flow: u32) -> usize {
    (u64::from(flow) % ENTRIES) as usize
}

#[cfg(test)]
#[path = "flows_tests.rs"]
mod tests;
