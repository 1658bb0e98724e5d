//! Figure 7 of the paper: three hosts share a slow link in thirds, because its queue serves its
//! inputs in turn.

use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Network, end};
use crate::lab::LINK;

/// Senders' namespaces in front of the box, and its interfaces to them.
const INPUTS: [(&str, &str); 3] = [("s", "left"), ("s2", "left2"), ("s3", "left3")];

impl Network {
    /// The laboratory with three senders, whose cards have 1 Gbit/s. The box has a class for each,
    /// and serves classes in turn.
    fn star(test: &str) -> Option<Network> {
        let mut network = Network::build(test)?;
        let lab = &network.lab;
        let r = lab.netns("r");
        lab.sh(&format!(
            "tc -n {r} qdisc del dev right root
             tc -n {r} qdisc add dev right root handle 1: htb default 10
             tc -n {r} class add dev right parent 1: classid 1:1 htb rate 100mbit burst 8kb cburst 8kb
             tc -n {r} class add dev right parent 1:1 classid 1:10 htb rate 1mbit ceil 100mbit quantum 10000"
        ));
        for (at, (name, iface)) in INPUTS.into_iter().enumerate() {
            let (netns, class, net) = (lab.netns(name), at + 11, at + 4);
            if name != "s" {
                network.others.push(name);
                lab.sh(&format!(
                    "ip netns add {netns}; ip -n {netns} link set lo up
                     ip link add left netns {netns} type veth peer name {iface} netns {r}
                     ip -n {netns} addr add 10.7.{net}.1/24 dev left; ip -n {r} addr add 10.7.{net}.2/24 dev {iface}
                     ip -n {netns} link set left up; ip -n {r} link set {iface} up
                     ip -n {netns} route add default via 10.7.{net}.2"
                ));
            }
            lab.sh(&format!(
                "tc -n {netns} qdisc add dev left root tbf rate 1gbit burst 8kb limit 1000000
                 tc -n {r} class add dev right parent 1:1 classid 1:{class} htb rate 1kbit ceil 100mbit \
                     burst 2kb cburst 8kb quantum 10000
                 tc -n {r} qdisc add dev right parent 1:{class} bfifo limit 1000000
                 tc -n {r} filter add dev right parent 1: protocol all prio 1 u32 match u32 0 0 \
                     indev {iface} flowid 1:{class}"
            ));
        }
        Some(network)
    }

    /// Bytes that have left the class of each input, and packets that were dropped in them.
    fn served(&self) -> ([u64; 3], u64) {
        let all = self.qdiscs("r", "right");
        let count = |class: String, name: &str| {
            let queue = all.iter().find(|qdisc| qdisc["parent"] == class.as_str());
            queue.expect("a queue")[name].as_u64().expect("a count")
        };
        let classes = [0, 1, 2].map(|at| format!("1:{}", at + 11));
        let drops = classes.iter().map(|class| count(class.clone(), "drops")).sum();
        (classes.map(|class| count(class, "bytes")), drops)
    }
}

/// What each input got of the link while all three sent.
#[derive(Debug)]
struct Turns {
    shares: [f64; 3],
    utilisation: f64,
}

impl Turns {
    fn is_good(&self) -> bool {
        let are_thirds = self.shares.iter().all(|share| (share * 3.0 - 1.0).abs() < 0.02);
        are_thirds && self.utilisation > 0.9
    }
}

/// Three hosts send to the receiver, the first by three connections and the others by one. Gives
/// the packets that the box has dropped so far, too.
fn share(network: &Network) -> (Turns, u64) {
    let start = |end: &str, program: String| network.lab.start(end, false, &program);
    let ports = [5201, 5202, 5203];
    let servers = ports.map(|port| start("d", format!("iperf3 -s -1 -p {port}")));
    sleep(Duration::from_millis(500));
    let clients: Vec<Child> = INPUTS
        .into_iter()
        .zip(ports)
        .map(|((name, _), port)| {
            let parallel = if name == "s" { 3 } else { 1 };
            start(name, format!("iperf3 -c 10.7.2.2 -p {port} -t 8 -P {parallel}"))
        })
        .collect();
    sleep(Duration::from_secs(3));
    let ((before, _), began) = (network.served(), Instant::now());
    sleep(Duration::from_secs(4));
    let ((after, drops), took) = (network.served(), began.elapsed().as_secs_f64());
    clients.into_iter().chain(servers).for_each(end);
    let got = [0, 1, 2].map(|at| (after[at] - before[at]) as f64);
    let all: f64 = got.iter().sum();
    let turns = Turns { shares: got.map(|got| got / all), utilisation: all * 8.0 / took / LINK };
    (turns, drops)
}

/// In the order of arrival, three connections would get more than one.
#[test]
fn a_box_that_serves_its_inputs_in_turn_gives_each_host_a_third() {
    let Some(mut network) = Network::star("noqturns") else { return };
    let upstream = "--upstream left/1:11 --upstream left2/1:12 --upstream left3/1:13";
    network.port("r", &format!("--iface right {upstream} --capacity 1gbit --xoff 200kB"));
    for (name, _) in INPUTS {
        network.port(name, "--iface left --obey frames --capacity 1gbit");
    }
    let mut tried = Vec::new();
    // Other programs also keep senders from running, which does not count as stolen time.
    let is_good = (0..4).any(|_| {
        tried.push(share(&network));
        tried.last().is_some_and(|(turns, _)| turns.is_good())
    });
    println!("{tried:?}");
    assert!(is_good, "{tried:?}\n{:?}", network.status("r", "right"));
    // A connection that is alone may take longer to fill its class.
    let port = network.status("s", "left").expect("a port");
    assert!(port["pauses_obeyed"].as_u64() > Some(10), "{port}");
}

/// A class that is not there, and one whose queue is shorter than what pauses.
#[test]
fn a_port_that_could_not_pause_in_time_says_so() {
    let Some(network) = Network::star("noqwrong") else { return };
    let port = ["live", "router", "--law", "noq", "--iface", "right", "--upstream"];
    for (upstream, xoff, says) in [
        ("left/1:99", "200kB", "class 1:99 at right has no queue of its own"),
        ("left/1:11", "1MB", "--xoff is 1 MB, and the queue at right has room for 1 MB"),
    ] {
        let done = network.lab.ratewire(&[&port[..], &[upstream, "--xoff", xoff]].concat());
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(5), "{said}");
        assert!(said.contains(says) && said.contains("help: "), "{said}");
    }
}
