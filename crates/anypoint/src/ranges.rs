//! Acknowledged ranges of a stream.

/// Everything below an offset, and ranges beyond it, in order and apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    below: u64,
    beyond: Vec<(u64, u64)>,
}

impl Ranges {
    /// Everything below this is in the set.
    pub(crate) fn below(&self) -> u64 {
        self.below
    }

    /// Ranges beyond that.
    pub(crate) fn beyond(&self) -> &[(u64, u64)] {
        &self.beyond
    }

    /// Index of the range that contains `offset`.
    pub(crate) fn index_of(&self, offset: u64) -> Option<usize> {
        let at = self.beyond.partition_point(|r| r.1 <= offset);
        self.beyond.get(at).filter(|r| r.0 <= offset).map(|_| at)
    }

    /// Whether the set contains a whole range.
    pub(crate) fn contains(&self, start: u64, end: u64) -> bool {
        let start = start.max(self.below);
        start >= end || self.index_of(start).is_some_and(|at| self.beyond[at].1 >= end)
    }

    /// Adds a range; returns how much of it is new.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        let start = start.max(self.below);
        if start >= end {
            return 0;
        }
        let from = self.beyond.partition_point(|r| r.1 < start);
        let to = self.beyond.partition_point(|r| r.0 <= end);
        let touched = &self.beyond[from..to];
        let known: u64 = touched.iter().map(|r| r.1.min(end).saturating_sub(r.0.max(start))).sum();
        let first = touched.first().map_or(start, |r| r.0.min(start));
        let last = touched.last().map_or(end, |r| r.1.max(end));
        if first <= self.below {
            self.below = last;
            self.beyond.drain(..to);
        } else if let [only] = &mut self.beyond[from..to] {
            *only = (first, last);
        } else {
            self.beyond.splice(from..to, [(first, last)]);
        }
        end - start - known
    }

    /// Removes a range.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        if start < end && start < self.below {
            if end < self.below {
                self.beyond.insert(0, (end, self.below));
            }
            self.below = start;
        }
        let from = self.beyond.partition_point(|r| r.1 <= start);
        let to = self.beyond.partition_point(|r| r.0 < end);
        if from >= to {
            return;
        }
        let rest = [(self.beyond[from].0, start), (end, self.beyond[to - 1].1)];
        self.beyond.splice(from..to, rest.into_iter().filter(|r| r.0 < r.1));
    }

    /// Parts of a range that are not in the set.
    pub(crate) fn gaps(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        let mut at = start.max(self.below);
        let first = self.beyond.partition_point(|r| r.1 <= at);
        for &(from, to) in &self.beyond[first..] {
            if from >= end {
                break;
            }
            if from > at {
                gaps.push((at, from));
            }
            at = to;
        }
        if at < end {
            gaps.push((at, end));
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_knows_what_a_row_of_switches_knows(
            inserts in prop::collection::vec((0u64..60, 1u64..8, any::<bool>()), 1..40),
        ) {
            let mut ranges = Ranges::default();
            let mut known = [false; 80];
            for (start, len, take) in inserts {
                let end = start + len;
                let span = start as usize..end as usize;
                if take {
                    ranges.remove(start, end);
                    known[span].fill(false);
                } else {
                    let new = known[span.clone()].iter().filter(|k| !**k).count();
                    known[span].fill(true);
                    prop_assert_eq!(ranges.insert(start, end), new as u64);
                }
                let below = known.iter().position(|k| !k).unwrap_or(80);
                prop_assert_eq!(ranges.below(), below as u64);
                prop_assert!(ranges.beyond().windows(2).all(|w| w[0].1 < w[1].0));
                let inside: u64 = ranges.beyond().iter().map(|r| r.1 - r.0).sum();
                let beyond = known[below..].iter().filter(|k| **k).count();
                prop_assert_eq!(inside, beyond as u64);
                let missing: u64 = ranges.gaps(10, 50).iter().map(|r| r.1 - r.0).sum();
                prop_assert_eq!(missing, known[10..50].iter().filter(|k| !**k).count() as u64);
                prop_assert_eq!(ranges.contains(10, 50), missing == 0);
            }
        }
    }
}
