//! Equal setups give equal runs, and observing a run does not change it.

use ratewire_net::spec::*;
use ratewire_sim::dumbbell::Dumbbell;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::setup::{Arrivals, Follow, Setup, Sizes};
use ratewire_transport::App;
use ratewire_units::{Bytes, Duration};

use crate::net::*;

/// Random arrivals, losses, contention and changes in one run.
fn busy(law: &str, seed: u64) -> Net {
    let mut net = Net::new(self::law(law, &[]));
    net.nodes(4);
    net.cable(0, 2, MBPS(50), MS(2));
    let middle = net.cable(2, 3, MBPS(10), MS(10));
    net.cable(3, 1, MBPS(50), MS(2));
    net.link(middle).limit = Limit::Packets(30);
    net.link(middle).loss = Loss::Random(0.002);
    net.link(middle + 1).discipline = discipline("codel", &[]);
    net.setup.network.mediums =
        vec![MediumSpec { name: "m".into(), contention: Contention::Backoff }];
    net.link(4).medium = Some(MediumId(0));
    net.link(5).medium = Some(MediumId(0));
    net.flow(0, 1, App::unlimited()).transport.handshake = true;
    net.flow(1, 0, App::unlimited()).start = secs(0.3);
    net.traffic(Arrivals::Poisson(20.0), Sizes::Pareto { shape: 1.5, mean: 2e4 });
    net.setup.changes = vec![
        (secs(1.0), LinkId(middle), Change::Rate(MBPS(3))),
        (secs(1.5), LinkId(middle), Change::Up(false)),
        (secs(1.6), LinkId(middle), Change::Up(true)),
        (secs(2.0), LinkId(middle), Change::Delay(MS(5))),
    ];
    net.setup.seed = seed;
    net.seconds(3.0)
}

/// An outcome as text, without the number of events, to which samples add.
fn text(outcome: &Outcome) -> String {
    format!("{:?}", Outcome { events: 0, ..outcome.clone() })
}

#[test]
fn the_same_setup_gives_the_same_calls_and_outcome() {
    for law in ["xcp", "newreno", "cubic", "fixed"] {
        let mut net = busy(law, 7);
        if law == "fixed" {
            net.setup.laws[0] = self::law("fixed", &[("rate", "8 Mbit/s")]);
        }
        net.setup.sample_interval = Some(MS(100));
        net.setup.captured_links = vec![LinkId(2)];
        let ((first, a), (second, b)) = (net.log(), net.log());
        assert!(a.packets > 100 && a.flows.len() > 50 && a.links.len() == 30 * 6, "{law}");
        assert_eq!(a.hash, b.hash, "{law}");
        assert_eq!(format!("{first:?}"), format!("{second:?}"), "{law}");
        net.setup.seed = 8;
        let (other, c) = net.log();
        assert_ne!(a.hash, c.hash, "{law}");
        assert_ne!(text(&first), text(&other), "{law}");
    }
}

#[test]
fn sampling_and_capture_do_not_change_the_outcome() {
    for law in ["xcp", "cubic"] {
        let mut net = busy(law, 3);
        // One sample at the end: delays are measured where any are taken.
        net.setup.sample_interval = Some(Duration::ZERO);
        let plain = net.run();
        net.setup.captured_links = (0..6).map(LinkId).collect();
        let captured = net.run();
        assert_eq!(format!("{plain:?}"), format!("{captured:?}"), "{law}");
        for interval in [1, 7, 100, 5000] {
            net.setup.sample_interval = Some(MS(interval));
            assert_eq!(text(&plain), text(&net.run()), "{law}, every {interval} ms");
        }
    }
}

