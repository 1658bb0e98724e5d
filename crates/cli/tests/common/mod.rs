//! A scenario, and helpers that run the command on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file for the test");
}

pub(crate) fn ratewire(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ratewire"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

pub(crate) fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
