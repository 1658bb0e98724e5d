//! Drives a network: sends packets and applies changes at set times, and records arrivals.

use std::collections::BTreeMap;

use ratewire_laws::Header;
use ratewire_net::spec::*;
use ratewire_net::{Address, Ecn, Label, Network, Observation, RouteId, Scheduler};
use ratewire_transport::{Segment, SegmentKind, Stamp};
use ratewire_units::{Bytes, Duration, Rate, Time};

/// Picoseconds after the start.
pub fn ps(n: u64) -> Time {
    Time::from_ps(n)
}
pub fn us(n: u64) -> Time {
    ps(n * 1_000_000)
}
pub fn ms(n: u64) -> Time {
    us(n * 1000)
}

/// A link between two nodes: 8 Mbit/s, which is a microsecond a byte, without delay.
pub fn link(from: u32, to: u32) -> LinkSpec {
    LinkSpec {
        name: format!("{from}->{to}"),
        from: NodeId(from),
        to: NodeId(to),
        service: Service::Rate(Rate::from_mbps(8)),
        delay: Duration::ZERO,
        ..LinkSpec::default()
    }
}

/// A network of these links, with one medium.
pub fn spec(links: Vec<LinkSpec>, contention: Contention) -> NetworkSpec {
    NetworkSpec {
        nodes: Vec::new(),
        links,
        mediums: vec![MediumSpec { name: "medium".into(), contention }],
        port_clocks: PortClocks::Equal,
    }
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrived {
    pub at: Time,
    /// Number of the packet, in the order of [`Bench::send`].
    pub packet: u32,
    pub route: u32,
    pub marked: bool,
}

enum Action {
    Send { address: Address },
    Change(LinkId, Change),
    Event(LinkId),
    Release(LinkId),
}

#[derive(Default)]
struct Agenda {
    actions: BTreeMap<(Time, u64), Action>,
    order: u64,
}

impl Agenda {
    fn add(&mut self, at: Time, action: Action) {
        self.order += 1;
        self.actions.insert((at, self.order), action);
    }
}

impl Scheduler for Agenda {
    fn schedule(&mut self, at: Time, link: LinkId) {
        self.add(at, Action::Event(link));
    }
    fn schedule_release(&mut self, at: Time, link: LinkId) {
        self.add(at, Action::Release(link));
    }
}

pub struct Bench {
    pub network: Network,
    pub arrived: Vec<Arrived>,
    pub now: Time,
    pub sent: u32,
    /// Number of events of delay lines.
    pub delayed: u32,
    agenda: Agenda,
    routes: Vec<RouteId>,
}

impl Bench {
    /// A network of these links; each link is also a route, with the link's number.
    pub fn new(links: Vec<LinkSpec>) -> Bench {
        Bench::with(&spec(links, Contention::Alternate), 1)
    }

    pub fn with(spec: &NetworkSpec, seed: u64) -> Bench {
        let mut bench = Bench::without_routes(spec, seed);
        for link in 0..spec.links.len() as u32 {
            bench.route(&[link]);
        }
        bench
    }

    pub fn without_routes(spec: &NetworkSpec, seed: u64) -> Bench {
        Bench {
            network: Network::new(spec, &[], false, seed),
            arrived: Vec::new(),
            now: Time::ZERO,
            sent: 0,
            delayed: 0,
            agenda: Agenda::default(),
            routes: Vec::new(),
        }
    }

    /// Adds a route; returns its number.
    pub fn route(&mut self, links: &[u32]) -> usize {
        let links: Vec<LinkId> = links.iter().map(|l| LinkId(*l)).collect();
        self.routes.push(self.network.add_route(&links));
        self.routes.len() - 1
    }

    pub fn send(&mut self, at: Time, route: usize, size: u32) {
        self.send_ecn(at, route, size, false);
    }

    pub fn send_ecn(&mut self, at: Time, route: usize, size: u32, ecn: bool) {
        self.send_as(at, route, size, ecn, 0);
    }

    pub fn send_as(&mut self, at: Time, route: usize, size: u32, ecn: bool, class: u8) {
        let ecn = if ecn { Ecn::Capable } else { Ecn::NotCapable };
        self.put(at, route, size, ecn, class);
    }

    /// Sends a packet of a sender with a scalable law.
    pub fn send_scalable(&mut self, at: Time, route: usize, size: u32) {
        self.put(at, route, size, Ecn::Scalable, 0);
    }

    fn put(&mut self, at: Time, route: usize, size: u32, ecn: Ecn, class: u8) {
        let (flow, generation) = (self.sent, route as u32);
        let processing = Duration::ZERO;
        let route = self.routes[route];
        let address = Address { route, size, flow, generation, ecn, class, processing };
        self.sent += 1;
        self.agenda.add(at, Action::Send { address });
    }

    pub fn change(&mut self, at: Time, link: u32, change: Change) {
        self.agenda.add(at, Action::Change(LinkId(link), change));
    }

    pub fn rate(&mut self, at: Time, link: u32, rate: Rate) {
        self.change(at, link, Change::Rate(rate));
    }

    /// Runs all actions up to and including this time.
    pub fn run(&mut self, until: Time) {
        while let Some(first) = self.agenda.actions.first_entry() {
            let (at, _) = *first.key();
            if at > until {
                break;
            }
            assert!(at >= self.now, "an event at {at} after {}", self.now);
            self.now = at;
            match first.remove() {
                Action::Send { address } => {
                    let segment = Segment {
                        kind: SegmentKind::Data { again: false },
                        offset: 0,
                        payload: Bytes::new(1),
                        stamp: Stamp::NONE,
                        header: Header::None,
                    };
                    self.network.send(at, &address, &segment, &mut self.agenda);
                }
                Action::Change(link, change) => {
                    self.network.change(at, link, &change, &mut self.agenda);
                }
                Action::Release(link) => self.network.release(at, link, &mut self.agenda),
                Action::Event(link) => {
                    self.delayed += u32::from(self.network.look_ahead().is_delay_line(link));
                    if let Some(label) = self.network.on_event(at, link, &mut self.agenda) {
                        self.network.remove(&label);
                        self.note_arrival(at, &label);
                    }
                }
            }
        }
        self.take_for_hosts(until + Duration::from_ps(1));
        self.now = until;
        assert_eq!(self.network.unbalanced_link(), None, "the books of a link do not balance");
    }

    /// Takes packets without events that arrive at lagging hosts before this time.
    fn take_for_hosts(&mut self, before: Time) {
        let mut taken = Vec::new();
        self.network.host_lag().take_for_hosts(before, |label| taken.push(label));
        for label in taken {
            self.network.remove(&label);
            self.note_arrival(label.arrived(), &label);
        }
    }

    fn note_arrival(&mut self, at: Time, label: &Label) {
        self.arrived.push(Arrived {
            at,
            packet: label.flow,
            route: label.generation,
            marked: label.ecn == Ecn::Marked,
        });
    }

    /// Ends the lag of hosts.
    pub fn end_lag(&mut self) {
        self.network.host_lag().end(&mut self.agenda);
    }

    pub fn observe(&mut self, link: u32) -> Observation {
        self.network.observe(self.now, LinkId(link), &mut self.agenda)
    }
    pub fn stats(&mut self, link: u32) -> Observation {
        self.observe(link)
    }

    /// Arrival times, in microseconds.
    pub fn times_us(&self) -> Vec<f64> {
        self.arrived.iter().map(|a| a.at.ps() as f64 / 1e6).collect()
    }
    /// Numbers of the packets that arrived, in order.
    pub fn packets(&self) -> Vec<u32> {
        self.arrived.iter().map(|a| a.packet).collect()
    }
    /// The routes of the packets that arrived, in order.
    pub fn turns(&self) -> Vec<u32> {
        self.arrived.iter().map(|a| a.route).collect()
    }
}

/// The discipline called `name`, for full packets of 1000 bytes.
pub fn discipline(name: &str, options: &[(&str, &str)]) -> AnyDiscipline {
    AnyDiscipline::new(name, options, Bytes::new(1000)).unwrap()
}

/// All disciplines with their defaults; with ECN on and off, if they have that option.
pub fn disciplines() -> Vec<AnyDiscipline> {
    let variants = ratewire_net::queue::list().iter().flat_map(|info| {
        let has_ecn = info.options.iter().any(|option| option.name == "ecn");
        let ecn = [[("ecn", "true")], [("ecn", "false")]];
        let with = ecn.iter().filter(|_| has_ecn).map(|options| discipline(info.name, options));
        with.chain([discipline(info.name, &[])]).collect::<Vec<_>>()
    });
    variants.collect()
}
