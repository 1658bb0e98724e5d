//! The structure of the workspace: which crate may know which, no circles between the files of a
//! crate, and what crates of others may be used.

mod circles;
mod crates;
mod dependencies;
mod source;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What cargo prints when it is called in the workspace's folder, or why it fails.
fn cargo(arguments: &[&str]) -> Result<String, String> {
    let done = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output();
    let done = done.map_err(|problem| problem.to_string())?;
    let printed = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    done.status.success().then(|| printed(&done.stdout)).ok_or_else(|| printed(&done.stderr))
}

/// The workspace as `cargo metadata` prints it, without a network.
fn metadata(arguments: &[&str]) -> Result<serde_json::Value, String> {
    let json = cargo(&[&["metadata", "--offline", "--format-version", "1"], arguments].concat())?;
    serde_json::from_str(&json).map_err(|problem| problem.to_string())
}
