use std::ops::ControlFlow;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_laws::AnyLaw;
use ratewire_net::Body;
use ratewire_net::random::stream;
use ratewire_net::spec::{AnyDiscipline, Change, Limit, LinkId, Loss, NodeId, Service, Sockets};
use ratewire_transport::{App, Jitter};
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::{HostLagging, MOST_EVENTS_A_TURN, Speed, are_many};
use crate::dumbbell::{Dumbbell, cable, node};
use crate::engine::Simulation;
use crate::outcome::Outcome;
use crate::overlay::workload;
use crate::record::{
    ArrivingSample, FlowCompleted, FlowId, FlowSample, FlowStarted, Followed, LinkSample,
    NoRecorder, PacketSeen, Progress, Recorder,
};
use crate::setup::{Arrivals, Follow, Setup, Sizes, TrafficSpec};

/// All reports of a run, as texts.
#[derive(Default)]
struct Told {
    lines: Vec<String>,
    packets: Vec<(Time, String)>,
}

impl Recorder for Told {
    fn flow_started(&mut self, started: &FlowStarted<'_>) {
        self.lines.push(format!("{started:?}"));
    }
    fn flow_sample(&mut self, sample: &FlowSample) {
        self.lines.push(format!("{sample:?}"));
    }
    fn arriving_sample(&mut self, sample: &ArrivingSample) {
        self.lines.push(format!("{sample:?}"));
    }
    fn link_sample(&mut self, sample: &LinkSample) {
        self.lines.push(format!("{sample:?}"));
    }
    fn flow_completed(&mut self, completed: &FlowCompleted) {
        self.lines.push(format!("{completed:?}"));
    }
    fn packet(&mut self, seen: &PacketSeen) {
        let packet = &seen.packet;
        // The place where the slab keeps an acknowledgement is no result.
        let carries = match packet.content.body {
            Body::Ack { .. } => format!("{:?}", packet.ack),
            body => format!("{body:?}"),
        };
        let header = packet.content.header;
        let text = format!("{} {:?} {carries} {header:?}", packet.link.0, packet.label.flow);
        self.packets.push((packet.at, text));
    }
    fn followed(&mut self, followed: &Followed) {
        self.lines.push(format!("{followed:?}"));
    }
}

/// Results of a run.
struct Ran {
    outcome: String,
    told: Told,
    /// Whether hosts took turns with the network to the end.
    in_turns: bool,
    /// Whether two events came at one instant: at hosts, or at the ends of captured links.
    has_ties: bool,
}

fn run(setup: &Setup, in_turns: bool) -> Ran {
    run_with(setup, in_turns.then_some(MOST_EVENTS_A_TURN))
}

fn lagging(in_turns: bool) -> HostLagging {
    if in_turns { HostLagging::Everywhere } else { HostLagging::Never }
}

/// Full speed, with hosts that lag wherever they can, or nowhere.
fn speed(in_turns: bool) -> Speed {
    Speed { host_lag: lagging(in_turns), ..Speed::full() }
}

/// Runs in turns of at most this number of link events; without turns if `None`.
fn run_with(setup: &Setup, most_events: Option<u64>) -> Ran {
    run_at(setup, speed(most_events.is_some()), most_events.unwrap_or(MOST_EVENTS_A_TURN))
}

/// Runs at this speed, in turns of at most this number of link events, if in turns.
fn run_at(setup: &Setup, speed: Speed, most_events: u64) -> Ran {
    let mut told = Told::default();
    let mut simulation = Simulation::new(setup, Box::new(&mut told), speed).expect("a setup");
    assert_eq!(simulation.turns.is_some(), speed.host_lag != HostLagging::Never, "they can");
    if let Some(turns) = &mut simulation.turns {
        turns.most_events = most_events;
    }
    simulation.run().expect("it runs");
    let in_turns = simulation.turns.is_some();
    simulation.hosts.acts.sort();
    let has_ties = simulation.hosts.acts.windows(2).any(|two| two[0] == two[1]);
    let outcome = simulation.outcome().expect("it is conserved");
    drop(simulation);
    let outcome = format!("{:?}", Outcome { events: 0, ..outcome });
    assert!(told.packets.is_sorted_by_key(|(at, _)| *at));
    told.packets.sort();
    let has_ties = has_ties || told.packets.windows(2).any(|two| two[0].0 == two[1].0);
    Ran { outcome, told, in_turns, has_ties }
}

struct Chance {
    random: Xoshiro256PlusPlus,
    /// Unit of all times.
    grain: Duration,
}

