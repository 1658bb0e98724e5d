//! Pins: files in the BPF file system that keep programs and maps alive between commands.
//!
//! Below [`ROOT`], a law's host has the folder `host-CONTROL`, and a port the folder
//! `router-IFINDEX` in the folder of its network namespace, `INODE-COOKIE`. Unprivileged users may
//! be able to write to the BPF file system. Every access therefore goes through handles of folders
//! that only root can change (see `Folder`), never by a path from `/`.

mod file_system;
mod folder;
mod namespace;

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::Error;

pub(crate) use file_system::is_mounted;
pub(crate) use folder::Folder;
use namespace::{Namespace, Namespaces};

/// Mount point of the BPF file system.
pub(crate) const FILE_SYSTEM: &str = "/sys/fs/bpf";

/// Folder of all pins.
pub const ROOT: &str = "/sys/fs/bpf/ratewire";

/// Name of [`ROOT`] in the BPF file system.
const NAME: &str = "ratewire";

/// Name of the pin of a port's state.
pub(crate) const STATE: &str = "state";

/// The folder [`ROOT`], or `None` if nothing is pinned.
///
/// # Errors
/// If the caller is not root, or others than root can change the folder or a folder above it.
pub(crate) fn open() -> Result<Option<Folder>, Error> {
    check_reach()?;
    let Some(file_system) = file_system::open()? else { return Ok(None) };
    file_system.open(NAME)
}

/// The folder of this network namespace, or `None` if nothing is pinned for it.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_own() -> Result<Option<Folder>, Error> {
    let Some(root) = open()? else { return Ok(None) };
    root.open(&Namespace::own()?.folder())
}

/// The lock on the pins: only the command that holds it changes them. When it is dropped, an empty
/// [`ROOT`] is removed, and a BPF file system that Ratewire mounted is unmounted if it is empty.
pub(crate) struct Pins {
    root: Option<Folder>,
    _lock: File,
}

impl Pins {
    /// Waits until no other command changes pins.
    ///
    /// # Errors
    /// As [`open`], or if the lock cannot be taken.
    pub(crate) fn lock() -> Result<Pins, Error> {
        check_reach()?;
        let lock = lock()?;
        Ok(Pins { root: open()?, _lock: lock })
    }

    /// The folder [`ROOT`], if anything is pinned.
    pub(crate) fn root(&self) -> Option<&Folder> {
        self.root.as_ref()
    }

    /// The folder [`ROOT`], which is made if need be, with the mount of the BPF file system.
    ///
    /// # Errors
    /// As [`open`], or if either cannot be made.
    pub(crate) fn make(&mut self) -> Result<&Folder, Error> {
        let root = match self.root.take() {
            Some(root) => root,
            None => file_system::make()?.make(NAME)?,
        };
        Ok(self.root.insert(root))
    }

    /// The folder of this network namespace, if anything is pinned for it.
    ///
    /// # Errors
    /// As [`open`].
    pub(crate) fn own(&self) -> Result<Option<Folder>, Error> {
        match self.root() {
            Some(root) => root.open(&Namespace::own()?.folder()),
            None => Ok(None),
        }
    }

    /// The folder of this network namespace, which is made if need be.
    ///
    /// # Errors
    /// As [`Pins::make`].
    pub(crate) fn make_own(&mut self) -> Result<Folder, Error> {
        let name = Namespace::own()?.folder();
        self.make()?.make(&name)
    }

    /// Removes the pins of this network namespace's interfaces.
    ///
    /// # Errors
    /// If they cannot be removed, or the folder holds entries that are not Ratewire's.
    pub(crate) fn remove_own(&self) -> Result<(), Error> {
        match self.root() {
            Some(root) => remove_namespace(root, &Namespace::own()?.folder()),
            None => Ok(()),
        }
    }

