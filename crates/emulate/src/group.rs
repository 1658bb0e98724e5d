//! Control groups, by which the laws of `bpf/` know the sockets that take part.
//!
//! A socket belongs to its process's group at the time it is opened. This process therefore moves
//! into a law's group while it opens the sockets of that law's flows, and back. Programs start in
//! their law's group.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ratewire_live::cgroup;

use crate::Error;
use crate::leftovers::{is_alive, sweep, whose};

/// Begin of a group's name; the number of the run's process, a dash and the law follow.
const PREFIX: &str = "ratewire-emulate-";

/// A control group of this process.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
    /// The process's group before.
    home: PathBuf,
}

/// Removes groups of runs that were killed.
pub(crate) fn remove_left() {
    // Without control groups there are no remains.
    if let Ok(root) = cgroup::root() {
        sweep(&root, PREFIX, fs::remove_dir);
    }
}

/// A process with an emulated run whose hosts' connections are in a control group.
pub fn running_in(within: &Path) -> Option<u32> {
    let within = within.canonicalize().ok()?;
    let groups = fs::read_dir(cgroup::root().ok()?.canonicalize().ok()?).ok()?.flatten();
    let below = groups.filter(|group| group.path().starts_with(&within));
    let names = below.filter_map(|group| group.file_name().into_string().ok());
    let mut processes = names.filter_map(|name| Some(whose(&name, PREFIX)?.0));
    processes.find(|process| is_alive(*process))
}

impl Group {
    /// Makes a group below `root`, the mount point of the cgroup2 file system.
    pub(crate) fn make(root: &Path, name: &str) -> Result<Group, Error> {
        let cannot = |help: &'static str| Error::new("cannot make a control group", help);
        // This error has its own remedy.
        let home = cgroup::own().map_err(|e| cannot("").because(e))?;
        let folder = root.join(format!("{PREFIX}{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|e| {
            let help = "the laws of bpf/ need root and a cgroup2 file system: `ratewire doctor`";
            cannot(help).because(e)
        })?;
        Ok(Group { folder, home })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs `what` while this process is in the group.
    pub(crate) fn inside<T>(&self, what: impl FnOnce() -> T) -> Result<T, Error> {
        let cannot = |e| Error::new("cannot move to a control group", "").because(e);
        move_to(&self.folder).map_err(cannot)?;
        let done = what();
        move_to(&self.home).map_err(cannot)?;
        Ok(done)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = move_to(&self.home);
        // A process that was just killed may not be gone yet.
        for _ in 0..100 {
            match fs::remove_dir(&self.folder) {
                Err(e) if e.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                _ => break,
            }
        }
    }
}

fn move_to(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), std::process::id().to_string())
}
