//! A link's packets, first in first out.

use core::ops::{Index, IndexMut};

use crate::packet::Label;

/// A ring of labels in a power of two of places: at every hop a packet is put into one and taken out, and finding its
/// place must take little.
#[derive(Debug, Default)]
pub(crate) struct Row {
    places: Box<[Label]>,
    head: u32,
    len: u32,
}

impl Row {
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    fn place(&self, at: u32) -> usize {
        (self.head.wrapping_add(at) as usize) & self.places.len().wrapping_sub(1)
    }

    #[inline]
    pub(crate) fn front(&self) -> Option<&Label> {
        if self.len > 0 { self.places.get(self.head as usize) } else { None }
    }
    #[inline]
    pub(crate) fn back(&self) -> Option<&Label> {
        self.get(self.len.wrapping_sub(1))
    }
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&Label> {
        if at < self.len { self.places.get(self.place(at)) } else { None }
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut Label> {
        let place = self.place(at);
        if at < self.len { self.places.get_mut(place) } else { None }
    }

    /// The place behind the last, to be written whole.
    #[inline]
    pub(crate) fn push_back(&mut self) -> &mut Label {
        if self.len as usize == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.len += 1;
        &mut self.places[place]
    }

    /// Takes the first out, which there is: said to be optional, it would be copied once more and by the byte.
    #[inline]
    pub(crate) fn pop_front(&mut self) -> Label {
        assert!(self.len > 0);
        let label = self.places[self.head as usize];
        self.len -= 1;
        // What is empty begins anew, where the memory was used last.
        self.head = if self.len == 0 { 0 } else { self.place(1) as u32 };
        label
    }

    /// Takes all from this one on out.
    pub(crate) fn split_off(&mut self, at: u32) -> Vec<Label> {
        let rest = (at..self.len).map(|at| self[at]).collect();
        self.len = self.len.min(at);
        rest
    }

    #[cold]
    fn grow(&mut self) {
        let places = (self.places.len() * 2).max(4);
        let mut grown = self.split_off(0);
        self.len = grown.len() as u32;
        grown.resize(places, Label::default());
        self.places = grown.into_boxed_slice();
        self.head = 0;
    }
}

impl Index<u32> for Row {
    type Output = Label;
    #[inline]
    fn index(&self, at: u32) -> &Label {
        assert!(at < self.len);
        &self.places[self.place(at)]
    }
}

impl IndexMut<u32> for Row {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Label {
        assert!(at < self.len);
        let place = self.place(at);
        &mut self.places[place]
    }
}
