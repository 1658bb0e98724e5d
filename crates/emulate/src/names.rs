//! The hosts' names, in a file that takes the place of `/etc/hosts` at each, and is gone once every host has it.

use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use crate::Error;
use crate::host::Spec;
use crate::sys::is_alive;

/// How the files are called, followed by the process's number and a dash.
const PREFIX: &str = "ratewire-hosts-";

/// The names and addresses of hosts; files of runs that were killed while they set up are removed.
pub(crate) fn file(specs: &[Spec]) -> Result<NamedTempFile, Error> {
    let mut text = String::from("127.0.0.1 localhost\n");
    for spec in specs {
        let _ = writeln!(text, "{} {}", spec.address, spec.name);
    }
    let folder = std::env::temp_dir();
    sweep(&folder);
    let cannot = |e| Error::new("cannot write the hosts' names to a file", "").because(e);
    write(&folder, &text).map_err(cannot)
}

fn write(folder: &Path, text: &str) -> io::Result<NamedTempFile> {
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let file = Builder::new().prefix(&prefix).tempfile_in(folder)?;
    fs::write(file.path(), text)?;
    // For programs that are not root's.
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644))?;
    Ok(file)
}

/// Removes the files of processes that are gone; those of others, and of ones that run, stay.
fn sweep(folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = file.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
        let process = process.and_then(|(process, _)| process.parse::<u32>().ok());
        if process.is_some_and(|process| !is_alive(process)) {
            let _ = fs::remove_file(file.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_killed_runs_have_left_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = write(folder.path(), "127.0.0.1 localhost\n").expect("a file");
        // No process has so high a number; the first always runs.
        let [killed, runs, others] =
            ["ratewire-hosts-99999999-x", "ratewire-hosts-1-x", "ratewire-hosts-x"]
                .map(|name| folder.path().join(name));
        for file in [&killed, &runs, &others] {
            fs::write(file, "").expect("a file");
        }
        sweep(folder.path());
        assert!(!killed.exists());
        assert!(own.path().exists() && runs.exists() && others.exists());
    }
}
