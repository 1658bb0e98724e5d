//! Data of a connection that has passed a place, by TCP's sequence numbers.

use std::collections::BTreeMap;

/// A packet's facts about its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataRange {
    /// Sequence number of the first byte; `None` if the packet is not TCP's.
    pub(crate) sequence: Option<u32>,
    /// Whether the packet opens a connection (SYN).
    pub(crate) opens: bool,
    pub(crate) payload: u64,
}

/// One direction of consecutive connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Sequence number of the first byte; `None` before any data.
    first: Option<u32>,
    /// Every byte before has passed, counted from the first.
    next: u64,
    /// Ranges beyond that have passed.
    beyond: BTreeMap<u64, u64>,
}

impl Seen {
    /// Notes a packet; returns how much of its payload is new.
    pub(crate) fn fresh(&mut self, segment: &DataRange) -> u64 {
        let DataRange { sequence: Some(sequence), opens, payload } = *segment else {
            return segment.payload;
        };
        // The packet that opens a connection has a number of its own, before those of its data.
        let sequence = if opens { sequence.wrapping_add(1) } else { sequence };
        if opens && self.first != Some(sequence) {
            *self = Seen { first: Some(sequence), ..Seen::default() };
        }
        // A connection may be older than the run.
        let first = *self.first.get_or_insert(sequence);
        // Numbers have 32 bits: the nearest to the expected one is meant.
        let next = first.wrapping_add(self.next as u32);
        let ahead = i64::from(sequence.wrapping_sub(next).cast_signed());
        let from = self.next.saturating_add_signed(ahead).max(self.next);
        let to = self.next.saturating_add_signed(ahead.saturating_add_unsigned(payload));
        if to <= from { 0 } else { self.pass(from, to) }
    }

    fn pass(&mut self, from: u64, to: u64) -> u64 {
        let (mut fresh, mut start, mut end) = (to - from, from, to);
        while let Some((&at, &until)) = self.beyond.range(..=to).next_back() {
            if until < from {
                break;
            }
            self.beyond.remove(&at);
            fresh -= until.min(to) - at.max(from);
            (start, end) = (start.min(at), end.max(until));
        }
        if start == self.next {
            self.next = end;
        } else {
            self.beyond.insert(start, end);
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn data(sequence: u32, payload: u64) -> DataRange {
        DataRange { sequence: Some(sequence), opens: false, payload }
    }
    fn opening(sequence: u32) -> DataRange {
        DataRange { sequence: Some(sequence), opens: true, payload: 0 }
    }

    #[test]
    fn a_connection_starts_anew_and_its_opening_may_come_twice() {
        let mut seen = Seen::default();
        assert_eq!(seen.fresh(&data(5, 10)), 10, "of a connection whose beginning nobody saw");
        seen.fresh(&opening(99));
        assert_eq!(seen.fresh(&data(100, 1000)), 1000);
        seen.fresh(&opening(99));
        assert_eq!(seen.fresh(&data(100, 1500)), 500);
        seen.fresh(&opening(7));
        assert_eq!(seen.fresh(&data(8, 1000)), 1000);
        let other = DataRange { sequence: None, opens: false, payload: 300 };
        assert_eq!(seen.fresh(&other), 300, "without numbers all is new");
    }

    proptest! {
        /// The result equals ticking off each byte, also across the end of the numbers.
        #[test]
        fn each_byte_is_fresh_once(
            first: u32,
            segments in prop::collection::vec((0_u32..2000, 0_u64..300), 1..100),
        ) {
            let mut seen = Seen::default();
            let mut ticked = vec![false; 2300];
            seen.fresh(&opening(first.wrapping_sub(1)));
            for (at, payload) in segments {
                let bytes = &mut ticked[at as usize..][..payload as usize];
                let expected = bytes.iter().filter(|ticked| !**ticked).count() as u64;
                bytes.fill(true);
                prop_assert_eq!(seen.fresh(&data(first.wrapping_add(at), payload)), expected);
            }
        }
    }
}
