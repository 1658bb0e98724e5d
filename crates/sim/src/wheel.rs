//! The event queue: a timing wheel in two levels, with a heap for what is far away.
//!
//! Events come out in order of (time, insertion). A push or pop costs the same whether ten events
//! are pending or a million: an event goes into a list by its time divided by the bucket width, and
//! a list is sorted when its turn comes. The width follows the density of events, so that a list
//! holds about one; the order does not depend on it.

mod far;
mod near;
mod ring;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ratewire_units::Time;

use far::{BLOCKS, Far};
use near::{BUCKETS, Near};

/// Buckets of a block, the unit of what is far away: a part of what the near level holds, so that the next
/// block comes near before the last event of the one before.
const BLOCK_LOG2: u32 = 7;
const BLOCK: u64 = 1 << BLOCK_LOG2;
/// Buckets opened between looks at the width.
const REVIEW_EVERY: u32 = 1 << 14;
/// 2^24 ps = 17 microseconds: where the width starts.
const INITIAL_SHIFT: u32 = 24;

/// In the order in which they come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    order: u64,
    what: u32,
}

/// The event queue.
#[doc(hidden)]
#[derive(Debug)]
pub struct Wheel {
    /// log2 of the bucket width in picoseconds.
    shift: u32,
    /// The bucket whose events are in `open`.
    now: u64,
    /// Events of the current bucket, last first.
    open: Vec<Event>,
    /// Events pushed into the current bucket after it was opened.
    late: BinaryHeap<Reverse<Event>>,
    /// By bucket.
    near: Near,
    /// By block.
    far: Far,
    /// No bucket below this has events in `far` or `beyond`.
    boundary: u64,
    beyond: BinaryHeap<Reverse<Event>>,
    order: u64,
    opened_buckets: u32,
    opened_events: u32,
    far_events: u32,
    /// The bucket up to which [`Wheel::scout`] has told of events, and how many of those are pending.
    scouted: u64,
    ahead: u32,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            shift: INITIAL_SHIFT,
            now: 0,
            open: Vec::new(),
            late: BinaryHeap::new(),
            near: Near::new(),
            far: Far::new(),
            boundary: u64::MAX,
            beyond: BinaryHeap::new(),
            order: 0,
            opened_buckets: 0,
            opened_events: 0,
            far_events: 0,
            scouted: 0,
            ahead: 0,
        }
    }
}

impl Wheel {
    /// Notes an event; `at` must not be before the event popped last.
    #[inline]
    pub fn push(&mut self, at: Time, what: u32) {
        self.order += 1;
        self.place(Event { time: at.ps(), order: self.order, what });
    }

    #[inline]
    fn place(&mut self, event: Event) {
        let bucket = event.time >> self.shift;
        self.ahead += u32::from(bucket <= self.scouted);
        if bucket <= self.now {
            self.opened_events += 1;
            self.late.push(Reverse(event));
        } else if bucket - self.now <= BUCKETS {
            self.near.push(bucket, event);
        } else if (bucket >> BLOCK_LOG2) - (self.now >> BLOCK_LOG2) <= BLOCKS {
            self.far_events += 1;
            self.far.push(bucket >> BLOCK_LOG2, event);
            self.boundary = self.boundary.min(bucket >> BLOCK_LOG2 << BLOCK_LOG2);
        } else {
            self.boundary = self.boundary.min(bucket);
            self.beyond.push(Reverse(event));
        }
    }

    /// Tells of events before their turn, so that about `far` pending ones have been told of. To be
    /// called after each pop. What is pushed before one that was told of is not told of any more; when
    /// the width changes, some are told of again.
    #[inline]
    pub fn scout(&mut self, far: u32, mut tell: impl FnMut(u32)) {
        self.ahead = self.ahead.saturating_sub(1);
        self.scouted = self.scouted.max(self.now);
        while self.ahead < far {
            let reach = self.boundary.min(self.now + BUCKETS + 1);
            let Some(bucket) = self.near.next_after(self.scouted).filter(|b| *b < reach) else {
                if self.boundary.saturating_add(BLOCK) > self.now + BUCKETS + 1 {
                    return;
                }
                self.bring_near();
                continue;
            };
            self.scouted = bucket;
            self.near.look(bucket, |event| {
                tell(event);
                self.ahead += 1;
            });
        }
    }

