//! Both ends of a stream, in units.

use std::collections::{BTreeMap, BTreeSet};

use ratewire_transport::{Ack, SackBlocks, Segment};

use super::acknowledgement;

/// Payload of a packet.
pub(super) const UNIT: u64 = 100;

/// Owner of a range that stays empty.
const NOBODY: u32 = u32::MAX;

/// A packet on its way.
pub(super) struct Flight<P> {
    pub(super) life: u32,
    pub(super) packet: P,
}

impl<P> Flight<P> {
    /// Takes one of the packets on their way: packets may overtake each other.
    pub(super) fn take(flights: &mut Vec<Flight<P>>, pick: usize) -> Option<Flight<P>> {
        let count = flights.len();
        (count > 0).then(|| flights.remove(pick % count))
    }
}

/// A stream: the units as its sender, its receiver and the switch between them know them.
#[derive(Default)]
pub(super) struct Stream {
    /// Units sent.
    sent: u64,
    /// All units below have been acknowledged to the sender.
    acknowledged: u64,
    /// Units that the switch knows to have arrived.
    safe: BTreeSet<u64>,
    /// Owner and number, on the other side, of each unit of the stream.
    carried: BTreeMap<u64, (u32, u64)>,
    places: BTreeMap<(u32, u64), u64>,
    /// Units that the receiver has.
    arrived: BTreeSet<u64>,
}

impl Stream {
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }
    /// Sends a new unit if not too many are outstanding.
    pub(super) fn next(&mut self, most: u64) -> Option<u64> {
        (self.sent - self.acknowledged < most).then(|| {
            self.sent += 1;
            self.sent - 1
        })
    }
    /// Picks a unit that is not acknowledged.
    pub(super) fn again(&self, pick: usize) -> Option<u64> {
        let out = self.sent - self.acknowledged;
        (out > 0).then(|| self.acknowledged + pick as u64 % out)
    }
    /// All units that are not acknowledged.
    pub(super) fn all_again(&self) -> core::ops::Range<u64> {
        self.acknowledged..self.sent
    }
    pub(super) fn is_done(&self) -> bool {
        self.acknowledged == self.sent
    }

    /// The sender gets an acknowledgement.
    pub(super) fn on_ack(&mut self, ack: &Ack) {
        let below = ack.cumulative / UNIT;
        assert!(below <= self.sent, "{below} units acknowledged of {}", self.sent);
        self.acknowledged = self.acknowledged.max(below);
    }

    pub(super) fn secure(&mut self, unit: u64) {
        self.safe.insert(unit);
    }
    pub(super) fn is_safe(&self, unit: u64) -> bool {
        self.safe.contains(&unit)
    }
    pub(super) fn is_safe_below(&self, offset: u64) -> bool {
        (0..offset / UNIT).all(|unit| self.is_safe(unit))
    }

    /// The switch puts an owner's unit at an offset of this stream: always the same offset, and no
    /// other.
    pub(super) fn carry(&mut self, offset: u64, unit: u64, owner: u32) {
        let place = offset / UNIT;
        let before = *self.carried.entry(place).or_insert((owner, unit));
        assert_eq!(before, (owner, unit), "two units have place {place}");
        let before = *self.places.entry((owner, unit)).or_insert(place);
        assert_eq!(before, place, "unit {unit} of {owner} has two places");
    }

    /// Notes that a range of this stream stays empty, by the switch: it never carried data, and
    /// never will.
    pub(super) fn leave_empty(&mut self, segment: &Segment) {
        let first = segment.offset / UNIT;
        for place in first..first + segment.payload.get() / UNIT {
            let before = *self.carried.entry(place).or_insert((NOBODY, place));
            assert_eq!(before, (NOBODY, place), "place {place} was to stay empty");
        }
    }

    /// A packet arrives at the receiver, which answers.
    pub(super) fn arrive(&mut self, segment: &Segment) -> Ack {
        let first = segment.offset / UNIT;
        self.arrived.extend(first..first + segment.payload.get() / UNIT);
        let next = self.first_missing();
        let mut sack = SackBlocks::default();
        let mut beyond = self.arrived.range(next..).copied().peekable();
        while let Some(start) = beyond.next() {
            let mut end = start + 1;
            while beyond.next_if_eq(&end).is_some() {
                end += 1;
            }
            sack.push(next * UNIT, start * UNIT, end * UNIT);
        }
        Ack { sack, ..acknowledgement(next * UNIT) }
    }

    fn first_missing(&self) -> u64 {
        (0..).find(|unit| !self.arrived.contains(unit)).unwrap_or(u64::MAX)
    }

    /// Units of the other side that an acknowledgement covers for good. A receiver that fails has
    /// not handed selectively acknowledged units to its application.
    pub(super) fn covered(&self, ack: &Ack) -> Vec<u64> {
        let places = 0..ack.cumulative / UNIT;
        let carried = places.filter_map(|place| self.carried.get(&place));
        carried.filter(|(owner, _)| *owner != NOBODY).map(|(_, unit)| *unit).collect()
    }

    /// Whether the receiver has the first `count` units of an owner.
    pub(super) fn arrived_of(&self, owner: u32, count: u64) -> bool {
        (0..count).all(|unit| {
            let place = self.places.get(&(owner, unit));
            place.is_some_and(|place| self.arrived.contains(place))
        })
    }
}
