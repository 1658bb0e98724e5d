//! Daemons that are killed, links that are cut and a mesh that grows, while clients send: the
//! daemon's promises, held against what the clients saw.
//!
//! `RATEWIRE_FAULT_SECONDS` sets how long faults go on (60 by default), and `RATEWIRE_FAULT_SEED`
//! which faults.

mod client;
mod cluster;
mod history;

use std::rc::Rc;
use std::time::Duration;

use cluster::Cluster;
use history::History;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const DAEMONS: usize = 5;
const CLIENTS: usize = 20;
/// Limit of every wait: it only keeps a test that fails from hanging.
const PATIENCE: Duration = Duration::from_secs(300);

fn number(variable: &str, usual: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(usual, |given| given.parse().expect("a number"))
}

/// What clients do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// They send, and daemons fail.
    Faults,
    /// Nothing fails any more: each waits for a view of all, and sends a last message.
    End,
}

#[test]
fn promises_hold_while_daemons_are_killed_and_links_are_cut() {
    let (seconds, seed) = (number("RATEWIRE_FAULT_SECONDS", 60), number("RATEWIRE_FAULT_SEED", 1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let histories = tokio::task::LocalSet::new().block_on(&runtime, run(seconds, seed));
    let messages: usize = histories.iter().map(History::messages).sum();
    let views: usize = histories.iter().map(History::views).sum();
    println!("{} connections, {views} views, {messages} messages", histories.len());
    if let Err(broken) = history::check(&histories) {
        panic!("seed {seed}: {broken}");
    }
}

async fn run(seconds: u64, seed: u64) -> Vec<History> {
    let mut cluster = Cluster::start(DAEMONS).await;
    let (phase, watched) = tokio::sync::watch::channel(Phase::Faults);
    let (mut clients, done) = (tokio::task::JoinSet::new(), client::Done::default());
    for number in 0..CLIENTS {
        let address = cluster.address(number % DAEMONS);
        clients.spawn_local(client::live(number, address, watched.clone(), Rc::clone(&done)));
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..seconds {
        let step = random.next_u64() as usize;
        let pause = Duration::from_millis(200 + random.next_u64() % 1600);
        cluster.fail(step).await;
        tokio::time::sleep(pause).await;
    }
    cluster.heal().await;
    phase.send(Phase::End).expect("clients live");
    let ended = tokio::time::timeout(PATIENCE, clients.join_all()).await;
    ended.expect("all clients come together and get all last messages").concat()
}