/// With so many links, delay lines are shared, also by captured links and followed packets.
#[test]
fn capture_and_following_do_not_change_what_thousands_of_links_do() {
    for name in ["xcp", "newreno"] {
        let mut dumbbell = Dumbbell::new(law(name, &[]), 300, MBPS(100), MS(20), 50);
        dumbbell.duration = MS(300);
        let mut setup = dumbbell.setup();
        let run = |setup: &Setup| {
            let mut log = Log::default();
            (format!("{:?}", ratewire_sim::run(setup, &mut log).unwrap()), log)
        };
        let (plain, _) = run(&setup);
        let links = setup.network.links.len() as u32;
        assert!(links > 1000);
        setup.captured_links = (0..links).step_by(7).map(LinkId).collect();
        setup.follow = Follow { in_turn: true, asked: None };
        setup.sample_interval = Some(MS(10));
        let (seen, log) = run(&setup);
        assert!(!log.followed.is_empty());
        setup.sample_interval = None;
        assert_eq!(plain, run(&setup).0, "{name}");
        setup.sample_interval = Some(MS(10));
        setup.captured_links.clear();
        setup.follow = Follow::default();
        assert_eq!(seen, run(&setup).0, "{name}, sampled");
    }
}

#[test]
fn samples_add_up_to_the_outcome() {
    let mut net = busy("cubic", 5);
    net.setup.sample_interval = Some(MS(70));
    let (out, log) = net.log();
    assert_eq!(log.links.last().unwrap().at, secs(3.0), "the last sample is at the end");
    for link in &out.links {
        let of = || log.links.iter().filter(|s| s.link == link.link);
        let sent: Bytes = of().map(|s| s.sent).sum();
        assert_eq!(sent, link.sent);
        assert_eq!(of().map(|s| s.drops.total()).sum::<u64>(), link.drops.total());
        let busy: f64 = of().map(|s| s.busy * s.interval.secs()).sum();
        assert!((busy - link.busy.secs()).abs() < 1e-9, "{busy} {}", link.busy);
        assert!(of().all(|s| s.busy <= 1.0 + 1e-9));
        let area: f64 = of().map(|s| s.queue_packets_mean * s.interval.secs()).sum();
        assert!((area - link.queue_packets_mean * 3.0).abs() < 1e-6);
        assert_eq!(of().map(|s| s.queue_packets_max).max(), Some(link.queue_packets_max));
    }
}

#[test]
fn packets_sent_at_the_very_end_are_in_the_last_sample() {
    // A packet each millisecond, the last as the run ends.
    let mut net = Net::pair(law("fixed", &[("rate", "12 Mbit/s")]), MBPS(100), MS(1));
    net.flow(0, 1, App::unlimited());
    net.setup.duration = MS(100);
    net.setup.sample_interval = Some(MS(10));
    let (out, log) = net.log();
    // Of the last, nothing has left the link.
    assert_eq!((out.links[0].packets, out.links[0].sent), (101, Bytes::new(100 * 1500)));
    let of = || log.links.iter().filter(|s| s.link == LinkId(0));
    assert_eq!(of().map(|s| s.packets).sum::<u64>(), 101);
    assert_eq!(of().map(|s| s.sent).sum::<Bytes>(), out.links[0].sent);
    assert_eq!(of().count(), 10);
}

#[test]
fn a_sampling_interval_longer_than_the_run_samples_its_end() {
    for interval in [MS(5000), MS(3000), ratewire_units::Duration::ZERO] {
        let mut net = busy("newreno", 1);
        net.setup.sample_interval = Some(interval);
        let (_, log) = net.log();
        assert_eq!(log.links.len(), 6, "{interval}");
        assert!(log.links.iter().all(|s| s.interval == MS(3000)));
    }
}

