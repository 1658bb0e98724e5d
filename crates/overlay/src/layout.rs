//! Lengths of the parts of a message between nodes, in bytes; [`crate::wire`] writes and reads
//! them.

/// Bits of a mark in its first byte.
pub(crate) const MARK_BITS: u32 = 4;

/// Bytes before a message's content: its kind and its origin.
pub(crate) const HEAD: u64 = 2;

/// Bytes of an entry of a cost update.
pub(crate) const ENTRY: u64 = 3;

/// Bytes of a number: seven bits in each.
pub(crate) fn number_len(number: u64) -> u64 {
    u64::from((u64::BITS - number.leading_zeros()).max(1).div_ceil(7))
}
