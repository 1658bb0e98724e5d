//! One link and the queue in front of it.
//!
//! A link is first-in-first-out, so at most the packet at the head of those on the way needs an
//! event; on delay lines and towards lagging hosts, not even that one does
//! ([`crate::speed::delay_line`], [`crate::speed::lag`]). Departures have no events: they are
//! computed as packets arrive, where nothing can change them ([`booking`]), or otherwise when the
//! link is used next, each at the time at which it happened (`Network::catch_up`). Port timers are
//! processed in the same way, since only this link's packets see the port.

use ratewire_laws::PortQueue;
use ratewire_units::{Bytes, Duration, Rate, SerialTime, Time};

use crate::packet::Label;
use crate::queue::Backlog;
use crate::queue::fifo::Fifo;
use crate::queue::sorted::Sorted;
use crate::service::TraceCursor;
use crate::spec::{Limit, LinkSpec, MediumId, Service};

mod ahead;
mod balance;
mod booking;
mod bucket;
mod duplicate;
mod end_flags;
mod events;
mod jitter;
mod line;
mod links;
mod loss;
mod outlet;
mod rare_parts;
mod tally;
mod transmission;

use booking::Bookings;
pub(crate) use duplicate::Duplicates;
pub(crate) use end_flags::EndFlags;
pub(crate) use line::DelayLineId;
pub(crate) use links::Links;
pub(crate) use loss::LossState;
pub(crate) use outlet::{NoticeContent, Outlet, PauseTally};
pub(crate) use rare_parts::RareParts;
pub use tally::Observation;
pub(crate) use tally::{FarTally, RareTally, Tally};

/// Index of no port.
pub(crate) const NO_PORT: u32 = u32::MAX;

/// An active link, laid out so that a packet touches as few cache lines as possible.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Link {
    /// Time at which the packet in transmission has left; in the past if the link is idle.
    pub(crate) busy_until: Time,
    pub(crate) per_byte: Option<SerialTime>,
    pub(crate) delay: Duration,
    /// All packets in order: those on the wire, the one in transmission, and those that wait. A
    /// packet is started by moving the boundary, `started`. Some packets are on a delay line
    /// instead, or ahead in the next link ([`ahead`]).
    pub(crate) fifo: Fifo,
    /// Packets at the front of `fifo` that are on the wire or being sent, or are booked.
    pub(crate) started: u32,
    pub(crate) port: u32,
    /// Time of the link's next event.
    pub(crate) next_event: Time,
    /// Parts that only few links have.
    pub(crate) extra: Option<Box<RareParts>>,
    /// Arrival time of the packet sent last.
    pub(crate) last_arrival: Time,
    pub(crate) overhead: u32,
    /// Whether the link has what few links have: `extra` or an outlet.
    is_rare: bool,
    /// Properties of the link's ends.
    pub(crate) ends: EndFlags,
    /// Whether departures are booked as packets arrive.
    pub(crate) books: bool,
    /// The delay line that takes the next packet that finds the link idle.
    pub(crate) delay_line: DelayLineId,
    /// Packets that came to the link, or will when they have entered ahead.
    pub(crate) arrived: u64,
    /// Packets that reached its far end, or were put on a delay line and have started.
    pub(crate) passed: u64,
    /// Network-layer bytes sent, with those of the packet in transmission.
    pub(crate) sent_bytes: u64,
    /// Time spent sending, until the packet in transmission has left. A link with a trace counts
    /// the time of each packet at the trace's mean rate.
    pub(crate) busy: Duration,
    /// Copy of the port's next timer; only links with a port use it.
    pub(crate) port_timer: Time,
    pub(crate) waiting_bytes: u64,
    /// The link's outlet, if the link starts at a switch.
    outlet: Option<Box<Outlet>>,
    /// Backlog in packets and bytes, summed over picoseconds, for exact means.
    area_packets: u128,
    area_bytes: u128,
    /// Packets that wait for the link in its switch.
    pub(crate) held: u32,
    limit_packets: u32,
    pub(crate) limit_bytes: u64,
    /// Network-layer bytes of the last packet counted as sent.
    pub(crate) last_size: u32,
    /// Empty places in the FIFO, of packets dropped from its middle.
    pub(crate) gone: u32,
    /// Time up to which the areas are summed.
    area_until: Time,
    pub(crate) tally: Tally,
    /// Departures to come, once the link has booked one.
    bookings: Option<Box<Bookings>>,
}

