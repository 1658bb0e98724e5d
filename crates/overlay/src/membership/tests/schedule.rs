//! Random topologies, loads and faults.
//!
//! A schedule is drawn while it is played, and noted as steps that can be played again. If a
//! promise is broken, steps are left out as long as it stays broken.

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

/// A step of a schedule. Clients are numbered in the order in which they connect.
#[derive(Clone, Debug)]
enum Step {
    /// The next item on its way from one daemon to another arrives.
    Arrive(usize, usize),
    Tick(usize),
    Connect(usize),
    Join(usize, Group),
    Leave(usize, Group),
    Disconnect(usize),
    Send(usize, Service, Vec<Group>, bool),
    /// With the part of what is on its way that still arrives, in 65,536ths.
    Fault(Fault, usize),
    Settle,
}

/// Daemons, and the clients that were connected: daemon, its start, number.
struct Stage {
    net: Net,
    clients: Vec<Option<(usize, u64, ClientId)>>,
}

impl Stage {
    /// Daemons that know so many first ones.
    fn new(known: &[usize], links: &[(usize, usize)]) -> Stage {
        Stage { net: Net::growing(links, known), clients: Vec::new() }
    }

    /// A client that is still connected.
    fn client(&self, place: usize) -> Option<(usize, ClientId)> {
        let (node, life, client) = (*self.clients.get(place)?)?;
        (self.net.life(node) == life).then_some((node, client))
    }

    fn take(&mut self, step: &Step) {
        let net = &mut self.net;
        match *step {
            Step::Arrive(from, to) => net.arrive((from, to)),
            Step::Tick(node) => net.with(node, Member::tick),
            Step::Connect(node) => {
                let client = net.connect_client(node).map(|client| (node, net.life(node), client));
                self.clients.push(client);
            }
            Step::Fault(fault, part) => net.fault_with(&fault, |items| (items * part) >> 16),
            Step::Settle => net.settle(),
            Step::Join(place, group) => {
                if let Some((node, client)) = self.client(place) {
                    self.net.with(node, |daemon| daemon.join(client, group));
                }
            }
            Step::Leave(place, group) => {
                if let Some((node, client)) = self.client(place) {
                    self.net.with(node, |daemon| daemon.leave(client, group));
                }
            }
            Step::Disconnect(place) => {
                if let Some((node, client)) = self.client(place) {
                    self.net.disconnect_client(node, client);
                    self.clients[place] = None;
                }
            }
            Step::Send(place, service, ref groups, self_discard) => {
                if let Some((node, client)) = self.client(place) {
                    self.net.send(node, client, service, groups, self_discard);
                }
            }
        }
    }
}

/// A schedule that is being drawn.
struct Play {
    random: Xoshiro256PlusPlus,
    stage: Stage,
    steps: Vec<Step>,
    links: Vec<(usize, usize)>,
    /// By daemon: how many first ones it knows at its start.
    known: Vec<usize>,
    /// Ways of the links on which messages take long.
    slow: BTreeMap<(usize, usize), usize>,
}

/// Plays the schedule of a seed.
///
/// # Errors
/// The first promise that was broken, and few steps that break it.
pub(super) fn play(seed: u64) -> Result<(), String> {
    let mut play = Play::new(seed);
    for _ in 0..3 + play.below(8) {
        play.burst();
    }
    let nodes = play.stage.net.daemons.len();
    if play.below(2) == 0 {
        for (a, b) in play.links.clone() {
            play.take(Step::Fault(Fault::Heal(a, b), 0));
        }
        (0..nodes).for_each(|node| play.take(Step::Fault(Fault::Restart(node), 0)));
        (0..nodes).for_each(|node| play.take(Step::Fault(Fault::Learn(node), 0)));
    }
    let Play { stage, steps, links, known, .. } = play;
    let Err(broken) = end(stage, seed) else { return Ok(()) };
    let steps = shrink(steps, |steps| replay(&known, &links, steps, seed).is_err());
    let now = replay(&known, &links, &steps, seed).err().unwrap_or(broken);
    Err(format!("{now}\nlinks: {links:?}\nknown: {known:?}\nsteps: {steps:#?}"))
}

/// Lets all come to rest, in an order that the seed gives, and checks the promises.
fn end(mut stage: Stage, seed: u64) -> Result<(), String> {
    stage.net.settle_by(&mut Xoshiro256PlusPlus::seed_from_u64(seed))?;
    check::check(&stage.net)
}

fn replay(
    known: &[usize],
    links: &[(usize, usize)],
    steps: &[Step],
    seed: u64,
) -> Result<(), String> {
    let mut stage = Stage::new(known, links);
    steps.iter().for_each(|step| stage.take(step));
    end(stage, seed)
}

