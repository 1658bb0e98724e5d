//! Places for the files of a sweep.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ratewire_files::RESULTS;
use ratewire_report::{JSON_HEAD, html};

use crate::Error;
use crate::folder::write_whole;

/// A place for the files of a sweep: a folder of this machine, or of a system that a program knows.
///
/// Names are relative, with slashes: `sweep.json`, `runs/law=xcp/0123456789abcdef.parquet`.
pub trait SweepStore: fmt::Debug + Send + Sync {
    /// The place, for messages.
    fn place(&self) -> &Path;

    /// Names of all files in a folder and its subfolders; none if there is no such folder.
    ///
    /// # Errors
    /// An error if the folder cannot be read.
    fn list(&self, folder: &str) -> Result<Vec<String>, Error>;

    /// The content of a file; `None` if there is no such file.
    ///
    /// # Errors
    /// An error if the file cannot be read.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error>;

    /// Writes a file, with missing folders, in the place of an earlier one. Readers should find the
    /// whole file or none; a part of one is not used.
    ///
    /// # Errors
    /// An error if the file cannot be written.
    fn write(&self, name: &str, content: &[u8]) -> Result<(), Error>;

    /// Removes a file.
    ///
    /// # Errors
    /// An error if the file cannot be removed.
    fn remove(&self, name: &str) -> Result<(), Error>;
}

/// Writes a file of Ratewire's, in the place of an earlier one of Ratewire's.
///
/// # Errors
/// [`Error::Refused`] if a file of others is in the way, or the error of the place.
pub(super) fn put(store: &dyn SweepStore, name: &str, content: &[u8]) -> Result<(), Error> {
    let is_ours = |earlier: &[u8]| match name.rsplit_once('.') {
        Some((_, "parquet")) => earlier.starts_with(b"PAR1"),
        Some((_, "html")) => html::is_ours(&String::from_utf8_lossy(earlier)),
        _ => earlier.starts_with(JSON_HEAD.as_bytes()),
    };
    match store.read(name)? {
        Some(earlier) if !earlier.is_empty() && !is_ours(&earlier) => {
            let why = "Ratewire did not write what is there; move it, or choose another path";
            Err(Error::refused(&store.place().join(name), why))
        }
        _ => store.write(name, content),
    }
}

/// Digits of a digest in the name of a file of runs.
pub(super) const DIGITS: usize = 16;

/// Whether a text is what names a file of runs: the beginning of a digest.
pub(super) fn is_digest_of_runs(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A folder of this machine.
#[derive(Debug)]
pub(super) struct Folder(pub(super) PathBuf);

impl SweepStore for Folder {
    fn place(&self) -> &Path {
        &self.0
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, Error> {
        let path = self.0.join(folder);
        let wrong = |source| Error::Read { path: path.clone(), source };
        let entries = match fs::read_dir(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(wrong)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(wrong)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if entry.file_type().map_err(wrong)?.is_dir() {
                names.extend(self.list(&format!("{folder}/{name}"))?);
            } else if is_draft(&name) {
                // The sweep's folder is locked: drafts in it are of processes that were killed.
                _ = fs::remove_file(entry.path());
            } else {
                names.push(format!("{folder}/{name}"));
            }
        }
        Ok(names)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.0.join(name);
        match ratewire_files::read(&path, RESULTS).map_err(io::Error::from) {
            // A file in the place of a folder is found by who writes.
            Err(e)
                if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            read => read.map(Some).map_err(|source| Error::Read { path, source }),
        }
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        write_whole(&self.0.join(name), content)
    }

    fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.0.join(name);
        fs::remove_file(&path).map_err(|e| Error::write(&path, e))
    }
}

/// Whether a file is one of runs that [`write_whole`] has not finished:
/// `.0123456789abcdef.parquet.42`.
fn is_draft(name: &str) -> bool {
    let parts = name.strip_prefix('.').and_then(|name| name.split_once(".parquet."));
    parts.is_some_and(|(digest, process)| {
        is_digest_of_runs(digest) && process.parse::<u32>().is_ok()
    })
}
