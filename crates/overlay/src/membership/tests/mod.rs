//! The membership under random faults, held against its promises.

mod check;
mod net;
mod schedule;

use net::{Entry, Fault, Net};

use super::{Event, Service};
use crate::ids::OverlayNodeId;

/// `RATEWIRE_SCHEDULES` sets the number of schedules. The same seed gives the same schedule.
#[test]
fn promises_hold_under_random_faults() {
    let given = std::env::var("RATEWIRE_SCHEDULES").ok();
    let count = given.map_or(2000, |count| count.parse().expect("a number"));
    for seed in 0..count {
        if let Err(broken) = schedule::play(seed) {
            panic!("seed {seed}: {broken}");
        }
    }
}

/// A planted error that does not fit the code any more would never be found.
#[test]
fn planted_errors_fit_the_code() {
    let files = [
        ("change.rs", include_str!("../change.rs")),
        ("clients.rs", include_str!("../clients.rs")),
        ("mod.rs", include_str!("../mod.rs")),
        ("order.rs", include_str!("../order.rs")),
        ("reach.rs", include_str!("../reach.rs")),
        ("table.rs", include_str!("../table.rs")),
    ];
    let mutants: toml::Table = include_str!("mutants.toml").parse().expect("TOML");
    let mutants = mutants["mutant"].as_array().expect("a list");
    assert!(mutants.len() >= 10);
    for mutant in mutants {
        let [name, file, from] =
            ["name", "file", "from"].map(|key| mutant[key].as_str().expect(key));
        let text = files.iter().find(|(name, _)| *name == file).expect("a file").1;
        assert_eq!(text.matches(from).count(), 1, "{name}");
    }
}

#[test]
fn daemons_that_are_cut_off_go_on_and_merge_again() {
    let mut net = Net::line(4);
    net.settle();
    let whole = net.view(0);
    assert!((0..4).all(|node| net.view(node) == whole), "one view of all");
    assert_eq!(whole.1.len(), 4);
    net.fault(&Fault::Cut(1, 2));
    net.settle();
    assert_eq!((net.view(0), net.view(2)), (net.view(1), net.view(3)));
    assert_eq!((net.view(0).1.len(), net.view(2).1.len()), (2, 2));
    net.fault(&Fault::Heal(1, 2));
    net.settle();
    assert_eq!(net.view(0).1.len(), 4);
    net.fault(&Fault::Crash(3));
    net.settle();
    assert_eq!(net.view(0).1.len(), 3);
    net.fault(&Fault::Restart(3));
    net.settle();
    assert!((0..4).all(|node| net.view(node) == net.view(0) && net.view(node).1.len() == 4));
}

/// Others know the state of its last start, whose number is larger.
#[test]
fn a_daemon_that_starts_with_an_earlier_clock_is_in_the_view_of_all() {
    for node in 0..3 {
        let mut net = Net::line(3);
        net.settle();
        for _ in 0..2 {
            net.fault(&Fault::Crash(node));
            net.settle();
            net.fault(&Fault::RestartEarlier(node));
            net.settle();
            let views = [0, 1, 2].map(|node| net.view(node));
            assert!(views.iter().all(|view| *view == views[0] && view.1.len() == 3), "{views:?}");
        }
    }
}

/// Without time passing, and although the daemon in the middle has no member.
#[test]
fn daemons_hurry_while_a_message_waits_for_them() {
    for service in [Service::Causal, Service::Agreed, Service::Safe] {
        let mut net = Net::line(3);
        net.settle();
        let [Some(sender), Some(receiver)] = [0, 2].map(|node| net.connect_client(node)) else {
            panic!("both daemons run");
        };
        net.with(2, |daemon| daemon.join(receiver, 0));
        net.settle();
        net.send(0, sender, service, &[0], false);
        net.settle_at_once();
        let is_message = |entry: &Entry| match entry {
            Entry::Got(delivery) => matches!(delivery.event, Event::Message { .. }),
            _ => false,
        };
        let got = net.record.iter().flat_map(|life| &life.entries);
        assert_eq!(got.filter(|(_, entry)| is_message(entry)).count(), 1, "{service:?}");
    }
}

/// Daemons 3 and 4 come to an overlay of three.
#[test]
fn an_overlay_grows_while_it_runs() {
    let links = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)];
    let mut net = Net::growing(&links, &[3, 3, 3, 5, 5]);
    net.settle();
    let (old, alone) = (net.view(0), net.view(3).1);
    assert_eq!((old.1.len(), alone.len()), (3, 2), "new ones know each other");
    for node in [2, 0] {
        net.fault(&Fault::Learn(node));
        net.settle();
        let views = [0, 1, 2].map(|node| net.view(node));
        assert!(views.iter().all(|view| *view == views[0] && view.1 == old.1), "{views:?}");
        assert!(!net.view(3).1.contains(OverlayNodeId(0)));
    }
    net.fault(&Fault::Learn(1));
    net.settle();
    let views = [0, 1, 2, 3, 4].map(|node| net.view(node));
    assert!(views.iter().all(|view| *view == views[0] && view.1.len() == 5), "{views:?}");
}

#[test]
fn daemons_of_a_view_know_whether_their_terms_are_the_same() {
    let mut net = Net::line(3);
    net.settle();
    let agree = |net: &Net| [0, 1, 2].map(|node| net.member(node).agrees());
    for (node, terms, expected) in
        [(1, 7, [false; 3]), (0, 7, [false; 3]), (2, 7, [true; 3]), (0, 8, [false; 3])]
    {
        net.with(node, |daemon| daemon.set_terms(terms));
        net.settle();
        assert_eq!(agree(&net), expected);
    }
    net.fault(&Fault::Cut(0, 1));
    net.settle();
    assert_eq!(agree(&net), [true; 3], "those that differ are in another view");
}
