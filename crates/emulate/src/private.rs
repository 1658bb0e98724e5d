//! Each host's own folders for passing files: what programs leave there is gone with the run, and
//! they see nothing of the real ones.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};

/// Folders in which every user of a machine may write.
const FOLDERS: [&str; 2] = ["/tmp", "/var/tmp"];

/// Limits of each folder, in `tmpfs`'s words.
const LIMITS: &str = "mode=1777,size=256m,nr_inodes=64k";

/// A folder on the way to the working directory, to be made again.
struct Step {
    name: OsString,
    mode: u32,
    owner: (u32, u32),
}

/// Mounts these folders anew in the calling thread's mount namespace. A working directory below one
/// of them stays where it was.
pub(crate) fn mount_private() -> io::Result<()> {
    let real = |folder: &&str| fs::canonicalize(folder).ok();
    let mut folders: Vec<PathBuf> = FOLDERS.iter().filter_map(real).collect();
    folders.dedup();
    // A directory that was removed is below no folder.
    let here = std::env::current_dir().unwrap_or_default();
    let inner = |folder: &PathBuf| Some((folder.clone(), here.strip_prefix(folder).ok()?));
    let inner = folders.iter().find_map(inner);
    let steps = inner.as_ref().map(|(folder, rest)| steps(folder, rest)).transpose()?;
    for folder in &folders {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some(LIMITS))?;
    }
    let (Some((folder, _)), Some(steps)) = (inner, steps) else { return Ok(()) };
    let mut place = folder;
    for step in &steps {
        place.push(&step.name);
        DirBuilder::new().mode(0o700).create(&place)?;
        chown(&place, Some(step.owner.0), Some(step.owner.1))?;
        fs::set_permissions(&place, Permissions::from_mode(step.mode))?;
    }
    if !steps.is_empty() {
        // This thread is still in the directory that the mounts hide.
        let none = None::<&str>;
        mount(Some("."), &place, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)?;
    }
    Ok(nix::unistd::chdir(&place)?)
}

/// The folders from `folder` to `rest` below it, with their rights: a user who may not pass them
/// still may not.
fn steps(folder: &Path, rest: &Path) -> io::Result<Vec<Step>> {
    let mut place = folder.to_path_buf();
    let step = |name: &std::ffi::OsStr| {
        place.push(name);
        let about = fs::metadata(&place)?;
        let (mode, owner) = (about.mode() & 0o7777, (about.uid(), about.gid()));
        Ok(Step { name: name.to_os_string(), mode, owner })
    };
    rest.iter().map(step).collect()
}

/// Whether programs find no files of the working directory, because it is one of the folders that
/// hosts have anew.
pub fn hides_working_directory() -> bool {
    let here = std::env::current_dir().ok();
    let real = |folder: &&str| fs::canonicalize(folder).ok();
    here.is_some_and(|here| FOLDERS.iter().filter_map(real).any(|folder| folder == here))
}
