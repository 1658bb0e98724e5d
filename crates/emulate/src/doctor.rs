//! What a run in real time needs of this machine, and what to do where it is missing.

use std::fs;
use std::io::Error;
use std::process::{Command, Stdio};
use std::thread;

use crate::host;
use crate::program::in_namespace;
use crate::sys;
use crate::tun::Tun;

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Check {
    /// What.
    pub what: &'static str,
    /// What was found; or what is wrong.
    pub found: Result<String, String>,
    /// What to do about it, if anything is wrong.
    pub remedy: &'static str,
}

/// Tries everything that the emulated world needs, in a namespace that is gone afterwards.
pub fn examine() -> Vec<Check> {
    thread::spawn(try_all).join().unwrap_or_default()
}

/// Leaves the calling thread in namespaces of its own, and perhaps with precedence.
fn try_all() -> Vec<Check> {
    let check = |what, found: Result<String, String>, remedy| Check { what, found, remedy };
    vec![
        check("rights", rights(), "run it as root, with sudo"),
        check(
            "namespaces",
            said(host::leave(), "of networks and mounts"),
            "root makes them, on a kernel with CONFIG_NET_NS; in a container, a privileged one",
        ),
        check(
            "TUN devices",
            said(Tun::make(host::DEVICE).map(drop), "/dev/net/tun"),
            "modprobe tun; a container is given it: --device /dev/net/tun",
        ),
        check(
            "ip",
            said(host::ip("link set lo up\n"), "sets devices up"),
            "apt-get install iproute2",
        ),
        check("setpriv and unshare", programs(), "apt-get install util-linux; run it as root"),
        check(
            "real-time priority",
            said(sys::be_real_time(), "SCHED_FIFO"),
            "root has it, or CAP_SYS_NICE (a container: --cap-add SYS_NICE); runs go on without, and are late more often",
        ),
        check(
            "congestion controls",
            fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
                .map(|names| names.trim().to_string())
                .map_err(|e| e.to_string()),
            "mount /proc",
        ),
    ]
}

fn said(done: Result<(), Error>, what: &str) -> Result<String, String> {
    done.map(|()| what.to_string()).map_err(|e| e.to_string())
}

fn rights() -> Result<String, String> {
    if nix::unistd::geteuid().is_root() { Ok("root".into()) } else { Err("not root".into()) }
}

/// Whether a program can be started as a host's are.
fn programs() -> Result<String, String> {
    let ran = in_namespace(&mut Command::new("setpriv"))
        .arg("true")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("setpriv: {e}"))?;
    match ran.status.success() {
        true => Ok("programs in process namespaces".into()),
        false => Err(String::from_utf8_lossy(&ran.stderr).trim().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_a_remedy() {
        let checks = examine();
        assert_eq!(checks.len(), 7);
        for check in &checks {
            assert!(!check.remedy.is_empty());
            assert!(
                check.found.as_ref().is_ok_and(|found| !found.is_empty()) || check.found.is_err()
            );
        }
        // Without root there is at least this.
        assert_eq!(checks[0].found.is_ok(), nix::unistd::geteuid().is_root());
    }

    /// It is this thread's no more than anyone's.
    #[test]
    fn an_examination_changes_nothing() {
        let own = || fs::read_link("/proc/thread-self/ns/net").expect("/proc");
        let before = own();
        examine();
        assert_eq!(own(), before);
    }
}
