//! Properties that hold whatever another daemon sends. The fuzz target and the tests share them: a
//! test repeats each case that the fuzzer has found.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_overlay::daemon::{Daemon, Offer, Offered, Payload, Settings};
use ratewire_overlay::membership::{Event, Outgoing, Service, Target, ViewId};
use ratewire_overlay::{ClientId, OverlayNodeId};
use ratewire_units::{Duration, Time};

use super::body::Body;
use super::core::LinkMessage;
use super::notice;
use crate::config::Config;
use crate::spread::{GroupName, Message, Received};
use crate::wire::{decode_message, encode_message};

/// Three daemons in a line.
const CONFIGURATION: &str = r#"
daemon = [
    { name = "a", address = "127.0.0.1:1", listen = ["unix:/a"] },
    { name = "b", address = "127.0.0.1:2", listen = ["unix:/b"] },
    { name = "c", address = "127.0.0.1:3", listen = ["unix:/c"] },
]
link = [{ between = ["a", "b"] }, { between = ["b", "c"] }]
"#;
const NODES: usize = 3;
/// Time between messages.
const STEP: Duration = Duration::from_millis(30);
/// Messages between daemons that a hostile one may cause. Two that call each other's bluff could
/// go on forever.
const MOST_CAUSED: usize = 300;

/// The overlay, as far as it works.
struct Overlay {
    config: Config,
    daemons: Vec<Daemon<GroupName, Body>>,
    /// Clients of each daemon, and whether a message of the first waits.
    clients: Vec<[ClientId; 2]>,
    is_held: [bool; NODES],
    now: Time,
    connection: u64,
}

/// Lets a hostile daemon talk to an honest one, and that one to others. The first byte of `data`
/// says which daemon is honest (its number), and whether the others are to be met first (plus 3).
/// Frames follow as on a link: those without a message change to the connection with the next
/// neighbour. Returns the number of messages that were valid.
///
/// # Panics
/// If a daemon panics, or sends what another daemon or a client cannot read.
pub fn links(data: &[u8]) -> usize {
    let Some((&first, frames)) = data.split_first() else { return 0 };
    let target = usize::from(first) % NODES;
    let mut overlay = Overlay::new();
    if usize::from(first) < NODES {
        overlay.link_up(0, 1);
        overlay.link_up(1, 2);
        overlay.settle();
    } else {
        let peers: Vec<usize> = overlay.peers(target).collect();
        peers.into_iter().for_each(|peer| overlay.link_up(target, peer));
    }
    let (mut place, mut valid) = (0, 0);
    let mut frames = BytesMut::from(frames);
    while let Ok(Some(frame)) = decode_message(&mut frames) {
        let peers: Vec<usize> = overlay.peers(target).collect();
        match frame {
            None => place += 1,
            Some(message) if message.is_valid(NODES) => {
                let peer = peers[place % peers.len()];
                overlay.receive(target, peer, message);
                overlay.act(target, valid);
                overlay.settle();
                valid += 1;
            }
            Some(_) => return valid,
        }
    }
    valid
}

/// The view in which the three daemons are when the first message comes.
pub fn first_view() -> ViewId {
    let mut overlay = Overlay::new();
    overlay.link_up(0, 1);
    overlay.link_up(1, 2);
    overlay.settle();
    let (view, members) = overlay.daemons[0].member().view();
    assert_eq!(members.len(), NODES, "the daemons have not met");
    view
}

impl Overlay {
    /// Daemons that do not know each other, with members of a group.
    fn new() -> Overlay {
        let config = Config::parse(Path::new("groups.toml"), CONFIGURATION);
        let config = config.expect("the configuration is valid");
        let settings = Arc::new(Settings {
            params: config.params.clone(),
            nodes: NODES,
            edges: config.edges(),
            least_interval: STEP,
            window: config.limits.window,
        });
        let now = Time::ZERO + STEP;
        let mut daemons = Vec::new();
        let mut clients = Vec::new();
        for node in 0..NODES {
            let random = Xoshiro256PlusPlus::seed_from_u64(node as u64);
            let me = OverlayNodeId(node as u8);
            let mut daemon = Daemon::new(me, 1, Arc::clone(&settings), random);
            let names = ["x", "y"].map(|name| daemon.connect(now, name.into()));
            daemon.join(now, names[0], chat());
            daemons.push(daemon);
            clients.push(names);
        }
        Overlay { config, daemons, clients, is_held: [false; NODES], now, connection: 0 }
    }

    fn peers(&self, node: usize) -> impl Iterator<Item = usize> {
        self.daemons[node].links().map(|link| link.peer.index())
    }

