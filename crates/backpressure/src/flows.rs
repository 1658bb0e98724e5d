//! Queues by flow, paused one by one: the parts of backpressure flow control (BFC; Goyal and others, NSDI
//! 2022) that a port is made of.
//!
//! - Each output has a set of first-in-first-out queues. A flow that comes after a time of silence gets an
//!   empty one that is not paused, at random; where there is none, any ([`Assignment`]).
//! - A packet says in which queue of the transmitter before it waited. Where it comes into a queue that is
//!   too long, that queue is paused ([`threshold`]): the packet is counted against it when it comes and
//!   taken off when it leaves ([`Filter`]), and the queue is let go on when the count is back at nothing.
//! - Which queues are paused is told as a map, a bit each ([`Lanes`]), when it changes.
//!
//! Differences from the authors' code: there the map is sent every microsecond whether it has changed or
//! not; here each change of a bit sends it, at most one every [`TAU`] where bits are only added. Their
//! filter has 1024 entries, which queues of one output never share; here it has one for each queue.

use ratewire_units::{Bytes, Duration, Rate, Time};

/// How far apart maps are sent that only pause more queues.
pub const TAU: Duration = Duration::from_micros(1);
/// A flow that was silent for longer gets a queue anew.
pub const SILENCE: Duration = Duration::from_micros(6);
/// Most queues an output may have.
pub const MOST_QUEUES: u32 = 128;

/// Flows that are told apart; more share entries, and so queues.
const ENTRIES: u64 = 4096;

/// A set of the queues of one transmitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lanes(pub u128);

impl Lanes {
    /// Whether a queue is among them.
    #[inline]
    pub fn contains(self, lane: u32) -> bool {
        self.0 >> lane & 1 == 1
    }
}

/// Packets counted against the queues of the transmitter before.
#[derive(Clone, Debug)]
pub struct Filter {
    counts: Vec<u32>,
    paused: Lanes,
}

impl Filter {
    /// Of a transmitter with so many queues.
    pub fn new(queues: u32) -> Filter {
        Filter { counts: vec![0; queues as usize], paused: Lanes::default() }
    }
    /// The queues that are to be paused.
    pub fn paused(&self) -> Lanes {
        self.paused
    }
    /// A packet of this queue has come that finds too much waiting; says whether the map has changed.
    pub fn count(&mut self, lane: u32) -> bool {
        self.counts[lane as usize] += 1;
        self.paused.0 |= 1 << lane;
        self.counts[lane as usize] == 1
    }
    /// A packet that was counted has left; says whether the map has changed.
    pub fn uncount(&mut self, lane: u32) -> bool {
        self.counts[lane as usize] -= 1;
        let over = self.counts[lane as usize] == 0;
        if over {
            self.paused.0 &= !(1 << lane);
        }
        over
    }
}

/// How much may wait in a queue before what fills it is paused: as much as it sends until a pause, or the
/// end of one, is felt, where `active` queues share the output. `(HRTT + tau) mu / N_active`.
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

/// Which queue of an output each flow has.
#[derive(Clone, Debug)]
pub struct Assignment {
    queues: u32,
    entries: Vec<Entry>,
}

impl Assignment {
    /// For an output with so many queues.
    pub fn new(queues: u32) -> Assignment {
        Assignment { queues, entries: vec![Entry::default(); ENTRIES as usize] }
    }

    /// The queue for a packet of a flow that comes now. `is_free` tells of queues that are empty and not
    /// paused; `random` is where the choice is from.
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

    /// A packet of a flow leaves its queue.
    pub fn leave(&mut self, now: Time, flow: u32) {
        let entry = &mut self.entries[slot(flow)];
        entry.waiting -= 1;
        entry.last = Some(now);
    }
}

/// Neighbours are kept apart: flows that start together have numbers next to each other.
fn slot(flow: u32) -> usize {
    (u64::from(flow) % ENTRIES) as usize
}

#[cfg(test)]
#[path = "flows_tests.rs"]
mod tests;
