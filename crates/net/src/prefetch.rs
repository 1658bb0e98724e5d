//! Prefetching of memory into the caches, which every run uses.

use std::ops::Range;

use prefetch_index::prefetch_index;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;
/// The part of a buffer that a packet touches.
pub(crate) const FIRST_LINE: Range<usize> = 0..LINE;
/// The part of an outlet that a packet touches.
pub(crate) const FIRST_LINES: Range<usize> = 0..2 * LINE;

/// Packets above which a FIFO counts as long: the link's events follow each other, and slots leave
/// the caches before they are used again.
pub(crate) const LONG: u32 = 64;
/// Distance, in slots behind the last packet of a FIFO, at which a slot is prefetched: a flow's
/// packets come in trains.
pub(crate) const SLOTS_AHEAD: u32 = 4;
/// Distance at which a slot of a [`LONG`] FIFO is prefetched, where packets of many trains take
/// slots sooner than memory answers.
pub(crate) const SLOTS_AHEAD_LONG: u32 = 8;

/// Fetches the cache lines in which these bytes of a value lie: cheaply where both are known when
/// this is compiled and the value begins with a line.
#[inline]
pub fn prefetch_bytes<T>(value: &T, bytes: Range<usize>) {
    let start = (&raw const *value).addr();
    let before = if align_of::<T>() < LINE { start % LINE } else { 0 };
    let nothing: &[u8] = &[];
    for line in (before + bytes.start) / LINE..(before + bytes.end).div_ceil(LINE) {
        // Nothing is read, so an index into no bytes may lead to any address.
        let address = (start - before).wrapping_add(line * LINE);
        prefetch_index(nothing, address.wrapping_sub(nothing.as_ptr().addr()));
    }
}
