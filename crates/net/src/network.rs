//! Links, ports and packets together.

use ratewire_laws::{AnyLaw, AnyPort, LinkContext, PortQueue};
use ratewire_transport::{Ack, Segment};
use ratewire_units::{Bytes, Time};

use crate::discipline::Verdict;
use crate::link::{Active, Link, NO_PORT, Observation, Tally};
use crate::medium::Medium;
use crate::packet::{Content, ContentId, Ecn, Fate, Label, Slab};
use crate::spec::{LinkId, NetworkSpec};

/// Ends a route in the table.
const END: u32 = u32::MAX;

/// Takes note of when a link wants to be called.
///
/// Of several times noted for one link the last is the one that holds; a call at another is ignored.
pub trait Scheduler {
    /// [`Network::on_event`] is to be called for `link` at `at`.
    fn schedule(&mut self, at: Time, link: LinkId);
}

/// A route that packets can be sent along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(u32);

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
    pub ecn: bool,
}

/// A network in operation, sans-IO: it is told the time and what happens, and says when it wants to
/// be called.
#[derive(Debug)]
pub struct Network {
    pub(crate) links: Vec<Link>,
    pub(crate) packets: Slab,
    pub(crate) mediums: Vec<Medium>,
    pub(crate) ports: Vec<AnyPort>,
    /// The law of each port.
    port_laws: Vec<usize>,
    /// Routes one after the other, each a run of link numbers closed by [`END`].
    routes: Vec<u32>,
    /// With `wire = "exact"`, the laws, whose headers pass through their bytes at each port.
    exact: Option<Vec<AnyLaw>>,
    captured: Vec<Captured>,
    pub(crate) seed: u64,
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
            seed,
        };
        for (i, link) in spec.links.iter().enumerate() {
            let mut new = Link::new(link, i as u64, seed);
            let context = LinkContext { rate: link.service.mean_rate(), delay: link.delay };
            if let Some((law, port)) =
                link.law.and_then(|law| Some((law, laws[law].port(&context)?)))
            {
                network.port_laws.push(law);
                new.port = network.ports.len() as u32;
                new.port_timer = port.next_timer();
                network.ports.push(port);
            }
            if let Some(medium) = link.medium {
                network.mediums[medium.index()].join(LinkId(i as u32));
            }
            network.links.push(new);
        }
        network
    }

    /// From now on, notes the packets that reach the far end of a link.
    pub fn capture(&mut self, id: LinkId) {
        let seed = self.seed;
        self.links[id.index()].extra_mut(u64::from(id.0), seed).captured = true;
    }
    /// The packets noted since this was last asked.
    #[inline]
    pub fn take_captured(&mut self) -> Option<Vec<Captured>> {
        (!self.captured.is_empty()).then(|| core::mem::take(&mut self.captured))
    }

    /// Makes a route of these links.
    ///
    /// # Panics
    /// When there are none: the packets of a route without links would arrive where they are.
    pub fn add_route(&mut self, links: &[LinkId]) -> RouteId {
        assert!(!links.is_empty(), "a route has at least one link");
        let at = self.routes.len() as u32;
        self.routes.extend(links.iter().map(|l| l.0));
        self.routes.push(END);
        RouteId(at)
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
            ecn: if address.ecn { Ecn::Capable } else { Ecn::NotCapable },
            fate: Fate::Arrives,
        };
        let arrived = self.forward(now, label, scheduler);
        debug_assert!(arrived.is_none(), "a route has at least one link");
    }

    /// Puts a packet on the next link of its route, or returns it where the route ends.
    #[inline(always)]
    fn forward(
        &mut self,
        now: Time,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        let link = self.routes[label.hop as usize];
        if link == END {
            return Some(label);
        }
        label.hop += 1;
        self.arrive(now, LinkId(link), label, scheduler);
        None
    }

    /// The event of a link is due. Returns a packet that has arrived where it was going.
    #[inline]
    pub fn on_event(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        let link = &self.links[id.index()];
        if link.next_event != now {
            return None;
        }
        if link.extra.is_some() {
            return self.on_rare_event(now, id, scheduler);
        }
        self.catch_up_if_due(now, id, scheduler);
        self.deliver(now, id, scheduler)
    }

    /// Takes the packet at the head off the link and passes it on.
    #[inline(always)]
    fn deliver(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) -> Option<Label> {
        let link = &mut self.links[id.index()];
        let label = link.row.pop_front()?;
        link.started -= 1;
        link.passed += 1;
        Self::schedule_head(link, id, scheduler);
        self.forward(now, label, scheduler)
    }

    /// Notes the arrival of the packet at the head as the link's next event.
    #[inline]
    pub(crate) fn schedule_head(link: &mut Link, id: LinkId, scheduler: &mut impl Scheduler) {
        let mut due = match link.row.front() {
            Some(head) if link.started > 0 => head.time,
            _ => Time::NEVER,
        };
        if let Some(extra) = &link.extra {
            due = due.min(extra.medium_free);
        }
        link.next_event = due;
        if due != Time::NEVER {
            scheduler.schedule(due, id);
        }
    }

    /// A packet comes to a link.
    #[inline(always)]
    fn arrive(&mut self, now: Time, id: LinkId, label: Label, scheduler: &mut impl Scheduler) {
        self.catch_up_if_due(now, id, scheduler);
        let link = &mut self.links[id.index()];
        link.arrived += 1;
        if link.port != NO_PORT {
            let queue = port_queue(link);
            let port = &mut self.ports[link.port as usize];
            let header = self.packets.header_mut(label.content);
            port.on_arrival(now, Bytes::new(u64::from(label.size)), header, queue);
        }
        if link.extra.is_some() {
            return self.arrive_rare(now, id, label, scheduler);
        }
        let idle = link.busy_until <= now && link.waiting() == 0 && link.per_byte.is_some();
        if idle {
            self.start(now, id, label, scheduler);
        } else if link.has_room_for(label.size) {
            link.enqueue(now, label);
        } else {
            self.drop_full(id, &label);
        }
    }

    /// The rest of an arrival at a link with a discipline, a medium, a trace, or that is down.
    #[cold]
    fn arrive_rare(
        &mut self,
        now: Time,
        id: LinkId,
        mut label: Label,
        scheduler: &mut impl Scheduler,
    ) {
        let link = &mut self.links[id.index()];
        let waiting = Bytes::new(link.waiting_bytes);
        let packet_time = link.packet_time(label.size);
        let Some(extra) = link.extra.as_deref_mut() else { return };
        if extra.down {
            link.tally.dropped_down += 1;
            self.packets.remove(label.content);
            return;
        }
        if let Active::Red(red) = &mut extra.discipline {
            let verdict = red.on_arrival(now, waiting, packet_time, &mut extra.random);
            if !pass(&mut link.tally, &mut label, verdict) {
                self.packets.remove(label.content);
                return;
            }
        }
        let medium = link.medium();
        let idle =
            medium.is_none() && link.busy_until <= now && link.waiting() == 0 && link.can_send();
        if idle {
            return self.start(now, id, label, scheduler);
        }
        if !link.has_room_for(label.size) && !self.may_send_at_once(now, id, scheduler) {
            return self.drop_full(id, &label);
        }
        self.links[id.index()].enqueue(now, label);
        if let Some(medium) = medium {
            self.contend(now, medium, scheduler);
        }
    }

    /// Whether a packet that comes to a link on a medium now need not wait, and so needs no room.
    fn may_send_at_once(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) -> bool {
        let Some(medium) = self.links[id.index()].medium() else { return false };
        // Those that wait go first, whoever is told of the medium's being free first.
        self.contend(now, medium, scheduler);
        let link = &self.links[id.index()];
        self.mediums[medium.index()].is_free(now) && link.waiting() == 0 && link.can_send()
    }

    #[cold]
    fn drop_full(&mut self, id: LinkId, label: &Label) {
        self.links[id.index()].tally.dropped_full += 1;
        self.packets.remove(label.content);
    }

    #[inline(always)]
    fn catch_up_if_due(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &self.links[id.index()];
        if (link.waiting() > 0 && link.busy_until <= now)
            || (link.port != NO_PORT && link.port_timer <= now)
        {
            self.catch_up(now, id, scheduler);
        }
    }

    /// Works out what happened at a link's queue up to `now`: departures, and the port's timers, in
    /// the order of their times.
    pub(crate) fn catch_up(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        loop {
            let link = &mut self.links[id.index()];
            let departs = link.waiting() > 0 && link.can_send() && link.medium().is_none();
            let departure = if departs { link.busy_until } else { Time::NEVER };
            if departure.min(link.port_timer) > now {
                return;
            }
            if departure <= link.port_timer {
                if self.dequeue(departure, id) {
                    self.start_waiting(departure, id, scheduler);
                }
            } else {
                self.port_timer(id);
            }
        }
    }

    fn port_timer(&mut self, id: LinkId) {
        let link = &mut self.links[id.index()];
        let queue = port_queue(link);
        let port = &mut self.ports[link.port as usize];
        port.on_timer(link.port_timer, queue);
        link.port_timer = port.next_timer();
    }

    /// Settles which of the waiting packets is next to be sent; false if the discipline dropped all.
    #[inline]
    pub(crate) fn dequeue(&mut self, now: Time, id: LinkId) -> bool {
        let link = &mut self.links[id.index()];
        link.sum_areas(now);
        let Some(next) = link.row.get(link.started as usize) else { return false };
        link.waiting_bytes -= u64::from(next.size);
        if link.extra.is_none() {
            return true;
        }
        self.dequeue_rare(now, id)
    }

    /// Lets the discipline look at the packet that is about to leave, and at the next if it drops it.
    #[cold]
    fn dequeue_rare(&mut self, now: Time, id: LinkId) -> bool {
        loop {
            let link = &mut self.links[id.index()];
            let left = link.waiting() - 1;
            let (waiting_bytes, at) = (Bytes::new(link.waiting_bytes), link.started as usize);
            let Some(extra) = link.extra.as_deref_mut() else { return true };
            let Some(label) = link.row.get_mut(at) else { return false };
            let size = Bytes::new(u64::from(label.size));
            let verdict = match &mut extra.discipline {
                Active::CoDel(c) => c.on_departure(now, now.since(label.time), waiting_bytes, size),
                Active::Red(red) => {
                    if left == 0 {
                        red.emptied(now);
                    }
                    Verdict::Pass
                }
                Active::DropTail => Verdict::Pass,
            };
            if pass(&mut link.tally, label, verdict) {
                return true;
            }
            self.packets.remove(label.content);
            if at == 0 {
                link.row.pop_front();
            } else {
                // Its place stays in the row until it reaches the head.
                label.fate = Fate::Gone;
                label.time = link.last_arrival;
                link.started += 1;
                link.tally.gone += 1;
            }
            if left == 0 {
                return false;
            }
            if let Some(next) = link.row.get(link.started as usize) {
                link.waiting_bytes -= u64::from(next.size);
            }
        }
    }

    /// The first waiting packet's transmission starts.
    #[inline]
    pub(crate) fn start_waiting(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        let at = link.started as usize;
        let Some(mut label) = link.row.get(at).copied() else { return };
        link.started += 1;
        self.launch(now, id, &mut label);
        let link = &mut self.links[id.index()];
        link.row[at] = label;
        if at == 0 {
            link.next_event = label.time;
            scheduler.schedule(label.time, id);
        }
    }

    /// The transmission of a packet that did not have to wait starts.
    #[inline(always)]
    fn start(&mut self, now: Time, id: LinkId, mut label: Label, scheduler: &mut impl Scheduler) {
        self.launch(now, id, &mut label);
        let link = &mut self.links[id.index()];
        link.row.push_back(label);
        link.started += 1;
        if link.started == 1 {
            link.next_event = label.time;
            scheduler.schedule(label.time, id);
        }
    }

    /// The port sees a packet off, and it is worked out when it arrives.
    #[inline(always)]
    fn launch(&mut self, now: Time, id: LinkId, label: &mut Label) {
        let link = &mut self.links[id.index()];
        let size = Bytes::new(u64::from(label.size));
        if link.port != NO_PORT {
            let queue = port_queue(link);
            let port = &mut self.ports[link.port as usize];
            let header = self.packets.header_mut(label.content);
            port.on_departure(now, size, header, queue);
            if let Some(laws) = &self.exact {
                let law = &laws[self.port_laws[link.port as usize]];
                *header = law.quantise(*header, size);
            }
        }
        let (left, busy) = match (&link.extra, link.per_byte) {
            (None, Some(per_byte)) => {
                let time = per_byte.of(size + Bytes::new(u64::from(link.overhead)));
                (now + time, time)
            }
            _ => {
                label.fate = link.draw_fate(now);
                link.transmit(now, label.size)
            }
        };
        link.busy_until = left;
        link.busy += busy;
        link.sent_bytes += size.get();
        // A delay that has shortened does not let packets overtake each other.
        label.time = (left + link.delay).max(link.last_arrival);
        link.last_arrival = label.time;
    }

    /// The event of a link that has loss, a discipline, a trace, a medium or a stalled packet.
    #[cold]
    fn on_rare_event(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<Label> {
        if let Some(medium) = self.links[id.index()].medium() {
            if let Some(extra) = self.links[id.index()].extra.as_deref_mut()
                && extra.medium_free <= now
            {
                extra.medium_free = Time::NEVER;
            }
            self.contend(now, medium, scheduler);
        }
        self.catch_up(now, id, scheduler);
        let link = &mut self.links[id.index()];
        let head = link.row.front().copied();
        let Some(head) = head.filter(|head| link.started > 0 && head.time <= now) else {
            Self::schedule_head(link, id, scheduler);
            return None;
        };
        if head.fate == Fate::Arrives {
            if link.extra.as_ref().is_some_and(|e| e.captured) {
                let (label, content) = (head, *self.packets.content(head.content));
                let ack = self.packets.ack(head.content);
                self.captured.push(Captured { at: now, link: id, label, content, ack });
            }
            return self.deliver(now, id, scheduler);
        }
        link.row.pop_front();
        link.started -= 1;
        if head.fate == Fate::Lost {
            link.tally.lost += 1;
            self.packets.remove(head.content);
        } else {
            link.tally.gone -= 1;
        }
        Self::schedule_head(link, id, scheduler);
        None
    }

    /// Counters of a link as of `now`, and what waits there.
    pub fn observe(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Observation {
        self.catch_up(now, id, scheduler);
        self.links[id.index()].observe(now)
    }

    /// Checks, for each link, that what came is accounted for: arrived = passed on + dropped + lost +
    /// waiting + on the way. Returns the first link for which it does not hold.
    pub fn unbalanced_link(&self) -> Option<LinkId> {
        self.links.iter().position(|l| !l.is_balanced()).map(|i| LinkId(i as u32))
    }
}

/// Carries out a discipline's verdict; returns whether the packet goes on.
fn pass(tally: &mut Tally, label: &mut Label, verdict: Verdict) -> bool {
    match verdict {
        Verdict::Pass => true,
        Verdict::MarkOrDrop if label.ecn != Ecn::NotCapable => {
            tally.marked += u64::from(label.ecn == Ecn::Capable);
            label.ecn = Ecn::Marked;
            true
        }
        Verdict::MarkOrDrop | Verdict::Drop => {
            tally.dropped_early += 1;
            false
        }
    }
}

#[inline]
fn port_queue(link: &Link) -> PortQueue {
    PortQueue { bytes: Bytes::new(link.waiting_bytes), packets: link.waiting() }
}
