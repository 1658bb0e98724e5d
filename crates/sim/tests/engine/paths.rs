//! Routes of packets.

use ratewire_net::spec::*;
use ratewire_sim::setup::Multipath;
use ratewire_sim::{RunError, SetupError};
use ratewire_transport::{App, Jitter, PauseAfter, Writer};

use crate::net::*;

/// A diamond: 0 - 1 - {2, 3} - 4 - 5, with two equally long paths. Links 2 and 4 lead to nodes 2
/// and 3.
fn diamond() -> Net {
    let mut net = Net::new(law("fixed", &[("window", "1000 packets")]));
    net.nodes(6);
    for (a, b) in [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)] {
        net.cable(a, b, MBPS(100), MS(1));
    }
    net
}

#[test]
fn flows_are_spread_over_paths_of_equal_cost_and_each_keeps_to_its_own() {
    let mut net = diamond();
    (0..200).for_each(|_| {
        net.flow(0, 5, App::sized(packets(3)));
    });
    let out = net.run();
    let (one, other) = (out.links[2].packets, out.links[4].packets);
    assert_eq!(one + other, 600);
    assert!(one % 3 == 0 && one.abs_diff(300) < 75, "{one} and {other}");
    assert!(out.flows.iter().all(|f| f.completed.is_some()));
}

#[test]
fn a_given_path_wins_and_holds_for_its_direction() {
    let mut net = diamond();
    net.setup.paths = vec![[0, 1, 3, 4, 5].map(NodeId).to_vec()];
    (0..20).for_each(|_| {
        net.flow(0, 5, App::sized(packets(1)));
    });
    let out = net.run();
    assert_eq!((out.links[2].packets, out.links[4].packets), (0, 20));
    assert!(out.links[3].packets > 0 && out.links[5].packets > 0, "acknowledgements as they like");
}

/// Packets of one flow over node 2, of 600.
fn via_node_2(multipath: Multipath, app: App, seed: u64) -> u64 {
    let mut net = diamond();
    net.flow(0, 5, app);
    net.setup.multipath = multipath;
    net.setup.seed = seed;
    let out = net.run();
    assert_eq!(out.links[2].packets + out.links[4].packets, 600);
    assert!(out.flows[0].completed.is_some());
    out.links[2].packets
}

#[test]
fn packets_of_one_flow_are_spread_over_paths_if_so_asked() {
    let all = || App::sized(packets(600));
    for seed in [1, 2] {
        assert!([0, 600].contains(&via_node_2(Multipath::Flow, all(), seed)));
        let two = via_node_2(Multipath::Packet, all(), seed);
        assert!((250..350).contains(&two), "{two}");
    }
    assert_ne!(via_node_2(Multipath::Packet, all(), 1), via_node_2(Multipath::Packet, all(), 2));
}

#[test]
fn flowlets_keep_to_a_path() {
    // Bursts of ten packets, 20 ms after the last of each is acknowledged.
    let bursts = || {
        let writer = Writer::OnOff {
            burst: packets(10).into(),
            pause: MS(20).into(),
            pause_after: PauseAfter::Acknowledged,
            count: Some(60),
        };
        App { writer, ..App::unlimited() }
    };
    let two = via_node_2(Multipath::Flowlet(MS(10)), bursts(), 1);
    assert!(two.is_multiple_of(10) && (200..400).contains(&two), "{two}");
    let two = via_node_2(Multipath::Flowlet(MS(100)), bursts(), 1);
    assert!([0, 600].contains(&two), "{two}");
}

#[test]
fn the_seed_chooses_among_paths_of_equal_cost() {
    let over = |seed| {
        let mut net = diamond();
        (0..20).for_each(|_| {
            net.flow(0, 5, App::sized(packets(1))).transport.jitter = Jitter::NONE;
        });
        net.setup.seed = seed;
        assert!(net.setup.has_chance());
        net.run().links[2].packets
    };
    let seeds: Vec<u64> = (1..=5).map(over).collect();
    assert_eq!(over(1), seeds[0]);
    assert!(seeds.iter().any(|packets| *packets != seeds[0]), "{seeds:?}");
    let mut one_way = diamond();
    one_way.flow(0, 2, App::unlimited()).transport.jitter = Jitter::NONE;
    assert!(!one_way.setup.has_chance());
}

fn refused(net: &Net) -> SetupError {
    match ratewire_sim::run(&net.setup, &mut ratewire_sim::record::NoRecorder) {
        Err(RunError::Setup(e)) => e,
        other => panic!("{other:?}"),
    }
}

#[test]
fn setups_without_a_way_are_refused_before_they_start() {
    let mut net = diamond();
    net.flow(2, 2, App::unlimited()).start = secs(1e6);
    assert_eq!(refused(&net), SetupError::ToItself(NodeId(2)));

    let mut net = diamond();
    net.nodes(1);
    net.flow(0, 6, App::unlimited());
    assert_eq!(refused(&net), SetupError::NoRoute(NodeId(0), NodeId(6)));

    let mut net = diamond();
    net.setup.network.links.truncate(1);
    net.flow(0, 1, App::unlimited());
    assert_eq!(refused(&net), SetupError::NoRoute(NodeId(1), NodeId(0)), "no way back");

    let mut net = diamond();
    net.setup.paths = vec![[0, 4].map(NodeId).to_vec()];
    assert_eq!(refused(&net), SetupError::NoLink(NodeId(0), NodeId(4)));
    assert!(refused(&net).to_string().contains("but no link connects them"));
}
