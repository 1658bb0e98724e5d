//! A link's packets, first in first out.

use core::ops::{Index, IndexMut};

use prefetch_index::prefetch_index;

use crate::packet::Label;
use crate::prefetch::{LONG, SLOTS_AHEAD, SLOTS_AHEAD_LONG};

/// A label, aligned so that it lies in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Slot(Label);

/// A ring buffer of labels, with a power of two of slots. Finding a slot must be cheap, because
/// every packet is put into one and taken out at every hop.
#[derive(Debug, Default)]
pub(crate) struct Fifo {
    slots: Box<[Slot]>,
    head: u32,
    len: u32,
}

impl Fifo {
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    fn slot(&self, at: u32) -> usize {
        (self.head.wrapping_add(at) as usize) & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Label> {
        self.get(0)
    }
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&Label> {
        if at < self.len { self.slots.get(self.slot(at)).map(|slot| &slot.0) } else { None }
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut Label> {
        let slot = self.slot(at);
        if at < self.len { self.slots.get_mut(slot).map(|slot| &mut slot.0) } else { None }
    }

    /// Prefetches the slot at this distance from the head, whether it has a packet or not.
    #[inline]
    pub(crate) fn foresee(&self, at: u32) {
        prefetch_index(&self.slots, self.slot(at));
    }

    #[inline(always)]
    pub(crate) fn push_back(&mut self, label: Label) {
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.len);
        self.slots[slot] = Slot(label);
        self.len += 1;
        self.foresee(self.len + if self.len > LONG { SLOTS_AHEAD_LONG } else { SLOTS_AHEAD });
    }

    /// Removes and returns the first label, which must exist. An `Option` of it would be copied
    /// once more, and byte by byte.
    #[inline]
    pub(crate) fn pop_front(&mut self) -> Label {
        assert!(self.len > 0);
        let label = self.slots[self.head as usize].0;
        self.len -= 1;
        // An empty FIFO starts again at the first slot, so that a short queue keeps to the same
        // memory.
        self.head = if self.len == 0 { 0 } else { self.slot(1) as u32 };
        label
    }

    /// Removes and returns all labels from this index on.
    pub(crate) fn split_off(&mut self, at: u32) -> Vec<Label> {
        let rest = (at..self.len).map(|at| self[at]).collect();
        self.len = self.len.min(at);
        rest
    }

    /// Removes the last label, if there is one.
    pub(crate) fn pop_back(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// Doubles the room. Takes no reference to the label to be added: the label would be assembled
    /// in memory, and copying it from there at once would wait for all its parts.
    #[cold]
    fn grow(&mut self) {
        let mut slots: Vec<Slot> = (0..self.len).map(|at| Slot(self[at])).collect();
        slots.resize((slots.len() * 2).max(4), Slot(Label::NONE));
        self.slots = slots.into_boxed_slice();
        self.head = 0;
    }
}

impl Index<u32> for Fifo {
    type Output = Label;
    #[inline]
    fn index(&self, at: u32) -> &Label {
        assert!(at < self.len);
        &self.slots[self.slot(at)].0
    }
}

impl IndexMut<u32> for Fifo {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Label {
        assert!(at < self.len);
        let slot = self.slot(at);
        &mut self.slots[slot].0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use rand_core::Rng;

    use super::*;

    fn label(content: u32) -> Label {
        Label { content, ..Label::NONE }
    }

    #[test]
    fn a_slot_takes_no_more_than_a_label() {
        assert_eq!(size_of::<Slot>(), size_of::<Label>());
    }

    #[test]
    fn a_fifo_keeps_its_order_whatever_is_done_to_it() {
        let mut random = crate::random::stream(1, "fifo", 0);
        let (mut fifo, mut model) = (Fifo::default(), VecDeque::new());
        for i in 0..100_000 {
            match random.next_u64() % 16 {
                0 if i % 100 == 0 => {
                    let at = (random.next_u64() % (u64::from(fifo.len()) + 1)) as u32;
                    let rest: Vec<u32> = fifo.split_off(at).iter().map(|l| l.content).collect();
                    assert_eq!(rest, Vec::from(model.split_off(at as usize)));
                }
                0..8 if fifo.len() > 0 => {
                    assert_eq!(Some(fifo.pop_front().content), model.pop_front());
                }
                _ => {
                    fifo.push_back(label(i));
                    model.push_back(i);
                }
            }
            assert_eq!(fifo.len() as usize, model.len());
            let contents = |label: Option<&Label>| label.map(|l| l.content);
            assert_eq!(contents(fifo.front()), model.front().copied());
            let at = random.next_u64() as u32 % 20;
            assert_eq!(contents(fifo.get(at)), model.get(at as usize).copied());
        }
        assert!(fifo.slots.len() >= 64, "it wrapped and grew");
    }
}
