//! Recognises Ratewire's own files; nothing else is ever replaced or removed.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ratewire_report::{JSON_HEAD, html};

use crate::provenance::EFFECTIVE_HEAD;

/// Folder for the output of an emulated run's programs.
pub(crate) const PROGRAMS: &str = "programs";

/// Pages of all commands.
const PAGES: [[&str; 2]; 3] = [super::REPORT, super::COMPARISON, super::SWEEP];

/// Why a run may not be written over something else.
pub(super) const NO_RUN: &str =
    "what is there is no earlier run's; move it, or choose another path";

/// The journal of replacements, in the folder of incomplete results.
pub(super) const JOURNAL: &str = "replacing";

/// File in a run's folder with what made the run.
pub(crate) const RUN_FILE: &str = "run.json";
/// File in a run's folder with the scenario as the run took it.
pub(crate) const SCENARIO_FILE: &str = "scenario.toml";

/// Files in a run's folder.
const FILES: [&str; 9] = [
    RUN_FILE,
    SCENARIO_FILE,
    "flows.parquet",
    "links.parquet",
    "completions.parquet",
    "groups.parquet",
    "connections.parquet",
    "senders.parquet",
    "packets.pcapng",
];

/// First bytes of files: Apache Parquet's magic number, and the type of pcapng's section header
/// block.
const PARQUET: &[u8] = b"PAR1";
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Whether a run's folder can have this name: `LAW-seed-N`.
pub(crate) fn is_name_of_run(name: &str) -> bool {
    name.rsplit_once("-seed-").is_some_and(|(_, n)| n.parse::<u64>().is_ok())
}

/// Whether results can have this name.
pub(super) fn is_name(name: &str) -> bool {
    is_name_of_run(name) || PAGES.as_flattened().contains(&name)
}

/// Removes Ratewire's files from the folder of incomplete results.
///
/// Returns the path of a file that is not Ratewire's, if there is one.
///
/// # Errors
/// An error if a folder cannot be read.
pub(super) fn remove_unfinished(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut others = None;
    let entries = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let is_ours =
            is_of_run(&path) || is_log(&path) || is_name(name_of(&path)) || is_journal(&path);
        others = if entry.file_type()?.is_dir() {
            remove_unfinished(&path)?.or(others)
        } else if is_ours && std::fs::remove_file(&path).is_ok() {
            others
        } else {
            Some(path)
        };
    }
    if others.is_none() {
        std::fs::remove_dir(folder)?;
    }
    Ok(others)
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn is_journal(path: &Path) -> bool {
    let name = name_of(path);
    let stem = name.strip_suffix(".draft").unwrap_or(name);
    stem == JOURNAL
}

/// Whether a path is the folder of a run, with samples in it.
pub(super) fn is_run(folder: &Path) -> bool {
    let samples = folder.join("links.parquet");
    is_name_of_run(name_of(folder)) && is_of_run(&samples)
}

/// Whether a file in a run's folder is Ratewire's: it has such a name, and begins with the right
/// bytes as far as it goes.
pub(super) fn is_of_run(path: &Path) -> bool {
    let starts: &[u8] = match name_of(path) {
        name if !FILES.contains(&name) => return false,
        RUN_FILE => JSON_HEAD.as_bytes(),
        SCENARIO_FILE => EFFECTIVE_HEAD.as_bytes(),
        name if name.ends_with(".pcapng") => &PCAPNG,
        _ => PARQUET,
    };
    if !path.symlink_metadata().is_ok_and(|about| about.is_file()) {
        return false;
    }
    let mut head = Vec::new();
    let length = starts.len() as u64;
    let read = File::open(path).and_then(|file| file.take(length).read_to_end(&mut head));
    // A process may have been killed while it wrote the first bytes.
    read.is_ok() && starts.starts_with(&head)
}

/// Whether a file in the folder [`PROGRAMS`] is Ratewire's: `N-HOST.txt`.
pub(super) fn is_log(path: &Path) -> bool {
    let name = name_of(path);
    let name = name.strip_prefix("overlay-").unwrap_or(name);
    let number = name.strip_suffix(".txt").and_then(|name| Some(name.split_once('-')?.0));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Why a page may not be written at `path`: something is there that Ratewire did not write. `None`
/// if it may.
///
/// # Errors
/// An error if the file there cannot be read.
pub(super) fn why_not_replace(path: &Path) -> io::Result<Option<&'static str>> {
    let Ok(about) = path.metadata() else {
        // The path is free, or a symbolic link without a target.
        return Ok(None);
    };
    if about.is_dir() {
        return Ok(Some("it is a folder; move it, or choose another path"));
    }
    if !about.is_file() {
        return Ok(Some("it is no regular file; move it, or choose another path"));
    }
    let mut head = Vec::new();
    File::open(path)?.take(1024).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    let is_ours = head.is_empty() || head.starts_with(JSON_HEAD) || html::is_ours(&head);
    let why = "Ratewire did not write the file that is there; move it, or choose another path";
    Ok((!is_ours).then_some(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_samples_of_ours_is_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("xcp-seed-1");
        std::fs::create_dir(&run).unwrap();
        assert!(!is_run(&run));
        for (samples, is_ours) in [("PAR1...", true), ("", true), ("mine", false)] {
            std::fs::write(run.join("links.parquet"), samples).unwrap();
            assert_eq!(is_run(&run), is_ours, "{samples}");
        }
    }

    #[test]
    fn names_of_runs_and_of_logs() {
        for name in ["xcp-seed-1", "a-seed-2-seed-18446744073709551615"] {
            assert!(is_name_of_run(name), "{name}");
        }
        for name in ["xcp", "xcp-seed-", "xcp-seed-one", "xcp-seed-1.old"] {
            assert!(!is_name_of_run(name), "{name}");
        }
        for name in ["1-s1.txt", "12-a-b.txt", "overlay-3-c.txt"] {
            assert!(is_log(Path::new(name)), "{name}");
        }
        for name in ["notes.txt", "s1-1.txt", "1-s1.csv", "1.txt"] {
            assert!(!is_log(Path::new(name)), "{name}");
        }
    }
}
