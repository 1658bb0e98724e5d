//! Rounds of a source, which changes its rate once a round trip.

/// The time since a source last changed its rate.
///
/// A law with feedback `x(n) = x(n - D) + f(x(n - D), p)` is stable at any delay `D` only if its
/// `p` was caused by the `x` that it changes. Packets carry the round in which they were sent, and
/// routers add the number of the interval of their figures. The receiver returns both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    marker: u8,
    /// Two routers, 0 for none, each with the interval that had just ended there when the first
    /// packet of this round passed. There are two, because the larger of nearly equal figures may
    /// alternate between two routers.
    first: [(u32, u16); 2],
}

impl Round {
    /// Marker of packets sent now; it repeats after 256 rounds.
    #[inline]
    pub(crate) fn marker(&self) -> u8 {
        self.marker
    }

    /// Begins a new round, because the rate changes.
    pub(crate) fn begin(&mut self) {
        self.marker = self.marker.wrapping_add(1);
        self.first = Default::default();
    }

    /// Whether a packet with this marker was sent in this round. If so, a round trip is over.
    #[inline]
    pub(crate) fn has_returned(&self, marker: u8) -> bool {
        marker == self.marker
    }

    /// Whether the router saw only this round in interval `number`, which a packet of this round
    /// brings back. The round's first packet met the figures of an earlier interval, and arrived in
    /// the middle of the next.
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
