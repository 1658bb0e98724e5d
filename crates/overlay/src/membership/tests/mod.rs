//! The membership under random faults, held against its promises.

mod check;
mod net;
mod schedule;
mod sets;

use std::sync::Arc;

use net::{Entry, Fault, Net};

use super::{Cause, Client, Delivery, Event, LinkMessage, Proposal, Service, ViewId};
use crate::ids::{NodeSet, OverlayNodeId};

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
        ("delivering.rs", include_str!("../delivering.rs")),
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

/// Sets are in the order of the coordinators of the views that members come from, not of the views'
/// numbers: the part of daemons 0 and 1 has had more views when it meets 2 and 3.
#[test]
fn all_members_are_told_the_same_sets_in_the_same_order() {
    let mut net = Net::line(4);
    net.settle();
    let clients: Vec<Client> = (0..4)
        .map(|node| {
            let id = net.connect_client(node).expect("it runs");
            net.with(node, |daemon| daemon.join(id, 0));
            Client { node: OverlayNodeId(node as u8), id }
        })
        .collect();
    net.settle();
    net.fault(&Fault::Cut(1, 2));
    net.settle();
    for fault in [Fault::Cut(0, 1), Fault::Heal(0, 1)] {
        net.fault(&fault);
        net.settle();
    }
    assert!(net.view(0).0 > net.view(2).0);
    net.fault(&Fault::Heal(1, 2));
    net.settle();
    let expected = vec![clients[..2].to_vec(), clients[2..].to_vec()];
    for (life, place) in net.record.iter().zip([0, 0, 1, 1]) {
        let last = life.entries.iter().rev().find_map(|(_, entry)| match entry {
            Entry::Got(Delivery { event: Event::View { cause, .. }, .. }) => Some(cause.clone()),
            _ => None,
        });
        assert_eq!(last, Some(Cause::Network { sets: expected.clone(), own: place }));
    }
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

/// Neither part of the network knows which number the start in the other has taken.
#[test]
fn starts_with_an_earlier_clock_in_two_parts_of_a_network_take_two_numbers() {
    let mut net = Net::line(3);
    net.settle();
    for faults in [
        [Fault::Cut(0, 1), Fault::Cut(1, 2)],
        [Fault::Crash(1), Fault::Heal(0, 1)],
        [Fault::RestartEarlier(1), Fault::Crash(1)],
        [Fault::Cut(0, 1), Fault::Heal(1, 2)],
        [Fault::RestartEarlier(1), Fault::Heal(0, 1)],
    ] {
        for fault in &faults {
            net.fault(fault);
            net.settle();
        }
    }
    assert_eq!(check::check(&net), Ok(()));
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
        let edges = net.known_edges(node);
        net.with(node, |daemon| daemon.know(edges, vec![0; 3], terms));
        net.settle();
        assert_eq!(agree(&net), expected);
    }
    net.fault(&Fault::Cut(0, 1));
    net.settle();
    assert_eq!(agree(&net), [true; 3], "those that differ are in another view");
}

/// The first three have read of daemon 3, but not the same.
#[test]
fn daemons_that_know_different_things_of_a_new_one_go_on_without_it() {
    let mut net = Net::growing(&[(0, 1), (1, 2), (0, 2), (1, 3), (2, 3)], &[3, 3, 3, 4]);
    net.settle();
    for node in 0..3 {
        net.fault(&Fault::Learn(node));
    }
    for (fingerprints, members) in [([7, 7, 8, 7], 3), ([7, 7, 7, 7], 4)] {
        for (node, last) in fingerprints.into_iter().enumerate() {
            let edges = net.known_edges(node);
            net.with(node, |daemon| daemon.know(edges, vec![1, 2, 3, last], 0));
        }
        net.settle();
        let views = [0, 1, 2].map(|node| net.view(node));
        assert!(views.iter().all(|view| *view == views[0]), "{views:?}");
        assert_eq!((views[0].1.len(), net.view(3).1.len()), (members, 1 + 3 * (members - 3)));
    }
}

/// Another could be one that nobody knows, and the coordinator's name is shown.
#[test]
fn only_the_first_daemon_of_a_view_proposes_it() {
    let mut net = Net::line(2);
    net.settle();
    let [first, second] = [0, 1].map(OverlayNodeId);
    let mut state = net.member(1).reach.state(first).expect("it is known").clone();
    state.version += 1;
    net.with(1, |daemon| daemon.receive(first, LinkMessage::LinkState(Arc::new(state))));
    let topology = net.member(1).reach.topology(&NodeSet::first(2));
    for (number, coordinator) in [(98, OverlayNodeId(9)), (99, second), (100, first)] {
        let id = ViewId { number, coordinator, incarnation: 1 };
        let proposal = Arc::new(Proposal { id, topology: topology.clone() });
        net.with(1, |daemon| daemon.receive(first, LinkMessage::Propose(proposal)));
        assert_eq!(net.member(1).is_changing(), coordinator == first);
    }
}
