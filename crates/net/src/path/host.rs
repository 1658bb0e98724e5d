//! Hosts that take time to process a packet before they send it.
//!
//! A host works on several packets at once, and sends them in the order in which they were made: a
//! packet leaves when its processing is over and all earlier packets of its host have left.

use ratewire_units::{Duration, Time};

use super::network::Network;
use crate::link::DelayLineId;
use crate::packet::Label;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

impl Network {
    /// Lets the host at this link's start take time to process the packets that it sends
    /// ([`Address::processing`](crate::Address::processing)).
    ///
    /// With `in_advance`, packets may be put on the link before their time, which spares an event:
    /// nobody else may put packets on the link, change it, or share its medium. Must be called
    /// before [`Network::use_delay_lines`] and [`Network::host_lag`].
    pub fn let_host_process(&mut self, id: LinkId, in_advance: bool) {
        self.processing.newest.resize(self.links.own().len(), Time::ZERO);
        let link = &mut self.links[id.index()];
        link.ends = link.ends.with_processing(in_advance);
        debug_assert!(link.delay_line == DelayLineId::NONE, "its packets take different times");
    }

    /// Sets the time before which nobody observes the network: packets that leave their hosts later
    /// are not put on their links in advance.
    pub fn set_observed_at(&mut self, at: Time) {
        self.processing.horizon = at;
    }

    /// Puts packets of a host on the host's link whose processing is over.
    #[cold]
    pub fn release(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        while let Some(waiting) = self.processing.waiting.get_mut(&id) {
            let Some(next) = waiting.front() else {
                self.processing.waiting.remove(&id);
                return;
            };
            if next.time > now {
                scheduler.schedule_release(next.time, id);
                return;
            }
            if let Some(label) = waiting.pop_front() {
                self.set_out(now, label, scheduler);
            }
        }
    }

    /// Lets a host process a packet and send it.
    #[inline]
    pub(super) fn process(
        &mut self,
        now: Time,
        id: LinkId,
        processing: Duration,
        label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        let at = self.processing.leaves(now, processing, id);
        let may_be_early =
            || self.links[id.index()].ends.is_in_advance() && at < self.processing.horizon;
        if !self.processing.has_waiting(id) && (at <= now || may_be_early()) {
            return self.set_out(at, Label { time: at, ..label }, scheduler);
        }
        let waiting = self.processing.waiting.entry(id).or_default();
        waiting.push_back(Label { time: at, ..label });
        if waiting.len() == 1 {
            scheduler.schedule_release(at, id);
        }
    }
}
