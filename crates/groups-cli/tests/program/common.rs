//! The program, run in folders of tests.

use std::path::{Path, PathBuf};
use std::process::Output;

pub(crate) use ratewire_testing::{err, out, write};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_ratewire-groups");

/// A separate folder for each test.
pub(crate) fn folder(test: &str) -> PathBuf {
    ratewire_testing::folder(env!("CARGO_TARGET_TMPDIR"), test)
}

pub(crate) fn program(folder: &Path, args: &[&str]) -> Output {
    ratewire_testing::run(PROGRAM, folder, args)
}
