//! Which files are Ratewire's own: nothing else is ever replaced or removed.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ratewire_report::{JSON_HEAD, html};

/// Where an emulated run keeps what its programs wrote.
pub(crate) const PROGRAMS: &str = "programs";

/// Files of a run's folder.
const FILES: [&str; 7] = [
    "flows.parquet",
    "links.parquet",
    "completions.parquet",
    "groups.parquet",
    "connections.parquet",
    "senders.parquet",
    "packets.pcapng",
];

/// Whether a name is one that a run's folder can have: `LAW-seed-N`.
pub(super) fn is_name_of_run(name: &str) -> bool {
    name.rsplit_once("-seed-").is_some_and(|(_, n)| n.parse::<u64>().is_ok())
}

/// Whether a path is the folder of a run, with samples in it.
pub(super) fn is_run(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    name.to_str().is_some_and(is_name_of_run) && folder.join("links.parquet").is_file()
}

/// Whether a run made the entry `name` of its folder.
pub(super) fn is_of_run(name: &str) -> bool {
    FILES.contains(&name)
}

/// Whether a run made the entry `name` of its folder [`PROGRAMS`]: `N-HOST.txt`.
pub(super) fn is_log(name: &str) -> bool {
    let number = name.strip_suffix(".txt").and_then(|name| Some(name.split_once('-')?.0));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Why a page may not be written at `path`, if it may not: something is there that Ratewire did not
/// write.
///
/// # Errors
/// When what is there cannot be read.
pub(super) fn why_not_replace(path: &Path) -> io::Result<Option<&'static str>> {
    let Ok(about) = path.metadata() else {
        // Nothing is there, or a link that leads nowhere.
        return Ok(None);
    };
    if about.is_dir() {
        return Ok(Some("it is a folder; move it, or choose another with --out"));
    }
    if !about.is_file() {
        return Ok(Some("it is no regular file; move it, or choose another with --out"));
    }
    let mut head = Vec::new();
    File::open(path)?.take(1024).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    let is_ours = head.is_empty() || head.starts_with(JSON_HEAD) || html::is_ours(&head);
    let why =
        "Ratewire did not write the file that is there; move it, or choose another with --out";
    Ok((!is_ours).then_some(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runs_and_of_logs() {
        for name in ["xcp-seed-1", "a-seed-2-seed-18446744073709551615"] {
            assert!(is_name_of_run(name), "{name}");
        }
        for name in ["xcp", "xcp-seed-", "xcp-seed-one", "xcp-seed-1.old"] {
            assert!(!is_name_of_run(name), "{name}");
        }
        for name in ["1-s1.txt", "12-a-b.txt"] {
            assert!(is_log(name), "{name}");
        }
        for name in ["notes.txt", "s1-1.txt", "1-s1.csv", "1.txt"] {
            assert!(!is_log(name), "{name}");
        }
    }
}
