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

use crate::lanes::Lanes;

/// Which packets of a switch share a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// One queue an input (and class).
    Fifo,
    /// Virtual output queues: one for each output, at each input (and for each class).
    Virtual,
    /// This many queues at each output, for packets from any input.
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

/// No queue.
const NONE: u32 = u32::MAX;

/// A waiting packet and where it waits.
#[derive(Clone, Copy, Debug)]
struct Waiting<T> {
    place: QueueAddress,
    item: T,
}

/// A queue's lane, and its place in the round of its output.
#[derive(Clone, Debug)]
struct Note {
    lane: u32,
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
    /// Queues that have held a packet.
    queues: Lanes<Waiting<T>, Note>,
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
            queues: Lanes::default(),
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
            numbers[column] = self.queues.add(Note { lane: place.lane, next: NONE });
        }
        numbers[column]
    }

    /// Adds a packet.
    pub fn push(&mut self, place: QueueAddress, item: T) {
        let id = self.number(place);
        if self.queues.push(id, Waiting { place, item }) {
            self.line_up(id, place.output);
        }
    }

    /// Puts a queue at the end of the round of the output that its head is for.
    fn line_up(&mut self, id: u32, output: u32) {
        self.queues.note_mut(id).next = NONE;
        let line = &mut self.outputs[output as usize];
        match core::mem::replace(&mut line.last, id) {
            NONE => line.first = id,
            last => self.queues.note_mut(last).next = id,
        }
    }

    /// Takes the next queue with an open lane out of an output's round.
    fn step_out(&mut self, output: u32, is_open: impl Fn(u32) -> bool) -> Option<u32> {
        let line = &mut self.outputs[output as usize];
        let (mut before, mut id) = (NONE, line.first);
        let next = loop {
            let note = self.queues.note(id)?;
            if is_open(note.lane) {
                break note.next;
            }
            (before, id) = (id, note.next);
        };
        match before {
            NONE => line.first = next,
            _ => self.queues.note_mut(before).next = next,
        }
        if next == NONE {
            line.last = before;
        }
        Some(id)
    }

    /// Takes the next packet of an output, among the lanes that are open.
    pub fn pop(&mut self, output: u32, is_open: impl Fn(u32) -> bool) -> Option<Dequeued<T>> {
        let id = self.step_out(output, is_open)?;
        let Waiting { place, item } = self.queues.pop(id)?;
        let exposed = self.queues.front(id).map(|head| head.place.output);
        if let Some(output) = exposed {
            self.line_up(id, output);
        }
        Some(Dequeued { place, item, exposed })
    }

    /// Prefetches packets of the next queues of an output, whatever lanes are open. Returns the
    /// packet of the second queue.
    #[inline]
    pub fn foresee_turns(&self, output: u32) -> Option<&T> {
        let after = |id: u32| self.queues.note(id).map(|note| note.next);
        let second = after(self.outputs[output as usize].first)?;
        if let Some(fourth) = after(second).and_then(after).and_then(|id| self.queues.front(id)) {
            prefetch_index(core::slice::from_ref(fourth), 0);
        }
        if let Some(next) = self.queues.second(second) {
            prefetch_index(core::slice::from_ref(next), 0);
        }
        self.queues.front(second).map(|waiting| &waiting.item)
    }

    /// Whether some queue with an open lane has its head for this output.
    pub fn has_turn(&self, output: u32, is_open: impl Fn(u32) -> bool) -> bool {
        self.lanes_ready(output).any(is_open)
    }

    /// Whether a lane of an output is empty, with queues by flow.
    pub fn is_empty(&self, output: u32, lane: u32) -> bool {
        let (at, column) = self.at(QueueAddress { input: 0, output, lane });
        let number = self.outputs[at].numbers.get(column).copied().unwrap_or(NONE);
        self.queues.is_empty(number)
    }

    /// Lanes of an output with a packet at the head.
    pub fn lanes_ready(&self, output: u32) -> impl Iterator<Item = u32> + '_ {
        let mut id = self.outputs[output as usize].first;
        core::iter::from_fn(move || {
            let note = self.queues.note(id)?;
            id = note.next;
            Some(note.lane)
        })
    }

    /// Takes out all packets for an output.
    pub fn drain(&mut self, output: u32) -> Vec<(QueueAddress, T)> {
        let all = self.queues.drain().into_iter().map(|waiting| (waiting.place, waiting.item));
        let (drained, left): (Vec<_>, Vec<_>) = all.partition(|(place, _)| place.output == output);
        // Other packets become heads.
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
        let blocked = (0..self.queues.count()).filter(move |id| {
            let (head, note) = (self.queues.front(*id), self.queues.note(*id));
            head.zip(note).is_some_and(|(head, note)| is_blocked(head.place.output, note.lane))
        });
        let waiting = blocked.flat_map(|id| self.queues.waiting(id));
        waiting.map(|waiting| (waiting.place, waiting.item))
    }
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