impl Chance {
    /// A random number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.random.next_u64() % n
    }
    fn time(&mut self, most: Duration) -> Duration {
        self.grain * (self.below(most.ps().div_ceil(self.grain.ps())) + 1)
    }
    /// With coarse times, packets of all links take a multiple of the grain, so that many events
    /// come at one instant.
    fn rate(&mut self, least: u64, more: u64) -> Rate {
        let rate = least + self.below(more);
        if self.grain == FINE { Rate::from_bps(rate) } else { Rate::from_mbps(8) }
    }
}

/// A grain with which hardly any events come at one instant.
const FINE: Duration = Duration::from_ps(1);
/// A tenth of the time that a packet of 1000 bytes takes at 8 Mbit/s.
const COARSE: Duration = Duration::from_micros(100);

/// A random setup: a chain of routers with hosts, listed and arriving flows, losses, disciplines,
/// changes and samples.
fn random_setup(seed: u64, grain: Duration) -> Setup {
    let mut chance = Chance { random: stream(seed, "turns", 0), grain };
    let laws = ["newreno", "cubic", "xcp", "rcp", "bbr1", "bbr3", "dctcp", "jetmax", "hpcc"];
    let law = AnyLaw::new(laws[chance.below(laws.len() as u64) as usize], &[]).expect("a law");
    let ms = Duration::from_millis;
    let mut setup = Dumbbell::new(law, 1, Rate::from_mbps(10), ms(20), 20).setup();
    let transport = setup.flows[0].transport.clone();
    let plain = setup.flows[0].clone();
    setup.flows.clear();
    setup.network = Default::default();
    let routers = 2 + chance.below(3) as u32;
    for router in 0..routers {
        node(&mut setup.network, format!("r{router}"), false);
    }
    for router in 1..routers {
        let rate = chance.rate(2_000_000, 20_000_000);
        let packets = 5 + chance.below(60);
        let room = match chance.below(2) {
            0 => Limit::Packets(packets as u32),
            _ => Limit::Bytes(Bytes::new(1000 * packets)),
        };
        cable(&mut setup.network, router - 1, router, rate, chance.time(ms(10)), room);
    }
    let hosts = 4 + chance.below(8) as u32;
    let between = setup.network.links.len() as u32;
    for host in 0..hosts {
        // Each router has a host. Without one, a router at an end of the chain would be a leaf.
        let at = if host < routers { host } else { chance.below(u64::from(routers)) as u32 };
        let host = node(&mut setup.network, format!("h{host}"), true);
        let rate = chance.rate(3_000_000, 100_000_000);
        let room = match chance.below(3) {
            0 => Limit::Packets(8),
            1 => Limit::Bytes(Bytes::new(8_000)),
            _ => Limit::Unlimited,
        };
        cable(&mut setup.network, host, at, rate, ms(1) + chance.time(ms(9)), room);
    }
    let links = setup.network.links.len() as u32;
    for link in 0..links {
        // The first link of a host's cable is the host's own, and stays plain.
        if link >= between && (link - between).is_multiple_of(2) {
            continue;
        }
        let spec = &mut setup.network.links[link as usize];
        // With coarse times, all packets take a multiple of the grain.
        if grain == FINE {
            spec.overhead = Bytes::new(chance.below(2) * 38);
        }
        match chance.below(6) {
            0 => spec.loss = Loss::Random(0.01),
            1 => {
                let ecn = [("ecn", "true")];
                spec.discipline = AnyDiscipline::new("codel", &ecn, Bytes::new(1000)).unwrap();
            }
            _ => (),
        }
        if chance.below(4) == 0 {
            let changes = [
                Change::Rate(Rate::from_mbps(1 + chance.below(5))),
                Change::Delay(chance.time(ms(10))),
                Change::Up(false),
                Change::Up(true),
            ];
            for change in changes {
                let at = Time::ZERO + chance.time(ms(1000));
                setup.changes.push((at, LinkId(link), change));
            }
        }
    }
    setup.changes.sort_by_key(|(at, ..)| *at);
    let pair = |chance: &mut Chance| {
        let from = chance.below(u64::from(hosts)) as u32;
        let to = (from + 1 + chance.below(u64::from(hosts) - 1) as u32) % hosts;
        (NodeId(routers + from), NodeId(routers + to))
    };
    for flow in 0..1 + chance.below(12) {
        let (from, to) = pair(&mut chance);
        let mut of = plain.clone();
        of.name = format!("f{flow}");
        (of.from, of.to) = (from, to);
        of.start = Time::ZERO + chance.time(ms(500));
        of.transport.handshake = chance.below(2) == 0;
        of.transport.jitter = match chance.below(3) {
            0 => Jitter::PacketTime,
            1 => Jitter::UpTo(chance.time(ms(3))),
            _ => Jitter::NONE,
        };
        match chance.below(3) {
            0 => of.app = App::sized(Bytes::new(chance.below(400_000))),
            1 => of.stop = Some(of.start + chance.time(ms(400))),
            _ => (),
        }
        setup.flows.push(of);
    }
    if chance.below(2) == 0 {
        let pairs = (0..3).map(|_| pair(&mut chance)).map(|(a, b)| (a, b, 1.0)).collect();
        setup.traffic.push(TrafficSpec {
            fan_in: 1,
            name: "t".into(),
            pairs,
            arrivals: Arrivals::Poisson(30.0),
            sizes: Sizes::Pareto { shape: 1.5, mean: 2e4 },
            start: Time::ZERO,
            stop: Time::NEVER,
            law: 0,
            transport,
        });
    }
    if chance.below(2) == 0 {
        setup.sample_interval = Some(chance.time(ms(100)) + ms(10));
        setup.follow = Follow { in_turn: true, asked: None };
    }
    setup.duration = ms(1000) + chance.time(ms(100));
    setup.seed = seed;
    setup
}

