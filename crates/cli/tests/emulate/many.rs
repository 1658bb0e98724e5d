//! Many flows, and applications that wait for events besides their socket.

use std::process::Command;

use serde_json::Value;

use crate::lab::{DUMBBELL, LATE, Lab, number};

/// Sizes give each flow time to start and to deliver something, whatever it loses.
#[test]
fn hundreds_of_flows_over_several_pairs_all_connect_and_deliver() {
    let Some(lab) = Lab::build("many") else { return };
    let text = r#"
law      = "cubic"
duration = "6 s"

[topology]
kind       = "dumbbell"
pairs      = 8
bottleneck = { rate = "100 Mbit/s", delay = "1 ms", queue = "unlimited" }
access     = { rate = "1 Gbit/s", delay = "1 ms" }

[[flow]]
from  = "s*"
to    = "d*"
count = 75
app   = { on_off = { burst = "8 KB", pause = "1 s" } }
"#;
    let runs = lab.run(text, &["--world", "emulate"]);
    let flows = runs[0]["flows"].as_array().expect("flows");
    assert_eq!(flows.len(), 600);
    let delivered = |flow: &&Value| number(&flow["delivered_bytes"]) > 0.0;
    let silent = flows.iter().filter(|flow| !delivered(flow)).count();
    let fidelity = &runs[0]["fidelity"];
    assert_eq!(silent, 0, "flows without a byte: {fidelity}");
    assert!(fidelity["holds"].is_boolean(), "{fidelity}");
    assert_eq!(number(&fidelity["failed_flows"]), 0.0, "{fidelity}");
    assert_eq!(number(&fidelity["dropped_by_devices"]), 0.0, "{fidelity}");
}

/// Applications that each wait for another event, all in one thread.
#[test]
fn applications_of_every_kind_write_and_read_as_the_scenario_says() {
    let Some(lab) = Lab::build("applications") else { return };
    let flow = |name: &str, rest: &str| {
        format!("\n[[flow]]\nname = \"{name}\"\nfrom = \"s1\"\nto = \"d1\"\n{rest}\n")
    };
    let on_off = |after: &str| {
        format!(
            "app = {{ on_off = {{ burst = \"30 KB\", pause = \"100 ms\", pause_after = \"{after}\", count = 4 }} }}"
        )
    };
    let flows = [
        flow("written", &on_off("written")),
        flow("sent", &on_off("sent")),
        flow("acknowledged", &on_off("acknowledged")),
        flow("constant", "app = { constant = { rate = \"400 kbit/s\" } }\nstop = \"3 s\""),
        flow("slow", "size = \"60 KB\"\nreader = { per_frame = \"10 ms\" }"),
        flow("late", "size = \"20 KB\"\nstart = \"2 s\""),
        flow(
            "phases",
            "app = { phases = [{ size = \"30 KB\", lasts = \"1 s\" }, \
             { app = \"silent\", lasts = \"500 ms\" }, { size = \"20 KB\" }] }",
        ),
        flow(
            "random",
            "app = { on_off = { burst = { exponential = \"30 KB\" }, \
             pause = { exponential = \"100 ms\" }, count = 4 } }",
        ),
    ];
    let text = format!("law = \"cubic\"\n{DUMBBELL}{}", flows.concat());
    let find = |runs: &[Value], name: &str| {
        let flows = runs[0]["flows"].as_array().expect("flows");
        flows.iter().find(|flow| flow["name"] == name).expect("a flow of this name").clone()
    };
    let runs = lab.run(&text, &["--world", "emulate"]);
    let found = |name: &str| find(&runs, name);
    // Both worlds draw the same bursts.
    let simulated = lab.run(&text, &["--world", "simulate"]);
    let random = number(&find(&simulated, "random")["delivered_bytes"]);
    assert_ne!(random, 120_000.0);
    for (name, size, least) in [
        ("written", 120_000.0, 0.3),
        ("sent", 120_000.0, 0.3),
        ("acknowledged", 120_000.0, 0.3 + 4.0 * 0.032),
        ("slow", 60_000.0, 0.3),
        ("late", 20_000.0, 0.0),
        ("phases", 50_000.0, 1.5),
        ("random", random, 0.0),
    ] {
        let flow = found(name);
        assert_eq!(number(&flow["delivered_bytes"]), size, "{flow}");
        assert!(number(&flow["completion_s"]) > least, "{flow}");
    }
    // At most 400 kbit/s for 3 s: data that the machine has no time for arrive later.
    let constant = number(&found("constant")["delivered_bytes"]);
    assert!((50_000.0..155_000.0).contains(&constant), "{constant}");
}

/// 400 descriptors are too few for the flows. Root may raise the limit, but not in every container.
#[test]
fn a_run_gets_the_open_files_that_its_flows_take_or_says_that_it_may_not() {
    let Some(lab) = Lab::build("open-files") else { return };
    let text =
        format!("law = \"cubic\"\n{DUMBBELL}\n[[flow]]\nfrom = \"s1\"\nto = \"d1\"\ncount = 300\n");
    let run = |limit: &str| {
        let done = Command::new("prlimit")
            .args([limit, env!("CARGO_BIN_EXE_ratewire"), "run"])
            .arg(lab.scenario(&text))
            .args(["--quiet", "--world", "emulate", "--set", "duration = \"2 s\"", "--out"])
            .arg(lab.folder.join("out"))
            .output()
            .expect("prlimit starts");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (code, said) = run("--nofile=400:800");
    assert!(matches!(code, Some(0 | LATE)), "{code:?}: {said}");
    let (code, said) = run("--nofile=400:400");
    match code {
        Some(0 | LATE) => assert!(!said.contains("open"), "{said}"),
        _ => {
            assert!(said.contains("708 files must be open at once, and this process may have 400"))
        }
    }
}
