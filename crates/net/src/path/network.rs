//! The network: its links, ports, routes and packets.

use std::collections::BTreeMap;

use ratewire_laws::AnyLaw;
use ratewire_transport::Ack;
use ratewire_units::Time;

use super::processing::Processing;
use super::trail::Tracer;
use crate::fabric::{Deadlock, Fabric};
use crate::link::{DelayLineId, EndFlags, Link, Links};
use crate::medium::Mediums;
use crate::news::News;
use crate::packet::{Content, Label};
use crate::policer::Policer;
use crate::port::Ports;
use crate::route_store::{RouteId, RouteStore};
use crate::slab::Slab;
use crate::spec::{LinkId, NetworkSpec};
use crate::speed::delay_line::DelayLines;
use crate::speed::lag::HostLag;
use crate::speed::look_ahead::LookAhead;

/// An active network, sans-IO: it gets the time and the events, and says when it must be called.
///
/// Times only grow, except for packets of hosts that lag ([`Network::host_lag`]). Calls come in
/// this order:
///
/// 1. [`Network::new`]. Then the network is prepared, before the first packet: hosts that take time
///    ([`Network::let_host_process`]), [`Network::book_departures`], [`Network::use_delay_lines`],
///    [`Network::host_lag`], [`Network::watch`] and [`Network::tap`]. [`Network::add_route`] may
///    also come later, before a route's first packet, unless [`Network::merge_links`] was called.
/// 2. [`Network::send`] puts a packet on its route. Links ask the [`Scheduler`] for events, each of
///    which is handed back at its time: [`Network::on_event`], or [`Network::release`].
/// 3. A packet that `on_event` gives has arrived. [`Network::content`] and [`Network::ack`] read
///    it; [`Network::remove`] must end it. [`Network::news`] has what else has happened.
/// 4. Between events: [`Network::change`] for links, [`Network::observe`] for samples.
/// 5. At the end, or when the caller likes: [`Network::unbalanced_link`], [`Network::port_fault`]
///    and [`Network::stalled_port`] say what no network may do.
///
/// [`Scheduler`]: crate::Scheduler
#[derive(Debug)]
pub struct Network {
    pub(super) links: Links,
    pub(super) lines: DelayLines,
    pub(super) packets: Slab,
    pub(super) mediums: Mediums,
    pub(super) ports: Ports,
    pub(super) routes: RouteStore,
    pub(super) fabric: Fabric,
    pub(super) processing: Processing,
    pub(super) tracer: Tracer,
    pub(super) news: News,
    /// Packets that policers corrected or dropped, by flow. They are kept here, because policers
    /// have bounded memory.
    pub(super) clamps: BTreeMap<u32, u64>,
}

impl Network {
    /// A network as specified, with empty queues.
    pub fn new(spec: &NetworkSpec, laws: &[AnyLaw], exact_wire: bool, seed: u64) -> Network {
        let clocks = spec.port_clocks;
        let mut links = Vec::with_capacity(spec.links.len());
        let mut mediums = Mediums::new(&spec.mediums, seed);
        let mut ports = Ports::new(exact_wire.then(|| laws.to_vec()));
        for (i, spec) in spec.links.iter().enumerate() {
            let id = LinkId(i as u32);
            let mut link = Link::new(spec, i as u64, seed);
            let has_port = ports.add(id, spec, laws, clocks, seed, &mut link);
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
            routes: RouteStore::default(),
            fabric,
            processing: Processing::default(),
            tracer: Tracer::default(),
            news: News::default(),
            clamps: BTreeMap::new(),
        }
    }

    /// Lets links whose packets take equally long share a delay line, except where a link
    /// `may_change`. This pays for thousands of links. Must be called before links are watched or
    /// send.
    pub fn use_delay_lines(&mut self, may_change: impl Fn(LinkId) -> bool) {
        DelayLines::begin(&mut self.links, may_change);
    }

    /// Works out departures as packets arrive at plain links, except where a link `may_change`.
    /// Must be called before links send.
    pub fn book_departures(&mut self, may_change: impl Fn(LinkId) -> bool) {
        for id in self.links.ids().filter(|id| !may_change(*id)) {
            let link = &mut self.links[id.index()];
            let port_is_done = self.ports.acts_on_arrival_only(link) && !self.ports.are_exact();
            if !link.has_port() || port_is_done {
                link.begin_booking();
            }
        }
    }

    /// Lets packets enter a link ahead of time, as they set off on the only link that leads to it,
    /// which then needs no event for them: where both book departures, the second has no port, and
    /// neither has a delay line. Must be called when all routes have been added, before links send.
    pub fn merge_links(&mut self) {
        let books = |link: &Link| link.books && link.delay_line == DelayLineId::NONE;
        let may = |from: &Link, to: &Link| books(from) && books(to) && !to.has_port();
        let links = self.links.own();
        let may = |from: LinkId, to: LinkId| may(&links[from.index()], &links[to.index()]);
        for link in self.routes.merge(links.len(), may) {
            let link = &mut self.links[link.index()];
            link.ends.insert(EndFlags::ENTRY_AHEAD);
        }
    }

