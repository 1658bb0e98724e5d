//! What waits in front of a link: its first-in-first-out queue, and the disciplines of queues.

pub(crate) mod discipline;
pub(crate) mod fifo;
