//! Once a round trip.

/// The time since a source last changed its rate.
///
/// A law with feedback `x(n) = x(n - D) + f(x(n - D), p)` is stable whatever the delay `D` only if
/// the `p` it takes was caused by the `x` it changes. Packets carry the round they were sent in,
/// and routers the number of the interval their figures are of; both come back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    marker: u8,
    /// Two routers, 0 for none, and for each the interval that had just ended there when the first
    /// packet of this round passed. Two, because the larger of nearly equal figures comes now from
    /// one router and now from the other.
    first: [(u32, u16); 2],
}

impl Round {
    /// What packets sent now carry; comes again after 256 rounds.
    #[inline]
    pub(crate) fn marker(&self) -> u8 {
        self.marker
    }

    /// The rate changes: a new round.
    pub(crate) fn begin(&mut self) {
        self.marker = self.marker.wrapping_add(1);
        self.first = Default::default();
    }

    /// Whether a packet with this marker was sent in this round: then a round trip is over.
    #[inline]
    pub(crate) fn has_returned(&self, marker: u8) -> bool {
        marker == self.marker
    }

    /// Whether that interval of that router, which a packet of this round brings back, is one in
    /// which the router saw nothing but this round. The first packet met the figures of an interval
    /// before it, and came in the middle of the next.
    pub(crate) fn is_measured(&mut self, router: u32, number: u16) -> bool {
        if let Some((_, first)) = self.first.iter().find(|(known, _)| *known == router) {
            return number.wrapping_sub(*first).cast_signed() >= 2;
        }
        self.first = [(router, number), self.first[0]];
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Round;

    #[test]
    fn a_round_is_over_when_a_packet_of_it_returns() {
        let mut round = Round::default();
        let old = round.marker();
        round.begin();
        assert!(!round.has_returned(old));
        assert!(round.has_returned(round.marker()));
    }

    #[test]
    fn the_second_interval_after_the_first_packet_is_wholly_of_the_round() {
        let mut round = Round::default();
        round.begin();
        assert!(!round.is_measured(7, 65_535));
        assert!(!round.is_measured(7, 65_534), "overtaken on the way");
        assert!(!round.is_measured(7, 0));
        assert!(round.is_measured(7, 1));
        round.begin();
        assert!(!round.is_measured(7, 1), "the next round waits again");
    }

    #[test]
    fn two_routers_are_waited_for_side_by_side() {
        let mut round = Round::default();
        round.begin();
        for number in 0..2 {
            assert!(!round.is_measured(7, number));
            assert!(!round.is_measured(9, 100 + number));
        }
        assert!(round.is_measured(7, 2));
        assert!(round.is_measured(9, 102));
        assert!(!round.is_measured(8, 102), "a third is new");
    }
}