#[test]
fn hosts_that_take_turns_with_the_network_act_as_without_turns() {
    let (mut compared, mut completed, mut packets) = (0, 0, 0);
    for seed in 0..120 {
        let mut setup = random_setup(seed, FINE);
        let unseen = run(&setup, true);
        setup.captured_links = (0..setup.network.links.len() as u32).map(LinkId).collect();
        let (ran, expected) = (run(&setup, true), run(&setup, false));
        assert!(ran.in_turns, "to the end");
        assert_eq!(ran.outcome, unseen.outcome, "seed {seed}");
        assert_eq!(ran.told.lines, unseen.told.lines, "seed {seed}");
        // Events of one instant may come in another order.
        if expected.has_ties {
            continue;
        }
        assert_eq!(ran.outcome, expected.outcome, "seed {seed}");
        assert_eq!(ran.told.lines, expected.told.lines, "seed {seed}");
        assert_eq!(ran.told.packets, expected.told.packets, "seed {seed}");
        compared += 1;
        let is_completed = |line: &&String| line.starts_with("FlowCompleted");
        completed += ran.told.lines.iter().filter(is_completed).count();
        packets += ran.told.packets.len();
    }
    assert!(
        compared > 40 && completed > 200 && packets > 10_000,
        "{compared}, {completed}, {packets}"
    );
}

/// Each combination of the means of speed, but without delay lines, which need more links, and
/// without lag where hosts that take time do not send in advance: with two random setups or more,
/// samples, captures and packets that are followed.
#[test]
fn a_run_at_any_speed_is_the_same() {
    let mut packets = 0;
    for bits in 0..64_u64 {
        let has = |place: u32| bits >> place & 1 != 0;
        let speed = Speed {
            delay_lines: true,
            // Hosts that take time can lag only if they send in advance.
            host_lag: lagging(has(0) && has(2)),
            look_ahead: has(1),
            sends_in_advance: has(2),
            books_departures: has(3),
            merges_links: has(4),
        };
        // Events of one instant may come in another order: such setups are left out.
        let plain = (1000 + bits..).step_by(64).find_map(|seed| {
            let mut setup = random_setup(seed, FINE);
            let links = (0..setup.network.links.len() as u32).map(LinkId);
            // What is captured has something rare.
            setup.captured_links = links.filter(|link| (seed >> (link.0 % 4)) & 1 != 0).collect();
            let plain = run_at(&setup, Speed::off(), 0);
            (!plain.has_ties).then_some((seed, setup, plain))
        });
        let (seed, setup, plain) = plain.expect("one of many");
        let ran = run_at(&setup, speed, MOST_EVENTS_A_TURN);
        assert_eq!(ran.outcome, plain.outcome, "seed {seed}, {speed:?}");
        assert_eq!(ran.told.lines, plain.told.lines, "seed {seed}, {speed:?}");
        assert_eq!(ran.told.packets, plain.told.packets, "seed {seed}, {speed:?}");
        packets += ran.told.packets.len();
    }
    assert!(packets > 100_000, "{packets}");
}

/// Ends the run at its first progress.
struct Ends;

