//! The delay line of a link's packets.

/// A delay line, by number among the delay lines (see [`crate::speed::delay_line`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DelayLine(u8);

impl DelayLine {
    /// The link has not looked for a delay line yet.
    pub(crate) const UNKNOWN: DelayLine = DelayLine(u8::MAX);
    /// The link has no delay line: there are none, none is free, or the link has something rare, so
    /// that its packets may not arrive, or not in order.
    pub(crate) const NONE: DelayLine = DelayLine(u8::MAX - 1);
    /// Limit of the delay lines' numbers.
    pub(crate) const END: usize = DelayLine::NONE.0 as usize;

    /// The delay line of this number, which is below [`DelayLine::END`].
    pub(crate) fn new(number: usize) -> DelayLine {
        debug_assert!(number < DelayLine::END);
        DelayLine(number as u8)
    }

    #[inline]
    pub(crate) fn number(self) -> u8 {
        self.0
    }
}
