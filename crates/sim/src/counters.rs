//! Counters of a link.

use ratewire_net::Observation;
use ratewire_units::Duration;

/// Counters of pausing of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pausing {
    /// Number of times that the far end paused the link.
    pub pauses: u64,
    /// Time for which the link was paused.
    pub paused: Duration,
    /// Frames sent on the link that pause or resume links in the other direction, 84 bytes each on
    /// the wire.
    pub frames: u64,
    /// Packets dropped because the buffer that pauses the link was full; none with enough headroom.
    pub overflowed: u64,
}

impl core::ops::AddAssign for Pausing {
    fn add_assign(&mut self, more: Pausing) {
        self.pauses += more.pauses;
        self.paused += more.paused;
        self.frames += more.frames;
        self.overflowed += more.overflowed;
    }
}

impl Pausing {
    /// Changes between two observations of a link.
    pub(crate) fn between(before: &Observation, seen: &Observation) -> Pausing {
        Pausing {
            pauses: seen.pauses - before.pauses,
            paused: seen.paused.saturating_sub(before.paused),
            frames: seen.control_frames - before.control_frames,
            overflowed: seen.overflowed - before.overflowed,
        }
    }
}

/// What disturbed a link without a drop, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disturbances {
    /// Number of times that the link went down.
    pub outages: u64,
    /// Time for which the link was down.
    pub down: Duration,
    /// Packets that arrived twice.
    pub duplicated: u64,
}

impl core::ops::AddAssign for Disturbances {
    fn add_assign(&mut self, more: Disturbances) {
        self.outages += more.outages;
        self.down += more.down;
        self.duplicated += more.duplicated;
    }
}

impl Disturbances {
    /// Changes between two observations of a link.
    pub(crate) fn between(before: &Observation, seen: &Observation) -> Disturbances {
        Disturbances {
            outages: seen.outages - before.outages,
            down: seen.down.saturating_sub(before.down),
            duplicated: seen.duplicated - before.duplicated,
        }
    }
}

/// Packets dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops {
    /// Drops by a full queue.
    pub full: u64,
    /// Drops by the queue's discipline (RED, CoDel).
    pub early: u64,
    /// Losses on the link.
    pub lost: u64,
    /// Drops at a link that was down.
    pub down: u64,
    /// Drops by the policer of congestion headers, of packets sent too fast.
    pub policed: u64,
    /// Drops by the policer with a token bucket.
    pub exceeding: u64,
}

impl core::ops::AddAssign for Drops {
    fn add_assign(&mut self, more: Drops) {
        self.full += more.full;
        self.early += more.early;
        self.lost += more.lost;
        self.down += more.down;
        self.policed += more.policed;
        self.exceeding += more.exceeding;
    }
}

impl Drops {
    /// Changes between two observations of a link.
    pub(crate) fn between(before: &Observation, seen: &Observation) -> Drops {
        Drops {
            full: seen.dropped_full - before.dropped_full,
            early: seen.dropped_early - before.dropped_early,
            lost: seen.lost - before.lost,
            down: seen.dropped_down - before.dropped_down,
            policed: seen.dropped_policed - before.dropped_policed,
            exceeding: seen.dropped_exceeding - before.dropped_exceeding,
        }
    }

    /// Sum of all drops.
    pub fn total(&self) -> u64 {
        self.full + self.early + self.lost + self.down + self.policed + self.exceeding
    }
}
