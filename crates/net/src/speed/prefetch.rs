//! Prefetching of memory into the caches.

use std::ops::Range;

use prefetch_index::prefetch_index;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;
/// The part of a buffer that a packet touches.
pub(crate) const FIRST_LINE: Range<usize> = 0..LINE;
/// The part of an outlet that a packet touches.
pub(crate) const FIRST_LINES: Range<usize> = 0..2 * LINE;

/// Prefetches the cache lines that hold these bytes of a value. This is cheap if the range is a
/// constant and the type is aligned to cache lines.
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