/// Leaves out as many items as it can while `fails` holds: halves first, single ones last.
fn shrink<T: Clone>(mut items: Vec<T>, fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut length = items.len().div_ceil(2);
    while length > 0 {
        let mut at = 0;
        while at < items.len() {
            let end = items.len().min(at + length);
            let rest = [&items[..at], &items[end..]].concat();
            if fails(&rest) {
                items = rest;
            } else {
                at = end;
            }
        }
        length /= 2;
    }
    items
}

impl Play {
    fn new(seed: u64) -> Play {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let stage = Stage::new(&[1], &[]);
        let (steps, links, known, slow) = Default::default();
        let mut play = Play { random, stage, steps, links, known, slow };
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
        // In half of the schedules the overlay grows: some of the first daemons know only these.
        let first = if play.below(2) == 0 { nodes } else { 1 + play.below(nodes) };
        let knows = |node| if node < first && play.below(3) > 0 { first } else { nodes };
        play.known = (0..nodes).map(knows).collect();
        play.stage = Stage::new(&play.known, &play.links);
        for _ in 0..nodes + play.below(2 * nodes) {
            play.connect();
        }
        play.perhaps_settle();
        for place in 0..play.stage.clients.len() {
            for _ in 0..1 + play.below(2) {
                let group = play.group();
                play.take(Step::Join(place, group));
            }
        }
        play.perhaps_settle();
        play
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.next_u64() as usize % n
    }

    fn take(&mut self, step: Step) {
        self.stage.take(&step);
        self.steps.push(step);
    }

    fn perhaps_settle(&mut self) {
        if self.below(4) > 0 {
            self.take(Step::Settle);
        }
    }

    /// Some requests, some arrivals, perhaps some faults.
    fn burst(&mut self) {
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
            self.take(Step::Settle);
        }
    }

    fn arrive(&mut self, count: usize) {
        for _ in 0..count {
            let busy = self.stage.net.busy();
            if busy.is_empty() || self.below(12) == 0 {
                let node = self.node();
                self.take(Step::Tick(node));
                continue;
            }
            let way = busy[self.below(busy.len())];
            if self.below(1 + self.slow[&way]) == 0 {
                self.take(Step::Arrive(way.0, way.1));
            }
        }
    }

    fn node(&mut self) -> usize {
        self.below(self.stage.net.daemons.len())
    }

    fn connect(&mut self) {
        let node = self.node();
        self.take(Step::Connect(node));
    }

    /// A group; one of them is taken more often.
    fn group(&mut self) -> Group {
        (self.below(usize::from(GROUPS)) * self.below(2)) as Group
    }

    fn request(&mut self) {
        let clients: Vec<usize> = (0..self.stage.clients.len()).collect();
        let connected = clients.into_iter().filter(|place| self.stage.client(*place).is_some());
        let connected: Vec<usize> = connected.collect();
        if connected.is_empty() || self.below(16) == 0 {
            self.connect();
            return;
        }
        let place = connected[self.below(connected.len())];
        let group = self.group();
        let step = match self.below(24) {
            0..=3 => Step::Join(place, group),
            4 => Step::Leave(place, group),
            5 if self.below(3) == 0 => Step::Disconnect(place),
            _ => {
                let service = SERVICES[self.below(SERVICES.len())];
                let mut groups = vec![group];
                if self.below(5) == 0 {
                    groups.push((group + 1) % GROUPS);
                }
                Step::Send(place, service, groups, self.below(6) == 0)
            }
        };
        self.take(step);
    }

    fn fault(&mut self) {
        let link = self.below(self.links.len());
        let (a, b) = self.links[link];
        let node = self.node();
        let fault = match self.below(8) {
            0 | 1 => Fault::Crash(node),
            2 if self.below(3) == 0 => Fault::RestartEarlier(node),
            2 => Fault::Restart(node),
            3 | 4 => Fault::Heal(a, b),
            5 if self.stage.net.known[node] < self.known.len() => Fault::Learn(node),
            _ => Fault::Cut(a, b),
        };
        let part = self.below(1 << 16);
        self.take(Step::Fault(fault, part));
        // A connection that breaks is often back at once.
        if let Fault::Cut(a, b) = fault
            && self.below(2) == 0
        {
            self.take(Step::Fault(Fault::Heal(a, b), 0));
        }
    }
}

#[test]
fn shrinking_leaves_what_matters() {
    let items: Vec<u32> = (0..100).collect();
    let left = shrink(items, |items| items.contains(&7) && items.contains(&93));
    assert_eq!(left, [7, 93]);
}
