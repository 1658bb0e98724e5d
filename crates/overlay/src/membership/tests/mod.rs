//! The membership under random faults, held against its promises.

mod check;
mod net;
mod schedule;

use net::{Fault, Net};

/// A schedule that ended badly must end so again: the seed says all.
#[test]
fn promises_hold_under_random_faults() {
    let count = std::env::var("RATEWIRE_SCHEDULES").ok().and_then(|count| count.parse().ok());
    for seed in 0..count.unwrap_or(2000) {
        if let Err(broken) = schedule::play(seed) {
            panic!("seed {seed}: {broken}");
        }
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
