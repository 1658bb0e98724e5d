//! Ensembles: peers, switches and members as processes.

use serde_json::Value;

use crate::lab::{Lab, is_on_time, number, ratewire};

/// A peer, a switch and members behind a transit link of 4 Mbit/s.
const STAR: &str = r#"
duration = "3 s"
law      = "xcp"
topology = { kind = "custom" }
node = [
  { name = "peer" }, { name = "switch", host = false },
  { name = "a1" }, { name = "a2" }, { name = "a3" }, { name = "a4" },
]
link = [
  { between = ["peer", "switch"], name = "transit", rate = "4 Mbit/s", delay = "5 ms" },
  { between = ["switch", "a1"], rate = "20 Mbit/s", delay = "1 ms" },
  { between = ["switch", "a2"], rate = "20 Mbit/s", delay = "1 ms" },
  { between = ["switch", "a3"], rate = "20 Mbit/s", delay = "1 ms" },
  { between = ["switch", "a4"], rate = "20 Mbit/s", delay = "1 ms" },
]

[[ensemble]]
name   = "kv"
peer   = "peer"
switch = "switch"
frame  = "1024 B"
"#;

fn delivered(run: &Value, flow: &str) -> f64 {
    let flows = run["flows"].as_array().expect("flows");
    let flow = flows.iter().find(|known| known["name"] == flow).expect("a flow of this name");
    number(&flow["delivered_bytes"])
}

/// A member that takes 20 ms for a frame holds the others back, on any machine: frames go round,
/// and its buffer is small.
#[test]
fn a_slow_member_sets_the_pace_in_both_worlds() {
    let Some(lab) = Lab::build("ensemble-slow") else { return };
    let members = r#"
        direction = "inbound"
        members   = ["a1", "a2", "a3", { node = "a4", receive_window = "16 KiB", reader = { per_frame = "20 ms" } }]
    "#;
    let runs = lab.run(&format!("{STAR}{members}"), &["--world", "simulate,emulate"]);
    for run in &runs {
        println!("{}", run["flows"]);
        let frames = |flow| delivered(run, flow) / 1024.0;
        // 50 frames a second, and those in its buffer. The handshakes take some of the time.
        let slow = frames("kv.a4");
        assert!(slow <= 3.0 * 50.0 + 16.0, "{slow}");
        assert!(slow > 100.0 || !is_on_time(run), "{slow}");
        for member in ["kv.a1", "kv.a2", "kv.a3"] {
            // What is on its way to the slow one has gone to the others too.
            let ahead = frames(member) - slow;
            assert!((-17.0..40.0).contains(&ahead), "{member}: {ahead} frames ahead");
        }
    }
    assert!(lab.log("acp-1-switch.txt").contains("switch ready"));
}

/// The first member is a switch of its own, and a host fails and comes back.
#[test]
fn switches_in_a_row_carry_what_members_send_while_one_fails() {
    let Some(lab) = Lab::build("ensemble-cascade") else { return };
    let members = r#"
        direction = "outbound"
        members   = [{ switch = "a1", members = ["a2", { node = "a3", fails = ["1 s .. 1.5 s"] }] }, "a4"]
    "#;
    let links = r#"link = [
      { between = ["a1", "a2"], rate = "20 Mbit/s", delay = "1 ms" },
      { between = ["a1", "a3"], rate = "20 Mbit/s", delay = "1 ms" },"#;
    let text = STAR
        .replace("link = [", links)
        .replace("{ name = \"a1\" }", "{ name = \"a1\", host = false }");
    let runs = lab.run(&format!("{text}{members}"), &["--world", "emulate"]);
    println!("{}", runs[0]["flows"]);
    let of = |flow| delivered(&runs[0], flow);
    let sum = of("kv.a1.a2.out") + of("kv.a1.a3.out") + of("kv.a4.out");
    let peer = of("kv.out");
    let is_used = peer > 0.5 * 4e6 * 3.0 / 8.0;
    assert!(is_used || !is_on_time(&runs[0]), "the transit link is in use: {peer}");
    assert!((0.9..1.1).contains(&(peer / sum)), "{peer} of {sum}");
    assert!(of("kv.a1.a3.out") > 0.0 && of("kv.a1.a3.out") < of("kv.a1.a2.out"));
}

/// Members of both sides write frames of several packets, and read those of the other side.
#[test]
fn two_switches_face_each_other() {
    let Some(lab) = Lab::build("ensemble-facing") else { return };
    let text = r#"
duration = "3 s"
law      = "xcp"
topology = { kind = "custom" }
node = [
  { name = "p", host = false }, { name = "q", host = false },
  { name = "c1" }, { name = "c2" }, { name = "a1" }, { name = "a2" }, { name = "a3" },
]
link = [
  { between = ["p", "q"], rate = "8 Mbit/s", delay = "4 ms" },
  { between = ["p", "c1"], rate = "20 Mbit/s", delay = "1 ms" },
  { between = ["p", "c2"], rate = "20 Mbit/s", delay = "2 ms" },
  { between = ["q", "a1"], rate = "20 Mbit/s", delay = "1 ms" },
  { between = ["q", "a2"], rate = "20 Mbit/s", delay = "2 ms" },
  { between = ["q", "a3"], rate = "20 Mbit/s", delay = "3 ms" },
]

[[ensemble]]
name    = "two"
peer    = { switch = "p", members = ["c*"] }
switch  = "q"
members = ["a*"]
frame   = "4096 B"
size    = "122880 B"
"#;
    for run in lab.run(text, &["--world", "simulate,emulate"]) {
        println!("{}", run["flows"]);
        let frames = |flow: &str| delivered(&run, flow) / 4096.0;
        // Each member writes 30 frames, and they go round.
        let to_a: Vec<f64> = ["two.a1", "two.a2", "two.a3"].map(frames).to_vec();
        let to_c: Vec<f64> = ["two.c1.out", "two.c2.out"].map(frames).to_vec();
        let is_whole = to_a == [20.0; 3] && to_c == [45.0; 2];
        assert!(is_whole || !is_on_time(&run), "{}: {to_a:?} {to_c:?}", run["world"]);
    }
}

#[test]
fn what_switches_cannot_do_is_refused_with_a_remedy() {
    let Some(lab) = Lab::build("ensemble-refused") else { return };
    for (rest, words) in [
        ("shuffle = 0.3", "a switch has only the default of `shuffle`"),
        ("app = { on_off = { burst = \"8 KB\", pause = \"1 ms\" } }", "write no bursts"),
    ] {
        let path = lab.scenario(&format!("{STAR}members = [\"a*\"]\n{rest}\n"));
        let mut command = ratewire();
        command.arg("run").arg(path).args(["--world", "emulate", "--no-files"]);
        let done = command.output().expect("it starts");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(5), "{said}");
        assert!(said.contains(words) && said.contains("or simulate this scenario"), "{said}");
    }
}
