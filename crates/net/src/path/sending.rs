//! What hosts send.

use ratewire_laws::Header;
use ratewire_transport::{Ack, Segment};
use ratewire_units::Time;

use super::network::Network;
use crate::packet::{ContentId, Ecn, Fate, Label};
use crate::route_store::RouteId;
use crate::scheduler::Scheduler;

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

impl Network {
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
        self.tracer.follow(content);
        self.put(now, address, content, scheduler);
    }

    /// A host sends a real packet with this congestion header, whose bytes the caller keeps under a
    /// number ([`Body::Kept`]): found again in [`Network::content`] where it arrives, and in
    /// [`News::take_dropped`] where it does not.
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
        self.tracer.take_place(content);
        self.put(now, address, content, scheduler);
    }

    /// An acknowledgement is sent of what is followed, or in place of the followed packet's own.
    #[cold]
    pub fn acknowledge_on(
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
        let label = Label {
            time: now,
            content,
            hop: address.route.first_hop(),
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
}
