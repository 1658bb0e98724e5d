//! What keeps programs and maps alive between commands: files in the BPF file system, one folder for each network
//! namespace.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sys::statfs::{FsType, statfs};

use crate::Error;

/// Below which everything is pinned.
pub const ROOT: &str = "/sys/fs/bpf/ratewire";

pub(crate) const FILE_SYSTEM: &str = "/sys/fs/bpf";
const MAGIC: FsType = FsType(0xcafe_4a11);

/// The folder of this network namespace.
///
/// # Errors
/// As [`make_shared`].
pub(crate) fn folder() -> Result<PathBuf, Error> {
    make_shared()?;
    path()
}

/// Makes the folder of what belongs to no network namespace, if need be.
///
/// # Errors
/// When the caller is not root, or the BPF file system cannot be mounted.
pub(crate) fn make_shared() -> Result<(), Error> {
    check_reach()?;
    if !is_mounted() {
        mount(Some("bpf"), FILE_SYSTEM, Some("bpf"), MsFlags::empty(), None::<&str>).map_err(
            |e| {
                Error::new(
                    format!("cannot mount the BPF file system on {FILE_SYSTEM}"),
                    "mount it yourself: mount -t bpf bpf /sys/fs/bpf",
                )
                .because(e)
            },
        )?;
    }
    let folder = Path::new(ROOT);
    fs::create_dir_all(folder).map_err(|e| cannot_make(folder, e))
}

/// Whether the BPF file system is where it should be.
pub(crate) fn is_mounted() -> bool {
    statfs(FILE_SYSTEM).map(|s| s.filesystem_type()) == Ok(MAGIC)
}

/// Checks that what is attached can be seen from here, and what is to be attached would stay.
///
/// # Errors
/// When the caller is not root, or `ip netns exec` has mounted a `/sys` of its own.
pub(crate) fn check_reach() -> Result<(), Error> {
    check_rights()?;
    match hiding_namespace() {
        Some(name) => Err(Error::new(
            format!(
                "nothing that is attached can be seen here, nor would it stay: /sys is the namespace {name}'s own"
            ),
            "`ip netns exec` mounts it; enter the network alone: nsenter --net=/var/run/netns/NAME ratewire live ...",
        )),
        None => Ok(()),
    }
}

/// The network namespace whose own `/sys` hides the BPF file system.
pub(crate) fn hiding_namespace() -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let is_name = |name: &str| Path::new("/run/netns").join(name).exists();
    let name = of_namespace(&mounts, is_name).filter(|_| !is_mounted())?;
    Some(name.to_string())
}

/// The network namespace whose own `/sys` is in sight: `ip netns exec` mounts it under the namespace's name.
fn of_namespace(mounts: &str, is_name: impl FnOnce(&str) -> bool) -> Option<&str> {
    let name = mounts.lines().filter_map(|line| line.split_once(" /sys sysfs ")).next_back()?.0;
    is_name(name).then_some(name)
}

/// The folder of this network namespace, which may not be there.
pub(crate) fn path() -> Result<PathBuf, Error> {
    let namespace = fs::metadata("/proc/self/ns/net").map_err(|e| {
        Error::new("cannot tell the network namespace", "is /proc mounted?").because(e)
    })?;
    Ok(Path::new(ROOT).join(namespace.ino().to_string()))
}

/// Makes the folder of what is about to be attached, which nobody else has then.
///
/// # Errors
/// When it is there, which is `taken`, or cannot be made.
pub(crate) fn claim(folder: &Path, taken: impl FnOnce() -> Error) -> Result<(), Error> {
    let made =
        folder.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::create_dir(folder));
    made.map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => taken(),
        _ => cannot_make(folder, e),
    })
}

fn cannot_make(folder: &Path, why: std::io::Error) -> Error {
    Error::new(
        format!("cannot make {}", folder.display()),
        "the BPF file system may be read-only: mount -o remount,rw /sys/fs/bpf",
    )
    .because(why)
}

/// # Errors
/// When the caller is not root.
pub(crate) fn check_rights() -> Result<(), Error> {
    if nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    Err(Error::new("the kernel lets only root do this", "run it with sudo"))
}

/// Removes a folder and what is pinned in it, and the folders above where they are empty.
pub(crate) fn remove(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::new(format!("cannot remove {}", folder.display()), "").because(e));
        }
        _ => {}
    }
    for above in folder.ancestors().skip(1).take_while(|above| above.starts_with(ROOT)) {
        if fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes what is pinned for network namespaces that are no more; nothing where the processes of others cannot be seen.
pub(crate) fn prune() -> Result<(), Error> {
    if !sees_all_processes() {
        return Ok(());
    }
    let alive = alive();
    let Ok(folders) = fs::read_dir(ROOT) else { return Ok(()) };
    for folder in folders.flatten() {
        let name = folder.file_name();
        let Some(inode) = name.to_str().and_then(|name| name.parse::<u64>().ok()) else { continue };
        if !alive.contains(&inode) {
            remove(&folder.path())?;
        }
    }
    Ok(())
}

/// Whether this is the machine's own PID namespace, whose number never changes.
fn sees_all_processes() -> bool {
    const FIRST: u64 = 0xefff_fffc;
    fs::metadata("/proc/self/ns/pid").is_ok_and(|namespace| namespace.ino() == FIRST)
}

/// The network namespaces that a process is in or that have a name.
fn alive() -> BTreeSet<u64> {
    let inode = |path: PathBuf| fs::metadata(path).ok().map(|m| m.ino());
    let listed = |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten();
    let named = listed("/run/netns").filter_map(|name| inode(name.path()));
    let used = listed("/proc").filter_map(|process| inode(process.path().join("ns/net")));
    named.chain(used).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = "sysfs /sys sysfs rw,nosuid 0 0\n";
    const LAB: &str = "lab /sys sysfs rw,relatime 0 0\n";
    const BPF: &str = "bpf /sys/fs/bpf bpf rw 0 0\n";
    const ELSEWHERE: &str = "lab /mnt/sys sysfs rw 0 0\n";

    #[test]
    fn the_last_mount_of_sys_tells_whose_it_is() {
        for (mounts, whose) in [
            (vec![], None),
            (vec![MACHINE, BPF], None),
            (vec![MACHINE, ELSEWHERE], None),
            (vec![MACHINE, LAB], Some("lab")),
            (vec![MACHINE, LAB, BPF, ELSEWHERE], Some("lab")),
            (vec![LAB, MACHINE], None),
        ] {
            assert_eq!(of_namespace(&mounts.concat(), |name| name == "lab"), whose, "{mounts:?}");
        }
        assert_eq!(of_namespace(LAB, |_| false), None, "no namespace has that name");
    }
}
