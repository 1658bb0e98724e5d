//! The two ends of a flow on their hosts.

use std::mem::offset_of;

use rand_core::Rng;
use ratewire_laws::trust::{Hand, Lie};
use ratewire_laws::{AnyLaw, Draw, FlowContext, Header};
use ratewire_net::random::stream;
use ratewire_net::spec::{LinkId, Sockets};
use ratewire_net::{Address, Ecn, Network, RouteId, Scheduler, prefetch_bytes};
use ratewire_overlay::EdgeId;
use ratewire_transport::{Ack, Receiver, Segment, SegmentKind, Sender, TransportConfig};
use ratewire_units::{Bytes, Duration, Time};

use crate::jitter::FlowJitter;
use crate::record::{FlowId, FlowSample};
use crate::routes::RouteInfo;
use crate::setup::{FlowSpec, Setup};
use crate::small_queue::Knowledge;

/// An active flow in whole cache lines, with the fields of the packet path side by side (see
/// [`Sender`]).
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    pub(crate) forward: RouteId,
    pub(crate) reverse: RouteId,
    /// Time of the flow's timer event.
    pub(crate) timer_at: Time,
    /// Time of a timer event that was scheduled earlier, for a later time than `timer_at`.
    pub(crate) later_timer_at: Time,
    pub(crate) id: FlowId,
    /// Headers of a data packet, congestion header included.
    pub(crate) headers: u32,
    /// Size of an acknowledgement, congestion header included.
    pub(crate) ack_size: u32,
    /// Size of the packet that opens the flow.
    pub(crate) open_size: u32,
    pub(crate) ecn: Ecn,
    pub(crate) law: u32,
    /// Length of the stream, or `u64::MAX` while it has no end.
    pub(crate) end: u64,
    pub(crate) completed: bool,
    /// Whether its socket waits for room in the queue of its host's own link.
    pub(crate) waits_for_room: bool,
    /// Whether the socket found no room at its last attempt.
    pub(crate) blocked: bool,
    /// Whether the socket is among those that are called when there is room.
    pub(crate) in_line: bool,
    /// The sender's own link.
    pub(crate) own_link: LinkId,
    /// The receiver's own link.
    pub(crate) back_link: LinkId,
    /// Network-layer bytes of a full packet.
    pub(crate) packet_size: u32,
    class: u8,
    /// How the flow learns what it has in its host's queue.
    knowledge: Knowledge,
    /// The overlay link that the flow implements; `end` is then the end of the next message in its
    /// stream.
    pub(crate) fed: Option<EdgeId>,
    /// Dishonesty of its hosts, if any.
    lie: Option<Box<Lie>>,
    pub(crate) receiver: Receiver,
    jitter: FlowJitter,
    pub(crate) sender: Sender,
    /// Payload that a switch at its far end has forwarded and knows to have arrived.
    pub(crate) passed: Bytes,
    /// For an edge from a switch to a host: the last time at which new data arrived.
    pub(crate) grew: Time,
    /// Delivered data as of the last sample.
    sampled_delivered: Bytes,
    /// Retransmitted data as of the last sample.
    sampled_retransmitted: Bytes,
}

/// What a flow is made from.
pub(crate) struct Start<'a> {
    pub(crate) now: Time,
    pub(crate) id: FlowId,
    pub(crate) spec: &'a FlowSpec,
    pub(crate) setup: &'a Setup,
    pub(crate) forward: RouteInfo,
    pub(crate) reverse: RouteInfo,
    /// How the flow learns what it has in the queue of the sender's own link.
    pub(crate) knowledge: Knowledge,
    /// The overlay link that the flow implements.
    pub(crate) fed: Option<EdgeId>,
}

/// ECN codepoint of a flow's packets.
fn ecn(config: &TransportConfig, law: &AnyLaw) -> Ecn {
    if config.l4s {
        Ecn::Scalable
    } else if config.ecn || law.marks() {
        Ecn::Capable
    } else {
        Ecn::NotCapable
    }
}

