//! Whether all receivers get the same sequence of messages.

use std::collections::VecDeque;

/// A message: its sender and its number there.
pub(super) type Key = (u32, u64);

/// Messages between two removals of those that all receivers have got.
const TRIM: u64 = 1_024;

/// Compares the sequences of messages that receivers get.
///
/// Holds the messages that some receivers have got and others not yet.
#[derive(Debug)]
pub(super) struct Order {
    log: VecDeque<Key>,
    /// Place of the first message in `log`.
    first: u64,
    /// Number of messages that each receiver has got.
    places: Vec<u64>,
    /// Place from which each receiver got other messages than those before it.
    differs: Vec<Option<u64>>,
    until_trim: u64,
}

impl Order {
    /// For this number of receivers.
    pub(super) fn new(receivers: usize) -> Order {
        let (places, differs) = (vec![0; receivers], vec![None; receivers]);
        Order { log: VecDeque::new(), first: 0, places, differs, until_trim: TRIM }
    }

    /// Takes note of the next message of a receiver.
    pub(super) fn note(&mut self, receiver: usize, key: Key) {
        let place = self.places[receiver];
        self.places[receiver] += 1;
        if self.differs[receiver].is_some() {
            return;
        }
        match self.log.get((place - self.first) as usize) {
            None => self.log.push_back(key),
            Some(known) if *known == key => {}
            Some(_) => self.differs[receiver] = Some(place),
        }
        self.until_trim -= 1;
        if self.until_trim == 0 {
            self.until_trim = TRIM;
            self.trim();
        }
    }

    fn trim(&mut self) {
        let agreeing = self.places.iter().zip(&self.differs);
        let least =
            agreeing.filter(|(_, differs)| differs.is_none()).map(|(place, _)| *place).min();
        if let Some(least) = least {
            self.log.drain(..(least - self.first) as usize);
            self.first = least;
        }
    }

    /// Receivers whose sequence differs from that of another receiver.
    pub(super) fn violations(&self) -> u64 {
        self.differs.iter().flatten().count() as u64
    }

    /// Number of messages before the first difference.
    pub(super) fn first_difference(&self) -> Option<u64> {
        self.differs.iter().flatten().min().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sequences_agree_at_any_speed() {
        let mut order = Order::new(2);
        (0..5_000).for_each(|n| order.note(0, (0, n)));
        (0..4_999).for_each(|n| order.note(1, (0, n)));
        assert_eq!((order.violations(), order.first_difference()), (0, None));
        assert!(order.log.len() < 2_000, "{}", order.log.len());
    }

    #[test]
    fn a_swap_is_found() {
        let mut order = Order::new(3);
        for receiver in 0..3 {
            let swapped = if receiver == 1 { [(0, 1), (1, 0)] } else { [(1, 0), (0, 1)] };
            order.note(receiver, (0, 0));
            swapped.into_iter().for_each(|key| order.note(receiver, key));
            (2..3_000).for_each(|n| order.note(receiver, (0, n)));
        }
        assert_eq!((order.violations(), order.first_difference()), (1, Some(1)));
    }
}
