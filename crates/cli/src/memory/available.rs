//! Memory that is available to this process and its control groups.

use std::fs;
use std::path::{Path, PathBuf};

/// Share of the available memory that runs may use.
const SHARE: f64 = 0.8;

/// Bytes of memory that this process uses, swapped ones included.
pub(super) fn in_use() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    Some(kilobytes(&status, "VmRSS:")? + kilobytes(&status, "VmSwap:").unwrap_or(0))
}

/// Bytes that runs may use beyond those in use: a share of what the machine and this process's
/// control groups have left.
pub(super) fn share() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let groups = groups(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"));
    let left = groups.iter().filter_map(|group| group.left());
    let left = machine(&read("/proc/meminfo")).into_iter().chain(left).min()?;
    Some((left as f64 * SHARE) as u64)
}

/// Available memory according to `/proc/meminfo`.
fn machine(meminfo: &str) -> Option<u64> {
    kilobytes(meminfo, "MemAvailable:")
}

/// The number of a line `KEY NUMBER kB`, in bytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

/// A control group with a limit on memory.
#[derive(Debug, PartialEq)]
struct Group {
    folder: PathBuf,
    is_v2: bool,
}

impl Group {
    /// Bytes left; memory for cached files counts as free, because the kernel can reclaim it.
    fn left(&self) -> Option<u64> {
        let (limit, usage, files) = match self.is_v2 {
            true => ("memory.max", "memory.current", "inactive_file "),
            false => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "),
        };
        let read = |name: &str| fs::read_to_string(self.folder.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        // Without a limit the file has `max`, or a number beyond any machine.
        let limit = number(limit)?;
        let stat = read("memory.stat").unwrap_or_default();
        let files = stat.lines().find_map(|line| line.strip_prefix(files)?.parse().ok());
        Some(limit.saturating_sub(number(usage)?.saturating_sub(files.unwrap_or(0))))
    }
}

/// Control groups of this process and their parents, from `/proc/self/cgroup` and
/// `/proc/self/mountinfo`.
fn groups(cgroup: &str, mounts: &str) -> Vec<Group> {
    let mut all = Vec::new();
    for line in cgroup.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let is_v2 = controllers.is_empty();
        if !is_v2 && !controllers.split(',').any(|one| one == "memory") {
            continue;
        }
        let Some(mount) = mounts.lines().find_map(|line| mounted(line, is_v2)) else { continue };
        let own = mount.join(path.trim_start_matches('/'));
        // Within a namespace of control groups the path may not exist.
        let own = if own.is_dir() { own } else { mount.to_path_buf() };
        let above = own.ancestors().take_while(|folder| folder.starts_with(mount));
        all.extend(above.map(|folder| Group { folder: folder.to_path_buf(), is_v2 }));
    }
    all
}

/// Mount point of the memory control groups, if this line of `mountinfo` is one.
fn mounted(line: &str, is_v2: bool) -> Option<&Path> {
    let (mount, kind) = line.split_once(" - ")?;
    let mut kind = kind.split(' ');
    let is_theirs = match is_v2 {
        true => kind.next()? == "cgroup2",
        false => kind.next()? == "cgroup" && kind.nth(1)?.split(',').any(|one| one == "memory"),
    };
    is_theirs.then(|| mount.split(' ').nth(4).map(Path::new))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_memory_and_has_some_left() {
        assert!(in_use().expect("a number") > 100_000);
        assert!(share().expect("a number") > 1_000_000);
        assert_eq!(machine("MemTotal: 9 kB\nMemAvailable:   2 kB\n"), Some(2048));
    }

    #[test]
    fn groups_of_both_versions_are_found_with_those_above() {
        let folder = tempfile::tempdir().expect("a folder");
        let (v1, v2) = (folder.path().join("v1"), folder.path().join("v2"));
        fs::create_dir_all(v1.join("a/b")).expect("a folder");
        fs::create_dir_all(&v2).expect("a folder");
        let cgroup = "4:memory,cpu:/a/b\n3:pids:/x\n0::/not/seen\n";
        let mounts = format!(
            "30 1 0:26 / {} rw shared:9 - cgroup cgroup rw,memory\n\
             31 1 0:27 / /pids rw - cgroup cgroup rw,pids\n32 1 0:28 / {} rw - cgroup2 none rw\n",
            v1.display(),
            v2.display()
        );
        let found = groups(cgroup, &mounts);
        let folders: Vec<_> =
            found.iter().map(|group| (group.folder.clone(), group.is_v2)).collect();
        let own = [v1.join("a/b"), v1.join("a"), v1.clone()].map(|folder| (folder, false));
        assert_eq!(folders, [&own[..], &[(v2.clone(), true)]].concat());

        let write = |folder: &Path, name: &str, text: &str| {
            fs::write(folder.join(name), text).expect("a file");
        };
        write(&v2, "memory.max", "max\n");
        write(&v2, "memory.current", "5\n");
        assert_eq!(found[3].left(), None, "it has no limit");
        write(&v2, "memory.max", "1000\n");
        write(&v2, "memory.current", "300\n");
        write(&v2, "memory.stat", "anon 1\ninactive_file 100\n");
        assert_eq!(found[3].left(), Some(800));
        write(&v1, "memory.limit_in_bytes", "500");
        write(&v1, "memory.usage_in_bytes", "600");
        assert_eq!(found[2].left(), Some(0));
    }
}
