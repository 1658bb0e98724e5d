//! Connections that wait to be served, by where they come from.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// Connections that wait to be served. Sources take turns, so that one that connects again and
/// again does not keep others waiting.
#[derive(Debug)]
pub(super) struct Waiting<K, S> {
    /// By source: its connections, the oldest first; none is empty.
    queues: BTreeMap<K, VecDeque<S>>,
    /// The source that had its turn last.
    last: Option<K>,
    count: usize,
}

impl<K: Ord + Clone, S> Waiting<K, S> {
    pub(super) fn new() -> Waiting<K, S> {
        Waiting { queues: BTreeMap::new(), last: None, count: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn push(&mut self, source: K, connection: S) {
        self.queues.entry(source).or_default().push_back(connection);
        self.count += 1;
    }

    /// The oldest connection of the source whose turn it is.
    pub(super) fn pop(&mut self) -> Option<S> {
        let after = self.last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let next = self.queues.range((after, Bound::Unbounded)).next();
        let (source, _) = next.or_else(|| self.queues.first_key_value())?;
        let source = source.clone();
        self.last = Some(source.clone());
        self.take(&source)
    }

    /// The oldest connection of the source that has most.
    pub(super) fn pop_from_longest(&mut self) -> Option<S> {
        let longest = self.queues.iter().max_by_key(|(_, queue)| queue.len());
        let source = longest?.0.clone();
        self.take(&source)
    }

    fn take(&mut self, source: &K) -> Option<S> {
        let queue = self.queues.get_mut(source)?;
        let connection = queue.pop_front()?;
        if queue.is_empty() {
            self.queues.remove(source);
        }
        self.count -= 1;
        Some(connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_take_turns() {
        let mut waiting = Waiting::new();
        for number in 0..4 {
            waiting.push("loop", number);
        }
        waiting.push("a", 10);
        waiting.push("z", 20);
        assert_eq!(waiting.len(), 6);
        let order: Vec<i32> = std::iter::from_fn(|| waiting.pop()).collect();
        assert_eq!(order, [10, 0, 20, 1, 2, 3]);
        assert_eq!((waiting.len(), waiting.pop()), (0, None));
    }

    #[test]
    fn who_has_most_loses_the_oldest() {
        let mut waiting = Waiting::new();
        for (source, number) in [("a", 0), ("b", 1), ("b", 2), ("c", 3)] {
            waiting.push(source, number);
        }
        assert_eq!(waiting.pop_from_longest(), Some(1));
        assert_eq!(waiting.len(), 3);
    }
}
