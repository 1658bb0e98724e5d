//! The event queue: a timing wheel in two levels, with a heap for what is far away.
//!
//! Events come out in order of (time, insertion). A push or pop costs the same with ten events as
//! with a million: an event goes into the bucket of its time divided by the bucket width, and a
//! bucket with several events keeps them in order. The width follows the density of events, so that
//! few buckets have several. The order of events does not depend on it.

mod bits;
mod far;
mod near;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ratewire_units::Time;

use crate::tuning::{
    BLOCK_LOG2, FIRST_BUCKET_LOG2, NARROWEST_BUCKET_LOG2, WIDEST_BUCKET_LOG2, WORTH_A_REVIEW,
};
use far::{BLOCKS, Far};
use near::{BUCKETS, Near};

const BLOCK: u64 = 1 << BLOCK_LOG2;

/// Number of events whose order of insertion does not matter.
const NO_NUMBER: u32 = u32::MAX;

/// An event; the order of events is the order in which they come out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    /// The number in the order of insertion, or [`NO_NUMBER`], followed by the subject.
    number_and_what: u64,
}

impl Event {
    #[inline]
    fn new(time: u64, number: u32, what: u32) -> Event {
        Event { time, number_and_what: u64::from(number) << u32::BITS | u64::from(what) }
    }
    #[inline]
    fn what(self) -> u32 {
        self.number_and_what as u32
    }
    /// Whether the event has no number. At one time such events come after those with numbers, in
    /// the order of their subjects.
    fn has_no_number(self) -> bool {
        (self.number_and_what >> u32::BITS) as u32 == NO_NUMBER
    }
}

/// The event queue.
#[doc(hidden)]
#[derive(Debug)]
pub struct Wheel {
    /// log2 of the bucket width in picoseconds.
    shift: u32,
    /// No event is in a bucket below this: the bucket of the last popped event, or the first from
    /// which events were brought near.
    now: u64,
    /// Events of the near level, by bucket.
    near: Near,
    /// Events of the far level, by block.
    far: Far,
    /// No bucket below this has events in `far` or `beyond`.
    boundary: u64,
    /// Events beyond the far level, the earliest first.
    beyond: BinaryHeap<Reverse<Event>>,
    /// Number of the last pushed event.
    number: u32,
    /// Mask for the numbers of events of any order: zero, or [`NO_NUMBER`].
    mask: u32,
    /// Number of the event at the last review of the width.
    reviewed: u32,
    /// How often, since the last review, an event was put beyond the near level.
    distant: u32,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            shift: FIRST_BUCKET_LOG2,
            now: 0,
            near: Near::new(),
            far: Far::new(),
            boundary: u64::MAX,
            beyond: BinaryHeap::new(),
            number: 0,
            mask: 0,
            reviewed: 0,
            distant: 0,
        }
    }
}

impl Wheel {
    /// Adds an event; `at` must not be before the last popped event.
    #[inline]
    pub fn push(&mut self, at: Time, what: u32) {
        self.push_with(0, at, what);
    }

    /// Adds an event whose order of insertion does not matter, if [`Wheel::order_by_what`] was
    /// called. Such events of one time come out in the order of their subjects.
    #[inline]
    pub fn push_in_any_order(&mut self, at: Time, what: u32) {
        self.push_with(self.mask, at, what);
    }

    /// From now on, [`Wheel::push_in_any_order`] ignores the order of insertion.
    pub fn order_by_what(&mut self) {
        self.mask = NO_NUMBER;
    }

    #[inline]
    fn push_with(&mut self, mask: u32, at: Time, what: u32) {
        if self.number == NO_NUMBER - 1 {
            self.renumber();
        }
        self.number += 1;
        if self.place(Event::new(at.ps(), self.number | mask, what)) {
            self.review();
        }
    }

    /// Puts an event into its place; returns whether many events should have narrower buckets.
    #[inline]
    fn place(&mut self, event: Event) -> bool {
        let bucket = event.time >> self.shift;
        debug_assert!(bucket >= self.now, "an event before the one popped last");
        if bucket - self.now < BUCKETS {
            return self.near.push(event, self.shift);
        }
        self.place_far(bucket, event);
        false
    }

    #[inline(never)]
    fn place_far(&mut self, bucket: u64, event: Event) {
        self.distant = self.distant.saturating_add(1);
        if (bucket >> BLOCK_LOG2) - (self.now >> BLOCK_LOG2) < BLOCKS {
            self.far.push(bucket >> BLOCK_LOG2, event);
            self.boundary = self.boundary.min(bucket >> BLOCK_LOG2 << BLOCK_LOG2);
        } else {
            self.boundary = self.boundary.min(bucket);
            self.beyond.push(Reverse(event));
        }
    }

