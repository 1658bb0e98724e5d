//! Queue disciplines with senders that react to them, and half-duplex paths.

use ratewire_net::spec::*;
use ratewire_sim::outcome::Outcome;
use ratewire_transport::App;
use ratewire_units::{Bytes, Duration};

use crate::net::*;

/// Four flows of a law through 20 Mbit/s with an RTT of 40 ms. Returns the outcome and the mean
/// delay in the queue after the first five of twenty seconds, in milliseconds.
fn through(law: &str, discipline: AnyDiscipline, ecn: bool) -> (Outcome, f64) {
    let mut net = Net::new(self::law(law, &[]));
    net.nodes(6);
    for host in 0..4 {
        net.cable(host, 4, MBPS(100), MS(5));
    }
    let bottleneck = net.cable(4, 5, MBPS(20), MS(15));
    net.link(bottleneck).discipline = discipline;
    net.link(bottleneck).limit = Limit::Packets(1000);
    for host in 0..4 {
        let flow = net.flow(host, 5, App::unlimited());
        flow.transport.ecn = ecn;
        flow.start = secs(f64::from(host) * 0.1);
    }
    net.setup.sample_interval = Some(MS(500));
    net.setup.sampled_links = Some(vec![LinkId(bottleneck)]);
    let (mut out, log) = net.seconds(20.0).log();
    let late = log.links.iter().filter(|s| s.at > secs(5.0));
    let queues: Vec<f64> = late.map(|s| s.queue_bytes_mean * 8.0 / 20e3).collect();
    out.links.swap(0, bottleneck as usize);
    (out, queues.iter().sum::<f64>() / queues.len() as f64)
}

#[test]
fn codel_keeps_the_delay_near_its_target() {
    let codel = |ecn| discipline("codel", &[("ecn", if ecn { "true" } else { "false" })]);
    for law in ["newreno", "cubic"] {
        let (_, unmanaged) = through(law, AnyDiscipline::default(), false);
        assert!(unmanaged > 100.0, "{law}: {unmanaged} ms");
        for ecn in [false, true] {
            let (out, delay) = through(law, codel(ecn), ecn);
            println!("{law} codel ecn {ecn}: {delay:.2} ms (drop-tail {unmanaged:.1} ms)");
            let l = &out.links[0];
            assert!((1.0..12.0).contains(&delay), "{law}, ECN {ecn}: {delay} ms");
            assert!(l.busy.secs() > 0.9 * 20.0, "{law}: busy for {}", l.busy);
            assert_eq!((l.drops.early == 0, l.marks == 0), (ecn, !ecn), "{law}");
            let sent_again: Bytes = out.flows.iter().map(|f| f.retransmitted).sum();
            assert_eq!(sent_again == Bytes::ZERO, ecn, "{law}: marks lose nothing");
        }
    }
}

#[test]
fn red_keeps_the_average_queue_between_its_thresholds() {
    let red = |ecn| {
        let ecn = if ecn { "true" } else { "false" };
        discipline("red", &[("min", "15 KB"), ("max", "60 KB"), ("ecn", ecn)])
    };
    for ecn in [false, true] {
        let (out, delay) = through("newreno", red(ecn), ecn);
        println!("red ecn {ecn}: {delay:.2} ms");
        // 15,000 and 60,000 bytes at 20 Mbit/s are 6 and 24 ms; NewReno's sawtooth is about the
        // lower one.
        assert!((5.0..24.0).contains(&delay), "ECN {ecn}: {delay} ms");
        let l = &out.links[0];
        assert!(l.busy.secs() > 0.85 * 20.0, "busy for {}", l.busy);
        // Slow start drives the average past twice `max`, where RED drops what it could mark.
        assert_eq!(l.marks > 0, ecn);
        assert!(if ecn { l.marks > l.drops.early } else { l.drops.early > 20 }, "{:?}", l.drops);
    }
}

#[test]
fn a_half_duplex_path_carries_data_and_acknowledgements_at_one_rate() {
    for contention in [Contention::Alternate, Contention::Random, Contention::Backoff] {
        let mut net = Net::pair(law("newreno", &[]), MBPS(10), MS(2));
        net.setup.network.mediums.push(MediumSpec { name: "m".into(), contention });
        for link in 0..2 {
            net.link(link).medium = Some(MediumId(0));
            net.link(link).limit = Limit::Packets(50);
        }
        // Losses at the hosts' own queues make the windows alike.
        net.flow(0, 1, App::unlimited()).transport.small_queues = Some(false);
        net.flow(1, 0, App::unlimited()).transport.small_queues = Some(false);
        let out = net.run();
        let busy = out.links[0].busy + out.links[1].busy;
        let least = if contention == Contention::Backoff { 0.6 } else { 0.97 };
        assert!(
            busy <= Duration::from_secs(10) && busy.secs() > least * 10.0,
            "{contention:?} {busy}"
        );
        for f in &out.flows {
            let share = f.delivered.as_f64() * 8.0 / 10.0 / 10e6;
            assert!((0.1..0.6).contains(&share), "{contention:?}: {share}");
        }
    }
}
