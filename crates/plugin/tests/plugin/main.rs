//! Laws in C, compiled by the tests: they are loaded or refused, and their faults are reported.

mod calls;
mod refused;

use std::path::{Path, PathBuf};
use std::process::Command;

use ratewire_plugin::LoadError;

/// A law that does nothing wrong, and its own lines after it.
const SOUND: &str = include_str!("sound.c");

/// A folder with a compiled law.
struct Built {
    _folder: tempfile::TempDir,
    object: PathBuf,
}

/// Compiles a text as a shared object.
fn build(text: &str) -> Built {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, object) = (folder.path().join("law.c"), folder.path().join("law.so"));
    std::fs::write(&source, text).expect("a file");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let done = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"])
        .args([&include, Path::new("-o"), &object, &source])
        .output()
        .expect("a C compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Built { _folder: folder, object }
}

/// The sound law with one text replaced by another.
fn changed(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    SOUND.replace(from, to)
}

fn refusal(text: &str) -> String {
    let built = build(text);
    let LoadError { path, what } = ratewire_plugin::load(&built.object).expect_err("no law");
    assert_eq!(path, built.object);
    what
}
