//! Hosts that take time to process a packet before they send it.
//!
//! A host works on several packets at once, and sends them in the order in which they were made: a
//! packet leaves when its processing is over and all earlier packets of its host have left.

use ratewire_units::{Duration, Time};

use super::network::Network;
use super::processing::HostQueue;
use crate::link::{DelayLineId, EndFlags};
use crate::packet::Label;
use crate::scheduler::Scheduler;
use crate::spec::LinkId;

/// Longest time after which a sender looks again whether its host's queue has become shorter.
const LONGEST_BETWEEN_LOOKS: Duration = Duration::from_millis(1);

impl Network {
    /// Lets the host at this link's start take time to process the packets that it sends
    /// ([`Address::processing`](crate::Address::processing)).
    ///
    /// With `in_advance`, packets may be put on the link before their time, which spares an event:
    /// nobody else may put packets on the link, change it, or share its medium. Must be called
    /// before [`Network::use_delay_lines`] and [`Network::host_lag`].
    pub fn let_host_process(&mut self, id: LinkId, in_advance: bool) {
        self.processing.hosts.resize(self.links.own().len(), HostQueue::default());
        let link = &mut self.links[id.index()];
        link.ends.insert(EndFlags::PROCESSING);
        link.ends.set(EndFlags::IN_ADVANCE, in_advance);
        debug_assert!(link.delay_line == DelayLineId::NONE, "its packets take different times");
    }

    /// Foretells when packets start on the link of a host that takes time
    /// ([`Network::let_host_process`]), until the link changes. The link must be
    /// [plain](crate::spec::LinkSpec::is_plain); nobody else may put packets on it.
    ///
    /// Foretold times leave out the time that the host takes. Of packets that find the queue full,
    /// as many are foretold to be dropped as really are, but for a packet or two.
    pub fn foretell_departures(&mut self, id: LinkId) {
        self.processing.hosts[id.index()].is_foretold = true;
    }

    /// Whether the departures from a link are foretold.
    pub fn foretells(&self, id: LinkId) -> bool {
        self.processing.hosts.get(id.index()).is_some_and(|host| host.is_foretold)
    }

    /// When the packet sent last over a link whose departures are foretold starts, if it has to
    /// wait in the link's queue.
    #[inline]
    pub fn newest_waits_until(&self, id: LinkId) -> Option<Time> {
        self.processing.hosts[id.index()].waits_until()
    }

    /// Packets of a flow in the queue of its host's own link, which neither foretells nor books
    /// departures, and a time at which fewer may be there.
    #[cold]
    pub fn waiting_of(
        &mut self,
        now: Time,
        id: LinkId,
        flow: u32,
        scheduler: &mut impl Scheduler,
    ) -> (usize, Time) {
        self.catch_up(now, id, scheduler);
        let link = &self.links[id.index()];
        let waiting = link.waiting_of(flow) + self.processing.waiting_of(id, flow);
        let look = now + LONGEST_BETWEEN_LOOKS;
        let next = if link.busy_until > now { link.busy_until.min(look) } else { look };
        (waiting, next)
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
                self.arrive(now, id, label, scheduler);
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
        let link = &self.links[id.index()];
        let at = self.processing.leaves(now, processing, id, link, label.size);
        let may_be_early = || {
            self.links[id.index()].ends.contains(EndFlags::IN_ADVANCE)
                && at < self.processing.horizon
        };
        if !self.processing.has_waiting(id) && (at <= now || may_be_early()) {
            return self.arrive(at, id, Label { time: at, ..label }, scheduler);
        }
        let waiting = self.processing.waiting.entry(id).or_default();
        waiting.push_back(Label { time: at, ..label });
        if waiting.len() == 1 {
            scheduler.schedule_release(at, id);
        }
    }
}
