//! How new results take the place of earlier ones: all of them or none, however the process ends.
//!
//! A journal, written in one step, says what takes whose place. From then on the new results count:
//! whoever opens the folder next carries out what a killed process left undone. Where a step fails,
//! the steps before it are taken back.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde::{Deserialize, Serialize};

use super::ours;

/// The journal, within the folder that holds what is not in place.
pub(super) const JOURNAL: &str = "replacing";
/// Earlier results that nothing takes the place of, until they are removed.
const EARLIER: &str = "earlier";

/// What takes whose place.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Journal {
    new: Vec<New>,
    /// Names of earlier runs that no new one takes the place of.
    gone: Vec<String>,
}

/// A file or folder to put in place. Its number tells it from an earlier one of the same name.
#[derive(Debug, Serialize, Deserialize)]
struct New {
    name: String,
    device: u64,
    inode: u64,
}

/// What a replacement does to the file system; tests have it fail.
pub(super) trait Disk {
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    /// Swaps two entries in one step; `false` where the file system cannot.
    fn exchange(&mut self, one: &Path, other: &Path) -> io::Result<bool>;
    fn remove_file(&mut self, path: &Path) -> io::Result<()>;
    fn remove_dir(&mut self, path: &Path) -> io::Result<()>;
}

/// The real one.
pub(super) struct System;

impl Disk for System {
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn exchange(&mut self, one: &Path, other: &Path) -> io::Result<bool> {
        use rustix::io::Errno;
        match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

/// What went wrong, with the path it went wrong with.
pub(super) type Result<T> = std::result::Result<T, (PathBuf, io::Error)>;

/// A replacement of results in `folder` by what is in `aside`.
pub(super) struct Replacement<'a, D> {
    folder: &'a Path,
    aside: &'a Path,
    journal: Journal,
    disk: D,
}

impl<'a, D: Disk> Replacement<'a, D> {
    /// Notes what is to be replaced: entries of `aside` called `new`, and earlier runs called
    /// `gone`.
    pub(super) fn begin(
        folder: &'a Path,
        aside: &'a Path,
        new: &[&str],
        gone: Vec<String>,
        mut disk: D,
    ) -> Result<Replacement<'a, D>> {
        let number = |name: &&str| {
            let path = aside.join(name);
            let about = fs::symlink_metadata(&path).map_err(|e| (path, e))?;
            Ok(New { name: (*name).to_string(), device: about.dev(), inode: about.ino() })
        };
        let journal = Journal { new: new.iter().map(number).collect::<Result<_>>()?, gone };
        let earlier = aside.join(EARLIER);
        fs::create_dir(&earlier).map_err(|e| (earlier, e))?;
        let path = aside.join(JOURNAL);
        let draft = path.with_extension("draft");
        let text = serde_json::to_string(&journal).unwrap_or_default();
        fs::write(&draft, text).map_err(|e| (draft.clone(), e))?;
        disk.rename(&draft, &path).map_err(|e| (path, e))?;
        Ok(Replacement { folder, aside, journal, disk })
    }

