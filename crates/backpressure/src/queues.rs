//! What waits in a switch, and whose turn it is.
//!
//! | arrangement | a queue for each | its lanes, which may be paused one by one |
//! |---|---|---|
//! | [`Arrangement::Fifo`] | input and class | classes |
//! | [`Arrangement::Virtual`] | output, input and class | classes |
//! | [`Arrangement::ByFlow`] | output, and so many | the queues themselves |
//!
//! With one queue an input, its head blocks all behind it, wherever they are going (head-of-line
//! blocking). With virtual output queues it blocks only what goes the same way. Queues by flow are told
//! apart by [`crate::flows`].
//!
//! Outputs are fair to the queues whose head is for them: round robin, a packet each. A host is a switch
//! with one input.

use prefetch_index::prefetch_index;

/// How a switch sorts what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// One queue an input (and class).
    Fifo,
    /// Virtual output queues: one for each output, at each input (and for each class).
    Virtual,
    /// So many queues at each output, whichever input they came by.
    ByFlow(u32),
}

/// The queue of a switch in which a packet waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueAddress {
    /// The input by which it came.
    pub input: u32,
    /// The output for which it waits.
    pub output: u32,
    /// Its class, or with queues by flow its queue at that output.
    pub lane: u32,
}

/// A packet that has left its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dequeued<T> {
    /// The queue in which the packet waited.
    pub place: QueueAddress,
    /// The packet.
    pub item: T,
    /// The output for which the next one in its queue waits: another may now have its turn.
    pub exposed: Option<u32>,
}

/// No slot, or no queue.
const NONE: u32 = u32::MAX;

/// A packet that waits, in a cache line of its own. Slots left by packets that went are filled first, so
/// that a switch takes no more memory than what waits in it, however many queues it has.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Slot<T> {
    place: QueueAddress,
    item: T,
    /// The one behind it in its queue, or among empty slots.
    next: u32,
}

/// Slots in a row: those of a queue's packets.
#[derive(Clone, Debug)]
struct Queue {
    lane: u32,
    first: u32,
    last: u32,
    /// The queue whose turn comes after this one's at the same output.
    next: u32,
}

/// An output, and what waits for it.
#[derive(Clone, Debug)]
struct Output {
    /// Of the queues whose head is for it, the one whose turn is next, and the one whose turn is after all others'.
    first: u32,
    last: u32,
    /// By input and lane: which queue; empty until something first waits. With one queue an input, those of the
    /// first output are those of all.
    numbers: Vec<u32>,
}

/// The queues of a switch.
#[derive(Clone, Debug)]
pub struct SwitchQueues<T> {
    arrangement: Arrangement,
    lanes: u32,
    slots: Vec<Slot<T>>,
    /// The first empty slot.
    empty: u32,
    /// Queues that something has waited in.
    queues: Vec<Queue>,
    outputs: Vec<Output>,
    /// Queues that an output can have.
    most: u32,
}

impl<T: Copy> SwitchQueues<T> {
    /// A switch in which nothing waits. `classes` is not used with queues by flow.
    pub fn new(
        arrangement: Arrangement,
        inputs: u32,
        outputs: u32,
        classes: u32,
    ) -> SwitchQueues<T> {
        let (most, lanes) = match arrangement {
            Arrangement::Fifo | Arrangement::Virtual => (inputs * classes, classes),
            Arrangement::ByFlow(queues) => (queues, queues),
        };
        SwitchQueues {
            arrangement,
            lanes,
            slots: Vec::new(),
            empty: NONE,
            queues: Vec::new(),
            outputs: vec![
                Output { first: NONE, last: NONE, numbers: Vec::new() };
                outputs as usize
            ],
            most,
        }
    }

    /// How it sorts.
    pub fn arrangement(&self) -> Arrangement {
        self.arrangement
    }

    /// At which output the number of a place's queue stands, and where there.
    fn at(&self, place: QueueAddress) -> (usize, usize) {
        let (output, column) = match self.arrangement {
            Arrangement::Fifo => (0, place.input * self.lanes + place.lane),
            Arrangement::Virtual => (place.output, place.input * self.lanes + place.lane),
            Arrangement::ByFlow(_) => (place.output, place.lane),
        };
        (output as usize, column as usize)
    }

    /// The number of a place's queue, which is made if there is none.
    fn number(&mut self, place: QueueAddress) -> u32 {
        let (output, column) = self.at(place);
        let numbers = &mut self.outputs[output].numbers;
        if numbers.is_empty() {
            numbers.resize(self.most as usize, NONE);
        }
        if numbers[column] == NONE {
            numbers[column] = self.queues.len() as u32;
            self.queues.push(Queue { lane: place.lane, first: NONE, last: NONE, next: NONE });
        }
        numbers[column]
    }

    /// A packet waits from now on.
    pub fn push(&mut self, place: QueueAddress, item: T) {
        let id = self.number(place);
        let slot = self.fill(Slot { place, item, next: NONE });
        let queue = &mut self.queues[id as usize];
        let last = core::mem::replace(&mut queue.last, slot);
        if last == NONE {
            queue.first = slot;
            self.line_up(id, place.output);
        } else {
            self.slots[last as usize].next = slot;
        }
    }

    fn fill(&mut self, slot: Slot<T>) -> u32 {
        let at = self.empty;
        if at == NONE {
            self.slots.push(slot);
            return self.slots.len() as u32 - 1;
        }
        self.empty = self.slots[at as usize].next;
        self.slots[at as usize] = slot;
        at
    }

