//! Packets that hosts send.

use ratewire_laws::Header;
use ratewire_transport::{Ack, Segment};
use ratewire_units::{Duration, Time};

use super::network::Network;
use crate::packet::{ContentId, Ecn, Fate, Label};
use crate::route_store::RouteId;
use crate::scheduler::Scheduler;

/// Where a packet goes, and the properties that every hop sees.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    /// Route of the packet.
    pub route: RouteId,
    /// Size of the packet in network-layer bytes.
    pub size: u32,
    /// Flow of the packet, in the caller's numbering.
    pub flow: u32,
    /// Tells apart flows that used the same `flow` number one after the other.
    pub generation: u32,
    /// ECN codepoint: whether the packet may be marked instead of dropped.
    pub ecn: Ecn,
    /// Priority class, 0 to 7.
    pub class: u8,
    /// Time that the host takes to process the packet before it sends it; only hosts named to
    /// [`Network::let_host_process`] take any.
    pub processing: Duration,
}

impl Network {
    /// Sends a packet from a host.
    #[inline]
    pub fn send(
        &mut self,
        now: Time,
        address: &Address,
        segment: &Segment,
        scheduler: &mut impl Scheduler,
    ) {
        let content = self.packets.insert(now, segment);
        self.put(now, address, content, scheduler);
    }

    /// Sends a packet from a host, and follows it. The trail of a packet followed before must have
    /// been taken ([`Tracer::take_trail`](crate::Tracer::take_trail)), or goes on with this packet
    /// ([`Tracer::hand_on`](crate::Tracer::hand_on)).
    #[cold]
    pub fn send_followed(
        &mut self,
        now: Time,
        address: &Address,
        segment: &Segment,
        scheduler: &mut impl Scheduler,
    ) {
        debug_assert!(!self.tracer.is_busy(), "another packet is followed");
        let content = self.packets.insert(now, segment);
        self.tracer.take_place(content);
        self.put(now, address, content, scheduler);
    }

    /// Sends a real packet from a host, with this congestion header. The caller keeps the packet's
    /// bytes.
    ///
    /// `kept` is the caller's number for the bytes ([`Body::Kept`]). [`Network::content`] has it
    /// when the packet arrives, and [`News::take_dropped`] when it is dropped.
    ///
    /// [`Body::Kept`]: crate::Body::Kept
    /// [`News::take_dropped`]: crate::News::take_dropped
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

    /// Sends an acknowledgement from a host.
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

    /// Sends an acknowledgement and follows it in place of the followed packet, or of its
    /// acknowledgement.
    #[cold]
    pub fn acknowledge_followed(
        &mut self,
        now: Time,
        address: &Address,
        ack: &Ack,
        scheduler: &mut impl Scheduler,
    ) {
        let content = self.packets.insert_ack(ack);
        self.tracer.take_place(content);
        self.tracer.note_answer();
        self.put(now, address, content, scheduler);
    }

    /// Answers a packet that has arrived at a host with an acknowledgement, in the packet's place.
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
        if self.tracer.follows(arrived) {
            self.tracer.note_answer();
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
        let Some(first) = self.routes.link_at(address.route.first_hop()) else {
            debug_assert!(false, "a route has at least one link");
            return;
        };
        let label = Label {
            time: now,
            content,
            hop: address.route.first_hop() + 1,
            size: address.size,
            flow: address.flow,
            generation: address.generation,
            class: address.class,
            lane: 0,
            ecn: address.ecn,
            fate: Fate::Arrives,
        };
        if self.links[first.index()].ends.has_processing() {
            return self.process(now, first, address.processing, label, scheduler);
        }
        self.arrive(now, first, label, scheduler);
    }
}
