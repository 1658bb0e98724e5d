//! Random topologies, loads and faults.

use std::collections::BTreeMap;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::check;
use super::net::{Fault, GROUPS, Group, Net};
use crate::ids::ClientId;
use crate::membership::{Member, Service};

const SERVICES: [Service; 8] = [
    Service::Unreliable,
    Service::Reliable,
    Service::Fifo,
    Service::Fifo,
    Service::Causal,
    Service::Agreed,
    Service::Agreed,
    Service::Safe,
];

/// A run under the schedule of a seed.
struct Play {
    random: Xoshiro256PlusPlus,
    net: Net,
    links: Vec<(usize, usize)>,
    /// Clients: daemon, its start, number.
    clients: Vec<(usize, u64, ClientId)>,
    /// Ways of the links on which messages take long.
    slow: BTreeMap<(usize, usize), usize>,
}

/// Plays the schedule of a seed; returns the first promise that was broken.
pub(super) fn play(seed: u64) -> Result<(), String> {
    let mut play = Play::new(seed);
    for _ in 0..3 + play.below(8) {
        play.step();
    }
    if play.below(2) == 0 {
        for (a, b) in play.links.clone() {
            play.net.fault(&Fault::Heal(a, b));
        }
        (0..play.net.daemons.len()).for_each(|node| play.net.fault(&Fault::Restart(node)));
    }
    play.net.settle_by(&mut play.random)?;
    check::check(&play.net)
}

impl Play {
    fn new(seed: u64) -> Play {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let net = Net::line(1);
        let mut play =
            Play { random, net, links: Vec::new(), clients: Vec::new(), slow: BTreeMap::new() };
        let nodes = 2 + play.below(4);
        play.links = (1..nodes).map(|node| (play.below(node), node)).collect();
        for _ in 0..play.below(nodes) {
            let (a, b) = (play.below(nodes), play.below(nodes));
            let link = (a.min(b), a.max(b));
            if a != b && !play.links.contains(&link) {
                play.links.push(link);
            }
        }
        for (a, b) in play.links.clone() {
            for way in [(a, b), (b, a)] {
                let slowness = play.below(4) * play.below(8);
                play.slow.insert(way, slowness);
            }
        }
        play.net = Net::new(nodes, &play.links);
        for _ in 0..nodes + play.below(2 * nodes) {
            play.connect();
        }
        if play.below(4) > 0 {
            play.net.settle();
        }
        for place in 0..play.clients.len() {
            for _ in 0..1 + play.below(2) {
                play.join(place);
            }
        }
        if play.below(4) > 0 {
            play.net.settle();
        }
        play
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.next_u64() as usize % n
    }

    /// Some requests, some arrivals, perhaps some faults.
    fn step(&mut self) {
        for _ in 0..self.below(12) {
            self.request();
            let arrivals = self.below(6);
            self.arrive(arrivals);
        }
        if self.below(3) == 0 {
            let arrivals = self.below(60);
            self.arrive(arrivals);
        }
        if self.below(2) == 0 {
            for _ in 0..1 + self.below(3) {
                self.fault();
                let arrivals = self.below(2) * self.below(20);
                self.arrive(arrivals);
            }
        }
        if self.below(6) == 0 {
            self.net.settle();
        }
    }

    fn arrive(&mut self, count: usize) {
        for _ in 0..count {
            let busy = self.net.busy();
            if busy.is_empty() || self.below(12) == 0 {
                let node = self.below(self.net.daemons.len());
                self.net.with(node, Member::tick);
                continue;
            }
            let way = busy[self.below(busy.len())];
            if self.below(1 + self.slow[&way]) == 0 {
                self.net.arrive(way);
            }
        }
    }

    fn connect(&mut self) {
        let node = self.below(self.net.daemons.len());
        if let Some(client) = self.net.connect_client(node) {
            self.clients.push((node, self.net.life(node), client));
        }
    }

    fn join(&mut self, place: usize) {
        let (node, _, client) = self.clients[place];
        let group = self.group();
        self.net.with(node, |daemon| daemon.join(client, group));
    }

    fn group(&mut self) -> Group {
        (self.below(usize::from(GROUPS)) * self.below(2)) as Group
    }

    fn request(&mut self) {
        let net = &self.net;
        self.clients.retain(|(node, life, _)| net.life(*node) == *life);
        if self.clients.is_empty() || self.below(16) == 0 {
            self.connect();
            return;
        }
        let place = self.below(self.clients.len());
        let (node, _, client) = self.clients[place];
        match self.below(24) {
            0..=3 => self.join(place),
            4 => {
                let group = self.group();
                self.net.with(node, |daemon| daemon.leave(client, group));
            }
            5 if self.below(3) == 0 => {
                self.net.disconnect_client(node, client);
                self.clients.remove(place);
            }
            _ => {
                let service = SERVICES[self.below(SERVICES.len())];
                let mut groups = vec![self.group()];
                if self.below(5) == 0 {
                    groups.push((groups[0] + 1) % GROUPS);
                }
                let self_discard = self.below(6) == 0;
                self.net.send(node, client, service, &groups, self_discard);
            }
        }
    }

    fn fault(&mut self) {
        let link = self.below(self.links.len());
        let (a, b) = self.links[link];
        let node = self.below(self.net.daemons.len());
        let fault = match self.below(8) {
            0 | 1 => Fault::Crash(node),
            2 => Fault::Restart(node),
            3 | 4 => Fault::Heal(a, b),
            _ => Fault::Cut(a, b),
        };
        let part = self.below(1 << 16);
        self.net.fault_with(&fault, |items| (items * part) >> 16);
        // A connection that breaks is often back at once.
        if let Fault::Cut(a, b) = fault
            && self.below(2) == 0
        {
            self.net.fault(&Fault::Heal(a, b));
        }
    }
}
