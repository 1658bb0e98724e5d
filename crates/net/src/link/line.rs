//! The number of a delay line.

/// Number of a delay line among the delay lines (see [`crate::speed::delay_line`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DelayLineId(u8);

impl DelayLineId {
    /// The link has not looked for a delay line yet.
    pub(crate) const UNKNOWN: DelayLineId = DelayLineId(u8::MAX);
    /// The link has no delay line: there are none, none is free, or its packets may not arrive, not
    /// in order, or not when they were to as they were sent.
    pub(crate) const NONE: DelayLineId = DelayLineId(u8::MAX - 1);
    /// Limit of the delay lines' numbers.
    pub(crate) const END: usize = DelayLineId::NONE.0 as usize;

    /// The delay line with this number, which is below [`DelayLineId::END`].
    pub(crate) fn new(number: usize) -> DelayLineId {
        debug_assert!(number < DelayLineId::END);
        DelayLineId(number as u8)
    }

    #[inline]
    pub(crate) fn number(self) -> u8 {
        self.0
    }
}
