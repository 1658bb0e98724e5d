//! What connections get of a link, with nothing else on the machine: kernels that wait for a
//! processor fill no link.

mod acp;
mod choice;
mod noq;
mod pauses;
mod police;

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::lab::{LINK, Lab, SHARED_OUT, Shared, repeated};

#[test]
fn three_programs_share_a_link_fill_it_and_leave_its_queue_empty() {
    let Some(lab) = Lab::build("share") else { return };
    let cubic = lab.three_flows(Some("cubic"));
    for law in ["xcp", "rcp", "piqi-rcp", "jetmax"] {
        // Share of the link's rate, although a little less is shared out; PIQI-RCP and JetMax aim
        // at 95 % of that.
        let fills = if ["piqi-rcp", "jetmax"].contains(&law) { 0.88 } else { 0.95 };
        // JetMax counts a sender that gets no CPU time as less than a flow, gives its part to the
        // others, and has no term for the backlog. On a busy machine, a queue of the first second
        // drains only through the remaining 5 %.
        let is_good = |shared: &Shared| {
            shared.unfairness() < 0.1
                && shared.utilisation > fills
                && shared.backlog < cubic.backlog / 4.0
                && (shared.drops == 0 || law == "jetmax")
        };
        let (shared, said) = lab.share(law, SHARED_OUT, is_good);
        let seen = format!("{law}: {shared:?}, under CUBIC {cubic:?}\n{said}");
        assert!(is_good(&shared), "{seen}");
        // Three data and three control connections, seen at both ends.
        let host = &said["hosts"][0];
        assert_eq!([&host["taking_part"], &host["plain"], &host["refused"]], [12, 0, 0], "{seen}");
    }
}

#[test]
fn with_a_peer_that_does_not_speak_it_nothing_changes() {
    let Some(lab) = Lab::build("plain") else { return };
    lab.attach("xcp");
    let mut server = lab.start("d", false, "iperf3 -s -1 -p 5201");
    sleep(Duration::from_millis(500));
    let client = lab.start("s", true, "iperf3 -J -c 10.7.2.2 -p 5201 -t 2 -C cubic");
    let done = client.wait_with_output().expect("iperf3 ends");
    server.wait().expect("so does the server");
    let report: Value = serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON");
    assert_eq!(report["end"]["sender_tcp_congestion"], "cubic", "{report}");
    assert!(
        report["end"]["sum_received"]["bits_per_second"].as_f64() > Some(0.5 * LINK),
        "{report}"
    );
    let said = lab.live(&["status"]);
    assert!(said.contains("0 take part, 2 plain, 0 refused"), "{said}");
}

#[test]
fn who_asks_for_a_law_that_has_no_answer_sends_as_ever() {
    let Some(lab) = Lab::build("asked") else { return };
    lab.attach("xcp");
    for takes_part in [true, false] {
        let mut server = lab.start("d", false, "iperf3 -s -1 -p 5201");
        sleep(Duration::from_millis(500));
        let client = lab.start("s", takes_part, "iperf3 -J -c 10.7.2.2 -p 5201 -t 3 -C rw_xcp");
        let done = client.wait_with_output().expect("iperf3 ends");
        server.wait().expect("so does the server");
        let report: Value = serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON");
        let rate = report["end"]["sum_received"]["bits_per_second"].as_f64();
        assert!(rate > Some(0.7 * LINK), "{takes_part}: {report}");
        assert_eq!(report["end"]["sender_tcp_congestion"], "cubic", "{takes_part}: {report}");
    }
}

#[test]
fn a_capacity_may_be_measured() {
    let Some(lab) = Lab::build("measured") else { return };
    let is_good = |shared: &Shared| shared.utilisation > 0.95 && shared.unfairness() < 0.1;
    let mut trials = (0..4).map(|_| lab.share("rcp", "measured", is_good));
    // Other programs also keep senders from running, which does not count as stolen time.
    let (shared, said) = trials
        .find(|(shared, _)| is_good(shared))
        .expect("four trials, and in one the link is full and shared");
    let seen = format!("{shared:?}\n{said}");
    // Rate of the link, around which the port probes by 5 %; veth claims 10 Gbit/s.
    let believed = said["routers"][0]["capacity_bps"].as_f64().expect("a capacity");
    assert!((0.9..1.15).contains(&(believed / LINK)), "{seen}");
    let done = lab.ratewire(&[
        "live",
        "router",
        "--iface",
        "left",
        "--law",
        "xcp",
        "--capacity",
        "measured",
        "--queue",
        "virtual",
    ]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        said.contains("cannot measure the capacity") && said.contains("--queue backlog"),
        "{said}"
    );
}

