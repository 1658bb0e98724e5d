//! Daemons on a line, and what is tried with them.

mod bursts;
mod money;
mod prices;
mod views;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Duration, Time};

use super::{Daemon, Line, Offer, Offered, Payload, Settings, kind};
use crate::benefit::Benefit;
use crate::burst::BudgetRule;
use crate::ids::{ClientId, OverlayNodeId};
use crate::membership::{Event, Founding, LinkMessage, Outgoing, Service, Target};
use crate::params::Params;
use crate::price::Dollars;
use crate::queue::Kind;
use crate::tree::EdgeSpec;

/// Messages that a client's line carries in a step.
const LINE: usize = 200;
/// Shortest time between two looks at the queues, where bursts cost no fee.
const LOOK: Duration = Duration::from_millis(2);

#[derive(Clone, Debug, PartialEq)]
struct Data(u32);

impl Payload for Data {
    fn counted(&self) -> u32 {
        self.0
    }
    fn size(&self) -> Bytes {
        Bytes::new(1000 * u64::from(self.0))
    }
}

/// Daemons on a line, whose links take no time and have no limit unless a test keeps messages back.
struct Net {
    now: Time,
    daemons: Vec<Daemon<u8, Data>>,
    /// Links from one daemon to the next that carry nothing but prices.
    stopped: Option<usize>,
    /// Packets that each link carries in a step, at most.
    pace: u64,
    /// Cost updates that links carried.
    updates: usize,
    got: Vec<usize>,
    /// Clients with a message that waits.
    held: BTreeSet<(usize, ClientId)>,
}

impl Net {
    fn line(nodes: usize, window: u64) -> Net {
        Net::with(nodes, window, Params { randomise: false, ..Params::default() })
    }

    fn with(nodes: usize, window: u64, params: Params) -> Net {
        let edge = |from: usize, to: usize| EdgeSpec {
            from: OverlayNodeId(from as u8),
            to: OverlayNodeId(to as u8),
            delay: Duration::from_millis(1),
        };
        let edges = (1..nodes).flat_map(|i| [edge(i - 1, i), edge(i, i - 1)]).collect();
        let window = Bytes::new(window);
        let least_interval = match params.budget {
            BudgetRule::Paper => params.interval,
            BudgetRule::Bursts => LOOK,
        };
        let settings = Arc::new(Settings { params, nodes, edges, least_interval, window });
        let daemon = |i: usize| {
            let random = Xoshiro256PlusPlus::seed_from_u64(i as u64);
            Daemon::new(OverlayNodeId(i as u8), 1, Arc::clone(&settings), random)
        };
        let mut net = Net {
            now: Time::ZERO,
            daemons: (0..nodes).map(daemon).collect(),
            stopped: None,
            pace: u64::MAX,
            updates: 0,
            got: vec![0; nodes],
            held: BTreeSet::new(),
        };
        for i in 1..nodes {
            net.daemons[i].link_up(net.now, OverlayNodeId(i as u8 - 1), 1);
            net.daemons[i - 1].link_up(net.now, OverlayNodeId(i as u8), 1);
        }
        net.run(Duration::from_millis(500));
        assert_eq!(net.daemons[0].member().view().1.len(), nodes);
        net
    }

    fn exchange(&mut self) {
        let mut carried = BTreeMap::new();
        loop {
            let mut is_busy = false;
            for node in 0..self.daemons.len() {
                self.daemons[node].hurry(self.now);
                while self.daemons[node].poll_link().is_some() {}
                let peers: Vec<_> = self.daemons[node].links().map(|link| link.peer).collect();
                for peer in peers {
                    if self.stopped == Some(node) && peer.index() > node {
                        continue;
                    }
                    let carried: &mut u64 = carried.entry((node, peer)).or_default();
                    while *carried < self.pace
                        && let Some(message) = self.daemons[node].take(self.now, peer)
                    {
                        is_busy = true;
                        match kind(&message).0 {
                            Kind::Data(counted) => *carried += u64::from(counted),
                            Kind::Prices => self.updates += 1,
                            Kind::Other => {}
                        }
                        let from = OverlayNodeId(node as u8);
                        self.daemons[peer.index()].receive(self.now, from, message);
                    }
                }
                while let Some(delivery) = self.daemons[node].poll_delivery() {
                    if let Event::Message { .. } = delivery.event {
                        self.got[node] += delivery.to.len();
                    }
                }
            }
            if !is_busy {
                return;
            }
        }
    }

    /// Lets time pass in steps of a millisecond.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += Duration::from_millis(1);
            let now = self.now;
            self.daemons.iter_mut().for_each(|daemon| daemon.advance(now));
            self.exchange();
        }
    }

    fn client(&mut self, node: usize, groups: &[u8]) -> ClientId {
        let name = format!("c{}", self.got.iter().sum::<usize>());
        let client = self.daemons[node].connect(self.now, name.as_str().into());
        for group in groups {
            self.daemons[node].join(self.now, client, *group);
        }
        self.exchange();
        client
    }

    /// Offers messages to a group until one is held, or the client's line has carried what it can
    /// in a step; returns how many were sent.
    fn flood(&mut self, node: usize, client: ClientId, group: u8, counted: u32) -> usize {
        let offer = offer(group, counted);
        for sent in 0..LINE {
            if self.daemons[node].offer(self.now, client, offer.clone()) == Offered::Held {
                self.held.insert((node, client));
                return sent;
            }
        }
        LINE
    }

    /// Floods for a time, and again whenever a message that was held has gone.
    fn flood_for(&mut self, node: usize, client: ClientId, group: u8, time: Duration) -> usize {
        let mut sent = 0;
        let end = self.now + time;
        while self.now < end {
            self.run(Duration::from_millis(1));
            while let Some(gone) = self.daemons[node].poll_sent() {
                sent += usize::from(gone == client);
                self.held.remove(&(node, gone));
            }
            if !self.held.contains(&(node, client)) {
                sent += self.flood(node, client, group, 1);
            }
        }
        sent
    }
}

/// A message to a group, of a client without a line.
fn offer(group: u8, counted: u32) -> Offer<u8, Data> {
    Offer {
        message: Outgoing {
            service: Service::Fifo,
            self_discard: false,
            targets: [Target::Group(group)].into(),
            payload: Data(counted),
        },
        ignores_receivers: false,
        needs_receiver: false,
        line: None,
        data: Bytes::new(1000),
        weight: 1.0,
    }
}