    /// A queue has its head for an output now: its turn is after that of all others.
    fn line_up(&mut self, id: u32, output: u32) {
        self.queues[id as usize].next = NONE;
        let line = &mut self.outputs[output as usize];
        match core::mem::replace(&mut line.last, id) {
            NONE => line.first = id,
            last => self.queues[last as usize].next = id,
        }
    }

    /// Takes the queue whose turn it is out of its line.
    fn step_out(&mut self, output: u32, is_open: impl Fn(u32) -> bool) -> Option<u32> {
        let line = &mut self.outputs[output as usize];
        let (mut before, mut id) = (NONE, line.first);
        while !is_open(self.queues.get(id as usize)?.lane) {
            (before, id) = (id, self.queues[id as usize].next);
        }
        let next = self.queues[id as usize].next;
        match before {
            NONE => line.first = next,
            _ => self.queues[before as usize].next = next,
        }
        if next == NONE {
            line.last = before;
        }
        Some(id)
    }

    /// The packet whose turn it is at an output, of those in lanes that are open.
    pub fn pop(&mut self, output: u32, is_open: impl Fn(u32) -> bool) -> Option<Dequeued<T>> {
        let id = self.step_out(output, is_open)?;
        let queue = &mut self.queues[id as usize];
        let at = queue.first;
        let slot = &mut self.slots[at as usize];
        let (place, item) = (slot.place, slot.item);
        queue.first = core::mem::replace(&mut slot.next, self.empty);
        self.empty = at;
        let head = queue.first;
        if head == NONE {
            queue.last = NONE;
            return Some(Dequeued { place, item, exposed: None });
        }
        let output = self.slots[head as usize].place.output;
        self.line_up(id, output);
        Some(Dequeued { place, item, exposed: Some(output) })
    }

    /// Fetches into the caches what is needed of the queues whose turn is next at an output, whatever lanes are open: the
    /// packet of the second, which is returned, and of some that come after it.
    #[inline]
    pub fn foresee_turns(&self, output: u32) -> Option<&T> {
        let after = |queue: &Queue| self.queues.get(queue.next as usize);
        let first = self.queues.get(self.outputs[output as usize].first as usize)?;
        let second = after(first)?;
        if let Some(fourth) = after(second).and_then(after) {
            prefetch_index(core::slice::from_ref(&self.slots[fourth.first as usize]), 0);
        }
        let slot = &self.slots[second.first as usize];
        if let Some(next) = self.slots.get(slot.next as usize) {
            prefetch_index(core::slice::from_ref(next), 0);
        }
        Some(&slot.item)
    }

    /// Whether a queue has a packet at its head for this output in a lane that is open.
    pub fn has_turn(&self, output: u32, is_open: impl Fn(u32) -> bool) -> bool {
        self.lanes_ready(output).any(is_open)
    }

    /// Whether nothing waits in a lane of an output, with queues by flow.
    pub fn is_empty(&self, output: u32, lane: u32) -> bool {
        let (at, column) = self.at(QueueAddress { input: 0, output, lane });
        let number = self.outputs[at].numbers.get(column).copied().unwrap_or(NONE);
        self.queues.get(number as usize).is_none_or(|queue| queue.first == NONE)
    }

    /// The lanes of an output in which something waits at the head.
    pub fn lanes_ready(&self, output: u32) -> impl Iterator<Item = u32> + '_ {
        let mut id = self.outputs[output as usize].first;
        core::iter::from_fn(move || {
            let queue = self.queues.get(id as usize)?;
            id = queue.next;
            Some(queue.lane)
        })
    }

    /// What waits in a queue, in order.
    fn waiting(&self, queue: &Queue) -> impl Iterator<Item = &Slot<T>> {
        let mut at = queue.first;
        core::iter::from_fn(move || {
            let slot = self.slots.get(at as usize)?;
            at = slot.next;
            Some(slot)
        })
    }

    /// Takes out all that waits for an output.
    pub fn drain(&mut self, output: u32) -> Vec<(QueueAddress, T)> {
        let queues = self.queues.iter().flat_map(|queue| self.waiting(queue));
        let all: Vec<(QueueAddress, T)> = queues.map(|slot| (slot.place, slot.item)).collect();
        let (drained, left): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(place, _)| place.output == output);
        // Other heads come to the front.
        self.slots.clear();
        self.empty = NONE;
        self.queues.iter_mut().for_each(|queue| (queue.first, queue.last) = (NONE, NONE));
        self.outputs.iter_mut().for_each(|output| (output.first, output.last) = (NONE, NONE));
        left.into_iter().for_each(|(place, item)| self.push(place, item));
        drained
    }

    /// What cannot move while these outputs send nothing of these lanes: whatever waits in a queue whose
    /// head is for one of them.
    pub fn stuck(
        &self,
        is_blocked: impl Fn(u32, u32) -> bool,
    ) -> impl Iterator<Item = (QueueAddress, T)> {
        let blocked = self.queues.iter().filter(move |queue| {
            let head = self.slots.get(queue.first as usize);
            head.is_some_and(|head| is_blocked(head.place.output, queue.lane))
        });
        blocked.flat_map(|queue| self.waiting(queue).map(|slot| (slot.place, slot.item)))
    }
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