#[test]
fn what_is_dropped_does_not_count_as_capacity() {
    let Some(lab) = Lab::build("flood") else { return };
    let believed = || {
        let mut server = lab.start("d", false, "iperf3 -s -1");
        sleep(Duration::from_millis(500));
        let client = lab.start("s", false, "iperf3 -u -c 10.7.2.2 -b 200M -l 1400 -t 4");
        sleep(Duration::from_secs(1));
        let before = lab.queue().drops;
        lab.live(&["router", "--iface", "right", "--law", "rcp", "--capacity", "measured"]);
        sleep(Duration::from_secs(2));
        assert!(lab.queue().drops > before, "it was flooded");
        let believed = lab.status("r")["routers"][0]["capacity_bps"].as_f64().expect("a capacity");
        assert!(client.wait_with_output().expect("iperf3 ends").status.success());
        server.wait().expect("so does the server");
        lab.live(&["detach"]);
        believed / LINK
    };
    // A machine that is busy with something else carries less than the link.
    let mut trials = (0..4).map(|_| believed()).inspect(|part| assert!(*part < 1.1, "{part}"));
    assert!(trials.any(|part| part > 0.9), "all capacities are too small");
}

#[test]
fn a_port_fills_the_share_that_it_is_set_to() {
    let Some(lab) = Lab::build("set") else { return };
    let cgroup = lab.cgroup.to_str().expect("a plain path");
    let is_half = |shared: &Shared| (0.45..0.55).contains(&shared.utilisation) && shared.drops == 0;
    let shared = repeated(
        || {
            let set = ["--option", "gamma=0.5", "--option", "slot=20ms"];
            let port = ["router", "--iface", "right", "--law", "rcp", "--capacity", "100mbit"];
            lab.live(&[&port[..], &set].concat());
            lab.live(&["host", "--law", "rcp", "--cgroup", cgroup]);
            let shared = lab.three_flows(None);
            lab.live(&["detach"]);
            shared
        },
        is_half,
    );
    assert!(is_half(&shared), "{shared:?}");
    for (law, option, why) in [
        ("xcp", "aging=0", "`aging` is an option of hosts"),
        ("xcp", "capacity=1mbit", "is the flag --capacity"),
        ("jetmax", "interval=2s", "from 1 ms to 1 s"),
        ("rcp", "gama=1", "gamma"),
    ] {
        let args = ["live", "router", "--iface", "right", "--law", law, "--capacity", "1mbit"];
        let done = lab.ratewire(&[&args[..], &["--option", option]].concat());
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && said.contains(why), "{said}");
    }
}

/// Three connections of weight 4 are twelve flows to the router.
#[test]
fn a_router_sees_a_connection_as_so_many_flows_as_its_weight() {
    let Some(lab) = Lab::build("weight") else { return };
    let cgroup = lab.cgroup.to_str().expect("a plain path");
    let flows = |said: &Value| said["routers"][0]["flows"].as_f64().expect("a number");
    let is_seen = |said: &Value| (9.0..15.0).contains(&flows(said));
    let said = repeated(
        || {
            lab.live(&["router", "--iface", "right", "--law", "xcp", "--capacity", SHARED_OUT]);
            let weight = ["--law", "xcp", "--cgroup", cgroup, "--option", "weight=4"];
            lab.live(&[&["host"][..], &weight].concat());
            let mut server = lab.start("d", true, "iperf3 -s -1");
            sleep(Duration::from_millis(500));
            let client = lab.start("s", true, "iperf3 -c 10.7.2.2 -t 4 -P 3");
            sleep(Duration::from_secs(3));
            let said = lab.status("r");
            assert!(client.wait_with_output().expect("iperf3 ends").status.success());
            server.wait().expect("so does the server");
            lab.live(&["detach"]);
            said
        },
        is_seen,
    );
    assert!(is_seen(&said), "{said}");
}

