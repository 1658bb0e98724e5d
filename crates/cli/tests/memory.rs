//! What ends where there is not enough memory.

#[expect(dead_code, reason = "it has scenarios of its own")]
mod common;

use common::{err, folder, out, ratewire, write};

/// Under `flood` ten million packets a second wait for ever; under `slow` none does.
const FLOOD: &str = r#"
duration = "10 min"
law      = ["flood", "slow"]

[topology]
kind       = "dumbbell"
pairs      = 1
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "unlimited" }
access     = { rate = "100 Gbit/s", delay = "1 ms", queue = "unlimited" }

[variant.flood]
law  = "fixed"
rate = "100 Gbit/s"

[variant.slow]
law  = "fixed"
rate = "100 kbit/s"

[[flow]]
from = "s1"
to   = "d1"
"#;

#[test]
fn a_run_that_needs_too_much_ends_alone_and_the_others_are_printed() {
    let folder = folder("flood");
    write(&folder, "flood.toml", FLOOD);
    let args = ["run", "flood.toml", "--out", "o", "--memory", "300MB"];
    let done = ratewire(&folder, &args);
    let complaints = err(&done);
    assert_eq!(done.status.code(), Some(7), "{complaints}");
    let warned = complaints.find("warning: flood.toml: the run of flood, seed 1 will need about ");
    let ended = complaints.find("the run of flood, seed 1 is missing:\nratewire: stopped at ");
    assert!(warned.is_some() && warned < ended, "{complaints}");
    assert!(complaints.contains("300 MB are allowed\n  help: "), "{complaints}");
    assert!(complaints.contains("or allow more: --memory"), "{complaints}");
    assert!(!complaints.contains("the run of slow"), "{complaints}");
    assert!(out(&done).contains("slow") && folder.join("o/slow-seed-1").is_dir());
    assert!(folder.join("o/report.html").is_file() && !folder.join("o/flood-seed-1").exists());
}

#[test]
fn a_limit_that_no_command_fits_in_is_refused() {
    let folder = folder("no-memory");
    write(&folder, "flood.toml", FLOOD);
    for (size, says) in
        [("1MB", "allowed: 50 MB or more"), ("many", "does not start with a number")]
    {
        let done = ratewire(&folder, &["run", "flood.toml", "--memory", size]);
        assert_eq!(done.status.code(), Some(2));
        assert!(err(&done).contains(says), "{}", err(&done));
    }
}
