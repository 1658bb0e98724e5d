//! Queues into which a discipline sorts the packets that wait for one link.
//!
//! The link's own FIFO keeps a place for each waiting packet, so that the link counts its backlog
//! as usual. The discipline chooses which packet takes the next place.

use ratewire_backpressure::lanes::Lanes;
use ratewire_units::{Bytes, Time};

use super::backlog::Backlog;
use crate::packet::Label;

/// The packets of a discipline's queues, each queue with its backlog.
#[derive(Debug, Default)]
pub(crate) struct Sorted(Lanes<Label, Backlog>);

impl Sorted {
    /// Adds a packet at the end of a queue. Makes the queue and all before it, if they do not
    /// exist.
    pub(crate) fn push(&mut self, queue: u32, now: Time, label: Label) {
        while self.0.count() <= queue {
            self.0.add(Backlog::default());
        }
        self.0.push(queue, Label { time: now, ..label });
        let backlog = self.0.note_mut(queue);
        backlog.packets += 1;
        backlog.bytes += Bytes::new(u64::from(label.size));
    }

    /// Removes and returns the packet at the head of a queue.
    pub(crate) fn pop(&mut self, queue: u32) -> Option<Label> {
        let label = self.0.pop(queue)?;
        let backlog = self.0.note_mut(queue);
        backlog.packets -= 1;
        backlog.bytes = backlog.bytes.saturating_sub(Bytes::new(u64::from(label.size)));
        Some(label)
    }

    /// Removes and returns all packets.
    pub(crate) fn drain(&mut self) -> Vec<Label> {
        for queue in 0..self.0.count() {
            *self.0.note_mut(queue) = Backlog::default();
        }
        self.0.drain()
    }

    /// All packets.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &Label> {
        (0..self.0.count()).flat_map(|queue| self.0.waiting(queue))
    }

    /// The queues as the discipline sees them.
    pub(crate) fn queues(&self) -> Queues<'_> {
        Queues(&self.0)
    }
}

/// The queues of a discipline, numbered from zero.
#[derive(Clone, Copy, Debug)]
pub struct Queues<'a>(&'a Lanes<Label, Backlog>);

/// The packet at the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Time at which the packet came.
    pub came: Time,
    /// Size of the packet in network-layer bytes.
    pub size: Bytes,
}

impl Head {
    pub(crate) fn of(label: &Label) -> Head {
        Head { came: label.time, size: Bytes::new(u64::from(label.size)) }
    }
}

impl Queues<'_> {
    /// Number of queues so far; queues of higher numbers are empty.
    pub fn count(&self) -> u32 {
        self.0.count()
    }
    /// Backlog of a queue.
    pub fn backlog(&self, queue: u32) -> Backlog {
        self.0.note(queue).copied().unwrap_or_default()
    }
    /// The packet that has waited longest in a queue.
    pub fn head(&self, queue: u32) -> Option<Head> {
        self.0.front(queue).map(Head::of)
    }
    /// Bytes in all queues.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> Bytes {
        (0..self.count()).map(|queue| self.backlog(queue).bytes).sum()
    }
}
