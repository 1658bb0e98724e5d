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

use crate::lanes::Lanes;

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

/// No queue.
const NONE: u32 = u32::MAX;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting<T> {
    place: QueueAddress,
    item: T,
}

/// What is noted of a queue.
#[derive(Clone, Debug)]
struct Note {
    lane: u32,
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
    /// Queues that something has waited in.
    queues: Lanes<Waiting<T>, Note>,
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
            queues: Lanes::default(),
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
            numbers[column] = self.queues.add(Note { lane: place.lane, next: NONE });
        }
        numbers[column]
    }

    /// A packet waits from now on.
    pub fn push(&mut self, place: QueueAddress, item: T) {
        let id = self.number(place);
        if self.queues.push(id, Waiting { place, item }) {
            self.line_up(id, place.output);
        }
    }

    /// A queue has its head for an output now: its turn is after that of all others.
    fn line_up(&mut self, id: u32, output: u32) {
        self.queues.note_mut(id).next = NONE;
        let line = &mut self.outputs[output as usize];
        match core::mem::replace(&mut line.last, id) {
            NONE => line.first = id,
            last => self.queues.note_mut(last).next = id,
        }
    }

    /// Takes the queue whose turn it is out of its line.
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

    /// The packet whose turn it is at an output, of those in lanes that are open.
    pub fn pop(&mut self, output: u32, is_open: impl Fn(u32) -> bool) -> Option<Dequeued<T>> {
        let id = self.step_out(output, is_open)?;
        let Waiting { place, item } = self.queues.pop(id)?;
        let exposed = self.queues.front(id).map(|head| head.place.output);
        if let Some(output) = exposed {
            self.line_up(id, output);
        }
        Some(Dequeued { place, item, exposed })
    }

    /// Fetches into the caches what is needed of the queues whose turn is next at an output, whatever lanes are open: the
    /// packet of the second, which is returned, and of some that come after it.
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

    /// Whether a queue has a packet at its head for this output in a lane that is open.
    pub fn has_turn(&self, output: u32, is_open: impl Fn(u32) -> bool) -> bool {
        self.lanes_ready(output).any(is_open)
    }

    /// Whether nothing waits in a lane of an output, with queues by flow.
    pub fn is_empty(&self, output: u32, lane: u32) -> bool {
        let (at, column) = self.at(QueueAddress { input: 0, output, lane });
        let number = self.outputs[at].numbers.get(column).copied().unwrap_or(NONE);
        self.queues.is_empty(number)
    }

    /// The lanes of an output in which something waits at the head.
    pub fn lanes_ready(&self, output: u32) -> impl Iterator<Item = u32> + '_ {
        let mut id = self.outputs[output as usize].first;
        core::iter::from_fn(move || {
            let note = self.queues.note(id)?;
            id = note.next;
            Some(note.lane)
        })
    }

    /// Takes out all that waits for an output.
    pub fn drain(&mut self, output: u32) -> Vec<(QueueAddress, T)> {
        let all = self.queues.drain().into_iter().map(|waiting| (waiting.place, waiting.item));
        let (drained, left): (Vec<_>, Vec<_>) = all.partition(|(place, _)| place.output == output);
        // Other heads come to the front.
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
