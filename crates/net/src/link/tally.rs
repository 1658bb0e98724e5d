//! Counters of a link, and their observation.

use ratewire_units::{Bytes, Duration};

/// Counters that only links with a queue or losses update.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Largest backlog since the last observation.
    pub(crate) peak_packets: u32,
    pub(crate) peak_bytes: u64,
    /// Largest backlog of the run, as of the last observation.
    pub(crate) peak_packets_run: u32,
    pub(crate) peak_bytes_run: u64,
    pub(crate) dropped_full: u64,
    pub(crate) marked: u64,
}

/// Counters that only links with [`RareParts`](super::RareParts) have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RareTally {
    pub(crate) dropped_early: u64,
    pub(crate) dropped_down: u64,
    pub(crate) dropped_policed: u64,
    pub(crate) dropped_exceeding: u64,
    pub(crate) lost: u64,
    pub(crate) corrected: u64,
    /// Copies that the link made.
    pub(crate) duplicated: u64,
    /// How often the link went down, and for how long it was down until the last change.
    pub(crate) outages: u64,
    pub(crate) down: Duration,
}

impl RareTally {
    /// Packets dropped or lost.
    pub(crate) fn drops(&self) -> u64 {
        self.dropped_early
            + self.dropped_down
            + self.dropped_policed
            + self.dropped_exceeding
            + self.lost
    }
}

/// The counters of the buffer at the far end of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FarTally {
    /// Packets that have arrived and wait for intake.
    pub(crate) intake: u64,
    /// Packets that found no room.
    pub(crate) overflowed: u64,
    /// Packets among these that had arrived for intake.
    pub(crate) refused: u64,
}

/// State of a link: counters since the start, and its backlog.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observation {
    /// Time spent sending.
    pub busy: Duration,
    /// Network-layer bytes sent, with the part of the packet in transmission that has left.
    pub sent_bytes: Bytes,
    /// Packets sent, with the packet in transmission.
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
    /// Packets dropped by a full queue.
    pub dropped_full: u64,
    /// Packets dropped by the discipline.
    pub dropped_early: u64,
    /// Packets dropped because the link was down.
    pub dropped_down: u64,
    /// Packets dropped by the policer of congestion headers.
    pub dropped_policed: u64,
    /// Packets dropped because they exceeded the token bucket of the link's policer.
    pub dropped_exceeding: u64,
    /// Packets lost on the link.
    pub lost: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets that the policer passed with a corrected header.
    pub corrected: u64,
    /// Packets that arrived twice.
    pub duplicated: u64,
    /// Number of times that the link went down.
    pub outages: u64,
    /// Time for which the link was down.
    pub down: Duration,
    /// Number of times that the far end paused the link.
    pub pauses: u64,
    /// Time for which the link was paused.
    pub paused: Duration,
    /// Frames sent on the link that pause or resume links in the other direction.
    pub control_frames: u64,
    /// Packets dropped because the buffer that pauses the link was full.
    pub overflowed: u64,
}

impl Observation {
    /// Packets dropped or lost, for any reason.
    pub fn drops(&self) -> u64 {
        self.dropped_full
            + self.dropped_early
            + self.dropped_down
            + self.dropped_policed
            + self.dropped_exceeding
            + self.lost
    }
    /// Packets that the policer corrected or dropped.
    pub fn clamps(&self) -> u64 {
        self.corrected + self.dropped_policed
    }
}