impl Recorder for Ends {
    fn flow_started(&mut self, _: &FlowStarted<'_>) {}
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, _: &LinkSample) {}
    fn flow_completed(&mut self, _: &FlowCompleted) {}
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

/// Hosts send packets in advance: a run that is ended early has some that are still to come.
#[test]
fn queues_of_a_run_that_is_ended_early_are_those_of_its_time() {
    let law = AnyLaw::new("newreno", &[]).expect("a law");
    let ms = Duration::from_millis;
    let mut dumbbell = Dumbbell::new(law, 100, Rate::from_mbps(1000), ms(200), 20_000);
    (dumbbell.duration, dumbbell.stagger) = (Duration::from_secs(5), ms(20));
    dumbbell.transport.jitter = Jitter::UpTo(ms(30));
    let mut setup = dumbbell.setup();
    let own = setup.network.links.iter_mut().filter(|link| link.from.0 >= 2);
    own.for_each(|link| link.service = Service::Rate(Rate::from_mbps(20)));
    for in_turns in [false, true] {
        let outcome = crate::run_with(&setup, &mut Ends, speed(in_turns)).expect("it runs");
        assert!(outcome.ended < Time::ZERO + setup.duration);
        for link in &outcome.links {
            let (mean, most) = (link.queue_packets_mean, f64::from(link.queue_packets_max));
            assert!((0.0..=most).contains(&mean), "{mean} of {most}");
        }
    }
}

/// Given paths lead to hosts that send.
#[test]
fn hosts_at_the_ends_of_given_paths_take_turns() {
    let mut setup = dumbbell(2, RATE, RTT);
    setup.flows[0].transport.jitter = Jitter::UpTo(Duration::from_millis(5));
    setup.flows[1].transport.jitter = Jitter::PacketTime;
    setup.duration = Duration::from_secs(2);
    let path = |nodes: [u32; 4]| nodes.map(NodeId).to_vec();
    setup.paths = vec![path([2, 0, 1, 3]), path([3, 1, 0, 2])];
    let (ran, expected) = (run(&setup, true), run(&setup, false));
    assert!(ran.in_turns);
    assert_eq!(ran.outcome, expected.outcome);
}

/// With over a thousand links, idle ones share delay lines, but not one that changes.
#[test]
fn links_that_change_keep_their_packets_themselves() {
    let mut setup = dumbbell(260, Rate::from_mbps(1000), RTT);
    setup.flows.truncate(20);
    // Few packets come at one instant then.
    let jitter = Jitter::UpTo(Duration::from_millis(1));
    setup.flows.iter_mut().for_each(|flow| flow.transport.jitter = jitter);
    setup.duration = Duration::from_millis(500);
    // The first leads back to a host, the second is the bottleneck.
    for (at, link) in [(100, 3), (200, 0)] {
        let at = Time::ZERO + Duration::from_millis(at);
        setup.changes.push((at, LinkId(link), Change::Delay(Duration::from_micros(1234))));
        setup.changes.push((at, LinkId(link), Change::Rate(Rate::from_mbps(77))));
    }
    let off = run_at(&setup, Speed::off(), 0).outcome;
    for in_turns in [false, true] {
        assert_eq!(run_at(&setup, speed(in_turns), MOST_EVENTS_A_TURN).outcome, off, "{in_turns}");
    }
}

/// Many events come at one instant; their order must be the same wherever turns end.
#[test]
fn looking_at_hosts_that_take_turns_changes_nothing() {
    let mut ties = 0;
    for seed in 20..60 {
        let mut setup = random_setup(seed, COARSE);
        setup.follow = Follow::default();
        // Once, at the end: delays are measured as where samples are taken.
        setup.sample_interval = Some(Duration::ZERO);
        let plain = run(&setup, true);
        for most in [1, 7] {
            assert_eq!(run_with(&setup, Some(most)).outcome, plain.outcome, "seed {seed}, {most}");
        }
        setup.follow =
            Follow { in_turn: true, asked: Some((FlowId(0), Time::ZERO + COARSE * 1234)) };
        for interval in [3, 77] {
            setup.sample_interval = Some(COARSE * interval);
            let outcome = run(&setup, true).outcome;
            assert_eq!(outcome, plain.outcome, "seed {seed}, every {interval}");
        }
        ties += usize::from(plain.has_ties);
    }
    assert!(ties > 20, "{ties}");
}

const RATE: Rate = Rate::from_mbps(10);
const RTT: Duration = Duration::from_millis(20);

fn dumbbell(pairs: u32, rate: Rate, rtt: Duration) -> Setup {
    let law = AnyLaw::new("newreno", &[]).expect("a law");
    let mut dumbbell = Dumbbell::new(law, pairs, rate, rtt, 50);
    dumbbell.duration = Duration::from_secs(30);
    dumbbell.setup()
}

/// Hosts are so near that hardly any event comes before their packets meet others.
#[test]
fn hosts_stop_taking_turns_that_are_short() {
    let mut setup = dumbbell(1, Rate::from_mbps(2), Duration::from_micros(50));
    let (ran, expected) = (run(&setup, true), run(&setup, false));
    assert!(!ran.in_turns);
    assert_eq!(ran.outcome, expected.outcome);
    // Hosts take turns at first.
    setup.duration = Duration::from_millis(500);
    assert!(run(&setup, true).in_turns);
}

#[test]
fn hosts_take_turns_only_where_nobody_could_be_early() {
    let takes = |setup: &Setup| {
        let mut recorder = NoRecorder;
        let simulation =
            Simulation::new(setup, Box::new(&mut recorder), speed(true)).expect("a setup");
        simulation.turns.is_some()
    };
    let plain = dumbbell(2, RATE, RTT);
    // Nodes 2 and 3 are the first pair's hosts. Link 2 is the first host's own, and link 3 leads
    // back to it.
    assert!(takes(&plain));
    let but = |what: &dyn Fn(&mut Setup)| {
        let mut setup = plain.clone();
        what(&mut setup);
        takes(&setup)
    };
    let change = |link| (Time::ZERO, LinkId(link), Change::Delay(Duration::from_nanos(1)));
    assert!(but(&|s| s.changes = vec![change(0), change(3)]));
    assert!(!but(&|s| s.changes = vec![change(2)]), "a host's own link changes");
    assert!(but(&|s| s.network.links[3].loss = Loss::Random(0.1)));
    assert!(!but(&|s| s.network.links[2].loss = Loss::Random(0.1)), "or is not plain");
    assert!(!but(&|s| s.network.links[2].delay = Duration::ZERO), "or takes no time");
    assert!(!but(&|s| s.network.links[2].driver.sockets = Sockets::InTurn), "or is waited for");
    assert!(!but(&|s| s.flows[0].to = NodeId(1)), "a flow ends at a router");
    let path = |nodes: &[u32]| nodes.iter().map(|n| NodeId(*n)).collect::<Vec<_>>();
    assert!(but(&|s| s.paths = vec![path(&[2, 0, 1, 3])]));
    assert!(!but(&|s| s.paths = vec![path(&[2, 0, 4, 0, 1, 3])]), "a path leads through a host");
    let mut paused = Dumbbell::new(plain.laws[0].clone(), 2, RATE, RTT, 50);
    paused.paused = true;
    let pause = paused.setup().network.links[2].pause.clone();
    assert!(!but(&|s| s.network.links[0].pause.clone_from(&pause)), "a link is paused");
    let switched = Dumbbell { paused: false, ..paused }.through_a_switch(false);
    let passes_on = |s: &mut Setup| {
        s.flows.extend(plain.flows.clone());
        s.ensembles = switched.ensembles.clone();
    };
    assert!(!but(&passes_on), "a switch passes on");
    let jitter = |s: &mut Setup| s.flows[0].transport.jitter = Jitter::UpTo(RTT);
    assert!(but(&jitter));
    let mut slow = plain.clone();
    jitter(&mut slow);
    let mut recorder = NoRecorder;
    let late = Speed { sends_in_advance: false, ..speed(true) };
    let slow = Simulation::new(&slow, Box::new(&mut recorder), late).expect("a setup");
    assert!(slow.turns.is_none(), "a packet leaves its host by an event");
    let mut quick = plain.clone();
    quick.flows.iter_mut().for_each(|flow| flow.transport.small_queues = Some(false));
    let mut recorder = NoRecorder;
    let quick = Simulation::new(&quick, Box::new(&mut recorder), late).expect("a setup");
    assert!(quick.turns.is_some(), "no host takes time");
    let clients = workload(plain.laws[0].clone(), 300, RATE, RTT, 50);
    let passes_on = |s: &mut Setup| {
        s.flows = vec![plain.flows[0].clone(); clients.flows.len()];
        s.overlay.clone_from(&clients.overlay);
    };
    assert!(!but(&passes_on), "an overlay's nodes pass on");
}

#[test]
fn hosts_take_turns_where_links_or_flows_are_many() {
    let few = dumbbell(64, RATE, RTT);
    assert!(!are_many(&few));
    assert!(are_many(&dumbbell(65, RATE, RTT)), "flows");
    let mut links = dumbbell(250, RATE, RTT);
    links.flows.truncate(1);
    assert!(are_many(&links));
    let arriving =
        (0..).map(|seed| random_setup(seed, FINE)).find(|setup| !setup.traffic.is_empty());
    assert!(are_many(&arriving.expect("one of two")), "flows that keep arriving");
}
