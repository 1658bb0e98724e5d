//! Files and groups of a run have the number of its process in their name, which identifies the
//! remains of killed runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Removes entries of a folder whose name is `prefix`, the number of a process that is gone, a dash
/// and more.
pub(crate) fn sweep(folder: &Path, prefix: &str, remove: fn(PathBuf) -> io::Result<()>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| Some(whose(name, prefix)?.0));
        if process.is_some_and(|process| !is_alive(process)) {
            // If it fails, as for a control group with a live process, the next run may do it.
            let _ = remove(entry.path());
        }
    }
}

/// The process number in a name, and what follows.
pub(crate) fn whose<'a>(name: &'a str, prefix: &str) -> Option<(u32, &'a str)> {
    let (process, rest) = name.strip_prefix(prefix)?.split_once('-')?;
    Some((process.parse().ok()?, rest))
}

pub(crate) fn is_alive(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_killed_runs_have_left_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        // No process has so high a number; process 1 always runs.
        let own = format!("names-{}-x", std::process::id());
        let names = ["names-99999999-x", "names-1-x", "names-x", own.as_str()];
        let [killed, runs, others, own] = names.map(|name| folder.path().join(name));
        for file in [&killed, &runs, &others, &own] {
            fs::write(file, "").expect("a file");
        }
        sweep(folder.path(), "names-", fs::remove_file);
        assert!(!killed.exists());
        assert!(runs.exists() && others.exists() && own.exists());
    }
}
