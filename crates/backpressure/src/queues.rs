//! The queues of a switch, and the order in which they send.
//!
//! | arrangement | a queue for each | its lanes, which may be paused one by one |
//! |---|---|---|
//! | [`Arrangement::Fifo`] | input and class | classes |
//! | [`Arrangement::Virtual`] | output, input and class | classes |
//! | [`Arrangement::ByFlow`] | output, and so many | the queues themselves |
//!
//! With one queue an input, the head blocks all packets behind it, whatever their output
//! (head-of-line blocking). With virtual output queues it blocks only packets to the same output.
//! [`crate::flows`] assigns queues by flow.
//!
//! Outputs are fair to the queues whose head is for them: round robin, one packet each. A host is a
//! switch with one input.

use prefetch_index::prefetch_index;

/// Which packets of a switch share a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// One queue an input (and class).
    Fifo,
    /// Virtual output queues: one for each output, at each input (and for each class).
    Virtual,
    /// This many queues at each output, for packets of any input.
    ByFlow(u32),
}

/// The queue in which a packet waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueAddress {
    /// Input by which the packet came.
    pub input: u32,
    /// Output for which the packet waits.
    pub output: u32,
    /// Class of the packet, or with queues by flow its queue at that output.
    pub lane: u32,
}

/// The packet that an output sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dequeued<T> {
    /// The queue in which the packet waited.
    pub place: QueueAddress,
    /// The packet.
    pub item: T,
    /// Output of the next packet in that queue, which may now be the one to send there.
    pub exposed: Option<u32>,
}

/// No slot, or no queue.
const NONE: u32 = u32::MAX;

/// A waiting packet, in a cache line of its own. Slots of departed packets are reused first, so
/// that a switch takes memory for the packets in it, however many queues it has.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Slot<T> {
    place: QueueAddress,
    item: T,
    /// The next packet of the queue, or the next empty slot.
    next: u32,
}

/// The packets of a queue, as a list of slots.
#[derive(Clone, Debug)]
struct Queue {
    lane: u32,
    first: u32,
    last: u32,
    /// The next queue in the round of the same output.
    next: u32,
}

/// An output, and its round of queues.
#[derive(Clone, Debug)]
struct Output {
    /// First and last of the queues whose head is for this output, in the order of the round.
    first: u32,
    last: u32,
    /// Number of the queue by input and lane; empty until a packet first waits. With one queue an
    /// input, the first output's numbers are valid for all outputs.
    numbers: Vec<u32>,
}

/// The queues of a switch.
#[derive(Clone, Debug)]
pub struct SwitchQueues<T> {
    arrangement: Arrangement,
    lanes: u32,
    slots: Vec<Slot<T>>,
    /// First empty slot.
    empty: u32,
    /// Queues that have held a packet.
    queues: Vec<Queue>,
    outputs: Vec<Output>,
    /// Maximum number of queues of an output.
    most: u32,
}

impl<T: Copy> SwitchQueues<T> {
    /// An empty switch. Queues by flow ignore `classes`.
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

    /// The switch's arrangement.
    pub fn arrangement(&self) -> Arrangement {
        self.arrangement
    }

    /// Output that has the number of a place's queue, and the index there.
    fn at(&self, place: QueueAddress) -> (usize, usize) {
        let (output, column) = match self.arrangement {
            Arrangement::Fifo => (0, place.input * self.lanes + place.lane),
            Arrangement::Virtual => (place.output, place.input * self.lanes + place.lane),
            Arrangement::ByFlow(_) => (place.output, place.lane),
        };
        (output as usize, column as usize)
    }

    /// Number of a place's queue, which is made if there is none.
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

    /// Adds a packet.
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

    /// Puts a queue at the end of the round of the output that its head is for.
    fn line_up(&mut self, id: u32, output: u32) {
        self.queues[id as usize].next = NONE;
        let line = &mut self.outputs[output as usize];
        match core::mem::replace(&mut line.last, id) {
            NONE => line.first = id,
            last => self.queues[last as usize].next = id,
        }
    }

    /// Takes the next queue with an open lane out of an output's round.
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

    /// Takes the next packet of an output, among the lanes that are open.
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

    /// Prefetches what the next queues of an output need, whatever lanes are open: the packet of
    /// the second queue, which is returned, and packets of some queues after it.
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

    /// Whether some queue with an open lane has its head for this output.
    pub fn has_turn(&self, output: u32, is_open: impl Fn(u32) -> bool) -> bool {
        self.lanes_ready(output).any(is_open)
    }

    /// Whether a lane of an output is empty, with queues by flow.
    pub fn is_empty(&self, output: u32, lane: u32) -> bool {
        let (at, column) = self.at(QueueAddress { input: 0, output, lane });
        let number = self.outputs[at].numbers.get(column).copied().unwrap_or(NONE);
        self.queues.get(number as usize).is_none_or(|queue| queue.first == NONE)
    }

    /// Lanes of an output with a packet at the head.
    pub fn lanes_ready(&self, output: u32) -> impl Iterator<Item = u32> + '_ {
        let mut id = self.outputs[output as usize].first;
        core::iter::from_fn(move || {
            let queue = self.queues.get(id as usize)?;
            id = queue.next;
            Some(queue.lane)
        })
    }

    /// Packets of a queue, in order.
    fn waiting(&self, queue: &Queue) -> impl Iterator<Item = &Slot<T>> {
        let mut at = queue.first;
        core::iter::from_fn(move || {
            let slot = self.slots.get(at as usize)?;
            at = slot.next;
            Some(slot)
        })
    }

    /// Takes out all packets for an output.
    pub fn drain(&mut self, output: u32) -> Vec<(QueueAddress, T)> {
        let queues = self.queues.iter().flat_map(|queue| self.waiting(queue));
        let all: Vec<(QueueAddress, T)> = queues.map(|slot| (slot.place, slot.item)).collect();
        let (drained, left): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(place, _)| place.output == output);
        // Other packets become heads.
        self.slots.clear();
        self.empty = NONE;
        self.queues.iter_mut().for_each(|queue| (queue.first, queue.last) = (NONE, NONE));
        self.outputs.iter_mut().for_each(|output| (output.first, output.last) = (NONE, NONE));
        left.into_iter().for_each(|(place, item)| self.push(place, item));
        drained
    }

    /// Packets that cannot move while these outputs do not send these lanes: all packets of a queue
    /// whose head is for one of them.
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
