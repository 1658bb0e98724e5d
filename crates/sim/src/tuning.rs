//! All constants of the simulator that only speed depends on: when looking ahead or lagging hosts
//! pay, how far the simulator looks ahead, and the width of the event queue's buckets.
//!
//! No result changes with them, except for the order of events at one instant.

/// Links that stay in the caches: with more, links share delay lines and looking ahead pays.
pub(crate) const FEW_LINKS: usize = 1000;
/// Packets in the network at once that stay in the caches.
pub(crate) const FEW_PACKETS: usize = 4096;
/// Flows that stay in the caches.
pub(crate) const FEW_FLOWS: usize = 64;

/// Distance ahead on the hosts' agenda at which the contents of a packet are fetched.
pub(crate) const AGENDA_LEAD: usize = 20;
/// Distance ahead on the agenda at which the flow's end is fetched where the packet arrives.
pub(crate) const AGENDA_END: usize = 8;
/// Distance ahead on the agenda at which the sender's state and the link of its answer are fetched.
pub(crate) const AGENDA_ANSWER: usize = 3;
/// Distance ahead on the agenda at which the link's state for the answer is fetched.
pub(crate) const AGENDA_PORT: usize = 2;

/// Most link events in one turn: the hosts' work stays in the caches until they do it.
pub(crate) const MOST_EVENTS_A_TURN: u64 = 2048;
/// Turns in which hosts lagged as far as they may, that are judged together.
pub(crate) const TURNS_OF_A_TRIAL: u64 = 1 << 12;
/// Least mean number of events in such turns; with fewer, hosts stop lagging.
pub(crate) const EVENTS_WORTH_A_TURN: u64 = 8;
/// Links to hosts without events that may be looked at in a turn for one more event of it.
pub(crate) const LINKS_WORTH_AN_EVENT: u64 = 2;

/// log2 of the initial width of a bucket of the event queue in picoseconds: 8 microseconds.
pub(crate) const FIRST_BUCKET_LOG2: u32 = 23;
/// log2 of the smallest width of a bucket in picoseconds: 16 picoseconds.
pub(crate) const NARROWEST_BUCKET_LOG2: u32 = 4;
/// log2 of the largest width of a bucket in picoseconds: 17 seconds.
pub(crate) const WIDEST_BUCKET_LOG2: u32 = 44;
/// log2 of the buckets of a block, the unit of the far level. A block is a part of the near level,
/// so that the next block comes near before the last event of the one before.
pub(crate) const BLOCK_LOG2: u32 = 10;
/// Words of a bit set, for the buckets of the near level and for the blocks of the far level.
pub(crate) const WORDS_A_LEVEL: usize = 64;
/// Events of a chunk of a block's list, which fills four cache lines.
pub(crate) const EVENTS_A_CHUNK: usize = 15;
/// Events after which other buckets pay: events that narrower buckets would spare, or that wider
/// ones would bring near.
pub(crate) const WORTH_A_REVIEW: u32 = 1 << 12;
/// Halvings of a bucket's width that must separate two events for them to count as spared. Events
/// at nearly the same time share a bucket of any width.
pub(crate) const HALVINGS_OF_A_PAIR: u32 = 3;
/// Halvings that must separate two events of a list. A list takes longer than a pair, and is worth
/// more halvings.
pub(crate) const HALVINGS_OF_A_LIST: u32 = 8;