    /// Removes the folder of this network namespace if it is empty.
    pub(crate) fn tidy_own(&self) {
        if let (Some(root), Ok(namespace)) = (self.root(), Namespace::own()) {
            // Other interfaces' folders may be in it.
            let _ = root.remove_empty(&namespace.folder());
        }
    }

    /// Removes the pins of network namespaces that are gone, as the kernel says. If the kernel does
    /// not say, or a folder holds entries that are not Ratewire's, the pins stay: they do no harm.
    pub(crate) fn prune(&self) {
        let Some(root) = self.root() else { return };
        let names = root.names().unwrap_or_default();
        let others: Vec<Namespace> =
            names.iter().filter_map(|name| Namespace::of_folder(name)).collect();
        if others.is_empty() {
            return;
        }
        let mut room = Namespaces::room();
        let Ok(namespaces) = Namespaces::load(&mut room) else { return };
        for gone in others.into_iter().filter(|other| namespaces.is_gone(*other)) {
            let _ = remove_namespace(root, &gone.folder());
        }
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        let had_root = self.root.take().is_some();
        let Ok(Some(file_system)) = file_system::open() else { return };
        if had_root {
            // The folder may not be empty.
            let _ = file_system.remove_empty(NAME);
        }
        file_system::unmount_own(file_system);
    }
}

/// Name of the folder with the pins of an interface's port.
pub(crate) fn router_folder(ifindex: u32) -> String {
    format!("router-{ifindex}")
}

/// Removes the folder of a network namespace, with those of its interfaces.
fn remove_namespace(root: &Folder, name: &str) -> Result<(), Error> {
    let Some(namespace) = root.open(name)? else { return Ok(()) };
    let is_router = |name: &String| {
        name.strip_prefix("router-").is_some_and(|index| index.parse::<u32>().is_ok())
    };
    for router in namespace.names()?.iter().filter(|name| is_router(name)) {
        namespace.remove(router, &[STATE])?;
    }
    root.remove_empty(name)
}

/// The file that a command locks while it changes pins.
const LOCK: &str = "/run/ratewire.lock";

/// Waits for the lock. Only root can open the file, so nobody else can keep it locked.
fn lock() -> Result<File, Error> {
    let failed = |e: std::io::Error| {
        Error::new(
            format!("cannot lock {LOCK}, which keeps two commands from changing the pins at once"),
            "make /run a folder of root's that root may write",
        )
        .because(e)
    };
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    let file = options.open(LOCK).map_err(failed)?;
    flock(&file, FlockOperation::LockExclusive).map_err(|e| failed(e.into()))?;
    Ok(file)
}

/// Checks that pins can be seen from here, and that new ones would stay.
///
/// # Errors
/// If the caller is not root, or `ip netns exec` has mounted a `/sys` of its own.
pub(crate) fn check_reach() -> Result<(), Error> {
    check_rights()?;
    match hiding_namespace() {
        Some(name) => Err(Error::new(
            format!(
                "attached programs cannot be seen here, and new ones would not stay: /sys is the namespace {name}'s own"
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

/// The network namespace whose own `/sys` is in sight: `ip netns exec` mounts it under the
/// namespace's name.
fn of_namespace(mounts: &str, is_name: impl FnOnce(&str) -> bool) -> Option<&str> {
    let name = mounts.lines().filter_map(|line| line.split_once(" /sys sysfs ")).next_back()?.0;
    is_name(name).then_some(name)
}

/// Checks that the caller is root.
///
/// # Errors
/// If the caller is not root.
pub(crate) fn check_rights() -> Result<(), Error> {
    if nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    Err(Error::new("the kernel lets only root do this", "run it with sudo"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = "sysfs /sys sysfs rw,nosuid 0 0\n";
    const LAB: &str = "lab /sys sysfs rw,relatime 0 0\n";
    const BPF: &str = "bpf /sys/fs/bpf bpf rw 0 0\n";
    const ELSEWHERE: &str = "lab /mnt/sys sysfs rw 0 0\n";

    #[test]
    fn the_last_mount_of_sys_shows_whose_it_is() {
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
