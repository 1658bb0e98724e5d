//! Folders of the BPF file system that only root can change, by handles.

use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{
    AtFlags, CWD, Dev, Dir, FileType, Mode, OFlags, Stat, StatFs, fstat, fstatfs, mkdirat, openat,
    statat, unlinkat,
};
use rustix::io::Errno;

use super::FILE_SYSTEM;
use crate::Error;

/// Rights of users other than the owner to write.
const OTHERS_MAY_WRITE: u32 = 0o022;
/// Bit by which users can remove and rename only their own entries.
const STICKY: u32 = 0o1000;

/// Opens only a folder, and no symbolic link.
const FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Whether a sticky bit is enough for a folder that others may write.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sticky {
    Suffices,
    DoesNotSuffice,
}

/// A folder of the BPF file system that only root can change. Root made everything in it.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: OwnedFd,
    /// Path for errors.
    path: PathBuf,
}

impl Folder {
    /// The folder of this name in the folder, if it exists.
    ///
    /// # Errors
    /// If the entry is no folder, or others than root can change it.
    pub(crate) fn open(&self, name: &str) -> Result<Option<Folder>, Error> {
        let folder =
            open_in(self.handle.as_fd(), name, self.path.join(name), Sticky::DoesNotSuffice)?;
        let Some(folder) = folder else { return Ok(None) };
        if folder.device() != self.device() {
            let what = format!("another file system is mounted on {}", folder.path.display());
            let remedy = format!("unmount it: umount {}", folder.path.display());
            return Err(Error::new(what, remedy));
        }
        Ok(Some(folder))
    }

    /// The folder of this name in the folder, which is made if need be.
    ///
    /// # Errors
    /// As [`Folder::open`], or if it cannot be made.
    pub(crate) fn make(&self, name: &str) -> Result<Folder, Error> {
        match mkdirat(&self.handle, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(e) => return Err(self.cannot_make(name, e)),
        }
        self.open(name)?.ok_or_else(|| self.cannot_make(name, Errno::NOENT))
    }

    /// Makes the folder for an attachment, which no other command has then.
    ///
    /// # Errors
    /// If the folder exists, which is `taken`, or cannot be made.
    pub(crate) fn claim(&self, name: &str, taken: impl FnOnce() -> Error) -> Result<Folder, Error> {
        mkdirat(&self.handle, name, Mode::RWXU).map_err(|e| match e {
            Errno::EXIST => taken(),
            _ => self.cannot_make(name, e),
        })?;
        self.open(name)?.ok_or_else(|| self.cannot_make(name, Errno::NOENT))
    }

    /// The path by which libbpf, which takes no handles, reaches a pin. It leads through the
    /// handle.
    pub(crate) fn pin(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.handle.as_raw_fd()))
    }

    /// Names of the entries. Bytes that are not UTF-8 are replaced; Ratewire's own names have none.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub(crate) fn names(&self) -> Result<Vec<String>, Error> {
        names(self.handle.as_fd()).map_err(|e| {
            let remedy = format!("is it readable? ls -la {}", self.path.display());
            Error::new(format!("cannot list {}", self.path.display()), remedy).because(e)
        })
    }

    /// Removes the folder of this name and its pins of these names, and nothing else.
    ///
    /// # Errors
    /// If the folder holds anything else, or as [`Folder::open`].
    pub(crate) fn remove(&self, name: &str, pins: &[&str]) -> Result<(), Error> {
        let Some(folder) = self.open(name)? else { return Ok(()) };
        for pin in pins.iter().filter(|pin| folder.has_pin(pin)) {
            match unlinkat(&folder.handle, *pin, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(e) => return Err(folder.cannot_remove(pin, e)),
            }
        }
        self.remove_empty(name)
    }

    /// Removes the folder of this name, which may be missing.
    ///
    /// # Errors
    /// If the folder is not empty.
    pub(crate) fn remove_empty(&self, name: &str) -> Result<(), Error> {
        match unlinkat(&self.handle, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::NOTEMPTY) => {
                let left = self.open(name)?.map_or(Ok(Vec::new()), |folder| folder.names())?;
                let path = self.path.join(name);
                Err(Error::new(
                    format!(
                        "cannot remove {}: not Ratewire's: {}",
                        path.display(),
                        left.join(", ")
                    ),
                    format!(
                        "see what that is, and move it out of the folder: ls -la {}",
                        path.display()
                    ),
                ))
            }
            Err(e) => Err(self.cannot_remove(name, e)),
        }
    }

    /// Device number of the file system.
    pub(super) fn device(&self) -> Option<Dev> {
        fstat(&self.handle).ok().map(|stat| stat.st_dev)
    }

    /// The kernel's facts about the folder's file system.
    pub(super) fn file_system(&self) -> Option<StatFs> {
        fstatfs(&self.handle).ok()
    }

    /// Whether the folder has a pin of this name. In the BPF file system every regular file is a
    /// pin.
    fn has_pin(&self, name: &str) -> bool {
        statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
    }

    fn cannot_make(&self, name: &str, why: impl Display) -> Error {
        Error::new(
            format!("cannot make {}", self.path.join(name).display()),
            "the BPF file system may be read-only: mount -o remount,rw /sys/fs/bpf",
        )
        .because(why)
    }

    fn cannot_remove(&self, name: &str, why: impl Display) -> Error {
        Error::new(
            format!("cannot remove {}", self.path.join(name).display()),
            "the BPF file system may be read-only: mount -o remount,rw /sys/fs/bpf",
        )
        .because(why)
    }
}

