//! Once a round trip.

/// The time since a source last changed its rate.
///
/// A law with feedback `x(n) = x(n - D) + f(x(n - D), p)` is stable whatever the delay `D` only if
/// the `p` it takes was caused by the `x` it changes. Packets carry the round they were sent in, and
/// routers the number of the interval their figures are of; both come back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    marker: u8,
    /// Number of the interval that had just ended where the first packet of this round passed.
    first: Option<u16>,
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
        self.first = None;
    }

    /// Whether a packet with this marker was sent in this round: then a round trip is over.
    #[inline]
    pub(crate) fn has_returned(&self, marker: u8) -> bool {
        marker == self.marker
    }

    /// Whether the interval of this number, which a packet of this round brings back, is one in which
    /// the router saw nothing but this round. The first packet met the figures of an interval before
    /// it, and came in the middle of the next.
    #[inline]
    pub(crate) fn is_measured(&mut self, number: u16) -> bool {
        let first = *self.first.get_or_insert(number);
        number.wrapping_sub(first).cast_signed() >= 2
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
        assert!(!round.is_measured(65_535));
        assert!(!round.is_measured(65_534), "overtaken on the way");
        assert!(!round.is_measured(0));
        assert!(round.is_measured(1));
        round.begin();
        assert!(!round.is_measured(1), "the next round waits again");
    }
}
