//! The event queue: a timing wheel in two levels, with a heap for what is far away.
//!
//! Events come out in order of (time, insertion). A push or pop costs the same whether ten events
//! are pending or a million: an event goes into a list by its time divided by the bucket width, and
//! a list is sorted when its turn comes. The width follows the density of events, so that a list
//! holds about one; the order does not depend on it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use prefetch_index::prefetch_index;
use ratewire_units::Time;

const SLOTS_LOG2: u32 = 12;
const SLOTS: u64 = 1 << SLOTS_LOG2;
const WORDS: usize = (SLOTS / 64) as usize;
const NIL: u32 = u32::MAX;
/// Buckets between telling of events and fetching them.
const GLANCE: u64 = 32;
/// Buckets opened between looks at the width.
const REVIEW_EVERY: u32 = 1 << 14;
/// 2^24 ps = 17 microseconds: where the width starts.
const INITIAL_SHIFT: u32 = 24;

#[derive(Clone, Copy, Debug)]
struct Node {
    time: u64,
    order: u64,
    what: u32,
    next: u32,
}

/// One level: a ring of lists, and which of them are not empty.
#[derive(Debug)]
struct Level {
    heads: Box<[u32; SLOTS as usize]>,
    bits: Box<[u64; WORDS]>,
    summary: u64,
}

impl Level {
    fn new() -> Level {
        Level { heads: Box::new([NIL; SLOTS as usize]), bits: Box::new([0; WORDS]), summary: 0 }
    }

    #[inline]
    fn push(&mut self, bucket: u64, id: u32, nodes: &mut [Node]) {
        let slot = (bucket % SLOTS) as usize;
        nodes[id as usize].next = self.heads[slot];
        self.heads[slot] = id;
        self.bits[slot / 64] |= 1 << (slot % 64);
        self.summary |= 1 << (slot / 64);
    }

    #[inline]
    fn take(&mut self, bucket: u64) -> u32 {
        let slot = (bucket % SLOTS) as usize;
        self.bits[slot / 64] &= !(1 << (slot % 64));
        if self.bits[slot / 64] == 0 {
            self.summary &= !(1 << (slot / 64));
        }
        core::mem::replace(&mut self.heads[slot], NIL)
    }

    /// The first bucket after `after` that holds something.
    #[inline]
    fn next_after(&self, after: u64) -> Option<u64> {
        if self.summary == 0 {
            return None;
        }
        let start = ((after + 1) % SLOTS) as usize;
        let (word, bit) = (start / 64, start % 64);
        let here = self.bits[word] >> bit << bit;
        let slot = if here != 0 {
            word * 64 + here.trailing_zeros() as usize
        } else {
            let later = if word == 63 { 0 } else { self.summary >> (word + 1) << (word + 1) };
            let word = if later != 0 { later } else { self.summary }.trailing_zeros() as usize;
            word * 64 + self.bits[word].trailing_zeros() as usize
        };
        let ahead = (slot as u64).wrapping_sub(start as u64) % SLOTS;
        Some(after + 1 + ahead)
    }
}

/// The event queue.
#[doc(hidden)]
#[derive(Debug)]
pub struct Wheel {
    nodes: Vec<Node>,
    free: u32,
    /// log2 of the bucket width in picoseconds.
    shift: u32,
    /// The bucket whose events are in `open`.
    now: u64,
    /// Events of the current bucket, last first.
    open: Vec<(u64, u64, u32)>,
    /// Events pushed into the current bucket after it was opened.
    late: BinaryHeap<Reverse<(u64, u64, u32)>>,
    near: Level,
    far: Level,
    /// No bucket below this has events in `far` or `beyond`.
    boundary: u64,
    beyond: BinaryHeap<Reverse<(u64, u64, u32)>>,
    order: u64,
    opened_buckets: u32,
    opened_events: u32,
    far_events: u32,
    /// The bucket up to which [`Wheel::scout`] has told of events, and how many of those are pending.
    scouted: u64,
    ahead: u32,
    /// The bucket up to which [`Wheel::glance`] has fetched events.
    glanced: u64,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            nodes: Vec::new(),
            free: NIL,
            shift: INITIAL_SHIFT,
            now: 0,
            open: Vec::new(),
            late: BinaryHeap::new(),
            near: Level::new(),
            far: Level::new(),
            boundary: u64::MAX,
            beyond: BinaryHeap::new(),
            order: 0,
            opened_buckets: 0,
            opened_events: 0,
            far_events: 0,
            scouted: 0,
            ahead: 0,
            glanced: 0,
        }
    }
}

impl Wheel {
    /// Notes an event; `at` must not be before the event popped last.
    #[inline]
    pub fn push(&mut self, at: Time, what: u32) {
        self.order += 1;
        self.place(at.ps(), self.order, what);
    }

    #[inline]
    fn place(&mut self, time: u64, order: u64, what: u32) {
        let bucket = time >> self.shift;
        self.ahead += u32::from(bucket <= self.scouted);
        if bucket <= self.now {
            self.opened_events += 1;
            self.late.push(Reverse((time, order, what)));
        } else if bucket - self.now <= SLOTS {
            let id = self.node(time, order, what);
            self.near.push(bucket, id, &mut self.nodes);
        } else if (bucket >> SLOTS_LOG2) - (self.now >> SLOTS_LOG2) <= SLOTS {
            self.far_events += 1;
            let id = self.node(time, order, what);
            self.far.push(bucket >> SLOTS_LOG2, id, &mut self.nodes);
            self.boundary = self.boundary.min(bucket >> SLOTS_LOG2 << SLOTS_LOG2);
        } else {
            self.boundary = self.boundary.min(bucket);
            self.beyond.push(Reverse((time, order, what)));
        }
    }

