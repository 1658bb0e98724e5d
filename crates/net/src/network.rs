//! Links, ports and packets together.

use std::collections::BTreeMap;

use rand_core::Rng;
use ratewire_laws::{AnyLaw, AnyPort, Header, LinkContext};
use ratewire_transport::{Ack, Segment};
use ratewire_units::Time;

use crate::fabric::Fabric;
use crate::link::{Link, Observation};
use crate::medium::Medium;
use crate::packet::{Content, ContentId, Ecn, Fate, Label, Slab};
use crate::path::trail::Followed;
use crate::policer::Policer;
use crate::random::stream;
use crate::spec::{LinkId, NetworkSpec};
use crate::speed::lag::Lag;

/// Ends a route in the table.
pub(crate) const END: u32 = u32::MAX;

/// Takes note of when a link wants to be called.
///
/// Of several times noted for one link the last is the one that holds; a call at another is ignored.
pub trait Scheduler {
    /// [`Network::on_event`] is to be called for `link` at `at`.
    fn schedule(&mut self, at: Time, link: LinkId);
}

/// A route that packets can be sent along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(pub(crate) u32);

/// Where a packet goes and what it is marked with on the outside.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// The way it takes.
    pub route: RouteId,
    /// Its network-layer bytes.
    pub size: u32,
    /// The flow it belongs to, in the caller's numbering.
    pub flow: u32,
    /// Tells apart flows that used the same `flow` number one after the other.
    pub generation: u32,
    /// Whether it may be marked instead of dropped.
    pub ecn: Ecn,
    /// Its class of priority, 0 to 7.
    pub class: u8,
}

/// A network in operation, sans-IO: it is told the time and what happens, and says when it wants to
/// be called. Times only grow, but for what hosts send that may lag ([`Network::let_hosts_lag`]).
#[derive(Debug)]
pub struct Network {
    /// Those of the specification, and then delay lines.
    pub(crate) links: Vec<Link>,
    /// How many are of the specification.
    pub(crate) own_links: u32,
    pub(crate) lacks_delay_lines: bool,
    pub(crate) packets: Slab,
    pub(crate) mediums: Vec<Medium>,
    pub(crate) ports: Vec<AnyPort>,
    /// The law of each port.
    pub(crate) port_laws: Vec<usize>,
    /// Routes one after the other, each a run of link numbers closed by [`END`].
    pub(crate) routes: Vec<u32>,
    /// With `wire = "exact"`, the laws, whose headers pass through their bytes at each port.
    pub(crate) exact: Option<Vec<AnyLaw>>,
    pub(crate) captured: Vec<Captured>,
    /// Numbers of packets kept elsewhere that were dropped.
    pub(crate) dropped: Vec<u32>,
    pub(crate) followed: Followed,
    /// Packets that policers corrected or dropped, by flow: for the record, policers have bounded memory.
    pub(crate) clamps: BTreeMap<u32, u64>,
    pub(crate) seed: u64,
    pub(crate) fabric: Fabric,
    pub(crate) lag: Lag,
    /// Something waits to be asked for with [`Network::take_captured`] or [`Network::take_roomy`].
    pub(crate) has_news: bool,
}

/// A packet seen at the far end of a link, as it went by.
#[derive(Clone, Copy, Debug)]
pub struct Captured {
    /// When it reached the far end.
    pub at: Time,
    /// Which link.
    pub link: LinkId,
    /// Its label.
    pub label: Label,
    /// Its header, as the last router left it, and body.
    pub content: Content,
    /// The acknowledgement it carries, if it does.
    pub ack: Option<Ack>,
}

impl Network {
    /// A network as specified, all queues empty.
    pub fn new(spec: &NetworkSpec, laws: &[AnyLaw], exact_wire: bool, seed: u64) -> Network {
        let mut network = Network {
            links: Vec::with_capacity(spec.links.len()),
            own_links: spec.links.len() as u32,
            lacks_delay_lines: false,
            packets: Slab::default(),
            mediums: spec
                .mediums
                .iter()
                .enumerate()
                .map(|(i, m)| Medium::new(m, i as u64, seed))
                .collect(),
            ports: Vec::new(),
            port_laws: Vec::new(),
            routes: Vec::new(),
            exact: exact_wire.then(|| laws.to_vec()),
            captured: Vec::new(),
            dropped: Vec::new(),
            followed: Followed::default(),
            clamps: BTreeMap::new(),
            seed,
            fabric: Fabric::default(),
            lag: Lag::default(),
            has_news: false,
        };
        for (i, link) in spec.links.iter().enumerate() {
            let mut new = Link::new(link, i as u64, seed);
            let id = LinkId(i as u32).port_id();
            let context = LinkContext {
                rate: link.service.mean_rate(),
                delay: link.delay,
                id,
                draw: stream(seed, "port", i as u64).next_u64(),
            };
            if let Some((law, port)) =
                link.law.and_then(|law| Some((law, laws[law].port(&context)?)))
            {
                network.port_laws.push(law);
                new.port = network.ports.len() as u32;
                new.port_timer = port.next_timer();
                network.ports.push(port);
                if let (Some(spec), Some(extra)) = (&link.police, new.extra.as_mut()) {
                    let policer = Policer::new(laws[law].clone(), spec, context.rate);
                    extra.policer = Some(Box::new(policer));
                }
            }
            if let Some(medium) = link.medium {
                network.mediums[medium.index()].join(LinkId(i as u32));
            }
            network.links.push(new);
        }
        network.fabric = Fabric::new(&spec.links, &mut network.links, seed);
        network
    }