    /// The replacement that a process has left undone, if one has.
    pub(super) fn resume(
        folder: &'a Path,
        aside: &'a Path,
        disk: D,
    ) -> Result<Option<Replacement<'a, D>>> {
        let path = aside.join(JOURNAL);
        let text = match fs::read_to_string(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|e| (path.clone(), e))?,
        };
        let strange = || io::Error::other("it is no journal of Ratewire's; move it");
        let journal: Journal =
            serde_json::from_str(&text).map_err(|_| (path.clone(), strange()))?;
        let new = journal.new.iter().map(|new| &new.name);
        // What others wrote into the folder must not lead out of it.
        if new.chain(&journal.gone).any(|name| name.contains('/') || name.starts_with('.')) {
            return Err((path, strange()));
        }
        Ok(Some(Replacement { folder, aside, journal, disk }))
    }

    /// Puts all in place, and removes what was there before.
    pub(super) fn carry_out(mut self) -> Result<()> {
        if let Err(failed) = self.put_in_place() {
            // The journal stays where even this fails: the next run goes on from there.
            self.take_back()?;
            self.forget()?;
            return Err(failed);
        }
        self.remove_earlier()?;
        self.forget()
    }

    fn put_in_place(&mut self) -> Result<()> {
        for new in &self.journal.new {
            let (made, place) = (self.aside.join(&new.name), self.folder.join(&new.name));
            if !new.is_at(&made) {
                continue;
            }
            let done = match is_there(&place) {
                false => self.disk.rename(&made, &place),
                true => self.disk.exchange(&made, &place).and_then(|done| match done {
                    true => Ok(()),
                    false => {
                        self.disk.rename(&place, &self.aside.join(EARLIER).join(&new.name))?;
                        self.disk.rename(&made, &place)
                    }
                }),
            };
            done.map_err(|e| (place, e))?;
        }
        for name in &self.journal.gone {
            let place = self.folder.join(name);
            // Without samples it is what others had put into a run's folder.
            if ours::is_run(&place) {
                let earlier = self.aside.join(EARLIER).join(name);
                self.disk.rename(&place, &earlier).map_err(|e| (place, e))?;
            }
        }
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        for new in self.journal.new.iter().rev() {
            let (made, place) = (self.aside.join(&new.name), self.folder.join(&new.name));
            let mut done = Ok(());
            if new.is_at(&place) {
                done = match is_there(&made) {
                    true => self.disk.exchange(&made, &place).map(drop),
                    false => self.disk.rename(&place, &made),
                };
            }
            let earlier = self.aside.join(EARLIER).join(&new.name);
            if done.is_ok() && is_there(&earlier) {
                done = self.disk.rename(&earlier, &place);
            }
            done.map_err(|e| (place, e))?;
        }
        for name in &self.journal.gone {
            let (earlier, place) = (self.aside.join(EARLIER).join(name), self.folder.join(name));
            if is_there(&earlier) {
                self.disk.rename(&earlier, &place).map_err(|e| (place, e))?;
            }
        }
        Ok(())
    }

    /// Removes earlier results; what others had put into their folders stays where it was.
    fn remove_earlier(&mut self) -> Result<()> {
        let earlier = self.aside.join(EARLIER);
        let replaced = self.journal.new.iter().flat_map(|new| {
            [self.aside.join(&new.name), earlier.join(&new.name)].map(|old| (old, &new.name))
        });
        let gone = self.journal.gone.iter().map(|name| (earlier.join(name), name));
        for (old, name) in replaced.chain(gone) {
            match fs::symlink_metadata(&old) {
                Err(_) => {}
                Ok(about) if about.is_dir() => {
                    clear(&mut self.disk, &old, &self.folder.join(name), ours::is_of_run)?;
                }
                // A link goes, and what it leads to stays.
                Ok(_) => self.disk.remove_file(&old).map_err(|e| (old, e))?,
            }
        }
        Ok(())
    }

    fn forget(&mut self) -> Result<()> {
        let journal = self.aside.join(JOURNAL);
        self.disk.remove_file(&journal).map_err(|e| (journal, e))?;
        let earlier = self.aside.join(EARLIER);
        self.disk.remove_dir(&earlier).map_err(|e| (earlier, e))
    }
}

impl New {
    fn is_at(&self, path: &Path) -> bool {
        let about = fs::symlink_metadata(path);
        about.is_ok_and(|about| (about.dev(), about.ino()) == (self.device, self.inode))
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Removes a folder: of its entries those that are ours, others move to `kept`.
fn clear(disk: &mut impl Disk, old: &Path, kept: &Path, is_ours: fn(&str) -> bool) -> Result<()> {
    let list = fs::read_dir(old).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    for entry in list.map_err(|e| (old.to_path_buf(), e))? {
        let (path, name) = (entry.path(), entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let place = kept.join(&name);
        if is_folder && name == ours::PROGRAMS {
            clear(disk, &path, &place, ours::is_log)?;
        } else if !is_folder && name.to_str().is_some_and(is_ours) {
            disk.remove_file(&path).map_err(|e| (path, e))?;
        } else {
            fs::create_dir_all(kept).map_err(|e| (kept.to_path_buf(), e))?;
            disk.rename(&path, &place).map_err(|e| (place, e))?;
        }
    }
    disk.remove_dir(old).map_err(|e| (old.to_path_buf(), e))
}

#[cfg(test)]
mod tests;
