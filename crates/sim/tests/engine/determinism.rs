//! The same setup gives the same run, and looking at it changes nothing.

use ratewire_net::spec::*;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::setup::{Arrivals, Sizes};
use ratewire_transport::App;
use ratewire_units::Bytes;

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
    let (target, interval) = (MS(5), MS(100));
    net.link(middle + 1).discipline = Discipline::CoDel(CoDelSpec { target, interval, ecn: false });
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

/// All of an outcome but the number of events, to which samples add.
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
        let plain = busy(law, 3).run();
        let mut net = busy(law, 3);
        net.setup.captured_links = (0..6).map(LinkId).collect();
        let captured = net.run();
        assert_eq!(format!("{plain:?}"), format!("{captured:?}"), "{law}");
        for interval in [1, 7, 100, 5000] {
            net.setup.sample_interval = Some(MS(interval));
            assert_eq!(text(&plain), text(&net.run()), "{law}, every {interval} ms");
        }
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
        assert_eq!(of().map(|s| s.drops).sum::<u64>(), link.drops.total());
        let busy: f64 = of().map(|s| s.busy * s.interval.secs()).sum();
        assert!((busy - link.busy.secs()).abs() < 1e-9, "{busy} {}", link.busy);
        assert!(of().all(|s| s.busy <= 1.0 + 1e-9));
        let area: f64 = of().map(|s| s.queue_packets_mean * s.interval.secs()).sum();
        assert!((area - link.queue_packets_mean * 3.0).abs() < 1e-6);
        assert_eq!(of().map(|s| s.queue_packets_max).max(), Some(link.queue_packets_max));
    }
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
