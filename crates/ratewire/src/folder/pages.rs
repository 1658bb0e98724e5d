//! Pages and other files, each written in one step.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use ratewire_report::html;

use super::ours;
use crate::{Error, Results};

/// Makes a folder and its parents.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    if let Some(file) = folder.ancestors().find(|path| path.exists() && !path.is_dir()) {
        return Err(Error::refused(file, "it is a file, not a folder; choose another path"));
    }
    fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))
}

/// Checks that `path` is free, or has a page that Ratewire wrote.
pub(super) fn check_replaceable(path: &Path) -> Result<(), Error> {
    match ours::why_not_replace(path).map_err(|e| Error::write(path, e))? {
        Some(why) => Err(Error::refused(path, why)),
        None => Ok(()),
    }
}

/// Checks that [`write_page`] may write `path`.
pub fn check_page(path: &Path) -> Result<(), Error> {
    match path.metadata() {
        // A device or a pipe has no content to lose.
        Ok(about) if !about.is_file() && !about.is_dir() => Ok(()),
        Err(_) if path.is_symlink() => Err(Error::refused(
            path,
            "it is a link that leads nowhere; remove it, or choose another path",
        )),
        _ => check_replaceable(path),
    }
}

/// Writes a page in one step, with missing folders; if this fails, an earlier page is unchanged.
pub fn write_page(path: &Path, text: &str) -> Result<(), Error> {
    check_page(path)?;
    write_whole(path, text.as_bytes())
}

/// Writes a file in one step, with missing folders, in the place of any earlier file.
///
/// If this fails, the earlier file is unchanged.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if path.is_dir() {
        return Err(Error::refused(path, "it is a folder; name a file"));
    }
    path.parent().map_or(Ok(()), make_folder)?;
    // The target of a symbolic link is written, and the link stays.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if path.exists() && !path.is_file() {
        return fs::write(&path, bytes).map_err(|e| Error::write(&path, e));
    }
    let made = draft(&path);
    let written = File::create_new(&made).and_then(|mut file| file.write_all(bytes));
    let put = written.and_then(|()| fs::rename(&made, &path));
    put.map_err(|e| {
        let _ = fs::remove_file(&made);
        Error::write(&path, e)
    })
}

/// The file in which this process writes what will stand at `path`.
pub(crate) fn draft(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", std::process::id()))
}

impl Results {
    /// Writes the page of all runs: one HTML file that needs no network.
    ///
    /// Missing folders of `path` are created. A page that Ratewire wrote earlier is replaced in one
    /// step.
    ///
    /// # Errors
    /// [`Error::Refused`] if Ratewire did not write the file that is there, [`Error::Write`] if the
    /// page cannot be written. An existing file is then unchanged.
    pub fn report(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        write_page(path.as_ref(), &html::render(&self.page()))
    }
}
