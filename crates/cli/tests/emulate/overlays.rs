//! Overlays: group daemons and their clients.

use serde_json::Value;

use crate::lab::{Lab, number};

/// A ring of three nodes. One group has a bound of its own; the other fills the link from a to b.
const RING: &str = r#"
duration = "14 s"
law      = "newreno"
topology = { kind = "custom" }
node = [{ name = "a" }, { name = "b" }, { name = "c" }]
link = [
  { between = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" },
  { between = ["b", "c"], rate = "4 Mbit/s", delay = "10 ms", queue = "20 packets" },
  { between = ["c", "a"], rate = "4 Mbit/s", delay = "10 ms", queue = "20 packets" },
]

[overlay]

[[group]]
name      = "quotes"
senders   = [["a", 2]]
rate      = "50 kbit/s"
receivers = ["c"]

[[group]]
name      = "bulk"
service   = "agreed"
senders   = [["a", 3]]
receivers = ["b"]
"#;

fn group<'a>(run: &'a Value, name: &str) -> &'a Value {
    let groups = run["overlay"]["groups"].as_array().expect("groups");
    groups.iter().find(|group| group["name"] == name).expect("a group of this name")
}

#[test]
fn an_overlay_is_one_of_group_daemons() {
    let Some(lab) = Lab::build("overlay") else { return };
    let runs = lab.run(RING, &["--world", "simulate,emulate"]);
    let [simulated, emulated] = &runs[..] else { panic!("{} runs", runs.len()) };
    println!("{}\n{}", simulated["overlay"], emulated["overlay"]);
    let of = |run, name, figure: &str| number(&group(run, name)[figure]);
    // The first messages come when the sender has started.
    let ratio = of(emulated, "quotes", "sent_bps") / of(simulated, "quotes", "sent_bps");
    assert!((0.9..1.01).contains(&ratio), "{ratio}");
    // Prices hold the other senders to what their link carries.
    let bulk = of(emulated, "bulk", "sent_bps");
    assert!((1.2e6..2.3e6).contains(&bulk), "{bulk}");
    for name in ["quotes", "bulk"] {
        let (sent, owed) = (of(emulated, name, "sent_messages"), of(emulated, name, "owed"));
        assert!(sent > 0.0 && owed == sent, "{sent} messages, {owed} deliveries");
        let latency = of(emulated, name, "latency_mean_s");
        assert!(latency > 0.01, "{latency} s, and a link takes 10 ms");
    }
    assert!(of(emulated, "bulk", "latency_mean_s") > of(emulated, "quotes", "latency_mean_s"));
    assert!(lab.log("overlay-1-a.txt").contains("daemon ready"));
}

#[test]
fn a_crash_kills_a_daemon_and_others_go_on() {
    let Some(lab) = Lab::build("overlay-faults") else { return };
    let text = format!(
        r#"{RING}
[[fault]]
at   = "3 s"
kind = "crash"
node = "c"

[[fault]]
at   = "7 s"
kind = "restart"
node = "c"

[[expect]]
metric = "received"
group  = "quotes"
node   = "c"
during = "4 s .. 7 s"
max    = "0 bit/s"
basis  = "derived"
source = "its daemon does not run"

[[expect]]
metric = "received"
group  = "quotes"
node   = "c"
during = "10 s .. 14 s"
min    = "80 kbit/s"
basis  = "derived"
source = "its daemon runs again, and its client has come back"

[[expect]]
metric = "received"
group  = "bulk"
node   = "b"
during = "4 s .. 7 s"
min    = "1 Mbit/s"
basis  = "derived"
source = "the others have formed a view without it"
"#
    );
    let runs = lab.run(&text, &["--world", "emulate"]);
    let [run] = &runs[..] else { panic!("{} runs", runs.len()) };
    println!("{}\n{}", run["overlay"], run["expectations"]);
    for expectation in run["expectations"].as_array().expect("expectations") {
        assert!(expectation["pass"] == true, "{expectation}");
    }
    assert_eq!(run["overlay"]["views"], 2, "without it, and with it again");
}

#[test]
fn cut_links_are_gone_round() {
    let Some(lab) = Lab::build("overlay-cut") else { return };
    let text = format!(
        r#"{RING}
[[fault]]
at   = "2 s"
kind = "cut"
link = ["a", "b"]

[[expect]]
metric = "received"
group  = "bulk"
node   = "b"
during = "3 s .. 7 s"
max    = "0 bit/s"
basis  = "derived"
source = "the direct way is the shortest until its silence has lasted 5 s"

[[expect]]
metric = "received"
group  = "bulk"
node   = "b"
during = "9 s .. 14 s"
min    = "1 Mbit/s"
basis  = "derived"
source = "over c"
"#
    );
    let runs = lab.run(&text, &["--world", "emulate"]);
    let [run] = &runs[..] else { panic!("{} runs", runs.len()) };
    println!("{}\n{}", run["overlay"], run["expectations"]);
    for expectation in run["expectations"].as_array().expect("expectations") {
        assert!(expectation["pass"] == true, "{expectation}");
    }
}
