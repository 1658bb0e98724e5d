//! Runs of random networks, laws, losses, queues and changes conserve packets.

use std::ops::ControlFlow;

use proptest::prelude::*;
use ratewire_laws::AnyLaw;
use ratewire_net::spec::*;
use ratewire_sim::record::*;
use ratewire_sim::setup::{Arrivals, Sizes};
use ratewire_transport::{App, PauseAfter, Phase, Reader, ReceiveWindow, Spread, Varying, Writer};
use ratewire_units::{Bytes, Duration, Rate};

use crate::net::*;

fn laws() -> impl Strategy<Value = AnyLaw> {
    prop_oneof![
        3 => Just(law("xcp", &[])),
        2 => Just(law("newreno", &[])),
        2 => Just(law("cubic", &[])),
        1 => Just(law("fixed", &[("rate", "5 Mbit/s")])),
        1 => Just(law("fixed", &[("window", "12 packets")])),
    ]
}

#[derive(Clone, Debug)]
struct Cable {
    /// Chooses the earlier node at the cable's other end, and the laws of the cable's ports.
    to: u32,
    mbps: u64,
    delay: u64,
    limit: Limit,
    discipline: AnyDiscipline,
    loss: Loss,
    medium: bool,
    /// Threshold of the buffers that pause the cable's links, in bytes, and their intake time in
    /// microseconds.
    pause: Option<(u64, u64)>,
    sockets: Sockets,
    variation: Variation,
}

prop_compose! {
    fn variations()(
        duplicate in prop_oneof![3 => Just(0.0), 1 => 0.0..0.3],
        jitter in prop::option::weighted(0.2, (1u64..30).prop_map(|most| LinkJitter::Uniform(MS(most)))),
        policer in buckets(), shaper in buckets(),
    ) -> Variation {
        Variation { duplicate, jitter, policer, shaper }
    }
}

fn buckets() -> impl Strategy<Value = Option<TokenBucket>> {
    let bucket = (1u64..20, 1500u64..60_000)
        .prop_map(|(mbps, burst)| TokenBucket { rate: MBPS(mbps), burst: Bytes::new(burst) });
    prop::option::weighted(0.2, bucket)
}

/// All disciplines with their defaults.
fn disciplines() -> Vec<AnyDiscipline> {
    ratewire_net::queue::list().iter().map(|info| discipline(info.name, &[])).collect()
}

prop_compose! {
    fn cables()(
        to in any::<u32>(),
        mbps in prop_oneof![Just(0u64), Just(1), Just(5), Just(20), Just(50)],
        delay in prop_oneof![Just(0u64), 1u64..50],
        limit in prop_oneof![
            Just(Limit::Unlimited),
            (0u32..40).prop_map(Limit::Packets),
            (0u64..60_000).prop_map(|b| Limit::Bytes(Bytes::new(b))),
        ],
        discipline in prop_oneof![
            2 => Just(AnyDiscipline::default()),
            2 => prop::sample::select(disciplines()),
            1 => any::<bool>().prop_map(|ecn| discipline("red", &[
                ("min", "5 KB"), ("max", "20 KB"), ("weight", "0.01"), ("ecn", if ecn { "true" } else { "false" }),
            ])),
        ],
        loss in prop_oneof![
            4 => Just(Loss::None),
            1 => (0.0..0.2).prop_map(Loss::Random),
            1 => Just(Loss::Burst { turn_bad: 0.01, turn_good: 0.2, loss_bad: 0.8, loss_good: 0.0 }),
        ],
        medium in prop::bool::weighted(0.2),
        pause in prop::option::weighted(0.4, (0u64..20_000, prop_oneof![4 => Just(0u64), 1 => 1u64..2000])),
        sockets in prop_oneof![
            3 => Just(Sockets::Drop),
            1 => Just(Sockets::InTurn),
            1 => Just(Sockets::AtRandom),
            1 => Just(Sockets::OnAck),
        ],
        variation in variations(),
    ) -> Cable {
        Cable { to, mbps, delay, limit, discipline, loss, medium, pause, sockets, variation }
    }
}

fn apps() -> impl Strategy<Value = App> {
    let on_off = |pause_after| Writer::OnOff {
        burst: Bytes::new(20_000).into(),
        pause: MS(50).into(),
        pause_after,
        count: None,
    };
    prop_oneof![
        3 => Just(App::unlimited()),
        3 => (0u64..200_000).prop_map(|b| App::sized(Bytes::new(b))),
        1 => Just(App { writer: on_off(PauseAfter::Acknowledged), ..App::unlimited() }),
        1 => Just(App { writer: on_off(PauseAfter::Sent), ..App::unlimited() }),
        1 => (0..3_usize).prop_map(move |order| {
            let spread = Spread::Exponential;
            let random = Writer::OnOff {
                burst: Varying { mean: Bytes::new(20_000), spread },
                pause: Varying { mean: MS(50), spread },
                pause_after: PauseAfter::Sent,
                count: None,
            };
            let mut writers = [random, Writer::Unlimited, Writer::Constant { rate: MBPS(1) }];
            writers.rotate_left(order);
            let phase = |writer| Phase { writer, lasts: MS(300) };
            let writer = Writer::Phases(writers.into_iter().map(phase).collect());
            App { writer, ..App::unlimited() }
        }),
        1 => Just(App { writer: Writer::Constant { rate: MBPS(1) }, ..App::unlimited() }),
        1 => Just(App { reader: Reader::Slow(MS(1)), ..App::unlimited() }),
    ]
}

/// Ends runs that take too many events.
struct Patience(u32);

