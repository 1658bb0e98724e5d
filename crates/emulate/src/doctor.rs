//! Requirements of emulated runs, and remedies for what is missing.

use std::borrow::Cow;
use std::fs;
use std::io::Error;
use std::process::Stdio;
use std::thread;

use ratewire_laws::{AnyLaw, list};
use ratewire_sim::setup::Setup;

use crate::control::control;
use crate::daemons::find_program;
use crate::device::{DEVICE, Device, LOOPBACK};
use crate::host;
use crate::laws::Laws;
use crate::program::as_user;
use crate::sys;
use crate::tun::Tun;
use crate::user::User;
use crate::{daemons, executables};

/// A requirement that was examined.
#[derive(Clone, Debug)]
pub struct Check {
    /// Name of the requirement.
    pub what: Cow<'static, str>,
    /// What was found, or what is wrong. `None` if only root can look.
    pub found: Option<Result<String, String>>,
    /// Remedy if something is wrong.
    pub remedy: Cow<'static, str>,
}

/// Answer for checks that would change the caller's own network.
const NOT_TRIED: &str = "not tried: no namespace";
const CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const NAMESPACES: &str =
    "run as root, on a kernel with CONFIG_NET_NS; a container must be privileged";

/// Tries everything that the emulated world needs, in a namespace that is gone afterwards.
pub fn examine() -> Vec<Check> {
    let is_root = nix::unistd::geteuid().is_root();
    let tried = thread::spawn(move || try_all(is_root, host::leave())).join().unwrap_or_default();
    tried.into_iter().chain(apart(is_root)).collect()
}

/// Whether hosts would send under the laws of their flows. Only root sees what is attached, and
/// only a build with the kernel's laws.
fn apart(is_root: bool) -> Option<Check> {
    let (found, remedy) = match Laws::check_apart() {
        Ok(()) => (Ok("no other law is attached to them".to_string()), "".into()),
        Err(e) => {
            let (what, help) = e.parts();
            (Err(what), help)
        }
    };
    let found = is_root.then_some(found);
    cfg!(feature = "live").then_some(Check { what: "hosts' connections".into(), found, remedy })
}

/// Looks for the executables of a setup's programs.
pub fn executables(setup: &Setup) -> Vec<Check> {
    let of_programs = executables::needed(setup).into_iter().map(|(name, host)| Check {
        what: name.to_string().into(),
        found: Some(executables::find(name).ok_or_else(|| format!("not found; it runs at {host}"))),
        remedy: executables::REMEDY.into(),
    });
    let own = daemons::needed(setup).map(|name| {
        let found = find_program(name).map(|path| path.display().to_string());
        Check {
            what: name.into(),
            found: Some(found.ok_or_else(|| "not found".to_string())),
            remedy: daemons::remedy(name).into(),
        }
    });
    of_programs.chain(own).collect()
}

/// Laws whose senders are a kernel's own, and whether this kernel has them. A kernel may have more
/// as modules, which it loads when a run asks for them.
pub fn controls() -> Vec<Check> {
    let available = fs::read_to_string(CONTROLS).unwrap_or_default();
    let all = list().iter().filter_map(|info| {
        let control = control(&AnyLaw::new(info.name, &[]).ok()?)?;
        control.live.is_none().then_some((info.name, control.name))
    });
    let check = |(law, control): (&'static str, &str)| Check {
        what: law.into(),
        found: Some(match available.split_whitespace().any(|name| name == control) {
            true => Ok(control.to_string()),
            false => Err(format!(
                "{control} is not loaded: runs under {law} try to load it, and are skipped if that fails"
            )),
        }),
        remedy: format!("modprobe tcp_{control}").into(),
    };
    all.map(check).collect()
}