    /// Captures packets sent on a link from now on, when they reach its far end.
    pub fn watch(&mut self, id: LinkId) {
        self.links.extra_mut(id).watched = true;
    }

    /// Notes from now on when hosts send data, for [`Network::sent`].
    pub fn time_packets(&mut self) {
        self.packets.time_packets();
    }

    /// Captures frames that a link carries or obeys from now on; [`News::take_frames`] must take
    /// them regularly.
    pub fn tap(&mut self, id: LinkId) {
        self.links.extra_mut(id).tapped = true;
    }

    /// Makes a route from these links.
    ///
    /// # Panics
    /// Panics if there are no links, because packets would arrive where they start, or if links are
    /// merged.
    pub fn add_route(&mut self, links: &[LinkId]) -> RouteId {
        assert!(!links.is_empty(), "a route has at least one link");
        self.routes.add(links)
    }

    /// Whether a route consists of these links.
    pub fn is_route(&self, route: RouteId, links: &[LinkId]) -> bool {
        self.routes.is(route, links)
    }

    /// Whether a socket may send a packet of this size on its host's own link now.
    ///
    /// If not, and if sockets wait there, [`News::take_unblocked`] names the link when there is
    /// room again.
    pub fn admits(&mut self, id: LinkId, size: u32) -> bool {
        self.links[id.index()].admits(size)
    }

    /// The header and body of a packet that has arrived.
    #[inline]
    pub fn content(&self, arrived: &Label) -> &Content {
        self.packets.content(arrived.content)
    }

    /// When a host sent an arrived packet with data, if that was noted.
    #[inline]
    pub fn sent(&self, arrived: &Label) -> Option<Time> {
        self.packets.sent(arrived.content)
    }

    /// The acknowledgement that an arrived packet carries, if any.
    #[inline]
    pub fn ack(&self, arrived: &Label) -> Option<Ack> {
        self.packets.ack(arrived.content)
    }

    /// Removes an arrived packet from the network.
    #[inline]
    pub fn remove(&mut self, arrived: &Label) {
        self.packets.remove(arrived.content);
    }

    /// Events that the caller asked for.
    #[inline]
    pub fn news(&mut self) -> &mut News {
        &mut self.news
    }

    /// The tracer, which knows which packet is followed.
    #[inline]
    pub fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// The tracer, to end or pass on the following of a packet.
    #[inline]
    pub fn tracer_mut(&mut self) -> &mut Tracer {
        &mut self.tracer
    }

    /// Largest number of packets that were in the network at once.
    #[inline]
    pub fn most_packets(&self) -> usize {
        self.packets.peak()
    }

    /// Prefetches for coming events; results do not depend on it.
    #[inline]
    pub fn look_ahead(&self) -> LookAhead<'_> {
        LookAhead {
            links: &self.links,
            packets: &self.packets,
            ports: &self.ports,
            routes: &self.routes,
            fabric: &self.fabric,
        }
    }

    /// Access to hosts' lag behind the network.
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

    /// Packets in queues and on links.
    pub fn in_flight(&self) -> u64 {
        self.packets.in_use()
    }

    /// Packets of a flow that policers corrected or dropped; `flow` is its [`Address::generation`].
    ///
    /// [`Address::generation`]: crate::Address::generation
    pub fn clamps(&self, flow: u32) -> u64 {
        self.clamps.get(&flow).copied().unwrap_or(0)
    }

    /// The first ring of links that wait for each other for ever, if there is one.
    pub fn deadlock(&self) -> Option<&Deadlock> {
        self.fabric.deadlock()
    }

    /// Looks for rings among all paused links.
    pub fn look_for_deadlocks(&mut self, now: Time) {
        self.fabric.look_for_deadlocks(now, &self.links, &self.routes);
    }

    /// The link of the first port that has done what no law may do
    /// ([`Port::fault`](ratewire_laws::Port::fault)), and what.
    pub fn port_fault(&self) -> Option<(LinkId, String)> {
        self.ports.fault()
    }

    /// The link whose port's timer was the first to stall too often, and the time of that timer
    /// ([`Port::next_timer`](ratewire_laws::Port::next_timer)).
    pub fn stalled_port(&self) -> Option<(LinkId, Time)> {
        self.ports.stalled()
    }

    /// The first link whose counters do not balance: arrived = passed on + dropped + lost + waiting
    /// + on the way.
    pub fn unbalanced_link(&self) -> Option<LinkId> {
        let mut all = self.links.ids();
        all.find(|id| !self.links[id.index()].is_balanced(self.fabric.far_tally(*id).intake))
    }
}
