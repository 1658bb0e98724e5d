//! `ratewire groups` and `ratewire switch`: the programs that they run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ratewire_testing::{err, out};

const OWN: &str = env!("CARGO_BIN_EXE_ratewire");

/// Runs `ratewire`, which has no other program beside it, with this `PATH`.
fn alone(folder: &Path, path: &str, args: &[&str]) -> Output {
    let program = folder.join("ratewire");
    if !program.exists() {
        fs::hard_link(OWN, &program).expect("a link");
    }
    Command::new(program).args(args).env("PATH", path).output().expect("it starts")
}

fn beside(name: &str) -> PathBuf {
    ratewire_testing::program_beside(OWN, name)
}

#[test]
fn the_program_beside_gets_all_arguments_and_its_exit_code_is_returned() {
    for name in ["groups", "switch"] {
        let program = beside(&format!("ratewire-{name}"));
        for args in [&["--version"][..], &["--help"], &["check", "--help"], &["check", "missing"]] {
            let own = Command::new(&program).args(args).output().expect("it starts");
            let through = Command::new(OWN).arg(name).args(args).output().expect("it starts");
            assert_eq!(out(&through), out(&own), "{name} {args:?}");
            assert_eq!((err(&through), through.status), (err(&own), own.status), "{name} {args:?}");
        }
    }
    let missing = Command::new(OWN).args(["switch", "check", "missing"]).status().expect("a start");
    assert_eq!(missing.code(), Some(3));
}

#[test]
fn a_program_is_found_in_path_or_said_to_be_missing() {
    let folder = ratewire_testing::folder(env!("CARGO_TARGET_TMPDIR"), "programs");
    let program = beside("ratewire-groups");
    let found = alone(&folder, &program.parent().unwrap().display().to_string(), &["groups", "-V"]);
    assert!(out(&found).starts_with("ratewire-groups "), "{}", err(&found));
    let missing = alone(&folder, "", &["groups", "-V"]);
    assert_eq!(missing.status.code(), Some(5));
    assert!(err(&missing).contains("neither in ") && err(&missing).contains("`make groups`"));
    fs::write(folder.join("ratewire-groups"), "").expect("a file");
    let broken = alone(&folder, "", &["groups", "-V"]);
    assert_eq!(broken.status.code(), Some(5));
    assert!(err(&broken).contains("cannot run ") && err(&broken).contains("help: "));
}