impl Link {
    pub(crate) fn new(spec: &LinkSpec, index: u64, seed: u64) -> Link {
        let (rate, trace) = match &spec.service {
            Service::Rate(rate) => (*rate, None),
            Service::Opportunities(o) if o.is_empty() => (Rate::ZERO, None),
            Service::Opportunities(o) => (Rate::ZERO, Some(TraceCursor::new(o.clone()))),
        };
        let extra = (!spec.is_plain()).then(|| {
            let mut extra = Box::new(RareParts {
                discipline: spec.discipline.clone(),
                sorted: spec.discipline.sorts().then(Sorted::default),
                loss: LossState::new(&spec.loss),
                trace,
                medium: spec.medium,
                strips: spec.strips,
                reorder: spec.reorder,
                ..RareParts::plain(index, seed)
            });
            if let Some(variation) = &spec.variation {
                extra.vary(variation, index, seed);
            }
            extra
        });
        let mut link = Link {
            per_byte: rate.serial_time(),
            overhead: spec.overhead.get() as u32,
            is_rare: extra.is_some(),
            extra,
            ..Link::wire(spec.delay)
        };
        link.set_limit(spec.limit);
        link
    }

    /// Sets the room in the queue.
    pub(crate) fn set_limit(&mut self, limit: Limit) {
        (self.limit_packets, self.limit_bytes) = match limit {
            Limit::Unlimited => (u32::MAX, u64::MAX),
            Limit::Bytes(bytes) => (u32::MAX, bytes.get()),
            Limit::Packets(packets) => (packets, u64::MAX),
        };
    }

    /// A link without rate and limits, which sends nothing by itself, as delay lines are.
    pub(crate) fn wire(delay: Duration) -> Link {
        Link {
            busy_until: Time::ZERO,
            per_byte: None,
            delay,
            fifo: Fifo::default(),
            started: 0,
            waiting_bytes: 0,
            arrived: 0,
            passed: 0,
            sent_bytes: 0,
            busy: Duration::ZERO,
            last_arrival: Time::ZERO,
            limit_bytes: u64::MAX,
            limit_packets: u32::MAX,
            next_event: Time::NEVER,
            port_timer: Time::NEVER,
            port: NO_PORT,
            overhead: 0,
            is_rare: false,
            ends: EndFlags::default(),
            books: false,
            delay_line: DelayLineId::NONE,
            area_packets: 0,
            area_bytes: 0,
            area_until: Time::ZERO,
            held: 0,
            last_size: 0,
            outlet: None,
            extra: None,
            tally: Tally::default(),
            gone: 0,
            bookings: None,
        }
    }

    /// The extra parts, which are made when they are first needed.
    pub(crate) fn extra_mut(&mut self, index: u64, seed: u64) -> &mut RareParts {
        debug_assert!(self.bookings.is_none(), "a link that books departures stays as it is");
        (self.is_rare, self.books) = (true, false);
        self.ends.remove(EndFlags::EVENTLESS);
        self.extra.get_or_insert_with(|| Box::new(RareParts::plain(index, seed)))
    }

    /// Lets the link start at a switch, which queues the link's packets itself.
    pub(crate) fn start_at_switch(&mut self, outlet: Outlet) {
        self.is_rare = true;
        if let Some(extra) = self.extra.as_deref_mut() {
            extra.sorted = None;
        }
        self.outlet = Some(Box::new(outlet));
    }

