//! The program, run in folders of tests.

use std::path::{Path, PathBuf};
use std::process::Output;

pub(crate) use ratewire_testing::{err, out, write};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_ratewire-switch");

/// A separate folder for each test.
pub(crate) fn folder(test: &str) -> PathBuf {
    ratewire_testing::folder(env!("CARGO_TARGET_TMPDIR"), test)
}

pub(crate) fn program(folder: &Path, args: &[&str]) -> Output {
    ratewire_testing::run(PROGRAM, folder, args)
}

/// Makes a key, and a switch.toml with these addresses: for peers, of the status, and of the one
/// member.
pub(crate) fn one_member(folder: &Path, [switch, status, member]: [&str; 3]) {
    assert!(program(folder, &["key", "switch.key"]).status.success());
    let text = format!(
        "key = \"switch.key\"\nlisten = \"{switch}\"\nstatus = \"{status}\"\n\
         [[member]]\nname = \"one\"\naddress = \"{member}\"\n"
    );
    write(folder, "switch.toml", &text);
}
