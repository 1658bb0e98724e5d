//! Replaces earlier results by new ones: all or none, however the process ends.
//!
//! New results are in one folder, and earlier ones move to another. A journal lists the
//! replacements; one rename puts the journal in place. From then on the new results count: if the
//! process is killed, the next one that opens the folder completes the replacement. The place of an
//! entry shows whether it has been replaced. If a step fails, the steps before it are undone.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ratewire_files::{RESULTS, read_text};
use serde::{Deserialize, Serialize};

use super::ours::{self, JOURNAL};

/// Folder of new results to be put in place.
pub(super) const NEW: &str = "new";
/// Folder of earlier results until they are removed.
pub(super) const EARLIER: &str = "earlier";

/// The replacements, by names of entries.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Journal {
    new: Vec<String>,
    /// Earlier runs that are removed without a replacement.
    gone: Vec<String>,
}

/// File operations of a replacement; tests let them fail.
pub(super) trait Disk {
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&mut self, path: &Path) -> io::Result<()>;
    fn remove_dir(&mut self, path: &Path) -> io::Result<()>;
}

/// The real file system.
pub(super) struct System;

impl Disk for System {
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

/// An error with the path it is about.
pub(super) type Result<T> = std::result::Result<T, (PathBuf, io::Error)>;

/// A replacement of results in `folder` by what is in `aside`.
pub(super) struct Replacement<'a, D> {
    folder: &'a Path,
    aside: &'a Path,
    journal: Journal,
    disk: D,
}

