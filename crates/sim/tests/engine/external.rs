//! A law behind a pointer gives the same runs as the same law in the enum.

use ratewire_laws::AnyLaw;
use ratewire_net::spec::Limit;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::setup::Follow;
use ratewire_transport::App;

use crate::net::*;
use crate::outside;

/// Three flows through a narrow link, one of them in the other direction; some packets are lost.
fn run(law: AnyLaw, exact_wire: bool) -> (Outcome, Log) {
    let mut net = Net::new(law);
    net.nodes(4);
    net.cable(0, 1, MBPS(50), MS(2));
    let narrow = net.cable(1, 2, MBPS(10), MS(10));
    net.cable(2, 3, MBPS(50), MS(2));
    net.link(narrow).limit = Limit::Packets(3);
    for (i, (from, to)) in [(0, 3), (0, 3), (3, 0)].into_iter().enumerate() {
        let flow = net.flow(from, to, App::unlimited());
        flow.start = secs(i as f64);
        flow.transport.handshake = i == 0;
    }
    net.setup.exact_wire = exact_wire;
    net.setup.sample_interval = Some(MS(100));
    net.setup.follow = Follow { in_turn: true, asked: None };
    net.seconds(5.0).log()
}

#[test]
fn a_law_behind_a_pointer_gives_the_same_runs() {
    let mut outcomes = Vec::new();
    for exact_wire in [false, true] {
        let (inside, log) = run(law("rcp", &[]), exact_wire);
        let (outside, other) = run(outside::law(), exact_wire);
        assert!(inside.packets.dropped > 0 && inside.data_packets_delivered > 3000, "{inside:?}");
        assert_eq!(format!("{inside:?}"), format!("{outside:?}"));
        let explained = |log: &Log| -> Vec<String> {
            let all = log.followed.iter();
            all.map(|one| format!("{:?} {:?} {:?}", one.sent, one.bound(), one.reason)).collect()
        };
        assert!(log.followed.len() > 20, "{}", log.followed.len());
        assert_eq!(explained(&log), explained(&other));
        outcomes.push(format!("{inside:?}"));
    }
    assert_ne!(outcomes[0], outcomes[1], "rates are rounded to 64 B/s on the wire");
}
