//! Packets that hosts still process (see `host.rs`).

use std::collections::{BTreeMap, VecDeque};

use ratewire_units::{Duration, Time};

use crate::packet::Label;
use crate::spec::LinkId;

/// Packets that hosts still process.
#[derive(Debug, Default)]
pub(super) struct Processing {
    /// Time at which the newest packet leaves its host, by the host's link.
    pub(super) newest: Vec<Time>,
    /// Packets that wait for their release, by link.
    pub(super) waiting: BTreeMap<LinkId, VecDeque<Label>>,
    /// Time before which packets may be put on their links in advance.
    pub(super) horizon: Time,
}

impl Processing {
    /// Time at which a packet leaves that is made at `now` and takes this long.
    #[inline]
    pub(super) fn leaves(&mut self, now: Time, processing: Duration, id: LinkId) -> Time {
        let newest = &mut self.newest[id.index()];
        *newest = (*newest).max(now + processing);
        *newest
    }

    /// Whether a packet must wait until earlier ones of its host are released.
    #[inline]
    pub(super) fn has_waiting(&self, id: LinkId) -> bool {
        !self.waiting.is_empty() && self.waiting.contains_key(&id)
    }
}
