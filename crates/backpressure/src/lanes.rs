//! First-in-first-out queues that share their memory.
//!
//! Items of all queues lie in slots of one list. Empty slots are filled first, so the list is never
//! longer than the largest number of items at once, for any number of queues.

use core::iter::from_fn;

/// No slot.
const NONE: u32 = u32::MAX;

/// An item that waits, in a cache line of its own.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Slot<T> {
    item: T,
    /// The next slot of the same queue, or of the list of empty slots.
    next: u32,
}

/// A queue, with its owner's note.
#[derive(Clone, Debug)]
struct Lane<N> {
    first: u32,
    last: u32,
    note: N,
}

/// Queues of `T`, each with a note `N` of its owner's.
#[derive(Clone, Debug)]
pub struct Lanes<T, N> {
    slots: Vec<Slot<T>>,
    /// The first empty slot.
    empty: u32,
    lanes: Vec<Lane<N>>,
}

impl<T, N> Default for Lanes<T, N> {
    fn default() -> Lanes<T, N> {
        Lanes { slots: Vec::new(), empty: NONE, lanes: Vec::new() }
    }
}

impl<T: Copy, N> Lanes<T, N> {
    /// Adds an empty queue and returns its number; queues are numbered from zero.
    pub fn add(&mut self, note: N) -> u32 {
        self.lanes.push(Lane { first: NONE, last: NONE, note });
        self.lanes.len() as u32 - 1
    }

    /// Number of queues.
    pub fn count(&self) -> u32 {
        self.lanes.len() as u32
    }

    /// Note of a queue; `None` if there is no queue of this number.
    #[inline]
    pub fn note(&self, lane: u32) -> Option<&N> {
        self.lanes.get(lane as usize).map(|lane| &lane.note)
    }

    /// Note of an existing queue.
    #[inline]
    pub fn note_mut(&mut self, lane: u32) -> &mut N {
        &mut self.lanes[lane as usize].note
    }

    /// Puts an item at the end of a queue; returns whether the queue was empty.
    pub fn push(&mut self, lane: u32, item: T) -> bool {
        let slot = self.fill(Slot { item, next: NONE });
        let queue = &mut self.lanes[lane as usize];
        let last = core::mem::replace(&mut queue.last, slot);
        if last == NONE {
            queue.first = slot;
        } else {
            self.slots[last as usize].next = slot;
        }
        last == NONE
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

    /// Takes the item at the head of a queue.
    pub fn pop(&mut self, lane: u32) -> Option<T> {
        let queue = &mut self.lanes[lane as usize];
        let at = queue.first;
        let slot = self.slots.get_mut(at as usize)?;
        let item = slot.item;
        queue.first = core::mem::replace(&mut slot.next, self.empty);
        self.empty = at;
        if queue.first == NONE {
            queue.last = NONE;
        }
        Some(item)
    }

    /// The item at the head of a queue.
    #[inline]
    pub fn front(&self, lane: u32) -> Option<&T> {
        self.slots.get(self.lanes.get(lane as usize)?.first as usize).map(|slot| &slot.item)
    }

    /// The item behind the head of a queue.
    #[inline]
    pub fn second(&self, lane: u32) -> Option<&T> {
        let first = self.slots.get(self.lanes.get(lane as usize)?.first as usize)?;
        self.slots.get(first.next as usize).map(|slot| &slot.item)
    }

    /// Whether a queue is empty.
    #[inline]
    pub fn is_empty(&self, lane: u32) -> bool {
        self.lanes.get(lane as usize).is_none_or(|queue| queue.first == NONE)
    }

    /// The items of a queue, in order.
    pub fn waiting(&self, lane: u32) -> impl Iterator<Item = &T> {
        let mut at = self.lanes.get(lane as usize).map_or(NONE, |queue| queue.first);
        from_fn(move || {
            let slot = self.slots.get(at as usize)?;
            at = slot.next;
            Some(&slot.item)
        })
    }

    /// Takes out all items, queue by queue.
    pub fn drain(&mut self) -> Vec<T> {
        let lanes = 0..self.count();
        let all = lanes.flat_map(|lane| self.waiting(lane)).copied().collect();
        self.slots.clear();
        self.empty = NONE;
        self.lanes.iter_mut().for_each(|queue| (queue.first, queue.last) = (NONE, NONE));
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn queues_are_first_in_first_out_and_share_slots() {
        let mut lanes: Lanes<u32, char> = Lanes::default();
        let mut model: [VecDeque<u32>; 3] = Default::default();
        assert_eq!(['a', 'b', 'c'].map(|note| lanes.add(note)), [0, 1, 2]);
        let (mut state, mut most) = (1u32, 0);
        for item in 0..10_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let lane = (state >> 16) % 3;
            let queue = &mut model[lane as usize];
            if state >> 31 == 0 {
                assert_eq!(lanes.push(lane, item), queue.is_empty());
                queue.push_back(item);
            } else {
                assert_eq!(lanes.pop(lane), queue.pop_front());
            }
            let queue = &model[lane as usize];
            assert_eq!(lanes.front(lane), queue.front());
            assert_eq!(lanes.second(lane), queue.get(1));
            assert_eq!(lanes.is_empty(lane), queue.is_empty());
            assert!(lanes.waiting(lane).eq(queue.iter()));
            most = most.max(model.iter().map(VecDeque::len).sum());
        }
        assert_eq!(lanes.slots.len(), most, "slots are used again");
        let left: Vec<u32> = model.iter().flatten().copied().collect();
        assert_eq!(lanes.drain(), left);
        assert!((0..3).all(|lane| lanes.is_empty(lane)));
        assert_eq!((lanes.count(), lanes.note(1), lanes.note(3)), (3, Some(&'b'), None));
    }
}
