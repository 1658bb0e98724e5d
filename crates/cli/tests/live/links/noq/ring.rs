//! Three boxes in a ring, each of which sends to the one after the next.

use std::io::Read;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::{Network, end, wait_for};

/// The boxes: name, egress, ingress, the address to which it sends, and the addresses of Ethernet
/// at egress and ingress.
const RING: [[&str; 6]; 3] = [
    ["s", "left", "back", "10.7.2.2", "02:00:00:00:00:01", "02:00:00:00:00:06"],
    ["r", "right", "left", "10.7.3.2", "02:00:00:00:00:03", "02:00:00:00:00:02"],
    ["d", "back", "right", "10.7.1.2", "02:00:00:00:00:05", "02:00:00:00:00:04"],
];

/// Sends datagrams without end; waits while the socket's buffer is full.
const FLOOD: &str = r#"import socket, sys
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True: to.sendto(bytes(1400), (sys.argv[1], 9))"#;

impl Network {
    /// The laboratory, with a cable from the receiver back to the sender.
    fn ring() -> Option<Network> {
        let network = Network::build("noqring")?;
        let lab = &network.lab;
        let [s, r, d] = ["s", "r", "d"].map(|end| lab.netns(end));
        // Addresses of Ethernet are known: questions for them would wait in the held queues.
        lab.sh(&format!(
            "ip link add back netns {d} type veth peer name back netns {s}
             ip -n {d} addr add 10.7.3.1/24 dev back; ip -n {s} addr add 10.7.3.2/24 dev back
             ip -n {d} link set back up; ip -n {s} link set back up
             ip -n {r} route add 10.7.3.0/24 via 10.7.2.2
             ip -n {d} route add 10.7.1.2/32 via 10.7.3.2
             ip -n {s} neigh replace 10.7.1.2 lladdr 02:00:00:00:00:02 dev left nud permanent
             ip -n {r} neigh replace 10.7.2.2 lladdr 02:00:00:00:00:04 dev right nud permanent
             ip -n {d} neigh replace 10.7.3.2 lladdr 02:00:00:00:00:06 dev back nud permanent"
        ));
        for [name, egress, ingress, _, from, to] in RING {
            let netns = lab.netns(name);
            lab.sh(&format!(
                "ip -n {netns} link set {egress} address {from}
                 ip -n {netns} link set {ingress} address {to}
                 nsenter --net=/var/run/netns/{netns} sysctl -qw net.ipv4.ip_forward=1 \
                     net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.{ingress}.rp_filter=0
                 tc -n {netns} qdisc replace dev {egress} root tbf rate 20mbit burst 8kb limit 1000000"
            ));
        }
        Some(network)
    }

    /// Bytes that have left each box.
    fn sent(&self) -> [u64; 3] {
        RING.map(|[name, egress, ..]| {
            let all = self.qdiscs(name, egress);
            let root = all.iter().find(|qdisc| qdisc["root"] == true).expect("a root");
            root["bytes"].as_u64().expect("a count")
        })
    }

    /// State of the three ports.
    fn states(&self) -> [Value; 3] {
        RING.map(|[name, egress, ..]| self.status(name, egress).unwrap_or_default())
    }
}

/// Each box is full of its own packets and of those that it forwards, and pauses the one before it.
/// No packet can ever leave.
#[test]
fn a_ring_that_waits_for_itself_is_told_with_who_holds_whom() {
    let Some(mut network) = Network::ring() else { return };
    for [name, egress, ingress, ..] in RING {
        let port = format!("--iface {egress} --upstream {ingress} --obey frames");
        network.port(name, &format!("{port} --capacity 100mbit --xoff 60kB --xon 30kB"));
    }
    let floods: Vec<Child> = RING
        .map(|[name, _, _, to, ..]| {
            network.lab.start(name, false, &format!("python3 -c '{FLOOD}' {to}"))
        })
        .into();
    // A busy machine may repeat a pause too late, and some packets leave between two.
    let stuck = wait_for(|| {
        let before = network.sent();
        sleep(Duration::from_secs(2));
        let states = network.states();
        let is_stuck = |port: &Value| port["standing_seconds"].as_f64() >= Some(1.0);
        let stand = network.sent() == before && states.iter().all(is_stuck);
        stand.then_some(states)
    });
    let stuck = stuck.unwrap_or_else(|| panic!("packets leave: {:?}", network.states()));
    for (at, port) in stuck.iter().enumerate() {
        let [_, _, ingress, ..] = RING[at];
        let [_, _, _, _, _, next] = RING[(at + 1) % 3];
        assert_eq!([&port["is_held"], &port["is_pausing"]], [true, true], "{port}");
        assert_eq!(port["held_by"], next, "{port}");
        assert_eq!(port["upstream"], serde_json::json!([ingress]), "{port}");
    }
    let said = network.lab.live(&["status"]);
    let told = "02:00:00:00:00:04 holds it, and it pauses left: perhaps queues in a ring wait";
    assert!(said.contains(told), "{said}");
    // It stands without senders, too. One port less, whose packets are lost, and the others move.
    floods.into_iter().for_each(end);
    let before = network.sent();
    sleep(Duration::from_secs(1));
    assert_eq!(network.sent(), before, "{:?}", network.states());
    let ratewire = env!("CARGO_BIN_EXE_ratewire");
    let args = ["live", "detach", "--iface", "back"];
    let ended = network.lab.at("d", ratewire).args(args).output().expect("it starts");
    assert!(ended.status.success(), "{ended:?}");
    let moves = || {
        let sent = network.sent();
        (sent[0] > before[0] && sent[1] > before[1]).then_some(())
    };
    assert!(wait_for(moves).is_some(), "{:?}", network.states());
    let mut port = network.ports.remove(1);
    network.lab.sh(&format!("kill -TERM {}", port.id()));
    let mut log = String::new();
    port.stderr.take().expect("a pipe").read_to_string(&mut log).expect("text");
    port.wait().expect("it ends");
    let says = |what: &str| log.contains(what);
    assert!(says(told) && says("right: packets leave again"), "{log}");
}
