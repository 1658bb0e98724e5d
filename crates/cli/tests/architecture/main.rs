//! The structure of the workspace: which crate may know which, and no circles between the files of
//! a crate.

mod circles;
mod crates;
mod modules;

use std::path::{Path, PathBuf};

/// The workspace's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
