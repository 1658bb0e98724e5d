//! The command as its users meet it: what it prints, what it writes, how it ends.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HELLO: &str = r#"
duration = "2 s"
law      = "xcp"

[topology]
kind       = "dumbbell"
pairs      = 2
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }

[[flow]]
from = "s*"
to   = "d*"

[[expect]]
metric = "utilisation"
link   = "bottleneck"
during = "1 s .. 2 s"
min    = 0.9
"#;

/// A folder of its own for each test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file for the test");
}

fn ratewire(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ratewire"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_run_prints_tables_and_leaves_its_files() {
    let folder = folder("run");
    write(&folder, "hello.toml", HELLO);
    let done = ratewire(&folder, &["run", "hello.toml", "--law", "xcp,newreno"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).contains("newreno"), "{}", out(&done));
    assert!(out(&done).contains("Report: out/hello/report.html"));
    for file in [
        "report.html",
        "summary.json",
        "xcp-seed-1/flows.parquet",
        "xcp-seed-1/links.parquet",
        "newreno-seed-1/flows.parquet",
    ] {
        let size = std::fs::metadata(folder.join("out/hello").join(file)).map(|m| m.len());
        assert!(size.is_ok_and(|s| s > 500), "{file}");
    }
}

#[test]
fn the_same_scenario_and_seed_give_the_same_bytes_whatever_runs_beside_it() {
    let folder = folder("same");
    write(&folder, "hello.toml", HELLO);
    for (laws, place) in [("xcp", "a"), ("newreno,cubic,xcp", "b")] {
        let done = ratewire(&folder, &["run", "hello.toml", "--law", laws, "--out", place]);
        assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    }
    let read = |path: &str| std::fs::read(folder.join(path)).expect("a written file");
    for file in ["xcp-seed-1/flows.parquet", "xcp-seed-1/links.parquet"] {
        assert_eq!(read(&format!("a/{file}")), read(&format!("b/{file}")), "{file}");
    }
}

