//! Packets that hosts still process (see `host.rs`).

use std::collections::{BTreeMap, VecDeque};

use ratewire_units::{Duration, SerialTime, Time};

use crate::link::Link;
use crate::packet::Label;
use crate::spec::LinkId;

/// Packets that hosts still process.
#[derive(Debug, Default)]
pub(super) struct Processing {
    /// What is known of the packets of each host, by the host's link.
    pub(super) hosts: Vec<HostQueue>,
    /// Packets that wait for their release, by link.
    pub(super) waiting: BTreeMap<LinkId, VecDeque<Label>>,
    /// Time before which packets may be put on their links in advance.
    pub(super) horizon: Time,
}

/// The packets of a host on its own link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostQueue {
    /// Time at which the newest packet leaves its host.
    newest: Time,
    /// When all packets have been sent, if the host needs no time for them.
    free: Time,
    /// When the newest packet starts on the link, if it has to wait.
    waits_until: Option<Time>,
    /// Whether departures are foretold.
    pub(super) is_foretold: bool,
}

impl HostQueue {
    /// Works out whether the newest packet, made now and of this size, has to wait for its link.
    #[inline]
    fn foretell(&mut self, now: Time, link: &Link, per_byte: SerialTime, size: u32) {
        let wait = self.free.since(now);
        if !wait.is_zero() && wait > link.time_to_drain(per_byte, size) {
            // It is dropped.
            self.waits_until = None;
            return;
        }
        self.waits_until = (!wait.is_zero()).then_some(self.free);
        self.free = self.free.max(now) + per_byte.of(link.on_wire(size));
    }

    /// When the newest packet starts on its link, if it has to wait.
    #[inline]
    pub(super) fn waits_until(&self) -> Option<Time> {
        self.waits_until
    }
}

impl Processing {
    /// Time at which a packet of this size leaves that is made at `now` and takes this long.
    #[inline]
    pub(super) fn leaves(
        &mut self,
        now: Time,
        processing: Duration,
        id: LinkId,
        link: &Link,
        size: u32,
    ) -> Time {
        let host = &mut self.hosts[id.index()];
        host.newest = host.newest.max(now + processing);
        if host.is_foretold
            && let Some(per_byte) = link.per_byte
        {
            host.foretell(now, link, per_byte, size);
        }
        host.newest
    }

    /// Foretells no departures of a link that has changed.
    pub(super) fn stop_foretelling(&mut self, id: LinkId) {
        if let Some(host) = self.hosts.get_mut(id.index()) {
            (host.is_foretold, host.waits_until) = (false, None);
        }
    }

    /// Whether a packet must wait until earlier ones of its host are released.
    #[inline]
    pub(super) fn has_waiting(&self, id: LinkId) -> bool {
        !self.waiting.is_empty() && self.waiting.contains_key(&id)
    }

    /// Packets of a flow that its host still processes.
    pub(super) fn waiting_of(&self, id: LinkId, flow: u32) -> usize {
        let waiting = self.waiting.get(&id).into_iter().flatten();
        waiting.filter(|label| label.flow == flow).count()
    }
}