#[test]
fn a_loss_is_answered_and_routers_count_again() {
    let Some(lab) = Lab::build("loss") else { return };
    lab.attach("rcp");
    let mut server = lab.start("d", true, "iperf3 -s -1 -p 5201");
    sleep(Duration::from_millis(500));
    let client = lab.start("s", true, "iperf3 -J -c 10.7.2.2 -p 5201 -t 12 -i 1");
    sleep(Duration::from_secs(3));
    // State of the data connection: consecutive timeouts, and number of retransmissions.
    let retransmitted = || {
        let done = lab.at("s", "ss").args(["-tinoH", "dport", "=", "5201"]).output().expect("ss");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let counts = said.split_whitespace().filter_map(|word| word.strip_prefix("retrans:"));
        counts.filter_map(|count| count.split('/').next_back()?.parse::<u32>().ok()).sum::<u32>()
    };
    let before = retransmitted();
    let r = lab.netns("r");
    lab.sh(&format!(
        "ip -n {r} route add blackhole 10.7.2.2/32; sleep 0.5; ip -n {r} route del blackhole 10.7.2.2/32"
    ));
    sleep(Duration::from_millis(500));
    let after = retransmitted();
    assert!(after > before, "{before} segments sent again before, {after} after");
    let done = client.wait_with_output().expect("iperf3 ends");
    server.wait().expect("so does the server");
    let report: Value = serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON");
    let seconds = report["intervals"].as_array().expect("intervals");
    let rate = |second: &Value| second["sum"]["bits_per_second"].as_f64().expect("a rate");
    // The machine may be busy with something else in any of these seconds.
    let best = seconds.iter().rev().take(7).map(rate).fold(0.0, f64::max);
    assert!(best > 0.85 * LINK, "{report}");
}

#[test]
fn noq_is_taken_where_queues_pause_or_everywhere() {
    let Some(lab) = Lab::build("noq") else { return };
    let cgroup = lab.cgroup.to_str().expect("a plain path");
    for (mode, is_taken) in [("safe", false), ("force", true)] {
        lab.live(&["host", "--law", "noq", "--cgroup", cgroup, "--mode", mode]);
        let mut server = lab.start("d", true, "iperf3 -s -1 -p 5201");
        sleep(Duration::from_millis(500));
        let client = lab.start("s", true, "iperf3 -J -c 10.7.2.2 -p 5201 -t 2");
        let done = client.wait_with_output().expect("iperf3 ends");
        server.wait().expect("so does the server");
        let report: Value = serde_json::from_slice(&done.stdout).expect("iperf3 writes JSON");
        assert_eq!(report["end"]["sender_tcp_congestion"] == "rw_noq", is_taken, "{report}");
        let is_lossy = report["end"]["sum_sent"]["retransmits"].as_u64() > Some(0);
        assert!(is_lossy || !is_taken, "{report}");
        // The link's queue holds 1 MB, and a window that losses reduce is not much larger.
        let last = report["intervals"].as_array().and_then(|all| all.last()).expect("an interval");
        let window = last["streams"][0]["snd_cwnd"].as_u64().expect("a window");
        assert_eq!(window > 20_000_000, is_taken, "{report}");
        lab.live(&["detach"]);
    }
}

#[test]
fn ipv6_takes_part_too() {
    let Some(lab) = Lab::build("six") else { return };
    lab.attach("xcp");
    let trial = || {
        let mut server = lab.start("d", true, "iperf3 -s -1 -p 5201");
        sleep(Duration::from_millis(500));
        // Three flows: a single one has round trips far below the router's 5 ms, and is not steady.
        let client = lab.start("s", true, "iperf3 -J -6 -c fd00:2::2 -p 5201 -t 3 -O 1 -P 3");
        let done = client.wait_with_output().expect("iperf3 ends");
        server.wait().expect("so does the server");
        serde_json::from_slice::<Value>(&done.stdout).expect("iperf3 writes JSON")
    };
    let is_filled = |report: &Value| {
        report["end"]["sum_received"]["bits_per_second"].as_f64() > Some(0.85 * LINK)
    };
    let report = repeated(trial, is_filled);
    assert_eq!(report["end"]["sender_tcp_congestion"], "rw_xcp", "{report}");
    assert!(is_filled(&report), "{report}");
    assert_eq!(lab.queue().drops, 0);
    let said = lab.status("r");
    let count = |name: &str| said["routers"][0][name].as_f64().expect("a count");
    // All packets except neighbour discovery and handshakes.
    assert!(count("with_header") > 0.99 * count("packets"), "{said}");
}