    #[inline]
    fn node(&mut self, time: u64, order: u64, what: u32) -> u32 {
        let node = Node { time, order, what, next: NIL };
        if self.free == NIL {
            self.nodes.push(node);
            return (self.nodes.len() - 1) as u32;
        }
        let id = self.free;
        self.free = self.nodes[id as usize].next;
        self.nodes[id as usize] = node;
        id
    }

    /// Tells of events before their turn, so that about `far` pending ones have been told of. To be
    /// called after each pop. What is pushed before one that was told of is not told of any more; when
    /// the width changes, some are told of again.
    #[inline]
    pub fn scout(&mut self, far: u32, mut tell: impl FnMut(u32)) {
        self.ahead = self.ahead.saturating_sub(1);
        self.scouted = self.scouted.max(self.now);
        self.glance();
        while self.ahead < far {
            let reach = self.boundary.min(self.now + SLOTS + 1);
            let Some(bucket) = self.near.next_after(self.scouted).filter(|b| *b < reach) else {
                return;
            };
            self.scouted = bucket;
            let mut id = self.near.heads[(bucket % SLOTS) as usize];
            while id != NIL {
                let node = &self.nodes[id as usize];
                tell(node.what);
                self.ahead += 1;
                id = node.next;
            }
        }
    }

    /// Fetches the first events of buckets that are to be told of soon.
    #[inline]
    fn glance(&mut self) {
        self.glanced = self.glanced.max(self.scouted);
        let reach = self.boundary.min(self.now + SLOTS + 1).min(self.scouted + GLANCE);
        for _ in 0..2 {
            let next = self.near.next_after(self.glanced).filter(|bucket| *bucket < reach);
            let Some(bucket) = next else { return };
            self.glanced = bucket;
            prefetch_index(&self.nodes, self.near.heads[(bucket % SLOTS) as usize] as usize);
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
                    let first = self.near.take(bucket);
                    let node = self.nodes[first as usize];
                    self.opened_buckets += 1;
                    if node.next == NIL && self.opened_buckets < REVIEW_EVERY {
                        self.nodes[first as usize].next = self.free;
                        self.free = first;
                        self.opened_events += 1;
                        return Some((Time::from_ps(node.time), node.what));
                    }
                    self.open(first);
                }
                None if self.boundary == u64::MAX => return None,
                _ => self.bring_near(),
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
        let (time, _, what) =
            if late_first { self.late.pop().map(|Reverse(e)| e)? } else { self.open.pop()? };
        Some((Time::from_ps(time), what))
    }

    /// Moves the events that come first in `far` or `beyond` to the near level.
    #[cold]
    fn bring_near(&mut self) {
        let block = self.far.next_after(self.now >> SLOTS_LOG2);
        let far = block.map_or(u64::MAX, |b| b << SLOTS_LOG2);
        let beyond = self.first_beyond();
        // One before the first bucket to open, so that a whole block fits the near level.
        self.now = self.now.max(self.boundary - 1);
        if far <= beyond {
            let mut id = self.far.take(far >> SLOTS_LOG2);
            while id != NIL {
                let node = self.nodes[id as usize];
                self.near.push(node.time >> self.shift, id, &mut self.nodes);
                id = node.next;
            }
        } else {
            while let Some(Reverse((time, order, what))) = self.beyond.peek().copied() {
                if (time >> self.shift) - self.now > SLOTS {
                    break;
                }
                self.beyond.pop();
                self.place(time, order, what);
            }
        }
        let block = self.far.next_after(self.now >> SLOTS_LOG2);
        self.boundary = block.map_or(u64::MAX, |b| b << SLOTS_LOG2).min(self.first_beyond());
    }

    fn first_beyond(&self) -> u64 {
        self.beyond.peek().map_or(u64::MAX, |Reverse((time, ..))| time >> self.shift)
    }

    /// Makes the list that starts with `first` the open bucket.
    fn open(&mut self, first: u32) {
        let mut id = first;
        while id != NIL {
            let node = self.nodes[id as usize];
            self.nodes[id as usize].next = self.free;
            self.free = id;
            self.open.push((node.time, node.order, node.what));
            id = node.next;
        }
        match &mut self.open[..] {
            [_] => {}
            [a, b] => {
                if (a.0, a.1) < (b.0, b.1) {
                    core::mem::swap(a, b);
                }
            }
            all => all.sort_unstable_by_key(|e| Reverse((e.0, e.1))),
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
        } else if events <= 2 && far > REVIEW_EVERY / 2 && self.shift < 44 {
            self.shift + 1
        } else {
            return;
        };
        let mut all: Vec<(u64, u64, u32)> = core::mem::take(&mut self.open);
        all.extend(self.late.drain().map(|Reverse(e)| e));
        let current = self.now << self.shift;
        let scouted_until = (self.scouted + 1) << self.shift;
        for level in [&mut self.near, &mut self.far] {
            for head in level.heads.iter_mut() {
                let mut id = core::mem::replace(head, NIL);
                while id != NIL {
                    let node = self.nodes[id as usize];
                    all.push((node.time, node.order, node.what));
                    id = node.next;
                }
            }
            level.bits.fill(0);
            level.summary = 0;
        }
        all.extend(self.beyond.drain().map(|Reverse(e)| e));
        self.nodes.clear();
        self.free = NIL;
        self.shift = shift;
        self.now = current >> shift;
        self.scouted = (scouted_until >> shift).saturating_sub(1);
        self.ahead = 0;
        self.glanced = 0;
        self.boundary = u64::MAX;
        for (time, order, what) in all {
            self.place(time, order, what);
        }
        self.opened_events = 0;
        self.far_events = 0;
    }
}

#[cfg(test)]
mod tests;
