//! What XCP's port knows beyond the draft.

use super::allotment::Allotment;
use crate::xcp::{Xcp, or_infinite};

/// Room that a full queue counts as, in bytes.
const LEAST_ROOM: f64 = 1500.0;
/// Share of its queue that ModelNet's port fills.
const FILLED: f64 = 0.6;

/// What the draft's port does not know: how much its queue holds, and what rate it has permitted.
#[derive(Clone, Debug)]
pub(super) struct Extensions {
    /// Size by which it bounds what it gives, and most that the queue holds, in bytes; infinite if
    /// nobody has told.
    cap: f64,
    limit: f64,
    /// Share of `unused` that is kept from one control interval to the next.
    memory: f64,
    /// Rate that flows were permitted and that has not come, in B/s.
    pub(super) unused: f64,
    /// For a reason, of the last control interval: the queue as it counted in bytes, and the most
    /// that could be given, in B/s.
    pub(super) counted: f64,
    pub(super) most: f64,
}

impl Extensions {
    pub(super) fn new(law: &Xcp) -> Option<Extensions> {
        let [cap, limit] = [law.queue_cap, law.queue_limit].map(or_infinite);
        let is_needed = cap.min(limit) < f64::INFINITY || law.memory > 0.0;
        let (unused, counted, most) = (0.0, 0.0, f64::INFINITY);
        is_needed.then_some(Extensions { cap, limit, memory: law.memory, unused, counted, most })
    }

    /// Rate that flows were permitted by the end of the interval `before`, as it came or was
    /// granted, and that did not come in this one.
    pub(super) fn unused(&mut self, before: &Allotment, input_bw: f64) -> f64 {
        let permitted = before.input_bw + self.unused + before.net();
        self.unused = self.memory * (permitted - input_bw).max(0.0);
        self.unused
    }

    /// The queue as it counts, while `waiting` bytes wait.
    pub(super) fn effective_queue(&self, queue: f64, waiting: f64) -> f64 {
        let fullness = (waiting / self.limit).min(1.0);
        let room = (1.0 - fullness).max(LEAST_ROOM / self.limit);
        queue.max(waiting * fullness) / room
    }

    /// Bytes that may still be added to what waits.
    pub(super) fn most(&self, waiting: f64) -> f64 {
        (FILLED * self.cap - waiting).max(0.0)
    }
}
