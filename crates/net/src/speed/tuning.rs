//! All constants of the network that only speed depends on: the number of delay lines, and how far
//! prefetches look ahead.
//!
//! No result changes with them, except for the order of events at one instant.

use crate::prefetch::LONG;

/// Largest number of delay lines; a link with packets of different sizes searches them.
pub(crate) const DELAY_LINES: usize = 64;

/// Distance from the head of a [`LONG`] queue at which packets are prefetched: memory answers in
/// the time that so many packets take.
pub(crate) const BEHIND: u32 = 4;
const _: () = assert!(2 * BEHIND <= LONG);

/// Distance from the head of a delay line at which a packet's slot is prefetched. Each packet of a
/// delay line goes to another link or flow.
pub(crate) const LINE_PLACE: u32 = 16;
/// Distance from the head of a delay line at which a packet's place in the route table is
/// prefetched.
pub(crate) const LINE_HOP: u32 = 12;
/// Distance from the head of a delay line at which a packet's next link and its content are
/// prefetched.
pub(crate) const LINE_NEXT: u32 = 8;
/// Distance from the head of a delay line at which the next link's port, outlet and slot are
/// prefetched, if there are ports at all. Without ports, this prefetch takes longer than it saves.
pub(crate) const LINE_PORT: u32 = 2;
const _: () = assert!(LINE_PORT < LINE_NEXT && LINE_NEXT < LINE_HOP && LINE_HOP < LINE_PLACE);
