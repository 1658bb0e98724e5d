//! Links, ports and packets together.

use ratewire_laws::{AnyLaw, AnyPort, LinkContext, PortQueue};
use ratewire_transport::Ack;
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::discipline::Verdict;
use crate::link::{Active, Link, LinkStats, NO_PORT};
use crate::medium::Medium;
use crate::packet::{Content, Ecn, Label, Packet, PacketId, Slab};
use crate::spec::{Change, LinkId, NetworkSpec, Service};

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

/// A network in operation, sans-IO: it is told the time and what happens, and says when it wants to
/// be called.
#[derive(Debug)]
pub struct Network {
    pub(crate) links: Vec<Link>,
    pub(crate) packets: Slab,
    pub(crate) mediums: Vec<Medium>,
    ports: Vec<AnyPort>,
    /// The law of each port.
    port_laws: Vec<usize>,
    /// Routes one after the other, each a run of link numbers closed by [`END`].
    routes: Vec<u32>,
    /// With `wire = "exact"`, the laws, whose headers pass through their bytes at each port.
    exact: Option<Vec<AnyLaw>>,
    seed: u64,
}

impl Network {
    /// A network as specified, all queues empty.
    pub fn new(spec: &NetworkSpec, laws: &[AnyLaw], exact_wire: bool, seed: u64) -> Network {
        let mut network = Network {
            links: Vec::with_capacity(spec.links.len()),
            packets: Slab::new(),
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
            seed,
        };
        for (i, link) in spec.links.iter().enumerate() {
            let mut new = Link::new(link, i as u64, seed);
            let rate = match &link.service {
                Service::Rate(rate) => *rate,
                Service::Opportunities(o) => mean_rate(o.bytes * o.at.len() as u64, o.period),
            };
            let context = LinkContext { rate, delay: link.delay };
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

    /// Label of a packet in the network.
    #[inline]
    pub fn label(&self, id: PacketId) -> &Label {
        &self.packets[id]
    }
    /// Content of a packet in the network.
    #[inline]
    pub fn content(&self, id: PacketId) -> &Content {
        self.packets.content(id)
    }
    /// Takes a packet that has arrived out of the network.
    #[inline]
    pub fn remove(&mut self, id: PacketId) {
        self.packets.remove(id);
    }
    /// Packets in queues and on links.
    pub fn in_flight(&self) -> u64 {
        u64::from(self.packets.in_use())
    }

    /// A host sends a packet along `route`.
    #[inline]
    pub fn inject(
        &mut self,
        now: Time,
        packet: Packet,
        route: RouteId,
        scheduler: &mut impl Scheduler,
    ) {
        let id = self.packets.insert(packet);
        self.put(now, id, route, scheduler);
    }

    /// A host answers a packet that has arrived with an acknowledgement of `size` along `route`.
    #[inline]
    pub fn answer(
        &mut self,
        now: Time,
        id: PacketId,
        ack: &Ack,
        size: u32,
        route: RouteId,
        scheduler: &mut impl Scheduler,
    ) {
        self.packets.answer(id, ack, size);
        self.put(now, id, route, scheduler);
    }

    #[inline]
    fn put(&mut self, now: Time, id: PacketId, route: RouteId, scheduler: &mut impl Scheduler) {
        self.packets[id].hop = route.0;
        let arrived = self.forward(now, id, scheduler);
        debug_assert!(arrived.is_none(), "a route has at least one link");
    }

    /// Puts a packet on the next link of its route, or returns it where the route ends.
    #[inline]
    fn forward(
        &mut self,
        now: Time,
        id: PacketId,
        scheduler: &mut impl Scheduler,
    ) -> Option<PacketId> {
        let packet = &mut self.packets[id];
        let link = self.routes[packet.hop as usize];
        if link == END {
            return Some(id);
        }
        packet.hop += 1;
        self.arrive(now, LinkId(link), id, scheduler);
        None
    }

    /// The event of a link is due. Returns a packet that has arrived where it was going.
    #[inline]
    pub fn on_event(
        &mut self,
        now: Time,
        link: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<PacketId> {
        if self.links[link.index()].next_event != now {
            return None;
        }
        if self.links[link.index()].extra.is_some() {
            return self.on_rare_event(now, link, scheduler);
        }
        self.catch_up_if_due(now, link, scheduler);
        self.deliver(now, link, scheduler)
    }

    /// Takes the packet at the head off the link and passes it on.
    #[inline]
    fn deliver(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<PacketId> {
        let link = &mut self.links[id.index()];
        let packet = link.flying.pop(&self.packets)?;
        link.stats.passed += 1;
        self.schedule_head(id, scheduler);
        self.forward(now, packet, scheduler)
    }

    /// Notes the arrival of the packet at the head as the link's next event.
    #[inline]
    fn schedule_head(&mut self, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        let head = link.flying.head().map_or(Time::NEVER, |head| self.packets[head].time);
        let due = head.min(link.extra.as_ref().map_or(Time::NEVER, |e| e.medium_free));
        link.next_event = due;
        if due != Time::NEVER {
            scheduler.schedule(due, id);
        }
    }

    /// A packet comes to a link.
    #[inline]
    fn arrive(&mut self, now: Time, id: LinkId, packet: PacketId, scheduler: &mut impl Scheduler) {
        let at = id.index();
        self.catch_up_if_due(now, id, scheduler);
        let size = self.packets[packet].size;
        let link = &mut self.links[at];
        link.stats.arrived += 1;
        if link.port != NO_PORT {
            let queue = port_queue(link);
            let port = &mut self.ports[link.port as usize];
            let header = &mut self.packets.content_mut(packet).header;
            port.on_arrival(now, Bytes::new(u64::from(size)), header, queue);
        }
        if link.extra.is_some() {
            return self.arrive_rare(now, id, packet, scheduler);
        }
        if link.busy_until <= now && link.waiting_packets == 0 && link.per_byte.is_some() {
            self.start(now, id, packet, scheduler);
        } else {
            self.enqueue(now, id, packet);
        }
    }

    /// The rest of an arrival at a link with a discipline, a medium, a trace, or that is down.
    #[cold]
    fn arrive_rare(
        &mut self,
        now: Time,
        id: LinkId,
        packet: PacketId,
        scheduler: &mut impl Scheduler,
    ) {
        let link = &mut self.links[id.index()];
        let size = Bytes::new(u64::from(self.packets[packet].size));
        let Some(extra) = link.extra.as_deref_mut() else { return };
        if extra.down {
            link.stats.dropped_down += 1;
            self.packets.remove(packet);
            return;
        }
        if let Active::Red(red) = &mut extra.discipline {
            let waiting = Bytes::new(link.waiting_bytes);
            let verdict = red.on_arrival(now, waiting, size, link.per_byte, &mut extra.random);
            if !self.pass(id, packet, verdict) {
                return;
            }
        }
        let link = &self.links[id.index()];
        if let Some(medium) = link.medium() {
            self.enqueue(now, id, packet);
            self.contend(now, medium, scheduler);
        } else if link.busy_until <= now && link.waiting_packets == 0 && link.can_send() {
            self.start(now, id, packet, scheduler);
        } else {
            self.enqueue(now, id, packet);
        }
    }

    /// Carries out a discipline's verdict; returns whether the packet goes on.
    fn pass(&mut self, id: LinkId, packet: PacketId, verdict: Verdict) -> bool {
        let stats = &mut self.links[id.index()].stats;
        let p = &mut self.packets[packet];
        match verdict {
            Verdict::Pass => true,
            Verdict::MarkOrDrop if p.ecn != Ecn::NotCapable => {
                stats.marked += u64::from(p.ecn == Ecn::Capable);
                p.ecn = Ecn::Marked;
                true
            }
            Verdict::MarkOrDrop | Verdict::Drop => {
                stats.dropped_early += 1;
                self.packets.remove(packet);
                false
            }
        }
    }

    #[inline]
    fn enqueue(&mut self, now: Time, id: LinkId, packet: PacketId) {
        let link = &mut self.links[id.index()];
        let size = self.packets[packet].size;
        if !link.has_room_for(size) {
            link.stats.dropped_full += 1;
            self.packets.remove(packet);
            return;
        }
        link.sum_areas(now);
        self.packets[packet].time = now;
        link.waiting.push(&mut self.packets, packet);
        link.waiting_packets += 1;
        link.waiting_bytes += u64::from(size);
        link.stats.peak_packets = link.stats.peak_packets.max(link.waiting_packets);
        link.stats.peak_bytes = link.stats.peak_bytes.max(link.waiting_bytes);
    }

    #[inline]
    fn catch_up_if_due(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        let link = &self.links[id.index()];
        if (link.waiting_packets > 0 && link.busy_until <= now) || link.port_timer <= now {
            self.catch_up(now, id, scheduler);
        }
    }

    /// Works out what happened at a link's queue up to `now`: departures, and the port's timers.
    pub(crate) fn catch_up(&mut self, now: Time, id: LinkId, scheduler: &mut impl Scheduler) {
        loop {
            let link = &mut self.links[id.index()];
            let departure = if link.waiting_packets > 0 { link.busy_until } else { Time::NEVER };
            if departure <= link.port_timer {
                if departure > now || !link.can_send() || link.medium().is_some() {
                    if link.port_timer <= now {
                        self.port_timer(id);
                        continue;
                    }
                    return;
                }
                if let Some(packet) = self.dequeue(departure, id) {
                    self.start(departure, id, packet, scheduler);
                }
            } else if link.port_timer <= now {
                self.port_timer(id);
            } else {
                return;
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

    /// Takes the next packet out of the queue; `None` if the discipline dropped all there were.
    #[inline]
    pub(crate) fn dequeue(&mut self, now: Time, id: LinkId) -> Option<PacketId> {
        loop {
            let link = &mut self.links[id.index()];
            link.sum_areas(now);
            let packet = link.waiting.pop(&self.packets)?;
            link.waiting_packets -= 1;
            link.waiting_bytes -= u64::from(self.packets[packet].size);
            let Some(extra) = link.extra.as_deref_mut() else { return Some(packet) };
            let p = &self.packets[packet];
            let verdict = match &mut extra.discipline {
                Active::CoDel(codel) => codel.on_departure(
                    now,
                    now.since(p.time),
                    Bytes::new(link.waiting_bytes),
                    Bytes::new(u64::from(p.size)),
                ),
                Active::Red(red) => {
                    if link.waiting_packets == 0 {
                        red.emptied(now);
                    }
                    Verdict::Pass
                }
                Active::DropTail => Verdict::Pass,
            };
            if self.pass(id, packet, verdict) {
                return Some(packet);
            }
        }
    }

    /// A packet's transmission starts.
    #[inline]
    pub(crate) fn start(
        &mut self,
        now: Time,
        id: LinkId,
        packet: PacketId,
        scheduler: &mut impl Scheduler,
    ) {
        let link = &mut self.links[id.index()];
        let size = self.packets[packet].size;
        if link.port != NO_PORT {
            let queue = port_queue(link);
            let port = &mut self.ports[link.port as usize];
            let header = &mut self.packets.content_mut(packet).header;
            port.on_departure(now, Bytes::new(u64::from(size)), header, queue);
            if let Some(laws) = &self.exact {
                let law = &laws[self.port_laws[link.port as usize]];
                *header = law.quantise(*header, Bytes::new(u64::from(size)));
            }
        }
        if let Some(extra) = link.extra.as_deref_mut() {
            self.packets[packet].lost = extra.loss.draw(&mut extra.random);
            if let (Active::CoDel(codel), 0) = (&mut extra.discipline, link.waiting_packets) {
                // A packet that never waited tells CoDel that the queue is below target.
                codel.on_departure(now, Duration::ZERO, Bytes::ZERO, Bytes::ZERO);
            }
        }
        let Some((left, busy)) = link.transmit(now, size) else { return };
        link.busy_until = left;
        link.stats.busy += busy;
        link.stats.sent_bytes += u64::from(size);
        link.stats.sent_packets += 1;
        // A delay that has shortened does not let packets overtake each other.
        let earliest = match link.flying.tail() {
            Some(tail) => self.packets[tail].time,
            None => Time::ZERO,
        };
        let arrives = (left + link.delay).max(earliest);
        self.packets[packet].time = arrives;
        let was_empty = link.flying.is_empty();
        link.flying.push(&mut self.packets, packet);
        if was_empty {
            link.next_event = arrives;
            scheduler.schedule(arrives, id);
        }
    }

    /// The event of a link that has loss, a trace, a medium or a stalled packet.
    #[cold]
    fn on_rare_event(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Option<PacketId> {
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
        let head = link.flying.head().filter(|head| self.packets[*head].time <= now);
        let Some(head) = head else {
            self.schedule_head(id, scheduler);
            return None;
        };
        if self.packets[head].lost {
            link.flying.pop(&self.packets);
            link.stats.lost += 1;
            self.packets.remove(head);
            self.schedule_head(id, scheduler);
            return None;
        }
        self.deliver(now, id, scheduler)
    }

    /// Something about a link changes.
    pub fn change(
        &mut self,
        now: Time,
        id: LinkId,
        change: &Change,
        scheduler: &mut impl Scheduler,
    ) {
        self.catch_up(now, id, scheduler);
        match *change {
            Change::Delay(delay) => self.links[id.index()].delay = delay,
            Change::Up(up) => self.set_up(now, id, up),
            Change::Rate(rate) => {
                self.set_rate(now, id, rate);
                self.schedule_head(id, scheduler);
                let link = &mut self.links[id.index()];
                if link.port != NO_PORT {
                    let port = &mut self.ports[link.port as usize];
                    port.on_rate_change(now, rate);
                    link.port_timer = port.next_timer();
                }
                if link.busy_until <= now {
                    link.busy_until = now;
                }
                self.catch_up(now, id, scheduler);
            }
        }
    }

    fn set_up(&mut self, now: Time, id: LinkId, up: bool) {
        let seed = self.seed;
        self.links[id.index()].extra_mut(u64::from(id.0), seed).down = !up;
        if up {
            return;
        }
        let link = &mut self.links[id.index()];
        link.sum_areas(now);
        while let Some(packet) = link.waiting.pop(&self.packets) {
            link.stats.dropped_down += 1;
            self.packets.remove(packet);
        }
        link.waiting_packets = 0;
        link.waiting_bytes = 0;
    }

    /// The packet being sent goes on at the new rate; at rate zero it stands still.
    fn set_rate(&mut self, now: Time, id: LinkId, rate: Rate) {
        let seed = self.seed;
        let link = &mut self.links[id.index()];
        let old = link.per_byte.map(|t| t.of(Bytes::new(1_000_000)).secs() / 1e6);
        let stalled = link.extra.as_mut().and_then(|e| e.stalled.take());
        let left = match (stalled, old) {
            (Some(bytes), _) => Some(bytes),
            (None, Some(secs_per_byte)) if link.busy_until > now => {
                Some(link.busy_until.since(now).secs() / secs_per_byte)
            }
            _ => None,
        };
        link.per_byte = rate.serial_time();
        let Some(left) = left else { return };
        let rest = match link.per_byte {
            Some(per_byte) => {
                let rest =
                    Duration::from_secs_f64(left * per_byte.of(Bytes::new(1_000_000)).secs() / 1e6);
                link.busy_until = now + rest;
                Some(rest)
            }
            None => {
                link.extra_mut(u64::from(id.0), seed).stalled = Some(left);
                link.busy_until = Time::NEVER;
                None
            }
        };
        if let Some(tail) = link.flying.tail() {
            self.packets[tail].time = rest.map_or(Time::NEVER, |rest| now + rest + link.delay);
        }
    }

    /// Counters of a link as of `now`, and what waits there.
    pub fn observe(
        &mut self,
        now: Time,
        id: LinkId,
        scheduler: &mut impl Scheduler,
    ) -> Observation {
        self.catch_up(now, id, scheduler);
        let link = &mut self.links[id.index()];
        link.sum_areas(now);
        let unfinished = link.busy_until.since(now);
        let mut stats = link.stats;
        stats.peak_packets_run = stats.peak_packets_run.max(stats.peak_packets);
        link.stats.peak_packets_run = stats.peak_packets_run;
        link.stats.peak_packets = link.waiting_packets;
        stats.busy = stats.busy.saturating_sub(unfinished.min(stats.busy));
        Observation {
            stats,
            waiting_packets: link.waiting_packets,
            waiting_bytes: Bytes::new(link.waiting_bytes),
        }
    }

    /// Checks, for each link, that what came is accounted for: arrived = sent + dropped + waiting,
    /// and sent = passed on + lost + on the way. Returns the first link for which it does not hold.
    pub fn unbalanced_link(&self) -> Option<LinkId> {
        let balanced = |link: &Link| {
            let s = &link.stats;
            let dropped = s.dropped_full + s.dropped_early + s.dropped_down;
            s.arrived == s.sent_packets + dropped + u64::from(link.waiting_packets)
                && s.sent_packets == s.passed + s.lost + link.flying.len(&self.packets)
        };
        self.links.iter().position(|l| !balanced(l)).map(|i| LinkId(i as u32))
    }
}

/// A link as it stands.
#[derive(Clone, Copy, Debug)]
pub struct Observation {
    /// Counters since the start.
    pub stats: LinkStats,
    /// Packets waiting.
    pub waiting_packets: u32,
    /// Bytes waiting.
    pub waiting_bytes: Bytes,
}

#[inline]
fn port_queue(link: &Link) -> PortQueue {
    PortQueue { bytes: Bytes::new(link.waiting_bytes), packets: link.waiting_packets }
}

fn mean_rate(bytes: Bytes, period: Duration) -> Rate {
    Rate::from_bps((bytes.as_f64() * 8.0 / period.secs()) as u64)
}
