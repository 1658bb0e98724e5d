//! Network namespaces: how pins name them, and which of them are gone.

use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{OpenObject, ProgramInput};
use nix::libc;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, getsockopt, socket};

use crate::Error;
use crate::skeletons::namespaces::{NamespacesSkel, NamespacesSkelBuilder};

/// A network namespace. The kernel gives the inode number of a namespace that is gone to another,
/// but a cookie only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Namespace {
    inode: u64,
    cookie: u64,
}

impl Namespace {
    /// The network namespace of this thread.
    ///
    /// # Errors
    /// If the kernel does not report it.
    pub(super) fn own() -> Result<Namespace, Error> {
        let what = "cannot tell the network namespace";
        // The thread's, as the socket's: another thread may be elsewhere.
        let file = fs::metadata("/proc/thread-self/ns/net")
            .map_err(|e| Error::new(what, "is /proc mounted?").because(e))?;
        let cookie = socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
            .and_then(|socket| getsockopt(&socket, Cookie))
            .map_err(|e| Error::new(what, "Linux 6.10 or newer is needed").because(e))?;
        Ok(Namespace { inode: file.ino(), cookie })
    }

    /// Name of the folder with the namespace's pins.
    pub(super) fn folder(self) -> String {
        format!("{}-{}", self.inode, self.cookie)
    }

    /// The namespace that a folder of this name belongs to.
    pub(super) fn of_folder(name: &str) -> Option<Namespace> {
        let (inode, cookie) = name.split_once('-')?;
        let namespace = Namespace { inode: inode.parse().ok()?, cookie: cookie.parse().ok()? };
        // Ratewire makes no other spelling, such as `+7`.
        (namespace.folder() == name).then_some(namespace)
    }
}

/// Cookie of the network namespace that a socket is in.
#[derive(Clone, Copy, Debug)]
struct Cookie;

nix::getsockopt_impl!(
    Cookie,
    libc::SOL_SOCKET,
    libc::SO_NETNS_COOKIE,
    u64,
    nix::sys::socket::sockopt::GetStruct<u64>
);

/// Answer of `bpf/namespaces.bpf.c` for a namespace that is gone.
const GONE: u32 = 2;

/// Asks the kernel which network namespaces are alive. Only the kernel knows: bind mounts anywhere,
/// open files, sockets and single threads keep one alive.
pub(super) struct Namespaces<'a> {
    skeleton: NamespacesSkel<'a>,
}

impl<'a> Namespaces<'a> {
    /// Room for the program.
    pub(super) fn room() -> MaybeUninit<OpenObject> {
        MaybeUninit::uninit()
    }

    /// Loads the program that asks.
    ///
    /// # Errors
    /// If the kernel refuses the program.
    pub(super) fn load(room: &'a mut MaybeUninit<OpenObject>) -> libbpf_rs::Result<Namespaces<'a>> {
        Ok(Namespaces { skeleton: NamespacesSkelBuilder::default().open(room)?.load()? })
    }

    /// Whether a network namespace is certainly gone.
    pub(super) fn is_gone(&self, namespace: Namespace) -> bool {
        let mut asked = [namespace.inode.to_ne_bytes(), namespace.cookie.to_ne_bytes()].concat();
        let input = ProgramInput { context_in: Some(&mut asked), ..Default::default() };
        let run = self.skeleton.progs.ratewire_namespace.test_run(input);
        run.is_ok_and(|run| run.return_value == GONE)
    }
}

#[cfg(test)]
mod tests {
    use nix::sched::{CloneFlags, unshare};

    use super::*;

    #[test]
    fn a_folder_is_named_in_one_way() {
        let namespace = Namespace { inode: 4_026_531_840, cookie: 7 };
        assert_eq!(namespace.folder(), "4026531840-7");
        assert_eq!(Namespace::of_folder("4026531840-7"), Some(namespace));
        for other in ["4026531840", "4026531840-", "-7", "+4026531840-7", "4026531840-07", "host-7"]
        {
            assert_eq!(Namespace::of_folder(other), None, "{other}");
        }
    }

    // The kernel's own threads and namespaces are what is tested.
    #[allow(clippy::disallowed_methods)]
    #[test]
    fn the_kernel_distinguishes_namespaces_that_are_gone_from_those_that_live() {
        crate::quiet();
        let own = Namespace::own().expect("it has one");
        assert_eq!(Namespace::own().expect("it has one"), own);
        let mut room = Namespaces::room();
        let namespaces = match Namespaces::load(&mut room) {
            Ok(namespaces) => namespaces,
            Err(why) => {
                assert!(std::env::var_os("RATEWIRE_REQUIRE_ROOT").is_none(), "cannot run: {why}");
                return eprintln!("skipped: {why}");
            }
        };
        assert!(!namespaces.is_gone(own), "the test is in it");
        // Another namespace has the inode number now, or this one never existed.
        assert!(namespaces.is_gone(Namespace { cookie: own.cookie + 1_000_000_000, ..own }));
        assert!(namespaces.is_gone(Namespace { inode: own.inode + 1_000_000, ..own }));
        // A namespace that only another thread is in.
        let (theirs, other) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).expect("root may");
            theirs.send(Namespace::own().expect("it has one")).expect("the test waits");
            let _ = ended.recv();
        });
        let other = other.recv().expect("it sends");
        assert_ne!(other, own);
        assert!(!namespaces.is_gone(other), "a thread is in it");
        end.send(()).expect("the thread waits");
        thread.join().expect("it ends");
    }
}