impl Flow {
    pub(crate) fn new(start: Start<'_>) -> Flow {
        let Start { now, id, spec, setup, forward, reverse, knowledge, fed } = start;
        let (config, law) = (&spec.transport, &setup.laws[spec.law]);
        let own = &setup.network.links[forward.first.index()];
        let app = &spec.app(setup.seed);
        let headers = config.headers + law.header_len();
        let mss = Bytes::new(config.packet.saturating_sub(headers).get().max(1));
        let context = FlowContext {
            mss,
            packet: config.packet,
            line_rate: forward.line_rate,
            back_pressured: own.pause.is_some(),
            draw: Draw::new(stream(setup.seed, "flow", u64::from(id.0)).next_u64()),
        };
        let mut sender = Sender::new(now, law.source(&context), config, headers, app);
        if knowledge != Knowledge::Unneeded {
            sender.keep_queue_small();
        }
        let end = sender.stream_end().unwrap_or(u64::MAX);
        Flow {
            sender,
            receiver: Receiver::new(law.sink(&context), config, mss, app),
            forward: forward.id,
            reverse: reverse.id,
            timer_at: Time::NEVER,
            later_timer_at: Time::NEVER,
            id,
            headers: headers.get() as u32,
            ack_size: (config.ack + law.header_len()).get() as u32,
            open_size: config.ack.get() as u32,
            ecn: ecn(config, law),
            law: spec.law as u32,
            end,
            completed: false,
            waits_for_room: own.driver.sockets != Sockets::Drop,
            blocked: false,
            in_line: false,
            own_link: forward.first,
            back_link: reverse.first,
            packet_size: config.packet.get() as u32,
            knowledge,
            class: config.class,
            fed,
            passed: Bytes::ZERO,
            grew: now,
            lie: spec.lie.map(Box::new),
            jitter: FlowJitter::new(setup, config, &forward, id.0),
            sampled_delivered: Bytes::ZERO,
            sampled_retransmitted: Bytes::ZERO,
        }
    }