    /// The next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, u32)> {
        loop {
            match self.near.next_from(self.now) {
                Some(bucket) if bucket < self.boundary => {
                    self.now = bucket;
                    let event = self.near.take(bucket);
                    return Some((Time::from_ps(event.time), event.what()));
                }
                None if self.boundary == u64::MAX => return None,
                _ => {
                    self.now = self.now.max(self.boundary);
                    self.bring_near();
                    self.review();
                }
            }
        }
    }

    /// Time of the next event, or a little earlier.
    #[inline]
    pub fn next_time(&self) -> Time {
        match self.near.next_from(self.now) {
            Some(bucket) if bucket < self.boundary => Time::from_ps(self.near.first(bucket)),
            _ if self.boundary == u64::MAX => Time::NEVER,
            _ => Time::from_ps(self.now.max(self.boundary) << self.shift),
        }
    }

    /// The next event, if it comes before this time. If there is none, no event before this time
    /// may be pushed any more.
    #[inline]
    pub fn pop_before(&mut self, limit: Time) -> Option<(Time, u32)> {
        let limit = limit.ps();
        loop {
            match self.near.next_from(self.now) {
                Some(bucket) if bucket < self.boundary => {
                    if self.near.first(bucket) >= limit {
                        return None;
                    }
                    self.now = bucket;
                    let event = self.near.take(bucket);
                    return Some((Time::from_ps(event.time), event.what()));
                }
                None if self.boundary == u64::MAX => return None,
                _ => {
                    if self.now.max(self.boundary) > limit.saturating_sub(1) >> self.shift {
                        return None;
                    }
                    self.now = self.now.max(self.boundary);
                    self.bring_near();
                    self.review();
                }
            }
        }
    }

    /// Moves events of `beyond` that the far level has room for to their places; then the block at
    /// `now`, if it has events, to the near level. A block of many is sorted first, so that no
    /// event has to search for its place.
    #[cold]
    fn bring_near(&mut self) {
        let block = self.now >> BLOCK_LOG2;
        while let Some(Reverse(event)) = self.beyond.peek().copied()
            && (event.time >> self.shift >> BLOCK_LOG2) - block < BLOCKS
        {
            self.beyond.pop();
            self.place(event);
        }
        if let Some(first) = self.far.next_from(block).filter(|first| *first == block) {
            let mut all = Vec::new();
            self.far.drain(first, |event| all.push(event));
            if all.len() > BLOCK as usize {
                all.sort_unstable();
            }
            for event in all {
                self.place(event);
            }
        }
        let far = self.far.next_from(block).map_or(u64::MAX, |first| first << BLOCK_LOG2);
        self.boundary = far.min(self.first_beyond());
    }

    fn first_beyond(&self) -> u64 {
        self.beyond.peek().map_or(u64::MAX, |Reverse(event)| event.time >> self.shift)
    }

    /// Narrows the buckets if this separates many events. Widens them if this would not join many,
    /// and most events come from far away.
    fn review(&mut self) {
        if self.near.spared.max(self.distant) < WORTH_A_REVIEW {
            return;
        }
        let pushed = self.number - self.reviewed;
        let spared = core::mem::take(&mut self.near.spared);
        let distant = core::mem::take(&mut self.distant);
        self.reviewed = self.number;
        let shift = if spared > pushed / 4 && self.shift > NARROWEST_BUCKET_LOG2 {
            self.shift - 1
        } else if distant > pushed / 2 && spared < pushed / 16 && self.shift < WIDEST_BUCKET_LOG2 {
            self.shift + 1
        } else {
            return;
        };
        let all = self.take_all();
        self.now = self.now << self.shift >> shift;
        self.shift = shift;
        for event in all {
            self.place(event);
        }
        self.near.spared = 0;
        self.distant = 0;
    }

    /// Removes all pending events, in their order, so that none has to search when they are put
    /// back.
    fn take_all(&mut self) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(bucket) = self.near.next_from(self.now) {
            all.push(self.near.take(bucket));
        }
        while let Some(block) = self.far.next_from(self.now >> BLOCK_LOG2) {
            self.far.drain(block, |event| all.push(event));
        }
        all.extend(self.beyond.drain().map(|Reverse(e)| e));
        all.sort_unstable();
        self.boundary = u64::MAX;
        all
    }

    /// Renumbers the pending events from the lowest number, in their order.
    #[cold]
    fn renumber(&mut self) {
        let all = self.take_all();
        self.number = 0;
        self.reviewed = 0;
        for event in all {
            self.number += 1;
            let mask = if event.has_no_number() { NO_NUMBER } else { 0 };
            self.place(Event::new(event.time, self.number | mask, event.what()));
        }
    }
}

#[cfg(test)]
mod tests;