impl Recorder for Patience {
    fn flow_started(&mut self, _: &FlowStarted<'_>) {}
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, _: &LinkSample) {}
    fn flow_completed(&mut self, _: &FlowCompleted) {}
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.0 -= 1;
        assert!(self.0 > 0, "two million events by {}", progress.now);
        ControlFlow::Continue(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn packets_are_conserved_whatever_happens(
        laws in prop::collection::vec(laws(), 1..3),
        cables in prop::collection::vec(cables(), 1..7),
        flows in prop::collection::vec(
            (any::<u32>(), any::<u32>(), apps(), 0u64..600, prop::option::of(0u64..900), 0u8..32), 0..6,
        ),
        changes in prop::collection::vec((any::<u32>(), 0u64..1000, 0u8..11), 0..8),
        contention in prop_oneof![
            Just(Contention::Alternate), Just(Contention::Random), Just(Contention::Backoff)
        ],
        traffic in 0.0..40.0,
        arrangement in prop_oneof![
            Just(Arrangement::Fifo), Just(Arrangement::Virtual), Just(Arrangement::ByFlow(3)),
        ],
        (by_class, burst_links) in (any::<bool>(), any::<bool>()),
        (exact_wire, sampled, seed) in (any::<bool>(), any::<bool>(), any::<u64>()),
    ) {
        let mut net = Net::new(laws[0].clone());
        net.setup.laws = laws.clone();
        net.setup.network.mediums = vec![MediumSpec { name: "m".into(), contention }];
        net.nodes(1);
        for (i, c) in cables.iter().enumerate() {
            let i = i as u32;
            // Mostly a tree; the last of five or more cables closes a loop.
            let (from, to) = if i >= 4 && i as usize == cables.len() - 1 { (0, i) } else { (i + 1, c.to % (i + 1)) };
            net.nodes(1);
            let first = net.cable(from, to, MBPS(c.mbps), MS(c.delay));
            for link in [first, first + 1] {
                let law = (c.to as usize + link as usize) % (laws.len() + 1);
                let l = net.link(link);
                (l.limit, l.discipline, l.loss) = (c.limit, c.discipline.clone(), c.loss.clone());
                l.medium = c.medium.then_some(MediumId(0));
                l.law = (law < laws.len()).then_some(law);
                let bursts = Bursts { packets: 5, every: MS(3) };
                let bursts = (burst_links && i.is_multiple_of(2)).then_some(bursts);
                l.variation = c.variation.clone().boxed();
                l.driver = DriverSpec { sockets: c.sockets, bursts };
                l.pause = c.pause.filter(|_| !c.medium).map(|(xoff, intake)| PauseSpec {
                    back: LinkId(link ^ 1),
                    arrangement,
                    by_class: by_class && !matches!(arrangement, Arrangement::ByFlow(_)),
                    // The headroom is not always enough.
                    buffer: Bytes::new(2 * xoff + 3000),
                    xoff: Bytes::new(xoff),
                    xon: Bytes::new(xoff / 2),
                    quanta: Quanta(2000),
                    reaction: Duration::ZERO,
                    hop_round_trip: MS(2),
                    intake: Duration::from_micros(intake),
                });
            }
        }
        let nodes = cables.len() as u32;
        for (i, (from, to, app, start, stop, how)) in flows.into_iter().enumerate() {
            let (from, to) = (from % nodes, to % nodes);
            if from == to {
                continue;
            }
            let f = net.flow(from, to, app);
            f.law = i % laws.len();
            f.start = secs(0.001 * start as f64);
            f.stop = stop.map(|ms| secs(0.001 * ms as f64));
            f.transport.handshake = how & 1 != 0;
            f.transport.ecn = how & 2 != 0;
            f.transport.class = how % 8;
            f.transport.delayed_ack = (how & 4 != 0).then_some(MS(40));
            if how & 8 != 0 {
                f.transport.receive_window = ReceiveWindow::Fixed(Bytes::new(7000));
            }
        }
        if nodes > 1 {
            let t = net.traffic(Arrivals::Poisson(traffic), Sizes::Pareto { shape: 1.3, mean: 2e4 });
            t.pairs = vec![(NodeId(0), NodeId(nodes - 1), 1.0), (NodeId(nodes - 1), NodeId(0), 0.3)];
        }
        for (link, at, what) in changes {
            let change = match what {
                0 => Change::Rate(Rate::ZERO),
                1 => Change::Rate(MBPS(1)),
                2 => Change::Rate(MBPS(40)),
                3 => Change::Delay(Duration::ZERO),
                4 => Change::Delay(MS(80)),
                5 => Change::Up(false),
                6 => Change::Loss(Loss::Random(0.2)),
                7 => Change::Loss(Loss::None),
                8 => Change::Limit(Limit::Packets(at as u32 % 20)),
                _ => Change::Up(true),
            };
            net.setup.changes.push((secs(0.001 * at as f64), LinkId(link % (2 * nodes)), change));
        }
        (net.setup.exact_wire, net.setup.seed) = (exact_wire, seed);
        net.setup.sample_interval = sampled.then_some(MS(37));
        let net = net.seconds(1.0);
        match ratewire_sim::run(&net.setup, &mut Patience(120)) {
            Ok(out) => {
                let p = out.packets;
                prop_assert!(p.are_conserved(), "{:?}", p);
                for l in &out.links {
                    prop_assert!(l.busy <= Duration::from_secs(1), "{:?}", l);
                }
            }
            Err(e) => prop_assert!(matches!(e, ratewire_sim::RunError::Setup(_)), "{}", e),
        }
    }
}
