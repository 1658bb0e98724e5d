//! Links, ports and packets together.

use std::collections::BTreeMap;

use ratewire_laws::AnyLaw;
use ratewire_transport::Ack;
use ratewire_units::Time;

use super::routes::{RouteId, Routes};
use super::trail::Tracer;
use crate::fabric::{Deadlock, Fabric};
use crate::link::{Link, Links, Observation};
use crate::medium::Mediums;
use crate::news::News;
use crate::packet::{Content, Label, Slab};
use crate::policer::Policer;
use crate::port::Ports;
use crate::scheduler::Scheduler;
use crate::spec::{LinkId, NetworkSpec};
use crate::speed::delay_line::DelayLines;
use crate::speed::lag::HostLag;
use crate::speed::look_ahead::LookAhead;

/// A network in operation, sans-IO: it is told the time and what happens, and says when it wants to
/// be called. Times only grow, but for what hosts send that may lag ([`Network::host_lag`]).
#[derive(Debug)]
pub struct Network {
    pub(super) links: Links,
    pub(super) lines: DelayLines,
    pub(super) packets: Slab,
    pub(super) mediums: Mediums,
    pub(super) ports: Ports,
    pub(super) routes: Routes,
    pub(super) fabric: Fabric,
    pub(super) tracer: Tracer,
    pub(super) news: News,
    /// Packets that policers corrected or dropped, by flow: for the record, policers have bounded
    /// memory.
    pub(super) clamps: BTreeMap<u32, u64>,
}

impl Network {
    /// A network as specified, all queues empty.
    pub fn new(spec: &NetworkSpec, laws: &[AnyLaw], exact_wire: bool, seed: u64) -> Network {
        let mut links = Vec::with_capacity(spec.links.len());
        let mut mediums = Mediums::new(&spec.mediums, seed);
        let mut ports = Ports::new(exact_wire.then(|| laws.to_vec()));
        for (i, spec) in spec.links.iter().enumerate() {
            let id = LinkId(i as u32);
            let mut link = Link::new(spec, i as u64, seed);
            let has_port = ports.add(id, spec, laws, seed, &mut link);
            if has_port
                && let (Some(law), Some(police)) = (spec.law, &spec.police)
                && let Some(extra) = link.extra.as_mut()
            {
                let policer = Policer::new(laws[law].clone(), police, spec.service.mean_rate());
                extra.policer = Some(Box::new(policer));
            }
            if let Some(medium) = spec.medium {
                mediums.join(medium, id);
            }
            links.push(link);
        }
        let fabric = Fabric::new(&spec.links, &mut links, seed);
        Network {
            links: Links::new(links, seed),
            lines: DelayLines::default(),
            packets: Slab::default(),
            mediums,
            ports,
            routes: Routes::default(),
            fabric,
            tracer: Tracer::default(),
            news: News::default(),
            clamps: BTreeMap::new(),
        }
    }

    /// From now on, notes the packets that are sent on a link and reach its far end.
    pub fn watch(&mut self, id: LinkId) {
        self.links.extra_mut(id).watched = true;
    }
    /// From now on, notes the frames that a link carries or obeys, to be taken with
    /// [`News::take_frames`] every now and then.
    pub fn tap(&mut self, id: LinkId) {
        self.links.extra_mut(id).tapped = true;
    }

    /// Makes a route of these links.
    ///
    /// # Panics
    /// When there are none, for packets would arrive where they are, or the last is none of the
    /// network's.
    pub fn add_route(&mut self, links: &[LinkId]) -> RouteId {
        let last = links.last().expect("a route has at least one link");
        let last = &mut self.links[last.index()];
        last.ends = last.ends.with_route();
        self.routes.add(links)
    }

    /// Whether a route is made of these links.
    pub fn is_route(&self, route: RouteId, links: &[LinkId]) -> bool {
        self.routes.is(route, links)
    }

    /// The header and body of a packet that has arrived.
    #[inline]
    pub fn content(&self, arrived: &Label) -> &Content {
        self.packets.content(arrived.content)
    }
    /// The acknowledgement a packet that has arrived carries, if it does.
    #[inline]
    pub fn ack(&self, arrived: &Label) -> Option<Ack> {
        self.packets.ack(arrived.content)
    }
    /// Takes a packet that has arrived out of the network.
    #[inline]
    pub fn remove(&mut self, arrived: &Label) {
        self.packets.remove(arrived.content);
    }
    /// Packets in queues and on links.
    pub fn in_flight(&self) -> u64 {
        self.packets.in_use()
    }

    /// The events that the caller asked to be told of.
    #[inline]
    pub fn news(&mut self) -> &mut News {
        &mut self.news
    }

    /// The tracer, which knows which packet is followed.
    #[inline]
    pub fn tracer(&self) -> &Tracer {
        &self.tracer
    }
    /// The tracer, to end or hand on the following of a packet.
    #[inline]
    pub fn tracer_mut(&mut self) -> &mut Tracer {
        &mut self.tracer
    }

    /// Fetches what events to come will need into the caches. Nothing that happens depends on it.
    #[inline]
    pub fn look_ahead(&self) -> LookAhead<'_> {
        LookAhead {
            links: &self.links,
            lines: &self.lines,
            packets: &self.packets,
            ports: &self.ports,
            routes: &self.routes,
            fabric: &self.fabric,
        }
    }

    /// From now on links whose packets take equally long share a delay line: worth it for
    /// thousands, or where hosts lag. To be called before links are watched or send.
    pub fn use_delay_lines(&mut self) {
        self.lines.begin(&mut self.links);
    }

    /// The means by which hosts lag behind the network.
    #[inline]
    pub fn host_lag(&mut self) -> HostLag<'_> {
        HostLag {
            links: &mut self.links,
            lines: &mut self.lines,
            packets: &self.packets,
            routes: &self.routes,
            news: &mut self.news,
        }
    }

    /// Whether a socket may send a packet of this size on its host's own link now. If not, and if
    /// sockets wait there, [`News::take_roomy`] will name the link when there is room again.
    pub fn admits(&mut self, id: LinkId, size: u32) -> bool {
        self.links[id.index()].admits(size)
    }

    /// Counters of a link as of `now`, and what waits there.
    pub fn observe(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Observation {
        self.catch_up(now, id, scheduler);
        let far = self.fabric.far_tally(id);
        self.links[id.index()].observe(now, &far)
    }

    /// Packets of a flow that policers corrected or dropped; `flow` is what [`Address::generation`]
    /// was.
    ///
    /// [`Address::generation`]: crate::Address::generation
    pub fn clamps(&self, flow: u32) -> u64 {
        self.clamps.get(&flow).copied().unwrap_or(0)
    }

    /// Checks, for each link, that what came is accounted for: arrived = passed on + dropped + lost
    /// + waiting + on the way. Returns the first link for which it does not hold.
    pub fn unbalanced_link(&self) -> Option<LinkId> {
        let mut all = self.links.ids();
        all.find(|id| !self.links[id.index()].is_balanced(self.fabric.far_tally(*id).intake))
    }

    /// The first ring of links that wait for each other for ever, if there was one.
    pub fn deadlock(&self) -> Option<&Deadlock> {
        self.fabric.deadlock()
    }

    /// Looks for rings among all links that are paused now.
    pub fn look_for_deadlocks(&mut self, now: Time) {
        self.fabric.look_for_deadlocks(now, &self.links, &self.routes);
    }
}
