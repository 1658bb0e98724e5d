//! Connections that take part, by the system's setting or by their interface.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::pauses::READER;
use crate::lab::{LINK, Lab};

/// iperf3's report about a connection.
fn connect(lab: &Lab, [client, server]: [&str; 2], to: &str, takes_part: bool) -> Value {
    let mut listening = lab.start(server, takes_part, "iperf3 -s -1 -p 5201");
    sleep(Duration::from_millis(500));
    let sending = lab.start(client, takes_part, &format!("iperf3 -J -c {to} -p 5201 -t 2"));
    let done = sending.wait_with_output().expect("iperf3 ends");
    let _ = listening.kill();
    let _ = listening.wait();
    serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON")
}

fn control(report: &Value) -> &str {
    report["end"]["sender_tcp_congestion"].as_str().unwrap_or_else(|| panic!("{report}"))
}
fn rate(report: &Value) -> Option<f64> {
    report["end"]["sum_received"]["bits_per_second"].as_f64()
}

/// A namespace's default, and programs without rights: connections that take part use the law,
/// others do not.
#[test]
fn the_law_may_be_the_systems_default() {
    let Some(lab) = Lab::build("sysctl") else { return };
    lab.attach("xcp");
    let setting = |value: &str| {
        let set = format!("net.ipv4.tcp_congestion_control={value}");
        let done = lab.at("s", "sysctl").args(["-qw", &set]).output().expect("sysctl");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    setting("reno");
    let plain = connect(&lab, ["s", "d"], "10.7.2.2", false);
    assert_eq!(control(&plain), "reno", "{plain}");
    setting("rw_xcp");
    let taking_part = connect(&lab, ["s", "d"], "10.7.2.2", true);
    assert_eq!(control(&taking_part), "rw_xcp", "{taking_part}");
    // Data and control connections at both ends; connections outside the cgroup are not counted.
    assert_eq!(counted(&lab), [4, 0], "{taking_part}");
    // The setting gave it the law until the handshake showed that no feedback can return.
    let plain = connect(&lab, ["s", "d"], "10.7.2.2", false);
    assert_eq!(control(&plain), "cubic", "{plain}");
    assert!(rate(&plain) > Some(0.7 * LINK), "{plain}");
    // Detaching also works while the setting names the law.
    lab.live(&["detach"]);
    let plain = connect(&lab, ["s", "d"], "10.7.2.2", true);
    assert!(rate(&plain) > Some(0.7 * LINK), "{plain}");
}

/// Only root may use the sender without a window.
#[test]
fn programs_without_rights_may_choose_a_law() {
    let Some(lab) = Lab::build("rights") else { return };
    let cgroup = lab.cgroup.to_str().expect("a plain path");
    for (law, is_allowed) in [("xcp", true), ("noq", false)] {
        lab.live(&["host", "--law", law, "--cgroup", cgroup]);
        let mut server = lab.start("d", false, "iperf3 -s -1 -p 5201");
        sleep(Duration::from_millis(500));
        let nobody = "setpriv --reuid 65534 --clear-groups";
        let client =
            lab.start("s", false, &format!("{nobody} iperf3 -J -c 10.7.2.2 -t 1 -C rw_{law}"));
        let done = client.wait_with_output().expect("iperf3 ends");
        let _ = server.kill();
        let _ = server.wait();
        lab.live(&["detach"]);
        let report: Value = serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON");
        assert_eq!(report["error"].is_null(), is_allowed, "{law}: {report}");
    }
}

/// Only connections from the addresses of one interface take part, whichever end opens them, over
/// IPv4 and IPv6.
#[test]
fn a_host_may_take_part_at_one_interface() {
    let Some(lab) = Lab::build("iface") else { return };
    let cgroup = lab.cgroup.to_str().expect("a plain path");
    let host = ["host", "--law", "rcp", "--cgroup", cgroup, "--desired", "90mbit", "--iface"];
    let in_sender = |iface: &str| {
        let args = [&["live"], &host[..], &[iface]].concat();
        lab.at("s", env!("CARGO_BIN_EXE_ratewire")).args(args).output().expect("it starts")
    };
    for (iface, says) in
        [("nosuch", "no interface is called \"nosuch\""), ("bare", "bare has no address")]
    {
        if iface == "bare" {
            lab.sh(&format!("ip -n {} link add bare type veth", lab.netns("s")));
        }
        let done = in_sender(iface);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(5), "{said}");
        assert!(said.contains(says) && said.contains("help: "), "{said}");
        assert_eq!(lab.live(&["status"]), "nothing is attached\n");
        assert!(!std::path::Path::new("/sys/fs/bpf/ratewire").exists(), "nothing stays pinned");
    }

    // A law of another host is on this machine too, but only at the sender's interface; the
    // receiver is not on it.
    let done = in_sender("left");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let cut = connect(&lab, ["s", "d"], "10.7.2.2", true);
    assert_ne!(control(&cut), "rw_rcp", "the other end does not take part: {cut}");
    let said = lab.live(&["status"]);
    assert!(said.contains("0 take part, 2 plain, 0 refused"), "{said}");

    // Between two of its addresses, and between two others, in one namespace.
    let s = lab.netns("s");
    lab.sh(&format!(
        "ip -n {s} addr add 10.7.3.1/24 dev lo; ip -n {s} addr add fd00:3::1/64 dev lo nodad"
    ));
    for (to, from, is_of_it) in [
        ("10.7.1.1", "10.7.1.1", true),
        ("fd00:1::1", "fd00:1::1", true),
        ("10.7.3.1", "10.7.3.1", false),
        ("fd00:3::1", "fd00:3::1", false),
        // Only one end is on the interface; it does not matter which end listens.
        ("10.7.3.1", "10.7.1.1", false),
        ("10.7.1.1", "10.7.3.1", false),
    ] {
        let before = counted(&lab);
        let report = connect(&lab, ["s", "s"], &format!("{to} -B {from}"), true);
        assert_eq!(control(&report) == "rw_rcp", is_of_it, "{from} to {to}: {report}");
        let [taking_part, plain] = counted(&lab);
        // Both ends of data and control connections; others are not counted.
        let one_end = u64::from(to != from) * 2;
        let expected = [before[0] + u64::from(is_of_it) * 4, before[1] + one_end];
        assert_eq!([taking_part, plain], expected, "{from} to {to}");
    }
    let done =
        Command::new(env!("CARGO_BIN_EXE_ratewire")).args(["live", "host", "--help"]).output();
    assert!(String::from_utf8_lossy(&done.expect("it starts").stdout).contains("--iface"));
}

