//! Every number of the simulator that only speed depends on: when it is worth it to look ahead or
//! to let hosts lag, how far ahead is looked, and how wide the event queue's buckets are.
//!
//! No result changes with any of them, but for the order in which things happen that happen at one
//! instant.

/// So many links, and senders of an overlay, stay in the caches, and looking ahead would only take
/// time.
pub(crate) const FEW_LINKS: usize = 1000;
/// So many flows stay there, for what one gains of another's timer.
pub(crate) const FEW_TIMERS: u32 = 1000;
/// So many flows stay there, for what one gains of the packets behind its own.
pub(crate) const FEW_FLOWS: usize = 64;

/// Events seen before their turn.
pub(crate) const EVENTS_AHEAD: usize = 18;
/// Events between two looks at the same one: memory answers in the time of one or two.
pub(crate) const EVENTS_BETWEEN_LOOKS: usize = 3;

/// How far ahead on the agenda of hosts what a packet carries is fetched.
pub(crate) const AGENDA_LEAD: usize = 20;
/// How far ahead on it the end of a flow is at which the packet arrives.
pub(crate) const AGENDA_END: usize = 8;
/// How far ahead on it what the flow's sender has noted is, and the link that its answer takes.
pub(crate) const AGENDA_ANSWER: usize = 3;
/// How far ahead on it what the answer needs at that link is.
pub(crate) const AGENDA_PORT: usize = 2;

/// Events of links in one turn: what hosts are to do then stays in the caches until they do it.
pub(crate) const MOST_EVENTS_A_TURN: u64 = 2048;
/// So many turns in which hosts lagged by all that they may are looked at together.
pub(crate) const TURNS_OF_A_TRIAL: u64 = 1 << 12;
/// The events that such turns are to have on average, or hosts do not lag any more.
pub(crate) const EVENTS_WORTH_A_TURN: u64 = 8;

/// log2 of the picoseconds of a bucket of the event queue at the start: 8 microseconds.
pub(crate) const FIRST_BUCKET_LOG2: u32 = 23;
/// log2 of the picoseconds of the narrowest bucket: 16 picoseconds.
pub(crate) const NARROWEST_BUCKET_LOG2: u32 = 4;
/// log2 of the picoseconds of the widest bucket: 17 seconds.
pub(crate) const WIDEST_BUCKET_LOG2: u32 = 44;
/// log2 of the buckets of a block, the unit of what is far away: a part of what the near level
/// holds, so that the next block comes near before the last event of the one before.
pub(crate) const BLOCK_LOG2: u32 = 10;
/// Words of a bit set of the near level's buckets, and of one of the far level's blocks.
pub(crate) const WORDS_A_LEVEL: usize = 64;
/// Events of a part of a block's list, which fills four cache lines.
pub(crate) const EVENTS_A_CHUNK: usize = 15;
/// So many events that narrower buckets would spare, or that wider ones would bring near, are worth
/// other buckets.
pub(crate) const WORTH_A_REVIEW: u32 = 1 << 12;
/// Halvings of a bucket's width after which two events must lie apart to count as spared: those at
/// one time, and nearly, are together in any.
pub(crate) const HALVINGS_OF_A_PAIR: u32 = 3;
/// Such halvings for events in a list, which takes longer than a pair and is worth more of them.
pub(crate) const HALVINGS_OF_A_LIST: u32 = 8;