#[test]
fn json_is_json_and_nothing_else() {
    let folder = folder("json");
    write(&folder, "hello.toml", HELLO);
    let done = ratewire(&folder, &["run", "hello.toml", "--no-files", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let value: serde_json::Value = serde_json::from_str(&out(&done)).expect("JSON");
    let run = &value["runs"][0];
    assert_eq!(run["law"], "xcp");
    assert!(run["flows"][0]["goodput_bps"].as_f64().is_some_and(|g| g > 1e6));
    let kept = &run["conservation"];
    let count = |key: &str| kept[key].as_u64().unwrap_or(0);
    assert_eq!(
        count("sent_packets"),
        count("delivered_packets") + count("dropped_packets") + count("in_flight_packets")
    );
    assert!(!folder.join("out").exists(), "--no-files leaves nothing behind");
    for args in [&["laws", "--json"][..], &["check", "hello.toml", "--json"]] {
        let text = out(&ratewire(&folder, args));
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    }
}

#[test]
fn check_says_pass_or_fail_and_ends_accordingly() {
    let folder = folder("check");
    write(&folder, "good.toml", HELLO);
    let done = ratewire(&folder, &["check", "."]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).contains("1 of 1 expectations hold"), "{}", out(&done));
    write(&folder, "bad.toml", &HELLO.replace("min    = 0.9", "max    = 0.1"));
    let done = ratewire(&folder, &["check", "."]);
    assert_eq!(done.status.code(), Some(1));
    assert!(out(&done).contains("1 of 2 expectations hold, 1 do not"), "{}", out(&done));
}

#[test]
fn a_wrong_scenario_is_answered_with_every_mistake_and_its_place() {
    let folder = folder("wrong");
    let text = HELLO.replace("pairs ", "pears ").replace("law      = \"xcp\"", "law = \"xpc\"");
    write(&folder, "wrong.toml", &text);
    let done = ratewire(&folder, &["check", "--syntax", "wrong.toml"]);
    assert_eq!(done.status.code(), Some(2));
    let text = err(&done);
    for part in ["wrong.toml:3:", "\"xpc\"", "xcp", "wrong.toml:7:", "pears", "pairs"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let done = ratewire(&folder, &["run", "wrong.toml"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(!folder.join("out").exists(), "nothing is written for a scenario that is wrong");
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let folder = folder("mistakes");
    write(&folder, "hello.toml", HELLO);
    let cases: [(&[&str], i32, &str); 8] = [
        (&["run", "nowhere.toml"], 3, "nowhere.toml"),
        (&["run", "hello.toml", "--law", "cubik"], 2, "cubic"),
        (&["run", "hello.toml", "--set", "bottleneck.rate"], 2, "KEY=VALUE"),
        (&["run", "hello.toml", "--set", "bottleneck.rate=fast"], 2, "fast"),
        (&["run", "hello.toml", "--capture", "neck"], 2, "bottleneck"),
        (&["run", "hello.toml", "--out", "hello.toml/x"], 3, "hello.toml/x"),
        (&["explain", "xpc"], 2, "known: xcp"),
        (&["check", "nowhere"], 3, "nowhere"),
    ];
    for (args, code, part) in cases {
        let done = ratewire(&folder, args);
        assert_eq!(done.status.code(), Some(code), "{args:?}: {}", err(&done));
        assert!(err(&done).contains(part), "{part} in the answer to {args:?}: {}", err(&done));
    }
}

#[test]
fn a_capture_is_a_pcapng_file() {
    let folder = folder("capture");
    write(&folder, "hello.toml", HELLO);
    let done = ratewire(&folder, &["run", "hello.toml", "--capture", "bottleneck", "--out", "o"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let bytes = std::fs::read(folder.join("o/xcp-seed-1/packets.pcapng")).expect("a capture");
    assert_eq!(bytes[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert!(bytes.len() > 100_000);
}

#[test]
fn why_a_flow_sends_as_it_does_is_told_hop_by_hop() {
    let folder = folder("why");
    write(&folder, "hello.toml", HELLO);
    let ask = |why: &str| ratewire(&folder, &["run", "hello.toml", "--no-files", "--why", why]);
    let done = ask("s1->d1@1.5s");
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).contains("Bound by: bottleneck: delta_throughput <="), "{}", out(&done));
    assert!(out(&done).contains("C = 10.0 Mbit/s"), "{}", out(&done));
    for (why, says) in [
        ("s1->d1", "write FLOW@TIME"),
        ("s9@1s", "known: s1->d1, s2->d2"),
        ("s1->d1@1", "has no unit"),
        ("s1->d1@3s", "the run ends at 2 s"),
    ] {
        let done = ask(why);
        assert_eq!(done.status.code(), Some(2), "{why}");
        assert!(err(&done).contains(says), "{why}: {}", err(&done));
    }
}

#[test]
fn what_there_is_can_be_listed() {
    let folder = folder("lists");
    let text = |args: &[&str]| {
        let done = ratewire(&folder, args);
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", err(&done));
        out(&done)
    };
    assert!(text(&["laws"]).contains("newreno"));
    let cost = text(&["laws", "--cost"]);
    assert!(cost.contains("3 additions") && !cost.contains("newreno"), "{cost}");
    assert!(text(&["explain", "xcp"]).contains("alpha = 0.4"));
    assert!(text(&["topologies"]).contains("fat-tree"));
    assert!(text(&["scenario"]).contains("[topology]"));
    assert!(text(&["completions", "bash"]).contains("complete -F"));
    assert!(text(&["--help"]).contains("Exit codes"));
}

/// `docs/scenario-reference.md` is what the command prints.
#[test]
fn the_reference_in_the_docs_is_current() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenario-reference.md");
    let printed = out(&ratewire(&folder("reference"), &["scenario", "--reference"]));
    let shown = std::fs::read_to_string(docs).expect("the reference in the docs");
    assert!(printed == shown, "run `ratewire scenario --reference > docs/scenario-reference.md`");
}