/// Programs choose another congestion control, as iperf3 does at both ends. A closed connection is
/// no choice.
#[test]
fn a_program_may_choose_another_afterwards_and_is_counted() {
    let Some(lab) = Lab::build("later") else { return };
    lab.attach("xcp");
    for (to, has, counts) in [
        ("10.7.2.2", "rw_xcp", "4 take part, 0 plain, 0 refused, 0 chose another\n"),
        ("10.7.2.2 -C cubic", "cubic", "8 take part, 0 plain, 0 refused, 2 chose another\n"),
    ] {
        let report = connect(&lab, ["s", "d"], to, true);
        assert_eq!(control(&report), has, "{report}");
        let said = lab.live(&["status"]);
        assert!(said.contains(counts), "{said}");
    }
}

/// Loses packets on a slow link, chooses CUBIC while they are repaired, and XCP again after that.
/// Then prints the seconds of some megabytes after pauses.
const CHOOSER: &str = r#"import socket, subprocess, sys, time
router = sys.argv[1]
OPEN, RECOVERY = 0, 3
peer = socket.create_connection(("10.7.2.2", 5201))
def link(rate, limit):
    words = f"tc -n {router} qdisc change dev right root tbf rate {rate} burst 32kb limit {limit}"
    subprocess.run(words.split(), check=True)
def state():
    return peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[1]
def choose(name):
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
link("1mbit", 5000)
peer.setblocking(False)
left = 1000000
while True:
    try:
        left -= peer.send(bytes(left))
    except BlockingIOError:
        time.sleep(0.001)
    if state() == RECOVERY:
        choose(b"cubic")
        if state() == RECOVERY:
            break
        choose(b"rw_xcp")
link("100mbit", 1000000)
peer.setblocking(True)
peer.sendall(bytes(left))
peer.recv(1)
assert state() == OPEN, state()
choose(b"rw_xcp")
for number in range(4):
    time.sleep(0.05)
    began = time.monotonic()
    peer.sendall(bytes(1000000))
    peer.recv(1)
    # The first starts at the rate of the window that CUBIC left.
    if number > 0:
        print(time.monotonic() - began, flush=True)"#;

/// While another congestion control repairs a loss, the law does not see the end of the repair.
#[test]
fn a_law_chosen_again_after_a_repair_has_the_link_again() {
    let Some(lab) = Lab::build("again") else { return };
    lab.attach("xcp");
    let mut reader = lab.start("d", true, &format!("python3 -c '{READER}'"));
    sleep(Duration::from_millis(500));
    let chooser = format!("python3 -c '{CHOOSER}' {}", lab.netns("r"));
    let done = lab.start("s", true, &chooser).wait_with_output().expect("python3 ends");
    let _ = reader.kill();
    reader.wait().expect("so does the reader");
    let said = String::from_utf8_lossy(&done.stdout);
    let took: Vec<f64> = said.lines().map(|line| line.parse().expect("a number")).collect();
    assert_eq!(took.len(), 3, "{}", String::from_utf8_lossy(&done.stderr));
    let rate = 8e6 * took.len() as f64 / took.iter().sum::<f64>();
    assert!(rate > 0.4 * LINK, "{rate:.0} bit/s while it sent; seconds: {took:?}");
}

/// The desired rate limits a sender with and without feedback from a router; here none gives any.
#[test]
fn no_connection_sends_at_more_than_it_desires() {
    let Some(lab) = Lab::build("desired") else { return };
    let cgroup = lab.cgroup.to_str().expect("a plain path");
    // Less than each law's initial rate at such a short round trip.
    let desired = 10e6;
    for law in ["xcp", "rcp", "piqi-rcp", "jetmax"] {
        lab.live(&["host", "--law", law, "--cgroup", cgroup, "--desired", "10mbit"]);
        let report = connect(&lab, ["s", "r"], "10.7.1.2", true);
        lab.live(&["detach"]);
        let share = rate(&report).map(|rate| rate / desired);
        // The rate includes headers, and the first window is sent before anything is known.
        assert!(share.is_some_and(|share| (0.85..1.05).contains(&share)), "{law}: {share:?}");
    }
}

/// Numbers of connections that took part, and of plain ones.
fn counted(lab: &Lab) -> [u64; 2] {
    let said = lab.status("r");
    ["taking_part", "plain"].map(|name| said["hosts"][0][name].as_u64().expect("a count"))
}
