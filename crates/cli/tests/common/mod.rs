//! A scenario, and helpers that run the command on it.

use std::path::{Path, PathBuf};
use std::process::Output;

pub(crate) use ratewire_testing::{err, out, write};

pub(crate) const HELLO: &str = r#"
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

/// A scenario in which nothing is random.
#[allow(dead_code, reason = "some test programs have no need of it")]
pub(crate) fn without_chance(scenario: &str) -> String {
    format!("port_clocks = \"equal\"\n{scenario}\n[transport]\njitter = \"none\"\n")
}

/// A separate folder for each test.
pub(crate) fn folder(test: &str) -> PathBuf {
    ratewire_testing::folder(env!("CARGO_TARGET_TMPDIR"), test)
}

pub(crate) fn ratewire(folder: &Path, args: &[&str]) -> Output {
    ratewire_testing::run(env!("CARGO_BIN_EXE_ratewire"), folder, args)
}
