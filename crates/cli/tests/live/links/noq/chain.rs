//! A sender, a box, and a receiver behind a slow link.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Network, end};
use crate::lab::{LINK, repeated};

/// Limit of the slow link's queue in bytes, the backlog that pauses, and that which resumes.
const LIMIT: &str = "1000000";
const XOFF: &str = "200kB";
const XON: &str = "100kB";

impl Network {
    /// The laboratory, whose sender has a card of 1 Gbit/s. The router is the box in front of the
    /// slow link.
    pub(super) fn chain(test: &str) -> Option<Network> {
        let network = Network::build(test)?;
        let (s, r) = (network.lab.netns("s"), network.lab.netns("r"));
        network.lab.sh(&format!(
            "tc -n {r} qdisc replace dev right root tbf rate 100mbit burst 8kb limit {LIMIT}
             tc -n {s} qdisc add dev left root tbf rate 1gbit burst 64kb limit 1000000"
        ));
        Some(network)
    }

    /// Ports that pause by frames along the whole way.
    fn pause(&mut self) {
        self.port("r", &format!("--iface right --upstream left --xoff {XOFF} --xon {XON}"));
        self.port("s", "--iface left --obey frames --capacity 1gbit");
    }

    fn drops(&self) -> u64 {
        let all = [("s", "left"), ("r", "right")].map(|(end, iface)| self.qdiscs(end, iface));
        all.iter().flatten().map(|qdisc| qdisc["drops"].as_u64().expect("a count")).sum()
    }

    /// Sends UDP at four times the slow link's rate; gives the rate that passed, and packets lost
    /// on the way.
    fn flood(&self) -> (f64, u64) {
        let server = self.lab.start("d", false, "iperf3 -s -1");
        sleep(Duration::from_millis(500));
        let client = "iperf3 -J -u -b 400M -l 1448 -c 10.7.2.2 -t 3";
        let before = self.lab.queue().bytes;
        let (client, drops, began) =
            (self.lab.start("s", false, client), self.drops(), Instant::now());
        sleep(Duration::from_secs(2));
        let passed = (self.lab.queue().bytes - before) as f64 * 8.0 / began.elapsed().as_secs_f64();
        client.wait_with_output().expect("iperf3 ends");
        end(server);
        (passed, self.drops() - drops)
    }
}

/// UDP does not slow down by itself: a broken implementation drops three packets of four, or sends
/// less than the link carries. A busy machine may let a port wait for milliseconds, in which a card
/// of 1 Gbit/s overflows any small queue.
#[test]
fn a_sender_that_is_paused_fills_a_slow_link_and_loses_next_to_nothing() {
    let Some(mut chain) = Network::chain("noq") else { return };
    let (_, without) = chain.flood();
    assert!(without > 10_000, "without pauses the queue overflows: {without} drops");
    chain.pause();
    let is_good = |(passed, drops): &(f64, u64)| *passed > 0.9 * LINK && drops * 50 < without;
    let (passed, drops) = repeated(|| chain.flood(), is_good);
    let (of_box, of_sender) = (chain.status("r", "right"), chain.status("s", "left"));
    let seen = format!("{passed:.0} bit/s, {drops} of {without} drops\n{of_box:?}\n{of_sender:?}");
    assert!(is_good(&(passed, drops)), "{seen}");
    let (of_box, of_sender) = (of_box.expect("a port"), of_sender.expect("a port"));
    // Each pause of the box is obeyed, unless it repeats one.
    assert!(of_box["pauses_sent"].as_u64() > Some(10), "{seen}");
    assert!(of_sender["pauses_obeyed"].as_u64() > Some(10), "{seen}");
    assert!(of_sender["packets_held"].as_u64() > of_sender["pauses_obeyed"].as_u64(), "{seen}");
    assert_eq!(of_sender["refused"], 0, "{seen}");
}