    fn link_up(&mut self, a: usize, b: usize) {
        self.connection += 1;
        for (node, peer) in [(a, b), (b, a)] {
            let peer = OverlayNodeId(peer as u8);
            self.daemons[node].link_up(self.now, peer, self.connection);
        }
    }

    fn receive(&mut self, node: usize, peer: usize, message: LinkMessage) {
        self.daemons[node].receive(self.now, OverlayNodeId(peer as u8), message);
    }

    /// Something that clients and links of a daemon do after message number `number`.
    fn act(&mut self, node: usize, number: usize) {
        let (now, [x, y]) = (self.now, self.clients[node]);
        match number % 8 {
            1 => self.daemons[node].join(now, y, chat()),
            2 if !self.is_held[node] => {
                let body = Message::new(Service::Safe, &[], 0, Bytes::from_static(b"data"));
                let message = Outgoing {
                    service: Service::Safe,
                    self_discard: false,
                    targets: [Target::Group(chat())].into(),
                    payload: Body::of("x", &body, None),
                };
                let offer = Offer {
                    data: message.payload.size(),
                    message,
                    ignores_receivers: false,
                    needs_receiver: false,
                    line: None,
                    weight: 1.0,
                };
                self.is_held[node] = self.daemons[node].offer(now, x, offer) == Offered::Held;
            }
            5 => self.daemons[node].leave(now, y, chat()),
            7 => {
                let peer = self.peers(node).next().expect("each daemon has a neighbour");
                self.daemons[node].link_down(now, OverlayNodeId(peer as u8));
                self.daemons[peer].link_down(now, OverlayNodeId(node as u8));
                self.settle();
                self.link_up(node, peer);
            }
            _ => {}
        }
    }

    /// Lets time pass, and carries what the daemons have for each other.
    fn settle(&mut self) {
        self.now += STEP;
        let mut waiting = VecDeque::new();
        for node in 0..NODES {
            self.daemons[node].advance(self.now);
            self.drain(node, &mut waiting);
        }
        for _ in 0..MOST_CAUSED {
            let Some((from, to, message)) = waiting.pop_front() else { break };
            self.receive(to, from, message);
            self.drain(to, &mut waiting);
        }
    }

    /// Takes what a daemon has for clients and neighbours.
    fn drain(&mut self, node: usize, waiting: &mut VecDeque<(usize, usize, LinkMessage)>) {
        let peers: Vec<usize> = self.peers(node).collect();
        let daemon = &mut self.daemons[node];
        daemon.hurry(self.now);
        while let Some(delivery) = daemon.poll_delivery() {
            check(&self.config, delivery.event);
        }
        while daemon.poll_sent().is_some() {
            self.is_held[node] = false;
        }
        while daemon.poll_link().is_some() {}
        for peer in peers {
            while let Some(message) = daemon.take(self.now, OverlayNodeId(peer as u8)) {
                waiting.extend(carried(message).map(|message| (node, peer, message)));
            }
        }
    }
}

fn chat() -> GroupName {
    "chat".parse().expect("the name is valid")
}

/// A message after its way over a link. A daemon that has heard the largest valid number counts on
/// from it; others do not take that in.
fn carried(message: LinkMessage) -> Option<LinkMessage> {
    let mut bytes = BytesMut::new();
    encode_message(Some(&message), &mut bytes).expect("the message is short enough");
    assert_eq!(bytes.len() as u64, message.frame_len().get(), "{message:?} has another length");
    let read = decode_message(&mut bytes).expect("the message can be read");
    read.flatten().filter(|message| message.is_valid(NODES))
}

/// Checks that clients can read what they are told of an event.
fn check(config: &Config, event: Event<GroupName, Body>) {
    let item = match event {
        Event::Message { sender, service, self_discard, targets, payload } => {
            let sender = notice::private_name(config, sender.node, &payload.sender);
            let Some(sender) = sender else { return };
            Some(notice::message(config, &sender, service, self_discard, &targets, &payload))
        }
        Event::View { group, id, members, cause } => {
            notice::membership(config, group, &id, &members, &cause).map(|told| notice::item(&told))
        }
        Event::Transition { group, id } => {
            let id = notice::membership_id(&id);
            Some(notice::item(&Received::Transition { group, id }))
        }
        Event::Left { group } => Some(notice::item(&Received::Left(group))),
        Event::Entered(id, members, _) => {
            members.iter().chain([id.coordinator]).for_each(|node| _ = config.daemon(node));
            None
        }
    };
    let Some(item) = item else { return };
    let mut bytes = BytesMut::from(&item.head[..]);
    bytes.extend_from_slice(&item.data);
    let read = Received::parse(&mut bytes);
    assert!(matches!(read, Ok(Some(_))), "a client cannot read {:?}: {read:?}", item.head);
    assert!(bytes.is_empty(), "{} bytes are too many", bytes.len());
}
