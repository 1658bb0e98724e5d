//! One run of several fails: what the others came to is not lost.

use std::path::Path;
use std::process::Command;

const SCENARIO: &str = r#"
duration = "1 s"
law      = "xcp"

[topology]
kind       = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }

[[flow]]
from = "s1"
to   = "d1"
"#;

#[test]
fn the_others_are_told_and_written() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("missing");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("out")).expect("a folder for the test");
    std::fs::write(folder.join("one.toml"), SCENARIO).expect("a scenario");
    // Where the second run's files are to go is a file.
    std::fs::write(folder.join("out/cubic-seed-1"), "").expect("a file");
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ratewire"));
        command.args(["run", "one.toml", "--out", "out", "--law", "newreno,cubic,xcp"]);
        let done = command.args(more).current_dir(&folder).output().expect("the command starts");
        let told = [done.stdout, done.stderr].map(|told| String::from_utf8(told).expect("text"));
        (done.status.code(), told)
    };
    let (code, [told, complaints]) = run(&[]);
    assert_eq!(code, Some(3), "{complaints}");
    assert!(told.contains("newreno") && told.contains("xcp") && !told.contains("cubic"), "{told}");
    let missing = "ratewire: the run of cubic, seed 1 is missing:\nratewire: cannot write";
    assert!(complaints.contains(missing), "{complaints}");
    let page = std::fs::read_to_string(folder.join("out/report.html")).expect("the report");
    assert!(page.contains("newreno"));

    // Nor for a page that cannot be written.
    std::fs::remove_file(folder.join("out/report.html")).expect("it is there");
    std::fs::create_dir(folder.join("out/report.html")).expect("a folder in its place");
    let (code, [told, complaints]) = run(&[]);
    assert_eq!(code, Some(3), "{complaints}");
    assert!(told.contains("newreno") && !told.contains("report.html"), "{told}");
    assert!(complaints.contains("report.html"), "{complaints}");

    let (code, [told, _]) = run(&["--json"]);
    assert_eq!((code, told.matches("\"law\": \"newreno\"").count() > 0), (Some(3), true), "{told}");
}