/// The folder at a path whose parents are root's, if it exists.
///
/// # Errors
/// As [`Folder::open`].
pub(super) fn open_first(path: &str, sticky: Sticky) -> Result<Option<Folder>, Error> {
    open_in(CWD, path, PathBuf::from(path), sticky)
}

fn open_in(
    parent: BorrowedFd<'_>,
    name: &str,
    path: PathBuf,
    sticky: Sticky,
) -> Result<Option<Folder>, Error> {
    let shown = path.display();
    let handle = match openat(parent, name, FLAGS, Mode::empty()) {
        Ok(handle) => handle,
        Err(Errno::NOENT) => return Ok(None),
        // A symbolic link gives either error.
        Err(Errno::NOTDIR | Errno::LOOP) => {
            return Err(Error::new(
                format!("{shown} is not a folder; a folder of root's has to be there"),
                format!("see what made it (ls -l {shown}), and remove it: rm {shown}"),
            ));
        }
        Err(e) => {
            let remedy = format!("see who may: ls -ld {shown}");
            return Err(Error::new(format!("cannot open {shown}"), remedy).because(e));
        }
    };
    let stat = fstat(&handle).map_err(|e| {
        Error::new(format!("cannot tell who owns {shown}"), "").because(io::Error::from(e))
    })?;
    match danger(&stat, sticky) {
        None => Ok(Some(Folder { handle, path })),
        Some(Danger::Owner) => Err(Error::new(
            format!("{shown} is user {}'s; only a folder of root's is safe to pin in", stat.st_uid),
            match sticky {
                Sticky::Suffices => format!("give it to root: chown root {shown}"),
                Sticky::DoesNotSuffice => format!(
                    "move it away (mv {shown} {shown}-old), and keep others out: chmod 0700 {FILE_SYSTEM}"
                ),
            },
        )),
        Some(Danger::Writers) => Err(Error::new(
            format!(
                "others than root may write to {shown} (mode {:04o}); only a folder that root alone writes is safe to pin in",
                stat.st_mode & 0o7777
            ),
            format!("see what is in it (ls -la {shown}), and keep others out: chmod 0700 {shown}"),
        )),
    }
}

/// How others than root can change a folder.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Danger {
    Owner,
    Writers,
}

fn danger(stat: &Stat, sticky: Sticky) -> Option<Danger> {
    if stat.st_uid != 0 {
        return Some(Danger::Owner);
    }
    let is_safe = stat.st_mode & OTHERS_MAY_WRITE == 0
        || sticky == Sticky::Suffices && stat.st_mode & STICKY != 0;
    (!is_safe).then_some(Danger::Writers)
}

/// Whether certainly nobody has made anything in a folder. Names with a dot are the kernel's: it
/// may put iterators such as `maps.debug` into a new BPF file system, and lets nobody else make
/// such names.
pub(super) fn is_unused(folder: BorrowedFd<'_>) -> bool {
    // A handle of a mount cannot be read itself.
    let readable = openat(folder, ".", FLAGS, Mode::empty());
    let names = readable.map_err(io::Error::from).and_then(|folder| names(folder.as_fd()));
    names.is_ok_and(|names| names.iter().all(|name| name.contains('.')))
}

fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_may_be_able_to_change_a_folder() {
        // Only the fields that count differ from those of a real folder.
        let stat = |st_uid: u32, mode: u32| {
            let mut stat = rustix::fs::stat("/").expect("every machine has it");
            stat.st_uid = st_uid;
            stat.st_mode = 0o040_000 | mode;
            stat
        };
        let (owner, writers) = (Some(Danger::Owner), Some(Danger::Writers));
        for (uid, mode, below, at_first) in [
            (0, 0o700, None, None),
            (0, 0o1700, None, None),
            (0, 0o755, None, None),
            (0, 0o775, writers, writers),
            (0, 0o702, writers, writers),
            (0, 0o1777, writers, None),
            (1000, 0o700, owner, owner),
            (1000, 0o1777, owner, owner),
        ] {
            let found =
                [Sticky::DoesNotSuffice, Sticky::Suffices].map(|s| danger(&stat(uid, mode), s));
            assert_eq!(found, [below, at_first], "user {uid}, mode {mode:o}");
        }
    }
}