impl<'a, D: Disk> Replacement<'a, D> {
    /// Starts a replacement by the entries of `aside` called `new`; the earlier runs called `gone`
    /// are removed.
    pub(super) fn begin(
        folder: &'a Path,
        aside: &'a Path,
        new: &[&str],
        gone: Vec<String>,
        mut disk: D,
    ) -> Result<Replacement<'a, D>> {
        for made in [NEW, EARLIER].map(|name| aside.join(name)) {
            fs::create_dir(&made).map_err(|e| (made, e))?;
        }
        for name in new {
            let made = aside.join(name);
            disk.rename(&made, &aside.join(NEW).join(name)).map_err(|e| (made, e))?;
        }
        let new = new.iter().map(|name| (*name).to_string()).collect();
        let replacement = Replacement { folder, aside, journal: Journal { new, gone }, disk };
        replacement.check()?;
        replacement.commit()
    }

    fn commit(mut self) -> Result<Replacement<'a, D>> {
        let path = self.aside.join(JOURNAL);
        let draft = path.with_extension("draft");
        let text = serde_json::to_string(&self.journal).unwrap_or_default();
        let written = File::create(&draft).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(|e| (draft.clone(), e))?;
        self.disk.rename(&draft, &path).map_err(|e| (path, e))?;
        Ok(self)
    }

    /// The replacement that an earlier process left incomplete, if there is one.
    pub(super) fn resume(
        folder: &'a Path,
        aside: &'a Path,
        disk: D,
    ) -> Result<Option<Replacement<'a, D>>> {
        let path = aside.join(JOURNAL);
        let text = match read_text(&path, RESULTS).map_err(io::Error::from) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|e| (path.clone(), e))?,
        };
        let strange = || io::Error::other("it is no journal of Ratewire's; move it");
        let journal: Journal =
            serde_json::from_str(&text).map_err(|_| (path.clone(), strange()))?;
        // Others can write into the folder, so names must not lead out of it.
        let is_ours = |name: &String| !name.contains('/') && ours::is_name(name);
        if !journal.new.iter().chain(&journal.gone).all(is_ours) {
            return Err((path, strange()));
        }
        let replacement = Replacement { folder, aside, journal, disk };
        replacement.check()?;
        Ok(Some(replacement))
    }

    /// Checks that every entry to be replaced is Ratewire's.
    fn check(&self) -> Result<()> {
        for name in &self.journal.new {
            let place = self.folder.join(name);
            if !is_there(&self.made(name)) || !is_there(&place) {
                continue;
            }
            let why = match ours::is_name_of_run(name) {
                true => (!ours::is_run(&place)).then_some(ours::NO_RUN),
                false => ours::why_not_replace(&place).map_err(|e| (place.clone(), e))?,
            };
            let twice = is_there(&self.earlier(name)).then_some(ours::NO_RUN);
            if let Some(why) = why.or(twice) {
                return Err((place, io::Error::other(why)));
            }
        }
        Ok(())
    }

    fn made(&self, name: &str) -> PathBuf {
        self.aside.join(NEW).join(name)
    }

    fn earlier(&self, name: &str) -> PathBuf {
        self.aside.join(EARLIER).join(name)
    }

    /// Puts all entries in place, and removes the earlier ones.
    pub(super) fn carry_out(mut self) -> Result<()> {
        if let Err(failed) = self.put_in_place() {
            // If undoing fails too, the journal stays, and the next run continues from there.
            self.take_back()?;
            let journal = self.aside.join(JOURNAL);
            self.disk.remove_file(&journal).map_err(|e| (journal, e))?;
            return Err(failed);
        }
        self.remove_earlier()?;
        for folder in [EARLIER, NEW].map(|name| self.aside.join(name)) {
            // The folders are already gone if a process was killed at this point.
            if is_there(&folder) {
                self.disk.remove_dir(&folder).map_err(|e| (folder, e))?;
            }
        }
        let journal = self.aside.join(JOURNAL);
        self.disk.remove_file(&journal).map_err(|e| (journal, e))
    }

    fn put_in_place(&mut self) -> Result<()> {
        for name in self.journal.new.clone() {
            let (made, place) = (self.made(&name), self.folder.join(&name));
            if !is_there(&made) {
                continue;
            }
            if is_there(&place) {
                let earlier = self.earlier(&name);
                self.disk.rename(&place, &earlier).map_err(|e| (place.clone(), e))?;
            }
            self.disk.rename(&made, &place).map_err(|e| (place, e))?;
        }
        for name in self.journal.gone.clone() {
            let place = self.folder.join(&name);
            // A folder without samples contains only files that others put there.
            if ours::is_run(&place) {
                let earlier = self.earlier(&name);
                self.disk.rename(&place, &earlier).map_err(|e| (place, e))?;
            }
        }
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        for name in self.journal.new.clone() {
            let (made, place) = (self.made(&name), self.folder.join(&name));
            if !is_there(&made) {
                self.disk.rename(&place, &made).map_err(|e| (place, e))?;
            }
        }
        for name in self.journal.new.iter().chain(&self.journal.gone) {
            let (earlier, place) = (self.earlier(name), self.folder.join(name));
            if is_there(&earlier) {
                self.disk.rename(&earlier, &place).map_err(|e| (place, e))?;
            }
        }
        Ok(())
    }

    /// Removes earlier results; files that others put into their folders stay in place.
    fn remove_earlier(&mut self) -> Result<()> {
        for name in self.journal.new.iter().chain(&self.journal.gone) {
            let old = self.earlier(name);
            match fs::symlink_metadata(&old) {
                Err(_) => {}
                Ok(about) if about.is_dir() => {
                    clear(&mut self.disk, &old, &self.folder.join(name), ours::is_of_run)?;
                }
                // A page; or a symbolic link, which is removed while its target stays.
                Ok(_) => self.disk.remove_file(&old).map_err(|e| (old, e))?,
            }
        }
        Ok(())
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Removes a folder and Ratewire's files in it; other files move to `kept`.
fn clear(disk: &mut impl Disk, old: &Path, kept: &Path, is_ours: fn(&Path) -> bool) -> Result<()> {
    let list = fs::read_dir(old).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    for entry in list.map_err(|e| (old.to_path_buf(), e))? {
        let (path, name) = (entry.path(), entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && name == ours::PROGRAMS {
            clear(disk, &path, &kept.join(&name), ours::is_log)?;
        } else if !is_folder && is_ours(&path) {
            disk.remove_file(&path).map_err(|e| (path, e))?;
        } else {
            fs::create_dir_all(kept).map_err(|e| (kept.to_path_buf(), e))?;
            let place = free(&kept.join(&name));
            disk.rename(&path, &place).map_err(|e| (place, e))?;
        }
    }
    disk.remove_dir(old).map_err(|e| (old.to_path_buf(), e))
}

/// The path itself if it is free, otherwise the first free path with a number appended.
fn free(path: &Path) -> PathBuf {
    let numbered = (2..).map(|n: u32| {
        let mut name = path.as_os_str().to_os_string();
        name.push(format!(".{n}"));
        PathBuf::from(name)
    });
    let mut all = std::iter::once(path.to_path_buf()).chain(numbered);
    all.find(|path| !is_there(path)).expect("a number that is free")
}

#[cfg(test)]
mod tests;
