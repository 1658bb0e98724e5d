//! Control groups, version 2.

use std::path::PathBuf;

use crate::Error;

/// Mount point of the cgroup2 file system.
///
/// # Errors
/// If it is not mounted.
pub fn root() -> Result<PathBuf, Error> {
    let no = |why: &str| {
        Error::new("no cgroup2 file system is mounted", "mount one, or name a cgroup").because(why)
    };
    let mounts = std::fs::read_to_string("/proc/self/mounts").map_err(|e| no(&e.to_string()))?;
    mounts
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .find(|fields| fields.get(2) == Some(&"cgroup2"))
        .and_then(|fields| fields.get(1).map(PathBuf::from))
        .ok_or_else(|| no("none in /proc/self/mounts"))
}

/// The cgroup of this process.
///
/// # Errors
/// If the kernel does not report it.
pub fn own() -> Result<PathBuf, Error> {
    let own = std::fs::read_to_string("/proc/self/cgroup").map_err(|e| {
        Error::new("cannot tell this process's cgroup", "is /proc mounted?").because(e)
    })?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    Ok(root()?.join(own))
}
