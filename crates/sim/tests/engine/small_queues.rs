//! TCP Small Queues: what a sender has in the queue of its own host.

use std::sync::Arc;

use ratewire_net::spec::*;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::record::NoRecorder;
use ratewire_sim::{Speed, run_with};
use ratewire_transport::App;
use ratewire_units::{Bytes, Time};

use crate::net::*;

/// Hosts 2 and 3 send to host 4 over routers 0 and 1. The hosts' links, 2 and 4, have 20 Mbit/s,
/// all others 100; round trips are of 40 ms.
fn slow_hosts(law_name: &str, small: Option<bool>, flows: u32) -> Net {
    let mut net = Net::new(law(law_name, &[])).seconds(20.0);
    net.nodes(5);
    net.cable(0, 1, MBPS(100), MS(10));
    for host in [2, 3] {
        net.cable(host, 0, MBPS(20), MS(5));
    }
    net.cable(1, 4, MBPS(100), MS(5));
    for n in 0..flows {
        net.flow(2 + n % 2, 4, App::unlimited()).transport.small_queues = small;
    }
    net
}

const OWN: usize = 2;

/// The longest queue of the first host, its senders' mean round trip in milliseconds, and what
/// share of its link they used.
fn measured(out: &Outcome) -> (u32, f64, f64) {
    let own = &out.links[OWN];
    let rtt = out.flows[0].mean_rtt.expect("it was measured").secs() * 1e3;
    (own.queue_packets_max, rtt, own.busy.secs() / out.ended.since(Time::ZERO).secs())
}

#[test]
fn a_window_does_not_fill_the_queue_of_its_own_host() {
    for name in ["newreno", "cubic", "dctcp", "bbr"] {
        let (queue, rtt, busy) = measured(&slow_hosts(name, None, 1).run());
        assert!(queue <= 12 && rtt < 45.0 && busy > 0.95, "{name}: {queue}, {rtt} ms, {busy}");
    }
    let (queue, rtt, _) = measured(&slow_hosts("newreno", Some(false), 1).run());
    assert!(queue > 1000 && rtt > 500.0, "{queue}, {rtt} ms");
}

#[test]
fn a_law_says_whether_its_senders_keep_queues_small() {
    for (name, small) in
        [("newreno", true), ("xcp", false), ("rcp", false), ("noq", false), ("fixed", false)]
    {
        let own = law(name, &[]);
        assert_eq!(transport().keeps_small_queues(&own), small, "{name}");
        for given in [false, true] {
            let config =
                ratewire_transport::TransportConfig { small_queues: Some(given), ..transport() };
            assert_eq!(config.keeps_small_queues(&own), given);
        }
    }
}

#[test]
fn flows_of_one_host_share_its_link() {
    let out = slow_hosts("newreno", None, 8).run();
    let own: Vec<f64> = out.flows.iter().step_by(2).map(|f| f.delivered.as_f64()).collect();
    let mean = own.iter().sum::<f64>() / 4.0;
    assert!(own.iter().all(|one| (one / mean - 1.0).abs() < 0.15), "{own:?}");
    let (queue, _, busy) = measured(&out);
    assert!(queue <= 4 * 3 && busy > 0.95, "{queue}, {busy}");
}

/// A queue of the host's own that drops packets, and links whose departures nothing foretells.
#[test]
fn queues_are_small_on_any_link_of_a_host() {
    // A packet each 600 us on average, in bursts.
    let trace = Opportunities {
        at: [1, 1, 1, 1, 2, 3].map(MS).to_vec(),
        period: MS(4),
        bytes: Bytes::new(1500),
    };
    let links = [
        ("drop-tail", LinkSpec { limit: Limit::Packets(20), ..LinkSpec::default() }),
        ("codel", LinkSpec { discipline: discipline("codel", &[]), ..LinkSpec::default() }),
        ("fq-codel", LinkSpec { discipline: discipline("fq-codel", &[]), ..LinkSpec::default() }),
        (
            "trace",
            LinkSpec { service: Service::Opportunities(Arc::new(trace)), ..LinkSpec::default() },
        ),
    ];
    for (name, link) in links {
        let mut net = slow_hosts("newreno", None, 4);
        let own = net.link(OWN as u32);
        if let Service::Opportunities(_) = link.service {
            own.service = link.service;
        }
        (own.limit, own.discipline) = (link.limit, link.discipline);
        let (queue, rtt, busy) = measured(&net.run());
        assert!(queue <= 12 && rtt < 46.0 && busy > 0.9, "{name}: {queue}, {rtt} ms, {busy}");
    }
}

#[test]
fn a_change_of_the_hosts_link_is_noticed() {
    let mut net = slow_hosts("newreno", None, 1);
    let own = LinkId(OWN as u32);
    net.setup.changes = vec![
        (secs(5.0), own, Change::Rate(MBPS(2))),
        (secs(10.0), own, Change::Rate(MBPS(40))),
        (secs(15.0), own, Change::Up(false)),
        (secs(15.5), own, Change::Up(true)),
    ];
    let out = net.run();
    assert!(out.links[OWN].queue_packets_max <= 20, "{}", out.links[OWN].queue_packets_max);
    let mbit = out.flows[0].delivered.as_f64() * 8e-6;
    // 5 s at 20, 5 s at 2, and 9.5 s at 40 Mbit/s as soon as its window has grown.
    assert!((400.0..490.0).contains(&mbit), "{mbit}");
}

/// Where windows are spread over the round trip, no sender ever waits, and no event tells of it.
#[test]
fn a_short_queue_costs_no_event() {
    let events = |small| {
        let mut net = slow_hosts("newreno", Some(small), 1);
        net.setup.laws = vec![law("newreno", &[("initial_window", "2 packets")])];
        net.link(OWN as u32).service = Service::Rate(MBPS(1000));
        net.run().events
    };
    assert_eq!(events(true), events(false));
}

/// A host with two cables looks for its packets in the queue of its own link, from which all go to
/// one other link.
#[test]
fn a_host_with_two_cables_sees_its_packets_though_links_are_merged() {
    for is_host in [true, false] {
        let mut net = Net::new(law("newreno", &[])).seconds(5.0);
        net.nodes(4);
        net.setup.network.nodes[0].is_host = is_host;
        net.cable(0, 1, MBPS(10), MS(5));
        net.cable(1, 2, MBPS(100), MS(5));
        net.cable(0, 3, MBPS(10), MS(5));
        net.flow(0, 2, App::unlimited()).transport.small_queues = Some(true);
        let at = |speed| {
            let out = run_with(&net.setup, &mut NoRecorder, speed).expect("it runs");
            format!("{:?}", Outcome { events: 0, ..out })
        };
        assert_eq!(at(Speed::full()), at(Speed::off()), "{is_host}");
    }
}