    /// From now on, notes the packets that are sent on a link and reach its far end.
    pub fn watch(&mut self, id: LinkId) {
        self.links[id.index()].extra_mut(u64::from(id.0), self.seed).watched = true;
    }
    /// From now on, notes the frames that a link carries or obeys, to be taken with
    /// [`Network::take_frames`] every now and then.
    pub fn tap(&mut self, id: LinkId) {
        self.links[id.index()].extra_mut(u64::from(id.0), self.seed).tapped = true;
    }
    /// Whether there is something to be taken since this was last asked.
    #[inline]
    pub fn take_news(&mut self) -> bool {
        core::mem::take(&mut self.has_news)
    }
    /// The packets noted since this was last asked.
    pub fn take_captured(&mut self) -> Vec<Captured> {
        core::mem::take(&mut self.captured)
    }

    /// Makes a route of these links.
    ///
    /// # Panics
    /// When there are none, for packets would arrive where they are, or the last is none of the network's.
    pub fn add_route(&mut self, links: &[LinkId]) -> RouteId {
        let last = links.last().expect("a route has at least one link");
        let last = &mut self.links[last.index()];
        last.ends = last.ends.with_route();
        let at = self.routes.len() as u32;
        self.routes.extend(links.iter().map(|l| l.0));
        self.routes.push(END);
        RouteId(at)
    }

    /// Whether a route is made of these links.
    pub fn is_route(&self, route: RouteId, links: &[LinkId]) -> bool {
        let at = self.routes[route.0 as usize..].iter().take_while(|link| **link != END);
        at.copied().eq(links.iter().map(|l| l.0))
    }

    /// What a packet that has arrived carries.
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

    /// A host sends a packet.
    #[inline]
    pub fn send(
        &mut self,
        now: Time,
        address: &Address,
        segment: &Segment,
        scheduler: &mut impl Scheduler,
    ) {
        let content = self.packets.insert(segment);
        self.put(now, address, content, scheduler);
    }

    /// A host sends a packet that is followed from here on, in place of any other.
    pub fn send_followed(
        &mut self,
        now: Time,
        address: &Address,
        segment: &Segment,
        scheduler: &mut impl Scheduler,
    ) {
        let content = self.packets.insert(segment);
        self.follow(content);
        self.put(now, address, content, scheduler);
    }

    /// A host sends a real packet with this congestion header, whose bytes the caller keeps under a number
    /// ([`Body::Kept`]): found again in [`Network::content`] where it arrives, and in
    /// [`Network::take_dropped`] where it does not.
    ///
    /// [`Body::Kept`]: crate::Body::Kept
    pub fn carry(
        &mut self,
        now: Time,
        address: &Address,
        header: Header,
        kept: u32,
        scheduler: &mut impl Scheduler,
    ) {
        let content = self.packets.insert_kept(header, kept);
        self.put(now, address, content, scheduler);
    }

    /// The numbers of packets given to [`Network::carry`] that were dropped since this was last asked.
    pub fn take_dropped(&mut self) -> Vec<u32> {
        core::mem::take(&mut self.dropped)
    }

    /// A host sends an acknowledgement.
    pub fn acknowledge(
        &mut self,
        now: Time,
        address: &Address,
        ack: &Ack,
        scheduler: &mut impl Scheduler,
    ) {
        let content = self.packets.insert_ack(ack);
        self.put(now, address, content, scheduler);
    }

    /// A packet is sent in place of the one that is followed and has come here.
    #[cold]
    pub fn send_on(
        &mut self,
        now: Time,
        address: &Address,
        segment: &Segment,
        scheduler: &mut impl Scheduler,
    ) {
        let content = self.packets.insert(segment);
        self.take_place(content);
        self.put(now, address, content, scheduler);
    }

    /// So is an acknowledgement, of what is followed or in place of its own.
    #[cold]
    pub fn acknowledge_on(
        &mut self,
        now: Time,
        address: &Address,
        ack: &Ack,
        scheduler: &mut impl Scheduler,
    ) {
        let content = self.packets.insert_ack(ack);
        self.take_place(content);
        self.note_answer();
        self.put(now, address, content, scheduler);
    }

    /// A host answers a packet that has arrived with an acknowledgement.
    #[inline]
    pub fn answer(
        &mut self,
        now: Time,
        arrived: &Label,
        address: &Address,
        ack: &Ack,
        scheduler: &mut impl Scheduler,
    ) {
        self.packets.answer(arrived.content, ack);
        if self.is_followed(arrived) {
            self.note_answer();
        }
        self.put(now, address, arrived.content, scheduler);
    }

    #[inline]
    fn put(
        &mut self,
        now: Time,
        address: &Address,
        content: ContentId,
        scheduler: &mut impl Scheduler,
    ) {
        let label = Label {
            time: now,
            content,
            hop: address.route.0,
            size: address.size,
            flow: address.flow,
            generation: address.generation,
            class: address.class,
            lane: 0,
            ecn: address.ecn,
            fate: Fate::Arrives,
        };
        let arrived = self.forward(now, label, scheduler);
        debug_assert!(arrived.is_none(), "a route has at least one link");
    }

    /// Counters of a link as of `now`, and what waits there.
    pub fn observe(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Observation {
        self.catch_up(now, id, scheduler);
        let far = self.far_tally(id);
        self.links[id.index()].observe(now, &far)
    }

    /// Packets of a flow that policers corrected or dropped; `flow` is what [`Address::generation`] was.
    pub fn clamps(&self, flow: u32) -> u64 {
        self.clamps.get(&flow).copied().unwrap_or(0)
    }

    /// Checks, for each link, that what came is accounted for: arrived = passed on + dropped + lost +
    /// waiting + on the way. Returns the first link for which it does not hold.
    pub fn unbalanced_link(&self) -> Option<LinkId> {
        let mut all = (0..self.links.len() as u32).map(LinkId);
        all.find(|id| !self.links[id.index()].is_balanced(self.far_tally(*id).intake))
    }
}
