//! Every number that only speed depends on: how many delay lines there are, and how far ahead is
//! looked. Those of [`crate::prefetch`] stand there.
//!
//! No result changes with any of them, but for the order in which things happen that happen at one
//! instant.

use crate::prefetch::LONG;

/// Delay lines at most: a link whose packets are not equally long looks through them.
pub(crate) const DELAY_LINES: usize = 64;
/// Delay lines that may serve packets of bursts behind the first: the others are kept for first
/// packets.
pub(crate) const DELAY_LINES_OF_BURSTS: usize = DELAY_LINES / 2;
/// Packets of a burst, behind the first, that go on delay lines early: delay lines are few.
pub(crate) const MOST_EARLY: u8 = 3;

/// How far behind the head of a [`LONG`] queue is looked: memory answers in the time that so many
/// packets take.
pub(crate) const BEHIND: u32 = 4;
const _: () = assert!(2 * BEHIND <= LONG);

/// How far behind the head of a delay line, on which each packet goes to another link or flow, its
/// place is fetched.
pub(crate) const LINE_PLACE: u32 = 16;
/// How far behind it the packet's place in the route table is.
pub(crate) const LINE_HOP: u32 = 12;
/// How far behind it the link to which the packet goes is, and what the packet carries.
pub(crate) const LINE_NEXT: u32 = 8;
/// How far behind it what that link's port, switch and queue need is, if there are ports at all.
/// Without ports fetching it takes longer than it spares.
pub(crate) const LINE_PORT: u32 = 2;
/// How far behind it the end of a flow is told. What its packet carries is here by then.
pub(crate) const LINE_FAR_END: u32 = 4;
/// How far behind it the end of a flow is told once more, when that has come.
pub(crate) const LINE_NEAR_END: u32 = 2;
const _: () = assert!(LINE_PORT < LINE_NEXT && LINE_NEXT < LINE_HOP && LINE_HOP < LINE_PLACE);
const _: () = assert!(LINE_NEAR_END < LINE_FAR_END && LINE_FAR_END < LINE_NEXT);

/// The contents of so many packets stay in the caches, if no more were ever on their way at once.
pub(crate) const FEW_PACKETS: usize = 4096;
