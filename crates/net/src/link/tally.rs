//! The counters of a link, and what an observer is told of them.

use ratewire_units::{Bytes, Duration};

/// Counters that only links with a queue or losses touch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Since the last observation.
    pub(crate) peak_packets: u32,
    pub(crate) peak_bytes: u64,
    /// Of the run, as of the last observation.
    pub(crate) peak_packets_run: u32,
    pub(crate) peak_bytes_run: u64,
    pub(crate) dropped_full: u64,
    pub(crate) marked: u64,
    /// Places in the row of packets dropped from its middle.
    pub(crate) gone: u32,
}

/// Counters that only links with [`Extra`](super::Extra) have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RareTally {
    pub(crate) dropped_early: u64,
    pub(crate) dropped_down: u64,
    pub(crate) dropped_policed: u64,
    pub(crate) lost: u64,
    pub(crate) corrected: u64,
}

impl RareTally {
    /// Packets dropped or lost.
    pub(crate) fn drops(&self) -> u64 {
        self.dropped_early + self.dropped_down + self.dropped_policed + self.lost
    }
}

/// The counters of the buffer at the far end of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FarTally {
    /// Packets that have come and wait to be taken in.
    pub(crate) intake: u64,
    /// Packets that found no room.
    pub(crate) overflowed: u64,
    /// Those of them that had come to be taken in.
    pub(crate) refused: u64,
}

/// A link as it stands: counters since the start, and what waits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observation {
    /// Time spent sending.
    pub busy: Duration,
    /// Network-layer bytes sent, the packet being sent included.
    pub sent_bytes: Bytes,
    /// Packets sent, likewise.
    pub sent_packets: u64,
    /// Packets waiting.
    pub waiting_packets: u32,
    /// Bytes waiting.
    pub waiting_bytes: Bytes,
    /// Most packets waiting since the last observation.
    pub peak_packets: u32,
    /// Most bytes waiting since the last observation.
    pub peak_bytes: Bytes,
    /// Most packets waiting so far.
    pub peak_packets_run: u32,
    /// Most bytes waiting so far.
    pub peak_bytes_run: Bytes,
    /// Packets waiting, summed over picoseconds.
    pub area_packets: u128,
    /// Bytes waiting, summed over picoseconds.
    pub area_bytes: u128,
    /// Dropped for lack of room.
    pub dropped_full: u64,
    /// Dropped by the discipline.
    pub dropped_early: u64,
    /// Dropped because the link was down.
    pub dropped_down: u64,
    /// Dropped by the policer.
    pub dropped_policed: u64,
    /// Lost on the way.
    pub lost: u64,
    /// Marked.
    pub marked: u64,
    /// Passed by the policer with a corrected header.
    pub corrected: u64,
    /// How often the link was paused by its far end.
    pub pauses: u64,
    /// For how long it was.
    pub paused: Duration,
    /// Frames sent on it that pause links the other way or let them go on.
    pub control_frames: u64,
    /// Packets dropped because the buffer that pauses it had no room.
    pub overflowed: u64,
}

impl Observation {
    /// Packets dropped or lost, for whatever reason.
    pub fn drops(&self) -> u64 {
        self.dropped_full
            + self.dropped_early
            + self.dropped_down
            + self.dropped_policed
            + self.lost
    }
    /// Packets that the policer corrected or dropped.
    pub fn clamps(&self) -> u64 {
        self.corrected + self.dropped_policed
    }
}
