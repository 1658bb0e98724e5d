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

/// The queues of a switch.
#[derive(Clone, Debug)]
pub struct Switch<T> {
    arrangement: Arrangement,
    inputs: u32,
    lanes: u32,
    queues: Vec<VecDeque<Waiting<T>>>,
    /// By output: the queues whose head is for it, the one whose turn is next first.
    ready: Vec<VecDeque<u32>>,
}

impl<T: Copy> Switch<T> {
    /// A switch in which nothing waits. `classes` is not used with queues by flow.
    pub fn new(arrangement: Arrangement, inputs: u32, outputs: u32, classes: u32) -> Switch<T> {
        let (count, lanes) = match arrangement {
            Arrangement::Fifo => (inputs * classes, classes),
            Arrangement::Virtual => (outputs * inputs * classes, classes),
            Arrangement::ByFlow(queues) => (outputs * queues, queues),
        };
        Switch {
            arrangement,
            inputs,
            lanes,
            queues: (0..count).map(|_| VecDeque::new()).collect(),
            ready: (0..outputs).map(|_| VecDeque::new()).collect(),
        }
    }

    /// How it sorts.
    pub fn arrangement(&self) -> Arrangement {
        self.arrangement
    }

    fn queue(&self, place: Place) -> u32 {
        match self.arrangement {
            Arrangement::Fifo => place.input * self.lanes + place.lane,
            Arrangement::Virtual => {
                (place.output * self.inputs + place.input) * self.lanes + place.lane
            }
            Arrangement::ByFlow(_) => place.output * self.lanes + place.lane,
        }
    }

    /// A packet waits from now on.
    pub fn push(&mut self, place: Place, item: T) {
        let id = self.queue(place);
        let queue = &mut self.queues[id as usize];
        queue.push_back(Waiting { place, item });
        if queue.len() == 1 {
            self.ready[place.output as usize].push_back(id);
        }
    }

    /// The packet whose turn it is at an output, of those in lanes that are open.
    pub fn pop(&mut self, output: u32, is_open: impl Fn(u32) -> bool) -> Option<Turn<T>> {
        let lanes = self.lanes;
        let ready = &mut self.ready[output as usize];
        let at = ready.iter().position(|id| is_open(id % lanes))?;
        let id = ready.remove(at)?;
        let queue = &mut self.queues[id as usize];
        let Waiting { place, item } = queue.pop_front()?;
        let exposed = queue.front().map(|next| next.place.output);
        if let Some(output) = exposed {
            self.ready[output as usize].push_back(id);
        }
        Some(Turn { place, item, exposed })
    }

    /// Whether a queue has a packet at its head for this output in a lane that is open.
    pub fn has_turn(&self, output: u32, is_open: impl Fn(u32) -> bool) -> bool {
        self.ready[output as usize].iter().any(|id| is_open(id % self.lanes))
    }

    /// Whether nothing waits in a lane of an output, with queues by flow.
    pub fn is_empty(&self, output: u32, lane: u32) -> bool {
        let id = self.queue(Place { input: 0, output, lane });
        self.queues[id as usize].is_empty()
    }

    /// The lanes of an output in which something waits at the head.
    pub fn lanes_ready(&self, output: u32) -> impl Iterator<Item = u32> + '_ {
        self.ready[output as usize].iter().map(|id| id % self.lanes)
    }

    /// Takes out all that waits for an output.
    pub fn drain(&mut self, output: u32) -> Vec<(Place, T)> {
        let mut drained = Vec::new();
        for queue in &mut self.queues {
            queue.retain(|waiting| {
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
            if let Some(head) = queue.front() {
                self.ready[head.place.output as usize].push_back(id as u32);
            }
        }
        drained
    }

    /// What cannot move while these outputs send nothing of these lanes: whatever waits in a queue whose
    /// head is for one of them.
    pub fn stuck(&self, is_blocked: impl Fn(u32, u32) -> bool) -> impl Iterator<Item = (Place, T)> {
        let lanes = self.lanes;
        let queues = self.queues.iter().enumerate();
        let blocked = queues.filter(move |(id, queue)| {
            let head = queue.front();
            head.is_some_and(|head| is_blocked(head.place.output, *id as u32 % lanes))
        });
        blocked.flat_map(|(_, queue)| queue.iter().map(|waiting| (waiting.place, waiting.item)))
    }
}

#[cfg(test)]
#[path = "queues_tests.rs"]
mod tests;
