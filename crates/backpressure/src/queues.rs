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

use std::collections::VecDeque;

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

/// Where a packet waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The input by which it came.
    pub input: u32,
    /// The output for which it waits.
    pub output: u32,
    /// Its class, or with queues by flow its queue at that output.
    pub lane: u32,
}

/// A packet whose turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn<T> {
    /// Where it waited.
    pub place: Place,
    /// The packet.
    pub item: T,
    /// The output for which the next one in its queue waits: another may now have its turn.
    pub exposed: Option<u32>,
}

#[derive(Clone, Debug)]
struct Waiting<T> {
    place: Place,
    item: T,
}

#[derive(Clone, Debug)]
struct Queue<T> {
    lane: u32,
    waiting: VecDeque<Waiting<T>>,
}

/// No queue yet.
const NONE: u32 = u32::MAX;

/// The queues of a switch.
#[derive(Clone, Debug)]
pub struct Switch<T> {
    arrangement: Arrangement,
    lanes: u32,
    /// Queues that something has waited in.
    queues: Vec<Queue<T>>,
    /// By output, or for all together, and there by input and lane: which queue; a row is made when
    /// something first waits for its output.
    numbers: Vec<Vec<u32>>,
    /// Length of such a row.
    row: u32,
    /// By output: the queues whose head is for it, the one whose turn is next first.
    ready: Vec<VecDeque<u32>>,
}

impl<T: Copy> Switch<T> {
    /// A switch in which nothing waits. `classes` is not used with queues by flow.
    pub fn new(arrangement: Arrangement, inputs: u32, outputs: u32, classes: u32) -> Switch<T> {
        let (rows, row, lanes) = match arrangement {
            Arrangement::Fifo => (1, inputs * classes, classes),
            Arrangement::Virtual => (outputs, inputs * classes, classes),
            Arrangement::ByFlow(queues) => (outputs, queues, queues),
        };
        Switch {
            arrangement,
            lanes,
            queues: Vec::new(),
            numbers: vec![Vec::new(); rows as usize],
            row,
            ready: (0..outputs).map(|_| VecDeque::new()).collect(),
        }
    }

    /// How it sorts.
    pub fn arrangement(&self) -> Arrangement {
        self.arrangement
    }

    /// Which number is that of a place's queue.
    fn at(&self, place: Place) -> (usize, usize) {
        let (row, column) = match self.arrangement {
            Arrangement::Fifo => (0, place.input * self.lanes + place.lane),
            Arrangement::Virtual => (place.output, place.input * self.lanes + place.lane),
            Arrangement::ByFlow(_) => (place.output, place.lane),
        };
        (row as usize, column as usize)
    }

    /// The number of a place's queue, which is made if there is none.
    fn number(&mut self, place: Place) -> u32 {
        let (row, column) = self.at(place);
        let row = &mut self.numbers[row];
        if row.is_empty() {
            row.resize(self.row as usize, NONE);
        }
        if row[column] == NONE {
            row[column] = self.queues.len() as u32;
            self.queues.push(Queue { lane: place.lane, waiting: VecDeque::new() });
        }
        row[column]
    }

    /// A packet waits from now on.
    pub fn push(&mut self, place: Place, item: T) {
        let id = self.number(place);
        let queue = &mut self.queues[id as usize].waiting;
        queue.push_back(Waiting { place, item });
        if queue.len() == 1 {
            self.ready[place.output as usize].push_back(id);
        }
    }

    /// The packet whose turn it is at an output, of those in lanes that are open.
    pub fn pop(&mut self, output: u32, is_open: impl Fn(u32) -> bool) -> Option<Turn<T>> {
        let queues = &mut self.queues;
        let ready = &mut self.ready[output as usize];
        let at = ready.iter().position(|id| is_open(queues[*id as usize].lane))?;
        let id = ready.remove(at)?;
        let queue = &mut queues[id as usize].waiting;
        let Waiting { place, item } = queue.pop_front()?;
        let exposed = queue.front().map(|next| next.place.output);
        if let Some(output) = exposed {
            self.ready[output as usize].push_back(id);
        }
        Some(Turn { place, item, exposed })
    }

    /// Whether a queue has a packet at its head for this output in a lane that is open.
    pub fn has_turn(&self, output: u32, is_open: impl Fn(u32) -> bool) -> bool {
        self.lanes_ready(output).any(is_open)
    }

    /// Whether nothing waits in a lane of an output, with queues by flow.
    pub fn is_empty(&self, output: u32, lane: u32) -> bool {
        let (row, column) = self.at(Place { input: 0, output, lane });
        let number = self.numbers[row].get(column).copied().unwrap_or(NONE);
        self.queues.get(number as usize).is_none_or(|queue| queue.waiting.is_empty())
    }

    /// The lanes of an output in which something waits at the head.
    pub fn lanes_ready(&self, output: u32) -> impl Iterator<Item = u32> + '_ {
        self.ready[output as usize].iter().map(|id| self.queues[*id as usize].lane)
    }

    /// Takes out all that waits for an output.
    pub fn drain(&mut self, output: u32) -> Vec<(Place, T)> {
        let mut drained = Vec::new();
        for queue in &mut self.queues {
            queue.waiting.retain(|waiting| {
                let stays = waiting.place.output != output;
                if !stays {
                    drained.push((waiting.place, waiting.item));
                }
                stays
            });
        }
        // Other heads have come to the front.
        self.ready.iter_mut().for_each(VecDeque::clear);
        for (id, queue) in self.queues.iter().enumerate() {
            if let Some(head) = queue.waiting.front() {
                self.ready[head.place.output as usize].push_back(id as u32);
            }
        }
        drained
    }

    /// What cannot move while these outputs send nothing of these lanes: whatever waits in a queue whose
    /// head is for one of them.
    pub fn stuck(&self, is_blocked: impl Fn(u32, u32) -> bool) -> impl Iterator<Item = (Place, T)> {
        let blocked = self.queues.iter().filter(move |queue| {
            let head = queue.waiting.front();
            head.is_some_and(|head| is_blocked(head.place.output, queue.lane))
        });
        blocked.flat_map(|queue| queue.waiting.iter().map(|waiting| (waiting.place, waiting.item)))
    }
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
