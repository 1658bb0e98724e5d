//! Figures of finished runs, kept in files so that a sweep can go on after it was stopped.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ratewire_report::{JSON_HEAD, Summary};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::folder::write_whole;

/// Folder of the runs' files in a sweep's folder.
const RUNS: &str = "runs";
/// Digits of a run's digest in the name of its file.
const DIGITS: usize = 32;

/// The files of finished runs, by the digests of what made them.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
}

#[derive(Serialize)]
struct Written<'a> {
    digest: &'a str,
    summary: &'a Summary,
}

#[derive(Deserialize)]
struct Read {
    digest: String,
    summary: Summary,
}

impl Store {
    /// The files in a sweep's folder.
    ///
    /// # Errors
    /// An error if the folder cannot be made.
    pub(super) fn open(sweep: &Path) -> Result<Store, Error> {
        let folder = sweep.join(RUNS);
        fs::create_dir_all(&folder).map_err(|e| Error::write(&folder, e))?;
        // The sweep's folder is ours alone: drafts in it are of processes that were killed.
        let files = fs::read_dir(&folder).into_iter().flatten().flatten();
        for draft in files.filter(|file| is_draft(&file.file_name().to_string_lossy())) {
            _ = fs::remove_file(draft.path());
        }
        Ok(Store { folder })
    }

    fn path(&self, digest: &str) -> PathBuf {
        self.folder.join(format!("{}.json", &digest[..DIGITS.min(digest.len())]))
    }

    /// Figures of a run that this version of Ratewire has finished; `None` if it has not.
    ///
    /// A file that another version wrote, or that is damaged, is as good as none.
    pub(super) fn get(&self, digest: &str) -> Option<Summary> {
        let text = fs::read(self.path(digest)).ok()?;
        let is_ours = text.starts_with(JSON_HEAD.as_bytes());
        let read: Read = serde_json::from_slice(&text).ok().filter(|_| is_ours)?;
        let is_current = read.summary.version == env!("CARGO_PKG_VERSION");
        (read.digest == digest && is_current).then_some(read.summary)
    }

    /// Keeps the figures of a finished run: the file is whole, or not there.
    ///
    /// # Errors
    /// [`Error::Refused`] if a file of others is in the way, [`Error::Write`] if the file cannot
    /// be written.
    pub(super) fn put(&self, digest: &str, summary: &Summary) -> Result<(), Error> {
        let path = self.path(digest);
        check_ours(&path, JSON_HEAD.as_bytes())?;
        write_whole(&path, ratewire_report::json(&Written { digest, summary }).as_bytes())
    }
}

/// Writes a table of Ratewire's in one step; an earlier one is replaced.
///
/// # Errors
/// As [`Store::put`].
pub(super) fn write_table(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    check_ours(path, b"PAR1")?;
    write_whole(path, bytes)
}

/// Checks that a path is free, or has a file that begins as one of Ratewire's.
fn check_ours(path: &Path, head: &[u8]) -> Result<(), Error> {
    let begin = fs::File::open(path).and_then(|file| {
        let mut begin = Vec::new();
        file.take(head.len() as u64).read_to_end(&mut begin).map(|_| begin)
    });
    match begin {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(text) if text.is_empty() || text.starts_with(head) => Ok(()),
        _ => {
            let why = "Ratewire did not write what is there; move it, or choose another path";
            Err(Error::refused(path, why))
        }
    }
}

/// Whether a file is a run's that [`write_whole`] has not finished:
/// `.0123456789abcdef0123456789abcdef.json.42`.
fn is_draft(name: &str) -> bool {
    let parts = name.strip_prefix('.').and_then(|name| name.split_once(".json."));
    parts.is_some_and(|(digest, process)| {
        digest.len() == DIGITS
            && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
            && process.parse::<u32>().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn only_runs_of_this_version_and_digest_are_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        assert_eq!(store.get(DIGEST), None);
        let version = env!("CARGO_PKG_VERSION").to_string();
        let summary = Summary { law: "xcp".into(), version, ..Summary::default() };
        store.put(DIGEST, &summary).expect("it is kept");
        assert_eq!(store.get(DIGEST).as_ref(), Some(&summary));
        // The name has only the first digits of the digest.
        let other = DIGEST
            .replace("ef0123456789abcdef0123456789abcdef", "ef0123456789abcdef0123456789abcdee");
        assert_eq!(store.get(&other), None);
        store.put(DIGEST, &Summary { version: "0.0.0".into(), ..summary.clone() }).expect("kept");
        assert_eq!(store.get(DIGEST), None, "another version may measure otherwise");
        let path = store.path(DIGEST);
        let text = fs::read(&path).expect("a file");
        fs::write(&path, &text[..text.len() / 2]).expect("a damaged file");
        assert_eq!(store.get(DIGEST), None);
        store.put(DIGEST, &summary).expect("it is replaced");
        assert_eq!(store.get(DIGEST), Some(summary.clone()));
        fs::write(&path, "mine").expect("a file of somebody's own");
        assert!(matches!(store.put(DIGEST, &summary), Err(Error::Refused { .. })));
        assert_eq!(fs::read(&path).expect("the file"), b"mine");
    }

    #[test]
    fn drafts_of_killed_processes_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let draft = crate::folder::draft(&store.path(DIGEST));
        let others = [".notes.json.1", ".0123.json.x"].map(|name| store.folder.join(name));
        for file in others.iter().chain([&draft]) {
            fs::write(file, "{").expect("a file");
        }
        Store::open(folder.path()).expect("a store");
        assert!(!draft.exists() && others.iter().all(|file| file.exists()));
    }
}