/// Common random numbers: all laws get the same arrivals, hosts and sizes, however differently they
/// lose packets.
#[test]
fn every_law_meets_the_same_flows() {
    let met = |law: &str| {
        let mut net = busy(law, 11);
        net.traffic(Arrivals::Poisson(9.0), Sizes::LogNormal { mean: 3e4, sigma: 1.0 }).pairs =
            vec![(NodeId(0), NodeId(1), 1.0), (NodeId(3), NodeId(0), 2.0)];
        let (outcome, log) = net.log();
        let ends: Vec<_> = outcome.flows.iter().map(|f| (f.name.clone(), f.from, f.to)).collect();
        (log.started, ends, log.completed)
    };
    let (started, ends, completed) = met("xcp");
    assert!(started.len() > 60, "{}", started.len());
    for law in ["newreno", "cubic"] {
        let (started_too, ends_too, completed_too) = met(law);
        assert_eq!((&started, &ends), (&started_too, &ends_too), "{law}");
        let sizes = completed.iter().flat_map(|a| {
            let same = completed_too.iter().filter(|b| b.flow == a.flow);
            same.map(|b| (a.size, b.size))
        });
        let sizes: Vec<_> = sizes.collect();
        assert!(sizes.len() > 30 && sizes.iter().all(|(a, b)| a == b), "{law}: {sizes:?}");
    }
}

/// The seed matters if and only if the setup says that it has chance.
#[test]
fn the_seed_matters_only_to_setups_with_chance() {
    let plain = || {
        let mut net = Net::new(law("newreno", &[]));
        net.nodes(3);
        net.cable(0, 1, MBPS(10), MS(5));
        net.cable(2, 1, MBPS(10), MS(5));
        net.link(0).limit = Limit::Packets(20);
        net.flow(0, 1, App::unlimited());
        net.traffic(Arrivals::Periodic(MS(50)), Sizes::Fixed(Bytes::new(20_000)));
        net.seconds(2.0)
    };
    let differs = |mut net: Net| {
        let said = net.setup.has_chance();
        let first = text(&net.run());
        net.setup.seed = 2;
        assert_eq!(first != text(&net.run()), said);
        said
    };
    assert!(!differs(plain()));
    let with = |change: fn(&mut Net)| {
        let mut net = plain();
        change(&mut net);
        net
    };
    let medium = |contention| {
        let mut net = plain();
        net.setup.network.mediums = vec![MediumSpec { name: "m".into(), contention }];
        net.link(0).medium = Some(MediumId(0));
        net.link(1).medium = Some(MediumId(0));
        net
    };
    assert!(!differs(medium(Contention::Alternate)));
    assert!(differs(medium(Contention::Random)));
    assert!(differs(medium(Contention::Backoff)));
    assert!(differs(with(|net| net.setup.traffic[0].arrivals = Arrivals::Poisson(20.0))));
    assert!(differs(with(|net| {
        net.setup.traffic[0].sizes = Sizes::LogNormal { mean: 2e4, sigma: 1.0 };
    })));
    assert!(differs(with(|net| net.setup.traffic[0].pairs.push((NodeId(2), NodeId(1), 1.0)))));
    assert!(!differs(with(|net| net.link(0).loss = Loss::Every(100))));
    assert!(differs(with(|net| net.link(0).loss = Loss::Random(0.01))));
    assert!(differs(with(|net| {
        net.link(0).loss =
            Loss::Burst { turn_bad: 0.01, turn_good: 0.3, loss_bad: 0.5, loss_good: 0.0 };
    })));
    assert!(differs(with(|net| {
        net.link(0).discipline =
            discipline("red", &[("min", "5 KB"), ("max", "15 KB"), ("weight", "0.1")]);
    })));
    let mut codel = plain();
    codel.link(0).discipline = discipline("codel", &[("interval", "50 ms")]);
    assert!(!differs(codel));
    for name in ["bbr1", "bbr3"] {
        let mut bbr = plain();
        bbr.setup.laws = vec![law(name, &[])];
        assert!(differs(bbr), "{name}");
    }
    let xcp = |spread| {
        let mut net = plain();
        let law = law("xcp", &[("initial_spread", spread)]);
        net.setup.laws = vec![law];
        net.link(0).law = Some(0);
        net
    };
    assert!(!differs(xcp("0")));
    assert!(differs(xcp("0.2")));
}
