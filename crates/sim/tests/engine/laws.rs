//! Promises of laws: they work alike at any scale and speed, and equal flows end with equal shares.

use ratewire_laws::options::OptionKind;
use ratewire_laws::{AnyLaw, Promises, list};
use ratewire_net::spec::{Limit, Service};
use ratewire_transport::App;
use ratewire_units::{Bytes, Rate};

use crate::net::*;

/// Rate of a network and size of its packets, in multiples of 20 Mbit/s and 1000 bytes.
#[derive(Clone, Copy)]
struct Scale {
    rate: u64,
    packet: u64,
}

const CAPACITY: u64 = 20_000_000;

/// The law with each rate and each size among its options multiplied by the scale.
fn scaled(name: &str, scale: Scale) -> AnyLaw {
    let options = ratewire_laws::find(name).unwrap().options.iter();
    let scaled = options.filter_map(|option| {
        let value = match option.kind {
            OptionKind::Rate(_) => {
                format!("{} bit/s", option.default.parse::<Rate>().ok()?.bps() * scale.rate)
            }
            OptionKind::Size(_) => {
                format!("{} B", option.default.parse::<Bytes>().ok()?.get() * scale.packet)
            }
            _ => return None,
        };
        Some((option.name, value))
    });
    let scaled: Vec<_> = scaled.collect();
    law(name, &scaled.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>())
}

/// `n` pairs of hosts, whose flows start a second apart, and a bottleneck between them. The round
/// trip is 40 ms, and the queue holds the bandwidth-delay product.
fn dumbbell(name: &str, n: u32, scale: Scale) -> Net {
    let law = scaled(name, scale);
    let (header, ecn) = (law.header_len().get(), law.marks());
    let rate = Rate::from_bps(CAPACITY * scale.rate);
    let mut net = Net::new(law);
    net.nodes(2 * n + 2);
    let [left, right] = [2 * n, 2 * n + 1];
    let bottleneck = net.cable(left, right, rate, MS(10));
    net.link(bottleneck).limit = Limit::Packets((100 * scale.rate / scale.packet) as u32);
    for pair in 0..n {
        for [a, b] in [[pair, left], [right, n + pair]] {
            net.cable(a, b, Rate::from_bps(rate.bps() * 10), MS(5));
        }
        let flow = net.flow(pair, n + pair, App::unlimited());
        flow.start = secs(f64::from(pair));
        flow.transport.ecn = ecn;
        flow.transport.packet = Bytes::new(1000 * scale.packet);
        // The law's own header does not scale, so the other headers make up for it.
        let others = Bytes::new((40 + header) * scale.packet - header);
        flow.transport.headers = others;
        flow.transport.ack = others;
    }
    net
}

/// A dumbbell that shows the law alone. There are no losses, which all laws answer packet by
/// packet. There is a handshake: without one, a flow knows no RTT, and has four packets outstanding
/// in its first.
fn undisturbed(name: &str, n: u32, rate: u64) -> Net {
    let mut net = dumbbell(name, n, Scale { rate, packet: 1 });
    for link in &mut net.setup.network.links {
        link.limit = Limit::Unlimited;
    }
    for flow in &mut net.setup.flows {
        flow.transport.handshake = true;
    }
    net
}

/// Share of the bottleneck that each flow has in each quarter of a second.
fn trajectory(net: Net) -> Vec<f64> {
    let mut net = net.seconds(4.0);
    let Service::Rate(capacity) = net.setup.network.links[0].service else { unreachable!() };
    net.setup.sample_interval = Some(MS(250));
    let (_, log) = net.log();
    let all = capacity.throughput().get() * 0.25;
    log.flows.iter().map(|sample| sample.delivered.as_f64() / all).collect()
}

/// Largest distance of two trajectories.
fn distance(a: Net, b: Net) -> f64 {
    let [a, b] = [a, b].map(trajectory);
    assert!(a.len() == b.len() && a.iter().sum::<f64>() > 5.0, "{a:?} and {b:?}");
    a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Names of the laws with this promise.
fn laws_with(promise: fn(&Promises) -> bool) -> Vec<&'static str> {
    let keeps = |name: &&str| promise(&law(name, &[]).promises());
    list().iter().map(|info| info.name).filter(keeps).collect()
}

/// Rates, packets and sizes are four times as large: no law depends on the size of a byte. With a
/// factor of four, the rounding of numbers scales as well.
#[test]
fn capacity_rates_and_packets_scale_together() {
    for name in laws_with(|promises| promises.any_scale) {
        let [one, four] = [1, 4].map(|k| dumbbell(name, 3, Scale { rate: k, packet: k }));
        let found = distance(one, four);
        println!("{name}: {found:.4}");
        // The tolerance is a packet in a quarter of a second.
        assert!(
            found <= 1000.0 / (0.25 * CAPACITY as f64 / 8.0),
            "{name} promises any_scale, but its course differs by {found} with all four times as \
             large: take the promise back in its invariants, or mend the law"
        );
    }
}

/// The packets do not scale, so the trajectories differ by the grain of packets.
#[test]
fn capacity_and_rates_scale_but_for_the_grain_of_packets() {
    for name in laws_with(|promises| promises.any_speed) {
        let [slow, fast] = [5, 20].map(|rate| undisturbed(name, 3, rate));
        let found = distance(slow, fast);
        println!("{name}: {found:.4}");
        assert!(
            found < 0.01,
            "{name} promises any_speed, but its course differs by {found} at four times the rate: \
             take the promise back in its invariants, or mend the law"
        );
    }
}

#[test]
fn equal_flows_end_equal() {
    for name in laws_with(|promises| promises.equal_shares) {
        for n in [2, 5, 8] {
            let mut net = undisturbed(name, n, 2).seconds(60.0);
            net.setup.sample_interval = Some(MS(10_000));
            let (_, log) = net.log();
            let last: Vec<f64> =
                log.flows.iter().rev().take(n as usize).map(|s| s.delivered.as_f64()).collect();
            let mean = last.iter().sum::<f64>() / f64::from(n);
            let worst = last.iter().map(|share| (share / mean - 1.0).abs()).fold(0.0, f64::max);
            println!("{name}, {n} flows: {worst:.4}");
            assert!(
                worst < 0.05,
                "{name} promises equal_shares, but {n} equal flows end with {last:?} bytes: if that \
                 is the law's nature, return Promises {{ equal_shares: false, .. }} in its invariants"
            );
        }
    }
}
