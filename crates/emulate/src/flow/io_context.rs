//! Clock, descriptors and buffers that the applications of all flows share.

use ratewire_units::Duration;

use crate::clock::Clock;
use crate::readiness::Readiness;

/// Time between two checks of a burst on its way.
const LOOK: Duration = Duration::from_millis(1);
/// With more bursts than this on their way, each is checked less often.
const OFTEN: u64 = 100;

/// Clock, descriptors and buffers that applications share.
#[derive(Debug)]
pub(super) struct IoContext {
    pub(super) clock: Clock,
    pub(super) readiness: Readiness,
    /// Bytes that senders write.
    pub(super) zeros: Vec<u8>,
    /// Buffer that receivers read into.
    pub(super) room: Vec<u8>,
    /// Number of senders that wait for a burst to arrive.
    pub(super) draining: u64,
}

impl IoContext {
    /// Time between two checks of a burst: all checks together take a part of the thread's time at
    /// most, whatever the number of senders.
    pub(super) fn look(&self) -> Duration {
        LOOK * self.draining.div_ceil(OFTEN).max(1)
    }
}
