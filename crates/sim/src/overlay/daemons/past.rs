//! Counters of queues that are no more.

use ratewire_overlay::membership::LinkMessage;
use ratewire_overlay::queue::LinkQueue;
use ratewire_units::{Bytes, Time};

/// Counters of a link's queues before the present one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Past {
    pub(super) area: u128,
    pub(super) arrived: u64,
    pub(super) taken: u64,
    pub(super) data: Bytes,
    pub(super) most: u64,
}

impl Past {
    /// Adds the counters of a queue.
    pub(super) fn add<G, P>(&mut self, now: Time, queue: &mut LinkQueue<LinkMessage<G, P>>) {
        let counts = queue.counts();
        self.area += queue.area(now);
        self.arrived += counts.arrived;
        self.taken += counts.taken;
        self.data += counts.data;
        self.most = self.most.max(counts.most);
    }
}
