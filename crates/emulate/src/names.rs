//! The hosts' names, in a file that takes the place of `/etc/hosts` at each, and is gone once every host has it.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::{Builder, NamedTempFile};

use crate::Error;
use crate::host::Spec;
use crate::leftovers::sweep;

/// How the files are called, followed by the process's number and a dash.
const PREFIX: &str = "ratewire-hosts-";

/// The names and addresses of hosts; what runs have left that were killed while they set up is removed.
pub(crate) fn file(specs: &[Spec]) -> Result<NamedTempFile, Error> {
    let mut text = String::from("127.0.0.1 localhost\n");
    for spec in specs {
        let _ = writeln!(text, "{} {}", spec.address, spec.name);
    }
    sweep(&std::env::temp_dir(), PREFIX, fs::remove_file);
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let written = Builder::new().prefix(&prefix).tempfile().and_then(|file| {
        fs::write(file.path(), text)?;
        // For programs that are not root's.
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644))?;
        Ok(file)
    });
    written.map_err(|e| {
        let folder = std::env::temp_dir();
        let help = format!("make room in {}, or name another folder: TMPDIR=...", folder.display());
        Error::new("cannot write the hosts' names to a file", help).because(e)
    })
}
