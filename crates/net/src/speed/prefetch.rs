//! Fetching memory into the caches.

use std::ops::Range;

use prefetch_index::prefetch_index;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;
/// Where a packet finds what it needs of a buffer.
pub(crate) const FIRST_LINE: Range<usize> = 0..LINE;
/// Where it finds what it needs of an outlet.
pub(crate) const FIRST_LINES: Range<usize> = 0..2 * LINE;

/// Fetches the cache lines in which these bytes of a value lie: cheaply where both are known when
/// this is compiled and the value begins with a line.
#[inline]
pub fn prefetch_bytes<T>(value: &T, bytes: Range<usize>) {
    let start = (&raw const *value).addr();
    let before = if align_of::<T>() < LINE { start % LINE } else { 0 };
    let nothing: &[u8] = &[];
    for line in (before + bytes.start) / LINE..(before + bytes.end).div_ceil(LINE) {
        // Nothing is read: what an index into no bytes leads to may be any address.
        let address = (start - before).wrapping_add(line * LINE);
        prefetch_index(nothing, address.wrapping_sub(nothing.as_ptr().addr()));
    }
}