/// What a port changed is as before, whether it was asked to end, got a signal, or was killed.
#[test]
fn a_port_that_ends_leaves_the_interface_as_it_was() {
    let Some(mut chain) = Network::chain("noqend") else { return };
    let qdisc = |chain: &Network, end: &str| {
        let netns = chain.lab.netns(end);
        let shown =
            Command::new("tc").args(["-n", &netns, "qdisc", "show", "dev", "left"]).output();
        String::from_utf8(shown.expect("tc").stdout).expect("text")
    };
    // At `r` the kernel chose the queueing discipline.
    let before = qdisc(&chain, "r");
    assert!(before.starts_with("qdisc noqueue"), "{before}");
    // The last is killed with the process that would have let the queue go.
    for how in ["detach", "TERM", "HUP", "KILL", "guard"] {
        chain.port("r", "--iface left --obey frames");
        assert!(qdisc(&chain, "r").contains("tbf 5257:"), "{how}");
        let mut port = chain.ports.pop().expect("a port");
        match how {
            "detach" => assert_eq!(chain.lab.live(&["detach"]), "detached: left (noq)\n"),
            "guard" => chain.lab.sh(&format!("pkill -KILL -P {0}; kill -KILL {0}", port.id())),
            how => chain.lab.sh(&format!("kill -{how} {}", port.id())),
        }
        port.wait().expect("it ends");
        if how == "KILL" {
            let is_free = || qdisc(&chain, "r") == before;
            assert!((0..100).any(|_| is_free() || {
                sleep(Duration::from_millis(100));
                false
            }));
        }
        if how == "guard" {
            let said = chain.lab.live(&["status"]);
            assert!(said.contains("left (noq): half attached"), "{said}");
            assert_eq!(chain.lab.live(&["detach", "--iface", "left"]), "detached: left (noq)\n");
        }
        assert_eq!(qdisc(&chain, "r"), before, "{how}");
        assert_eq!(chain.lab.live(&["status"]), "nothing is attached\n", "{how}");
    }
    // A token bucket of the interface's own stays, with a queue of the same size. A port can be
    // started there again.
    let before = qdisc(&chain, "s");
    for _ in 0..2 {
        chain.port("s", "--iface left --obey frames");
        chain.lab.sh(&format!("kill -TERM {}", chain.ports[0].id()));
        chain.ports.pop().expect("a port").wait().expect("it ends");
        let after = qdisc(&chain, "s");
        let (own, queue) = after.split_once('\n').expect("two lines");
        assert_eq!(own.trim_end(), before.trim_end());
        assert!(queue.starts_with("qdisc bfifo") && queue.contains("limit 1000000b"), "{queue}");
    }
}

/// The unit takes all rights from a port but those that it needs.
#[test]
fn a_port_runs_with_the_rights_that_its_unit_leaves() {
    let Some(mut network) = Network::chain("noqrights") else { return };
    let unit = concat!(env!("CARGO_MANIFEST_DIR"), "/../../systemd/ratewire-noq@.service");
    let unit = std::fs::read_to_string(unit).expect("a unit");
    let rights = unit.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet="));
    let rights = rights.expect("it names them").to_lowercase().replace("cap_", "+");
    let set = format!("setpriv --no-new-privs --bounding-set -all,{}", rights.replace(' ', ","));
    for (end, args) in [
        ("r", "--iface right --upstream left --xoff 200kB"),
        ("s", "--iface left --obey frames --capacity 1gbit"),
    ] {
        network.port_under(&set, end, args);
    }
    let (_, drops) = network.flood();
    let states = [network.status("r", "right"), network.status("s", "left")];
    let seen = format!("{states:?}, {drops} drops");
    let [of_box, of_sender] = states.map(|state| state.expect("a port"));
    assert!(of_box["pauses_sent"].as_u64() > Some(0) && of_box["untold"] == 0, "{seen}");
    assert!(of_sender["packets_held"].as_u64() > Some(0), "{seen}");
}
