//! Sending clients of one node: when each has its next message ready.
//!
//! A client is at the far end of a line of some rate. Its node reads the next message once the last
//! has been sent; while a message waits, the node reads no more.

use std::sync::Arc;

use ratewire_overlay::daemon::{Daemon, Line, Offer, Offered};
use ratewire_overlay::membership::{Outgoing, Service, Target};
use ratewire_overlay::{ClientId, DeliveryOrder, GroupId, SenderSpec};
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::content::Content;
use super::label;
use crate::setup::overlay::OverlayGroup;

/// Sending clients of one node.
#[derive(Debug, Default)]
pub(super) struct Clients {
    list: Vec<Client>,
    /// By number of a client at its daemon: its place in the list.
    places: Vec<Option<u32>>,
}

#[derive(Debug)]
struct Client {
    id: ClientId,
    /// Index in the setup.
    sender: usize,
    offer: Offer<GroupId, Content>,
    line: Line,
    /// Time between messages of the source.
    gap: Duration,
    is_stopped: bool,
}

impl Client {
    /// Offers the next message, which its daemon sends once the line has carried it.
    fn offer(&mut self, now: Time, daemon: &mut Daemon<GroupId, Content>) {
        self.offer.line = Some(self.line);
        let offered = daemon.offer(now, self.id, self.offer.clone());
        debug_assert_eq!(offered, Offered::Held, "a line takes time");
    }

    /// Notes that a message went. The next is ready when the source has made it and the line has
    /// carried it.
    fn sent(&mut self, now: Time) {
        self.line.until = (self.line.until + self.gap).max(now + self.line.time);
        self.offer.message.payload.sequence += 1;
    }
}

/// The service that delivers in this order.
fn service(order: DeliveryOrder) -> Service {
    match order {
        DeliveryOrder::Unordered => Service::Reliable,
        DeliveryOrder::Fifo => Service::Fifo,
        DeliveryOrder::Agreed => Service::Agreed,
    }
}

impl Clients {
    /// Adds a sending client, which has sent `before` messages in earlier lives. `data` is its own
    /// in each message.
    pub(super) fn start(
        &mut self,
        now: Time,
        daemon: &mut Daemon<GroupId, Content>,
        (sender, spec): (usize, &SenderSpec),
        (group, data): (&OverlayGroup, Bytes),
        before: u64,
    ) {
        let id = daemon.connect_paid(now, label(spec.client), group.salary);
        let time = |rate: Rate| rate.serial_time().map_or(Duration::MAX, |t| t.of(spec.message));
        // A line that takes no time would let a client buy without end at one instant.
        let line = time(spec.line).max(Duration::from_ps(1));
        let payload = Content {
            sender: sender as u32,
            group: spec.group,
            size: spec.message.get() as u32,
            sequence: before as u32 + 1,
            bought: now,
        };
        let offer = Offer {
            message: Outgoing {
                service: service(group.service),
                self_discard: false,
                targets: Arc::new([Target::Group(spec.group)]),
                payload,
            },
            ignores_receivers: false,
            needs_receiver: true,
            line: None,
            data,
            weight: group.weight,
        };
        let gap = spec.offered.map_or(line, |rate| time(rate).max(line));
        let place = self.list.len() as u32;
        let line = Line { time: line, until: now + line };
        let mut client = Client { id, sender, offer, line, gap, is_stopped: false };
        client.offer(now, daemon);
        self.list.push(client);
        let places = self.places.len().max(id.index() + 1);
        self.places.resize(places, None);
        self.places[id.index()] = Some(place);
    }

    /// Stops a sender; messages that are paid for still go.
    pub(super) fn stop(&mut self, sender: usize, daemon: &mut Daemon<GroupId, Content>) {
        for client in self.list.iter_mut().filter(|client| client.sender == sender) {
            client.is_stopped = true;
            daemon.withdraw(client.id);
        }
    }

    /// Offers the messages after those that were sent.
    pub(super) fn advance(&mut self, now: Time, daemon: &mut Daemon<GroupId, Content>) {
        while let Some(id) = daemon.poll_sent() {
            let Some(place) = self.places.get(id.index()).copied().flatten() else { continue };
            let client = &mut self.list[place as usize];
            client.sent(now);
            if !client.is_stopped {
                client.offer(now, daemon);
            }
        }
    }

    /// Index in the setup and number at the daemon of each sender that has started.
    pub(super) fn senders(&self) -> impl Iterator<Item = (usize, ClientId)> {
        self.list.iter().map(|client| (client.sender, client.id))
    }
}
