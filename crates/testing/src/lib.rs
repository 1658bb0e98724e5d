//! Helpers for tests that run Ratewire's programs, or read its documentation.

mod port;
mod program;
mod table;
mod unwritable;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub use port::{free_address, port};
pub use program::program_beside;
pub use table::{first_cells, hold_first_cells};
pub use unwritable::Unwritable;

/// An empty folder for a test below `place`, which is `CARGO_TARGET_TMPDIR`.
///
/// # Panics
/// If it cannot be made.
pub fn folder(place: &str, test: &str) -> PathBuf {
    let folder = Path::new(place).join(test);
    // It may not be there.
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// The program of a file in `examples/` of the test's own package. `cargo test` builds it with the
/// test.
///
/// # Panics
/// If it was not built.
pub fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("this test's own file");
    let folder = own.parent().and_then(Path::parent).expect("the folder of the build");
    let program = folder.join("examples").join(name);
    assert!(program.exists(), "{} is missing: cargo build --examples", program.display());
    program
}

/// Writes a file of a test.
///
/// # Panics
/// If it cannot be written.
pub fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("a file for the test");
}

/// Runs a program in a folder to its end.
///
/// # Panics
/// If it cannot be started.
pub fn run(program: &str, folder: &Path, args: &[&str]) -> Output {
    Command::new(program).args(args).current_dir(folder).output().expect("the program starts")
}

/// What a program has written to standard output.
pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a program has written to standard error.
pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