/// Runs all checks if the calling thread has `left` for namespaces of its own, and otherwise only
/// those that do not change its network. The thread may have real-time priority afterwards.
fn try_all(is_root: bool, left: Result<(), Error>) -> Vec<Check> {
    let check = |what: &'static str, found: Result<String, String>, remedy: &'static str| Check {
        what: what.into(),
        found: Some(found).filter(|found| is_root || found.is_ok()),
        remedy: remedy.into(),
    };
    let has_left = left.is_ok();
    let inside = |what, tried: fn() -> Result<(), Error>, does, remedy| match has_left {
        true => check(what, said(tried(), does), remedy),
        false => check(what, Err(NOT_TRIED.into()), NAMESPACES),
    };
    vec![
        rights(is_root),
        check("namespaces", said(left, "of networks and mounts"), NAMESPACES),
        inside(
            "TUN devices",
            || Tun::make(DEVICE).map(drop),
            "/dev/net/tun",
            "modprobe tun; a container: --device /dev/net/tun",
        ),
        inside(
            "devices",
            || Device::named(LOOPBACK)?.set_up(),
            "can be set up",
            "root or CAP_NET_ADMIN sets devices up; a container: --cap-add NET_ADMIN",
        ),
        check("setpriv and unshare", programs(), "apt-get install util-linux"),
        check(
            "real-time priority",
            said(sys::be_real_time(), "SCHED_FIFO"),
            "root or CAP_SYS_NICE gives it (a container: --cap-add SYS_NICE); without it runs go on, and are late more often",
        ),
    ]
}

fn said(done: Result<(), Error>, what: &str) -> Result<String, String> {
    done.map(|()| what.to_string()).map_err(|e| e.to_string())
}

fn rights(is_root: bool) -> Check {
    let found = if is_root { Ok("root".to_string()) } else { Err("not root".to_string()) };
    Check { what: "rights".into(), found: Some(found), remedy: "run it as root, with sudo".into() }
}

/// Checks that a program can be started as at a host, by a user who is not root.
fn programs() -> Result<String, String> {
    let ran = as_user(&User::nobody(), "true")
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
    use std::net::UdpSocket;

    use super::*;

    fn refused() -> Result<(), Error> {
        Err(Error::other("refused"))
    }

    #[test]
    fn without_a_namespace_its_remedy_is_that_of_what_needs_one() {
        let checks = thread::spawn(|| try_all(true, refused())).join().expect("it ends");
        let of_namespace = checks.iter().filter(|check| check.remedy == NAMESPACES);
        let said: Vec<_> = of_namespace.map(|check| (&*check.what, check.found.clone())).collect();
        let wrong = |why: &str| Some(Err(why.to_string()));
        assert_eq!(
            said,
            [
                ("namespaces", wrong("refused")),
                ("TUN devices", wrong(NOT_TRIED)),
                ("devices", wrong(NOT_TRIED))
            ]
        );
    }

    /// A check that root's rights may change has no remedy: its answer is unknown.
    #[test]
    fn who_is_not_root_reads_what_was_not_examined() {
        let checks = thread::spawn(|| try_all(false, refused())).join().expect("it ends");
        let found = |what| &checks.iter().find(|check| check.what == what).expect("a check").found;
        assert_eq!(*found("rights"), Some(Err("not root".to_string())));
        assert_eq!((found("namespaces"), found("TUN devices")), (&None, &None));
    }

    #[test]
    fn the_kernels_own_senders_are_listed_one_by_one() {
        let available = fs::read_to_string(CONTROLS).expect("a kernel says");
        let laws = controls();
        let names: Vec<_> = laws.iter().map(|law| &*law.what).collect();
        for name in ["newreno", "cubic", "bbr1", "dctcp"] {
            assert!(names.contains(&name), "{names:?}");
        }
        for law in laws {
            let control = law.remedy.strip_prefix("modprobe tcp_").expect("a module");
            let is_there = available.split_whitespace().any(|name| name == control);
            assert_eq!(law.found.expect("looked at").is_ok(), is_there, "{control}");
        }
    }

    /// Loopback is down in a new network namespace.
    #[test]
    fn only_a_network_of_its_own_is_changed() {
        let is_up_after = |examine: fn()| {
            let examined = thread::spawn(move || {
                host::leave().map(|()| {
                    examine();
                    let socket = UdpSocket::bind("127.0.0.1:0");
                    socket.and_then(|socket| socket.connect("127.0.0.1:9")).is_ok()
                })
            });
            examined.join().expect("it ends")
        };
        let is_up = is_up_after(|| drop(try_all(true, Ok(()))));
        if !matches!(is_up, Ok(true)) {
            assert!(std::env::var_os("RATEWIRE_REQUIRE_ROOT").is_none(), "cannot run: {is_up:?}");
            return println!("skipped: no namespaces: {is_up:?}");
        }
        for examine in [|| drop(try_all(true, refused())), || drop(examine())] as [fn(); 2] {
            assert!(!is_up_after(examine).expect("a namespace"));
        }
    }
}
