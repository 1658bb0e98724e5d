//! Runs against closed forms.

use ratewire_net::spec::*;
use ratewire_sim::setup::{Arrivals, Sizes};
use ratewire_transport::App;
use ratewire_units::{Duration, Rate, Time};

use crate::net::*;

/// Mean packets per RTT of one flow under this loss, over `rtts` RTTs after the first `skip`.
fn mean_window(law: (&str, &[(&str, &str)]), loss: Loss, skip: u32, rtts: u32) -> f64 {
    let rtt = MS(100);
    let mut net = Net::pair(self::law(law.0, law.1), Rate::from_mbps(1_000_000), rtt / 2);
    net.link(0).loss = loss;
    net.flow(0, 1, App::unlimited());
    net.setup.sample_interval = Some(rtt);
    let net = net.seconds(0.1 * f64::from(skip + rtts));
    let (_, log) = net.log();
    let late = log.flows.iter().filter(|s| s.at > Time::ZERO + rtt * u64::from(skip));
    late.map(|s| s.delivered.as_f64()).sum::<f64>() / 1460.0 / f64::from(rtts)
}

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let ratio = found / expected;
    println!("{what}: {found:.4}, closed form {expected:.4}, ratio {ratio:.4}");
    assert!((ratio - 1.0).abs() < tolerance, "{what}: {found} and not {expected}");
}

/// Slow start with an initial window of one packet and a handshake: log2(L + 1) + 1/2 RTTs, and the
/// transmission.
#[test]
fn slow_start_takes_a_round_trip_for_each_doubling() {
    for (rate, tolerance) in [(10_000, 0.001), (100, 0.06)] {
        for rounds in 1..=if rate == 100 { 8 } else { 10 } {
            let size = (1u64 << rounds) - 1;
            let law = law("newreno", &[("initial_window", "1 packet")]);
            let mut net = Net::pair(law, MBPS(rate), MS(50));
            net.flow(0, 1, App::sized(packets(size))).transport.handshake = true;
            let took = net.run().flows[0].completed.unwrap().secs();
            let transmission = size as f64 * 1500.0 * 8.0 / (rate as f64 * 1e6);
            let expected = (f64::from(rounds) + 0.5) * 0.1 + transmission;
            near(took, expected, tolerance, &format!("{size} packets at {rate} Mbit/s"));
        }
    }
}

#[test]
fn one_flow_of_one_packet_takes_one_transmission_and_one_delay() {
    let mut net = Net::new(law("fixed", &[]));
    net.nodes(3);
    net.cable(0, 1, MBPS(12), MS(3));
    net.cable(1, 2, MBPS(3), MS(7));
    net.flow(0, 2, App::sized(packets(1))).start = secs(0.5);
    let out = net.run();
    let f = &out.flows[0];
    assert_eq!(f.completed, Some(secs(0.5) + MS(1 + 3 + 4 + 7)));
    // The acknowledgement's 40 bytes: 40 * 8 / 3e6 and / 12e6 s.
    let back = Duration::from_ps(106_666_666 + 26_666_666) + MS(10);
    assert_eq!(f.min_rtt, Some(MS(15) + back));
    assert_eq!((out.packets.sent, out.packets.delivered, out.packets.in_flight), (2, 2, 0));
    assert_eq!(out.data_packets_delivered, 1);
}

/// Poisson arrivals of packets of one size at one link: rho^2 / (2 (1 - rho)) wait.
#[test]
fn one_packet_flows_make_an_m_d_1_queue() {
    for (rho, seconds) in [(0.5, 60.0), (0.8, 60.0)] {
        // A packet takes a millisecond.
        let mut net = Net::pair(law("fixed", &[]), MBPS(12), MS(1));
        net.traffic(Arrivals::Poisson(rho * 1000.0), Sizes::Fixed(packets(1)));
        let net = net.seconds(seconds);
        let out = net.run();
        let (l, seconds) = (&out.links[0], net.setup.duration.secs());
        let found = l.busy.secs() / seconds;
        near(found, rho, 0.02, "M/D/1 utilisation");
        let expected = found * found / (2.0 * (1.0 - found));
        near(l.queue_packets_mean, expected, 0.04, &format!("M/D/1 queue at {rho}"));
    }
}

/// One packet in 1/p lost, at regular distances: 1.22 / sqrt(p).
#[test]
fn newreno_follows_the_root_of_the_loss_rate() {
    let options: &[_] = &[("initial_ssthresh", "20 packets")];
    // With small windows, two effects weigh more: the window rests for the two rounds of a repair,
    // and a part of a packet is never sent.
    for (every, tolerance) in [(100u64, 0.2), (1000, 0.15), (5000, 0.15)] {
        let cycles = 0.61 * (every as f64).sqrt();
        let rtts = (cycles * 25.0) as u32;
        let found = mean_window(("newreno", options), Loss::Every(every), rtts / 4, rtts);
        let expected = 1.2247 * (every as f64).sqrt();
        near(found, expected, tolerance, &format!("NewReno, every {every}th lost"));
    }
    let found = mean_window(("newreno", options), Loss::Random(0.001), 100, 3000);
    near(found, 1.2247 * 1000f64.sqrt(), 0.25, "NewReno, random loss of 0.1 %");
}

/// 1.054 RTT^0.75 / p^0.75 where that is above NewReno's.
#[test]
fn cubic_follows_the_loss_rate_to_the_three_quarters() {
    let options: &[_] = &[("initial_ssthresh", "100 packets")];
    for every in [10_000u64, 30_000] {
        let found = mean_window(("cubic", options), Loss::Every(every), 300, 1000);
        let expected = 1.054 * libm::pow(0.1 * every as f64, 0.75);
        near(found, expected, 0.15, &format!("CUBIC, every {every}th lost"));
    }
    let found = mean_window(("cubic", options), Loss::Random(1e-4), 300, 1500);
    near(found, 1.054 * libm::pow(1000.0, 0.75), 0.3, "CUBIC, random loss of 0.01 %");
    // Where NewReno's window is the larger, CUBIC follows it.
    let found = mean_window(("cubic", options), Loss::Every(100), 100, 500);
    near(found, 12.247, 0.15, "CUBIC, every 100th lost");
}
