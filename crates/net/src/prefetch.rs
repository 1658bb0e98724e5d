//! Fetching memory into the caches, in every run: what a packet, port or queue needs next.

use std::ops::Range;

use prefetch_index::prefetch_index;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;
/// Where a packet finds what it needs of a buffer.
pub(crate) const FIRST_LINE: Range<usize> = 0..LINE;
/// Where it finds what it needs of an outlet.
pub(crate) const FIRST_LINES: Range<usize> = 0..2 * LINE;

/// A link with so many packets on the way or waiting has its events one after the other, and the
/// places of its queue have left the caches before they are used again.
pub(crate) const LONG: u32 = 64;
/// Places fetched behind the one into which a packet is put: a flow's packets come in trains.
pub(crate) const SLOTS_AHEAD: u32 = 4;
/// Places fetched so in a [`LONG`] queue, of which packets of many trains take the places sooner
/// than memory answers.
pub(crate) const SLOTS_AHEAD_LONG: u32 = 8;

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