    /// Whether all its data have arrived and its completion is not noted yet.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.receiver.delivered().get() >= self.end && !self.completed
    }

    /// Lets the sender look at the queue of its host's own link, if nothing else tells of it.
    #[inline]
    pub(crate) fn look_at_queue(
        &mut self,
        now: Time,
        slot: u32,
        network: &mut Network,
        scheduler: &mut impl Scheduler,
    ) {
        let is_seen = match self.knowledge {
            Knowledge::Unneeded => false,
            Knowledge::Seen => true,
            Knowledge::Foretold => !network.foretells(self.own_link),
        };
        if is_seen {
            let (packets, next) = network.waiting_of(now, self.own_link, slot, scheduler);
            self.sender.on_queue_seen(now, packets, next);
        }
    }

    /// Tells the sender if the packet just sent waits in the queue of its host's own link.
    #[inline]
    pub(crate) fn note_sent(&mut self, network: &Network) {
        if self.knowledge == Knowledge::Foretold
            && let Some(starts) = network.newest_waits_until(self.own_link)
        {
            self.sender.on_queued(starts);
        }
    }

    /// Prepares a packet of the sender, and returns its address.
    #[inline]
    pub(crate) fn out(&mut self, slot: u32, segment: &mut Segment, setup: &Setup) -> Address {
        let size = match segment.kind {
            SegmentKind::Open if segment.header == Header::None => self.open_size,
            SegmentKind::Open => self.ack_size,
            SegmentKind::Data { .. } => segment.payload.get() as u32 + self.headers,
        };
        if self.lie.is_some() || setup.exact_wire {
            self.rewrite(&mut segment.header, Hand::Sending, size, setup);
        }
        let (generation, class) = (self.id.0, self.class);
        // Nothing paces a flow's first packet, even if its law has a pace from the start.
        let is_first = segment.offset == 0 && self.sender.rtt().srtt().is_zero();
        let is_paced = !is_first && self.sender.pacing().is_some();
        let (route, ecn, processing) = (self.forward, self.ecn, self.jitter.draw(is_paced));
        Address { route, size, flow: slot, generation, ecn, class, processing }
    }

    /// Prepares a packet of the receiver, and returns its address.
    #[inline]
    pub(crate) fn back(&self, slot: u32, ack: &mut Ack, setup: &Setup) -> Address {
        let bare = ack.opens && ack.header == Header::None;
        let size = if bare { self.open_size } else { self.ack_size };
        if self.lie.is_some() || setup.exact_wire {
            self.rewrite(&mut ack.header, Hand::Returning, size, setup);
        }
        let (generation, class) = (self.id.0, self.class);
        let (route, ecn, processing) = (self.reverse, Ecn::NotCapable, Duration::ZERO);
        Address { route, size, flow: slot, generation, ecn, class, processing }
    }

    /// Falsifies a header if its host lies. With exact headers, encodes and decodes it.
    #[cold]
    fn rewrite(&self, header: &mut Header, hand: Hand, size: u32, setup: &Setup) {
        let law = &setup.laws[self.law as usize];
        if let Some(lie) = &self.lie {
            law.falsify(header, lie, hand);
        }
        if setup.exact_wire {
            *header = law.quantise(*header, Bytes::new(u64::from(size)));
        }
    }

    /// Processes an acknowledgement at the sender; returns the round trip that it ends, if any.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, ack: &mut Ack, setup: &Setup) -> Option<Duration> {
        if let Some(lie) = &self.lie {
            setup.laws[self.law as usize].falsify(&mut ack.header, lie, Hand::Reading);
        }
        let before = self.sender.stats().rtt_samples;
        self.sender.on_ack(now, ack);
        let is_measured = self.sender.stats().rtt_samples != before;
        is_measured.then(|| self.sender.rtt().latest())
    }

    /// Prefetches for a packet that is about to arrive: at the receiver with data, otherwise at the
    /// sender.
    #[inline]
    fn foresee(&self, is_data: bool) {
        let jitter = offset_of!(Flow, jitter);
        if is_data {
            prefetch_bytes(self, 0..jitter);
        } else {
            let (receiver, sender) = (offset_of!(Flow, receiver), offset_of!(Flow, sender));
            // The range includes the receiver's deadline.
            prefetch_bytes(self, 0..receiver + size_of::<Time>());
            prefetch_bytes(self, jitter..sender);
            prefetch_bytes(self, sender + Sender::HOT..offset_of!(Flow, passed));
        }
    }

    /// Payload that has arrived since the last call.
    pub(crate) fn newly_delivered(&mut self) -> Bytes {
        let delivered = self.receiver.received() + self.passed;
        delivered - core::mem::replace(&mut self.sampled_delivered, delivered)
    }

    /// The congestion window; unlimited if the law uses only a pace.
    pub(crate) fn window(&self, laws: &[AnyLaw]) -> Bytes {
        let goes_by_pace = laws[self.law as usize].properties().goes_by_pace;
        if goes_by_pace { Bytes::MAX } else { self.sender.source().window() }
    }

    pub(crate) fn sample(&mut self, at: Time, interval: Duration, laws: &[AnyLaw]) -> FlowSample {
        let stats = *self.sender.stats();
        let sample = FlowSample {
            at,
            interval,
            flow: self.id,
            delivered: self.newly_delivered(),
            retransmitted: stats.retransmitted - self.sampled_retransmitted,
            retransmitted_packets: stats.retransmitted_packets,
            window: self.window(laws),
            in_flight: Some(self.sender.in_flight()),
            receive_window: self.sender.receive_window(),
            srtt: self.sender.rtt().srtt(),
            rtt: self.sender.rtt().latest(),
            pacing: self.sender.pacing(),
        };
        self.sampled_retransmitted = stats.retransmitted;
        sample
    }
}

/// Active flows, in slots that are reused.
#[derive(Debug, Default)]
pub(crate) struct FlowTable {
    slots: Vec<Option<Box<Flow>>>,
    free: Vec<u32>,
}

