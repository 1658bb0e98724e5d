//! What connections get of a link after their law was chosen.

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::pauses::READER;
use crate::choice::{connect, control, counted};
use crate::lab::{LINK, Lab};

/// What the receiver got, in bit/s.
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
