//! What this machine can run, and what it lacks.

use std::borrow::Cow;
use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use crate::skeletons::host::HostSkelBuilder;
use crate::skeletons::router::RouterSkelBuilder;
use crate::{cgroup, pins, sockets};

/// A requirement that was examined.
#[derive(Clone, Debug)]
pub struct Check {
    /// Name of the requirement.
    pub what: &'static str,
    /// What was found, or what is wrong. `None` if only root can look.
    pub found: Option<Result<String, String>>,
    /// Remedy if something is wrong.
    pub remedy: Cow<'static, str>,
}

/// Examines everything that `ratewire live` needs. Changes nothing.
pub fn examine() -> Vec<Check> {
    crate::quiet();
    let check = |what, found, remedy: &'static str| Check {
        what,
        found: Some(found),
        remedy: remedy.into(),
    };
    let is_root = nix::unistd::geteuid().is_root();
    let by_root = |what, look: fn() -> Result<String, String>, remedy: &'static str| Check {
        what,
        found: is_root.then(look),
        remedy: remedy.into(),
    };
    let (pinned, remedy) = bpf_file_system(is_root);
    vec![
        check("kernel", kernel(), "Linux 6.10 or newer is needed"),
        check("rights", rights(is_root), "run it as root, with sudo"),
        check(
            "type information (BTF)",
            exists("/sys/kernel/btf/vmlinux"),
            "use a kernel built with CONFIG_DEBUG_INFO_BTF, as Debian's and Ubuntu's are",
        ),
        Check { what: "BPF file system", found: Some(pinned), remedy },
        check(
            "cgroup2 file system",
            cgroup::root().map(|path| path.display().to_string()).map_err(|e| e.to_string()),
            "mount one: mount -t cgroup2 none /sys/fs/cgroup",
        ),
        check(
            "socket diagnosis",
            sockets::look().map(|()| "tells of connections".into()).map_err(|e| e.to_string()),
            sockets::REMEDY,
        ),
        by_root("router's program", router, "the kernel's message says why; please report it"),
        by_root("host's programs", hosts, "the kernel's message says why; please report it"),
    ]
}

fn kernel() -> Result<String, String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").map_err(|e| e.to_string())?;
    let release = release.trim().to_string();
    let mut numbers = release.split(['.', '-']).map(|n| n.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version >= (6, 10) { Ok(release) } else { Err(release) }
}

fn rights(is_root: bool) -> Result<String, String> {
    if is_root { Ok("root".into()) } else { Err("not root".into()) }
}

fn exists(path: &str) -> Result<String, String> {
    if Path::new(path).exists() { Ok(path.into()) } else { Err(format!("no {path}")) }
}

/// State of the BPF file system, and the remedy if it is wrong.
fn bpf_file_system(is_root: bool) -> (Result<String, String>, Cow<'static, str>) {
    let remedy = "in place of `ip netns exec`: nsenter --net=/var/run/netns/NAME; or a kernel built with CONFIG_BPF_SYSCALL";
    let found = exists(pins::FILE_SYSTEM).and_then(|found| {
        if pins::is_mounted() {
            return Ok(found);
        }
        match pins::hiding_namespace() {
            Some(name) => Err(format!("hidden: /sys is the namespace {name}'s own")),
            None => Ok(format!("{found}, not mounted yet: `ratewire live` mounts it")),
        }
    });
    // Only root can look into the folders.
    match found.is_ok() && is_root {
        true => match pins::open() {
            Ok(_) => (found, remedy.into()),
            Err(e) => {
                let (wrong, remedy) = e.into_parts();
                (Err(wrong), remedy)
            }
        },
        false => (found, remedy.into()),
    }
}

fn router() -> Result<String, String> {
    let mut room = MaybeUninit::uninit();
    let open = RouterSkelBuilder::default().open(&mut room).map_err(|e| e.to_string())?;
    open.load().map(|_| "the kernel accepts it".into()).map_err(|e| e.to_string())
}

fn hosts() -> Result<String, String> {
    let mut room = MaybeUninit::uninit();
    let open = HostSkelBuilder::default().open(&mut room).map_err(|e| e.to_string())?;
    open.load().map(|_| "the kernel accepts them".into()).map_err(|e| e.to_string())
}
