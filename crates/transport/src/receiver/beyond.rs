//! What has arrived beyond a hole.

use std::collections::VecDeque;

use crate::segment::SackBlocks;

/// Ranges beyond the data in order.
#[derive(Debug, Default)]
pub(super) struct Beyond {
    /// In order. Holes are mostly filled from the front, where a vector would move all ranges each
    /// time.
    ranges: VecDeque<(u64, u64)>,
    /// An offset in each of the ranges that changed last, newest first (RFC 2018).
    recent: VecDeque<u64>,
}

impl Beyond {
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.ranges.iter().map(|(start, end)| end - start).sum()
    }

    /// Whether all of a range has arrived.
    pub(super) fn has(&self, offset: u64, end: u64) -> bool {
        self.holding(end - 1).is_some_and(|range| range.0 <= offset)
    }

    /// The range that holds this offset: mostly the highest.
    fn holding(&self, offset: u64) -> Option<(u64, u64)> {
        let highest = *self.ranges.back()?;
        if offset >= highest.0 {
            return (offset < highest.1).then_some(highest);
        }
        let at = self.ranges.partition_point(|range| range.1 <= offset);
        self.ranges.get(at).copied().filter(|range| range.0 <= offset)
    }

    /// Takes in a range that ends beyond `next`, up to which all has arrived. Returns up to where
    /// all has arrived then.
    pub(super) fn store(&mut self, next: u64, offset: u64, end: u64) -> u64 {
        if let (Some(last), Some(recent)) = (self.ranges.back_mut(), self.recent.front_mut())
            && last.1 == offset
            && (last.0..last.1).contains(recent)
        {
            // The highest range usually grows, and grew last too: no other range is touched.
            (last.1, *recent) = (end, offset);
            return next;
        }
        let (mut start, mut stop) = (offset.max(next), end);
        let from = self.ranges.partition_point(|r| r.1 < start);
        let to = self.ranges.partition_point(|r| r.0 <= stop);
        if from < to {
            start = start.min(self.ranges[from].0);
            stop = stop.max(self.ranges[to - 1].1);
            self.ranges.drain(from + 1..to);
            self.ranges[from] = (start, stop);
        } else {
            self.ranges.insert(from, (start, stop));
        }
        if start <= next {
            self.ranges.pop_front();
            return stop;
        }
        self.recent.retain(|o| *o < start || *o >= stop);
        self.recent.push_front(offset.max(next));
        self.recent.truncate(2 * SackBlocks::MAX);
        next
    }

    /// Reports the ranges that changed last to the sender, which hears that the data in order ends
    /// at `next`.
    pub(super) fn report(&mut self, next: u64, sack: &mut SackBlocks) {
        self.recent.retain(|o| *o >= next);
        for offset in &self.recent {
            if sack.is_full() {
                break;
            }
            if let Some((start, end)) = self.holding(*offset) {
                sack.push(next, start, end);
            }
        }
    }
}