    /// Whether the link has a port.
    #[inline]
    pub(crate) fn has_port(&self) -> bool {
        self.port != NO_PORT
    }
    /// Whether the link has extra parts or an outlet.
    #[inline]
    pub(crate) fn is_rare(&self) -> bool {
        self.is_rare
    }
    /// Whether packets that reach the far end are captured.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.is_rare && self.extra.as_ref().is_some_and(|extra| extra.watched)
    }
    /// Whether frames that the link carries or obeys are captured.
    pub(crate) fn is_tapped(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.tapped)
    }
    /// The link's outlet, if the link starts at a switch.
    #[inline]
    pub(crate) fn outlet(&self) -> Option<&Outlet> {
        // `is_rare` lies in a cache line that every packet touches; the pointer does not.
        if self.is_rare { self.outlet.as_deref() } else { None }
    }
    #[inline]
    pub(crate) fn outlet_mut(&mut self) -> Option<&mut Outlet> {
        self.outlet.as_deref_mut()
    }

    /// Whether the far end takes packets in one by one.
    #[inline]
    pub(crate) fn has_intake(&self) -> bool {
        self.outlet().is_some_and(|outlet| outlet.has_intake())
    }

    /// Removes and returns the packet at the head, which must exist.
    #[inline]
    pub(crate) fn pop_head(&mut self) -> Label {
        self.started -= 1;
        self.fifo.pop_front()
    }

    /// Time of the link's next event other than the arrival of its head: the arrival of a late
    /// packet, or an event of the switch.
    #[inline]
    pub(crate) fn next_due(&self) -> Time {
        if !self.is_rare {
            return Time::NEVER;
        }
        let outlet = self.outlet().map_or(Time::NEVER, Outlet::next_due);
        self.extra.as_ref().map_or(outlet, |extra| outlet.min(extra.next_late()))
    }

    /// The queue as ports see it.
    #[inline]
    pub(crate) fn port_queue(&self) -> PortQueue {
        if self.waiting() == 0 && !self.is_rare && !self.books {
            // The counters lie in a cache line that packets touch only if they wait. Only rare
            // links have packets in a switch.
            debug_assert!(self.waiting_bytes == 0 && self.held == 0);
            return PortQueue::default();
        }
        PortQueue { bytes: Bytes::new(self.waiting_bytes), packets: self.waiting_all() }
    }

    /// The backlog as disciplines see it.
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { packets: self.waiting_all(), bytes: Bytes::new(self.waiting_bytes) }
    }

    /// Packets waiting in the FIFO.
    #[inline]
    pub(crate) fn waiting(&self) -> u32 {
        self.fifo.len() - self.started
    }

    /// Packets waiting in the FIFO, or booked.
    #[inline]
    pub(crate) fn waiting_here(&self) -> u32 {
        self.waiting() + self.booked()
    }

    /// Packets waiting in the FIFO, booked, or in a switch.
    #[inline]
    pub(crate) fn waiting_all(&self) -> u32 {
        self.waiting_here() + self.held
    }

    /// Whether a waiting packet starts at this time or before.
    #[inline]
    pub(crate) fn departure_is_due(&self, now: Time) -> bool {
        self.waiting() > 0 && self.busy_until <= now
    }

    /// Whether departures, or a timer of the port, may be due by this time.
    #[inline]
    pub(crate) fn is_behind(&self, now: Time) -> bool {
        self.departure_is_due(now) || (self.has_port() && self.port_timer <= now)
    }

    /// Transmission time of a byte, if the link is idle and has nothing rare.
    #[inline]
    pub(crate) fn idle_per_byte(&self, now: Time) -> Option<SerialTime> {
        let is_idle = self.busy_until <= now && self.waiting() == 0 && !self.is_rare;
        self.per_byte.filter(|_| is_idle)
    }

    /// Whether the first packet of the FIFO, if it is not started, may wait for one on a delay
    /// line.
    #[inline]
    pub(crate) fn waits_behind_line(&self) -> bool {
        self.ends.start_at_leaf() && self.delay_line != DelayLineId::NONE
    }

    /// Brings the areas up to date, before the backlog changes.
    #[inline]
    pub(crate) fn sum_areas(&mut self, now: Time) {
        self.sum_areas_with(now, 0);
    }

    /// Brings the areas up to date, with more packets than are counted as waiting.
    #[inline]
    pub(crate) fn sum_areas_with(&mut self, now: Time, more: u32) {
        let waiting = self.waiting() + self.held + more;
        if waiting > 0 {
            let span = u128::from(now.since(self.area_until).ps());
            self.area_packets += u128::from(waiting) * span;
            self.area_bytes += u128::from(self.waiting_bytes) * span;
        }
        self.area_until = now;
    }

    /// Adds a packet at the end of the FIFO, with this time. The time is set in the slot: a copy of
    /// the whole label, right after a part of it was written, would have to wait for that part.
    #[inline(always)]
    pub(crate) fn add(&mut self, time: Time, label: Label) {
        self.fifo.push_back(Label { time, ..label });
    }

    /// Queues a packet that has to wait.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, now: Time, label: Label) {
        self.note_waiting(now, label.size);
        self.add(now, label);
    }

    /// Counts one more waiting packet, which the caller puts in its place.
    #[inline(always)]
    pub(crate) fn note_waiting(&mut self, now: Time, size: u32) {
        self.sum_areas(now);
        self.waiting_bytes += u64::from(size);
        self.note_peak(self.waiting() + 1);
    }

    #[inline(always)]
    fn note_peak(&mut self, waiting: u32) {
        self.tally.peak_packets = self.tally.peak_packets.max(waiting);
        self.tally.peak_bytes = self.tally.peak_bytes.max(self.waiting_bytes);
    }

    /// Whether the backlog exceeds the limit.
    pub(crate) fn is_overfull(&self) -> bool {
        self.waiting() > self.limit_packets || self.waiting_bytes > self.limit_bytes
    }

    #[inline]
    pub(crate) fn has_room_for(&self, size: u32) -> bool {
        self.has_room_beside(self.waiting_here(), size)
    }

    /// Whether a packet of this size has room beside this number of waiting packets.
    #[inline]
    pub(crate) fn has_room_beside(&self, waiting: u32, size: u32) -> bool {
        waiting < self.limit_packets && self.waiting_bytes + u64::from(size) <= self.limit_bytes
    }

    /// Time that the link takes to send all that its queue may hold, if its packets have this size.
    #[inline]
    pub(crate) fn time_to_drain(&self, per_byte: SerialTime, size: u32) -> Duration {
        let packets = u64::from(self.limit_packets);
        per_byte.of(Bytes::new(self.limit_bytes)).min(per_byte.of(self.on_wire(size)) * packets)
    }

    /// Packets of a flow that wait in the FIFO or in the discipline's queues.
    pub(crate) fn waiting_of(&self, flow: u32) -> usize {
        let is_of_flow = |label: &&Label| label.flow == flow;
        match self.extra.as_ref().and_then(|extra| extra.sorted.as_ref()) {
            Some(sorted) => sorted.labels().filter(is_of_flow).count(),
            None => {
                let waiting = (self.started..self.fifo.len()).filter_map(|at| self.fifo.get(at));
                waiting.filter(is_of_flow).count()
            }
        }
    }

    /// Bytes of a packet, with those that the link adds.
    #[inline]
    pub(crate) fn on_wire(&self, size: u32) -> Bytes {
        Bytes::new(u64::from(size) + u64::from(self.overhead))
    }

    #[inline]
    pub(crate) fn medium(&self) -> Option<MediumId> {
        self.extra.as_ref().and_then(|e| e.medium)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_does_not_wait_touches_two_cache_lines_of_a_link() {
        let line = |offset: usize| offset / 64;
        assert_eq!(line(std::mem::offset_of!(Link, next_event)), 0);
        assert_eq!(line(std::mem::offset_of!(Link, port_timer)), 1);
        assert_eq!(line(std::mem::offset_of!(Link, limit_bytes)), 2);
        assert_eq!(line(std::mem::offset_of!(Link, tally)), 3, "one that waits, four");
        assert_eq!(size_of::<Link>(), 256, "a flow may have four links of its own");
    }
}
