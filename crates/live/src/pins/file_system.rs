//! The BPF file system: mounted if need be, unmounted when it is no longer needed.

use std::fs;
use std::os::fd::AsFd;

use rustix::fs::{CWD, StatFs, major, minor, statfs};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, move_mount, open_tree, unmount,
};

use super::folder::{self, Sticky};
use super::{FILE_SYSTEM, Folder};
use crate::Error;

/// `BPF_FS_MAGIC` of `linux/magic.h`.
const MAGIC: u64 = 0xcafe_4a11;

/// Source of a mount that Ratewire makes, by which it recognises the mount.
const SOURCE: &str = "ratewire";

/// Whether the BPF file system is mounted at [`FILE_SYSTEM`].
pub(crate) fn is_mounted() -> bool {
    statfs(FILE_SYSTEM).is_ok_and(|found| is_bpf(&found))
}

fn is_bpf(found: &StatFs) -> bool {
    found.f_type as u64 & 0xffff_ffff == MAGIC
}

/// The folder of the BPF file system, or `None` if it is not mounted.
///
/// # Errors
/// If others than root can remove what root makes there.
pub(super) fn open() -> Result<Option<Folder>, Error> {
    if !is_mounted() {
        return Ok(None);
    }
    let folder = folder::open_first(FILE_SYSTEM, Sticky::Suffices)?;
    // The path may have led elsewhere in the meantime.
    Ok(folder.filter(|folder| folder.file_system().is_some_and(|found| is_bpf(&found))))
}

/// The folder of the BPF file system, which is mounted for root alone if need be.
///
/// # Errors
/// If it cannot be mounted, or as [`open`].
pub(super) fn make() -> Result<Folder, Error> {
    let failed = |e: Errno| {
        Error::new(
            format!("cannot mount the BPF file system on {FILE_SYSTEM}"),
            "mount it yourself: mount -t bpf -o mode=0700 bpf /sys/fs/bpf",
        )
        .because(e)
    };
    if !is_mounted() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount(SOURCE, FILE_SYSTEM, "bpf", flags, c"mode=0700").map_err(failed)?;
    }
    open()?.ok_or_else(|| failed(Errno::NOENT))
}

/// Unmounts the BPF file system if Ratewire mounted it and nobody uses it or has made anything in
/// it.
pub(super) fn unmount_own(file_system: Folder) {
    let is_own = file_system.device().is_some_and(|device| {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        is_ours(&mounts, &format!("{}:{}", major(device), minor(device)))
    });
    // An open handle keeps a mount busy.
    drop(file_system);
    if !is_own {
        return;
    }
    // A second mount keeps the file system alive while the first is unmounted. If something was
    // pinned just before, it is still there and the mount is put back; afterwards nothing can be
    // pinned.
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let Ok(elsewhere) = open_tree(CWD, FILE_SYSTEM, flags) else { return };
    if !folder::is_unused(elsewhere.as_fd())
        || unmount(FILE_SYSTEM, UnmountFlags::NOFOLLOW).is_err()
    {
        return;
    }
    if !folder::is_unused(elsewhere.as_fd()) {
        let _ =
            move_mount(elsewhere, c"", CWD, FILE_SYSTEM, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH);
    }
}

/// Whether `mountinfo` lists a mount by Ratewire of this device, `MAJOR:MINOR`, at [`FILE_SYSTEM`].
fn is_ours(mountinfo: &str, device: &str) -> bool {
    mountinfo.lines().any(|line| {
        let Some((mount, kind)) = line.split_once(" - ") else { return false };
        let mount: Vec<&str> = mount.split(' ').collect();
        let is_here = mount.get(2..5) == Some(&[device, "/", FILE_SYSTEM]);
        is_here && kind.starts_with(&format!("bpf {SOURCE} "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_is_known_by_its_source_place_and_device() {
        let own = "63 46 0:39 / /sys/fs/bpf rw,nosuid shared:7 - bpf ratewire rw,mode=700\n";
        let before = "22 1 8:1 / / rw - ext4 /dev/vda rw\n";
        assert!(is_ours(&format!("{before}{own}"), "0:39"));
        for (other, why) in [
            (own.replace("bpf ratewire", "bpf bpf"), "somebody else mounted it"),
            (own.replace("/sys/fs/bpf", "/mnt"), "it is elsewhere"),
            (own.replace("0:39", "0:40"), "another is mounted over it"),
            (own.replace("- bpf", "- tmpfs"), "it is another file system"),
            (own.replace(" / ", " /below "), "a folder of it is mounted there"),
            (String::new(), "nothing is mounted"),
        ] {
            assert!(!is_ours(&format!("{before}{other}"), "0:39"), "{why}");
        }
    }
}