    /// The next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, u32)> {
        loop {
            if !self.late.is_empty() || !self.open.is_empty() {
                return self.pop_open();
            }
            match self.near.next_after(self.now) {
                Some(bucket) if bucket < self.boundary => {
                    self.now = bucket;
                    self.opened_buckets += 1;
                    if self.opened_buckets < REVIEW_EVERY
                        && let Some(event) = self.near.take_single(bucket)
                    {
                        self.opened_events += 1;
                        return Some((Time::from_ps(event.time), event.what));
                    }
                    self.open(bucket);
                }
                None if self.boundary == u64::MAX => return None,
                _ => {
                    // One before the first bucket to open, so that a whole block fits the near level.
                    self.now = self.now.max(self.boundary - 1);
                    self.bring_near();
                }
            }
        }
    }

    /// The next event of the current bucket, which holds one.
    #[inline]
    fn pop_open(&mut self) -> Option<(Time, u32)> {
        let late_first = match (self.late.peek(), self.open.last()) {
            (Some(Reverse(late)), Some(open)) => late < open,
            (late, _) => late.is_some(),
        };
        let event =
            if late_first { self.late.pop().map(|Reverse(e)| e)? } else { self.open.pop()? };
        Some((Time::from_ps(event.time), event.what))
    }

    /// Moves the events that come first in `far` or `beyond` to the near level, for which there is room.
    #[cold]
    fn bring_near(&mut self) {
        let block = self.far.next_after(self.now >> BLOCK_LOG2);
        let first = block.map_or(u64::MAX, |b| b << BLOCK_LOG2);
        if let Some(block) = block.filter(|_| first <= self.first_beyond()) {
            self.far.drain(block, |event| self.near.push(event.time >> self.shift, event));
        } else {
            while let Some(Reverse(event)) = self.beyond.peek().copied() {
                if (event.time >> self.shift) - self.now > BUCKETS {
                    break;
                }
                self.beyond.pop();
                self.place(event);
            }
        }
        self.boundary = self.first_beyond();
        if let Some(block) = self.far.next_after(self.now >> BLOCK_LOG2) {
            self.far.foresee(block);
            self.boundary = self.boundary.min(block << BLOCK_LOG2);
        }
    }

    fn first_beyond(&self) -> u64 {
        self.beyond.peek().map_or(u64::MAX, |Reverse(event)| event.time >> self.shift)
    }

    /// Makes a bucket the open one.
    fn open(&mut self, bucket: u64) {
        self.near.drain(bucket, |event| self.open.push(event));
        match &mut self.open[..] {
            [_] => {}
            [a, b] => {
                if a < b {
                    core::mem::swap(a, b);
                }
            }
            all => all.sort_unstable_by_key(|event| Reverse(*event)),
        }
        self.opened_events += self.open.len() as u32;
        if self.opened_buckets >= REVIEW_EVERY {
            self.review_width();
        }
    }

    /// Narrows the buckets if they hold many events each; widens them if they hold few and many
    /// events pass through the far level.
    #[cold]
    fn review_width(&mut self) {
        let events = self.opened_events / self.opened_buckets;
        let far = self.far_events;
        self.opened_buckets = 0;
        self.opened_events = 0;
        self.far_events = 0;
        let shift = if events >= 4 && self.shift > 4 {
            self.shift - 2
        } else if events < 2 && far > REVIEW_EVERY / 2 && self.shift < 44 {
            self.shift + 1
        } else {
            return;
        };
        let mut all = core::mem::take(&mut self.open);
        all.extend(self.late.drain().map(|Reverse(e)| e));
        let mut bucket = self.now;
        while let Some(next) = self.near.next_after(bucket) {
            bucket = next;
            self.near.drain(next, |event| all.push(event));
        }
        while let Some(block) = self.far.next_after(self.now >> BLOCK_LOG2) {
            self.far.drain(block, |event| all.push(event));
        }
        all.extend(self.beyond.drain().map(|Reverse(e)| e));
        let scouted_until = (self.scouted + 1) << self.shift;
        self.now = self.now << self.shift >> shift;
        self.shift = shift;
        self.scouted = (scouted_until >> shift).saturating_sub(1);
        self.ahead = 0;
        self.boundary = u64::MAX;
        all.into_iter().for_each(|event| self.place(event));
        self.opened_events = 0;
        self.far_events = 0;
    }
}

#[cfg(test)]
mod tests;