impl FlowTable {
    pub(crate) fn insert(&mut self, flow: Flow) -> u32 {
        let flow = Some(Box::new(flow));
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = flow;
                slot
            }
            None => {
                self.slots.push(flow);
                (self.slots.len() - 1) as u32
            }
        }
    }
    /// Number of active flows.
    pub(crate) fn in_use(&self) -> u64 {
        (self.slots.len() - self.free.len()) as u64
    }
    /// The flow in a slot, if it is still the intended one.
    #[inline]
    pub(crate) fn get(&mut self, slot: u32, id: u32) -> Option<&mut Flow> {
        self.slots[slot as usize].as_deref_mut().filter(|f| f.id.0 == id)
    }
    /// Prefetches for a packet that is about to arrive for the flow in this slot.
    #[inline]
    pub(crate) fn foresee(&self, slot: u32, is_data: bool) {
        if let Some(Some(flow)) = self.slots.get(slot as usize) {
            flow.foresee(is_data);
        }
    }
    /// Prefetches the sent segments of a foreseen flow's sender.
    #[inline]
    pub(crate) fn foresee_sent(&self, slot: u32) {
        if let Some(Some(flow)) = self.slots.get(slot as usize) {
            flow.sender.foresee_sent();
        }
    }
    /// Prefetches the entry of a slot, for a packet that is about to arrive.
    #[inline]
    pub(crate) fn foresee_slot(&self, slot: u32) {
        if let Some(place) = self.slots.get(slot as usize) {
            prefetch_bytes(place, 0..1);
        }
    }
    /// Route and first link of the packets that the flow sends when data arrive, or when its sender
    /// acts.
    #[inline]
    pub(crate) fn answer(&self, slot: u32, is_data: bool) -> Option<(RouteId, LinkId)> {
        let flow = self.slots.get(slot as usize)?.as_deref()?;
        let (back, out) = ((flow.reverse, flow.back_link), (flow.forward, flow.own_link));
        Some(if is_data { back } else { out })
    }
    #[inline]
    pub(crate) fn at(&mut self, slot: u32) -> Option<&mut Flow> {
        self.slots[slot as usize].as_deref_mut()
    }
    /// Removes a flow from a slot that is never reused, because packets for it may still be on
    /// their way.
    pub(crate) fn abandon(&mut self, slot: u32) -> Option<Box<Flow>> {
        self.slots[slot as usize].take()
    }
    pub(crate) fn remove(&mut self, slot: u32) -> Option<Box<Flow>> {
        let flow = self.slots[slot as usize].take();
        if flow.is_some() {
            self.free.push(slot);
        }
        flow
    }
    pub(crate) fn slots(&self) -> u32 {
        self.slots.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyPort;
    use ratewire_net::spec::{LinkSpec, NodeSpec};

    use super::*;
    use crate::outcome::{FlowOutcome, LinkOutcome};

    #[test]
    fn data_touch_five_cache_lines() {
        assert!(offset_of!(Flow, jitter) <= 5 * 64);
    }

    /// Memory of a flow without its packets; the limit is 2 KiB.
    #[test]
    fn a_flow_takes_less_than_two_kibibytes() {
        assert!(size_of::<Flow>() <= 1280, "{}", size_of::<Flow>());
    }

    /// Memory that a flow with two hosts and four links of its own adds to a run. Names, packets
    /// and the four active links are not counted (net's tests know a link's size). A hundred
    /// thousand must fit a GiB.
    #[test]
    fn a_flow_with_its_own_hosts_and_links_takes_less_than_five_kibibytes() {
        let told = size_of::<FlowSpec>() + size_of::<FlowOutcome>();
        let a_link = size_of::<LinkSpec>() + size_of::<AnyPort>() + size_of::<LinkOutcome>();
        let a_host = size_of::<NodeSpec>() + size_of::<RouteInfo>();
        let all = size_of::<Flow>() + told + 4 * a_link + 2 * a_host;
        assert!(all < 5 * 1024, "{all}");
    }
}
