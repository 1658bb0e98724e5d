//! Which connections take part, whatever they get of a link.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::lab::Lab;

/// iperf3's report about a connection.
pub(crate) fn connect(lab: &Lab, [client, server]: [&str; 2], to: &str, takes_part: bool) -> Value {
    let mut listening = lab.start(server, takes_part, "iperf3 -s -1 -p 5201");
    sleep(Duration::from_millis(500));
    let sending = lab.start(client, takes_part, &format!("iperf3 -J -c {to} -p 5201 -t 2"));
    let done = sending.wait_with_output().expect("iperf3 ends");
    let _ = listening.kill();
    let _ = listening.wait();
    serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON")
}

pub(crate) fn control(report: &Value) -> &str {
    report["end"]["sender_tcp_congestion"].as_str().unwrap_or_else(|| panic!("{report}"))
}

/// Numbers of connections that took part, and of plain ones.
pub(crate) fn counted(lab: &Lab) -> [u64; 2] {
    let said = lab.status("r");
    ["taking_part", "plain"].map(|name| said["hosts"][0][name].as_u64().expect("a count"))
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
