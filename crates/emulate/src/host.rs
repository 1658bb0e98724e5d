//! Hosts: each is a network namespace with one device, whose other end is the network.
//!
//! A namespace has no name: it is where a thread and its programs live. When the thread ends, or
//! the process is killed, the namespace is gone, with its device, addresses and routes.

use std::ffi::c_int;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use ratewire_net::spec::NodeId;
use ratewire_units::Bytes;

use crate::device::{DEVICE, Device, LOOPBACK};
use crate::tun::Tun;
use crate::{Error, default_control, private};

/// Packets, or bundles of them, that the device holds while the network does not take them. It is
/// more than any socket's window, so that sockets block and nothing is dropped.
const DEVICE_QUEUE: c_int = 100_000;

/// Configuration of a host.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) node: NodeId,
    pub(crate) name: String,
    pub(crate) address: Ipv4Addr,
    /// Network-layer bytes of the host's largest packet.
    pub(crate) mtu: Bytes,
    /// Size of a socket's buffers.
    pub(crate) window: Bytes,
    /// Whether connections are marked instead of losing packets.
    pub(crate) ecn: bool,
    /// Congestion control for sockets that choose none.
    pub(crate) control: Option<&'static str>,
    /// Whether the default route may carry it: all the host's flows have that law.
    pub(crate) control_by_route: bool,
}

/// A host in operation.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) spec: Spec,
    pub(crate) tun: Tun,
    /// Default congestion control of sockets.
    pub(crate) control: String,
    /// The thread that lives in the namespace, for other programs to follow.
    pub(crate) thread: nix::unistd::Pid,
    jobs: Option<mpsc::Sender<Job>>,
    lives: Option<JoinHandle<()>>,
}

type Job = Box<dyn FnOnce() + Send>;

/// Report of a host's thread in its namespace.
struct Moved {
    tun: Tun,
    control: String,
    thread: nix::unistd::Pid,
}

/// Address of the n-th host, from 0: 198.18.0.0/15 is reserved for tests of networks (RFC 2544).
pub(crate) fn address(n: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(198, 18, 0, 1).to_bits() + n as u32)
}

/// Maximum number of hosts.
pub(crate) const MOST: usize = (1 << 17) - 2;

impl Host {
    /// Sets hosts up, all at once. `names` is a file in the form of `/etc/hosts`, and takes its
    /// place there.
    pub(crate) fn set_up(specs: Vec<Spec>, names: &Path) -> Result<Vec<Host>, Error> {
        let begun: Vec<Begun> =
            specs.into_iter().map(|spec| Begun::begin(spec, names)).collect::<Result<_, _>>()?;
        begun.into_iter().map(Begun::finish).collect()
    }

    /// Ends hosts, all at once.
    pub(crate) fn end(mut hosts: Vec<Host>) {
        // A host's thread ends once no job can come.
        hosts.iter_mut().for_each(|host| host.jobs = None);
    }

    /// Lets the host's thread do something, and waits for the result.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (result_sender, done) = mpsc::channel();
        let gone = || Error::new(format!("the host {} is gone", self.spec.name), "");
        let job = Box::new(move || {
            let _ = result_sender.send(job());
        });
        self.jobs.as_ref().ok_or_else(gone)?.send(job).map_err(|_| gone())?;
        done.recv().map_err(|_| gone())
    }

    /// Packets that the host's device has dropped.
    pub(crate) fn device_drops(&self) -> Result<u64, Error> {
        let table = self.run(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
        let table = table.map_err(|e| Error::new("cannot read /proc/net/dev", "").because(e))?;
        let device = DEVICE.to_string_lossy();
        let line =
            table.lines().find_map(|line| line.trim().strip_prefix(&*device)?.strip_prefix(':'));
        // Eight columns of received, then bytes, packets, errors and drops of sent.
        let drops = line.and_then(|line| line.split_whitespace().nth(11)?.parse().ok());
        Ok(drops.unwrap_or(0))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.lives.take() {
            let _ = thread.join();
        }
    }
}

/// A host that is being set up.
struct Begun {
    spec: Spec,
    jobs: mpsc::Sender<Job>,
    moved: mpsc::Receiver<Result<Moved, Error>>,
    lives: JoinHandle<()>,
}

impl Begun {
    fn begin(spec: Spec, names: &Path) -> Result<Begun, Error> {
        let (jobs, todo) = mpsc::channel::<Job>();
        let (moved_sender, moved) = mpsc::channel();
        let (own, names) = (spec.clone(), names.to_path_buf());
        let lives = thread::Builder::new()
            .name(format!("host {}", spec.address))
            .spawn(move || {
                let is_there = move_in(&own, &names);
                let failed = is_there.is_err();
                // The other end waits for this.
                let _ = moved_sender.send(is_there);
                if !failed {
                    todo.into_iter().for_each(|job| job());
                }
            })
            .map_err(|e| Error::new("cannot start a thread for a host", "").because(e))?;
        Ok(Begun { spec, jobs, moved, lives })
    }

    fn finish(self) -> Result<Host, Error> {
        let Begun { spec, jobs, moved, lives } = self;
        let died = |e| Error::new("a host's thread died", "").because(e);
        let Moved { tun, control, thread } = moved.recv().map_err(died)??;
        Ok(Host { spec, tun, control, thread, jobs: Some(jobs), lives: Some(lives) })
    }
}

fn move_in(spec: &Spec, names: &Path) -> Result<Moved, Error> {
    let cannot = |what: &str| {
        let help = match nix::unistd::geteuid().is_root() {
            true => "`ratewire doctor` says what this machine lacks",
            false => {
                "the emulated world needs root: run it with sudo; `ratewire doctor` says what else this machine lacks"
            }
        };
        Error::new(format!("cannot {what} for the host {}", spec.name), help)
    };
    leave().map_err(|e| cannot("make a network namespace").because(e))?;
    let none = None::<&str>;
    mount(Some(names), "/etc/hosts", none, MsFlags::MS_BIND, none)
        .and_then(|()| answer_no_names(none))
        .map_err(|e| cannot("mount /etc/hosts").because(e))?;
    private::mount_private().map_err(|e| cannot("mount a /tmp").because(e))?;
    let tun = Tun::make(DEVICE).map_err(|e| cannot("make a TUN device").because(e))?;
    configure(spec).map_err(|e| cannot("set up the device").because(e))?;
    let thread = nix::unistd::gettid();
    let control = default_control::settle(spec.control, spec.control_by_route, spec.address);
    Ok(Moved { tun, control, thread })
}

/// Moves the calling thread to a network and a mount namespace of its own.
pub(crate) fn leave() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS)?;
    let none = None::<&str>;
    Ok(mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?)
}

/// A lookup of a name that is no host's fails at once: no name server can be reached.
fn answer_no_names(none: Option<&str>) -> nix::Result<()> {
    const RESOLVER: &str = "/etc/resolv.conf";
    match fs::canonicalize(RESOLVER) {
        Ok(resolver) => mount(Some("/dev/null"), &resolver, none, MsFlags::MS_BIND, none),
        Err(_) => Ok(()),
    }
}

/// Address, routes and limits of the calling thread's namespace.
fn configure(spec: &Spec) -> io::Result<()> {
    let Spec { address, mtu, window, .. } = spec;
    // Windows are learnt anew in each connection; without IPv6 nothing is sent unasked.
    let most = window.get().clamp(1 << 12, i32::MAX as u64);
    let buffers = format!("4096 {} {most}", most.min(131_072));
    for (key, value) in [
        ("ipv6/conf/all/disable_ipv6", "1"),
        ("ipv4/tcp_no_metrics_save", "1"),
        // Connections of killed programs go soon.
        ("ipv4/tcp_orphan_retries", "1"),
        ("ipv4/tcp_fin_timeout", "1"),
        ("ipv4/tcp_rmem", buffers.as_str()),
        ("ipv4/tcp_wmem", buffers.as_str()),
        // Otherwise only connections that ask for ECN have it.
        ("ipv4/tcp_ecn", if spec.ecn { "1" } else { "2" }),
        // Every program may do here what elsewhere only root may: ping, and serve at any port.
        ("ipv4/ping_group_range", "0 2147483647"),
        ("ipv4/ip_unprivileged_port_start", "0"),
    ] {
        let path = Path::new("/proc/sys/net").join(key);
        // A kernel without IPv6 has nothing to switch off.
        if path.exists() {
            fs::write(&path, value)
                .map_err(|e| io::Error::other(format!("{} = {value}: {e}", path.display())))?;
        }
    }
    Device::named(LOOPBACK)?.set_up()?;
    let device = Device::named(DEVICE)?;
    device.set_mtu(mtu.get())?;
    device.set_queue(DEVICE_QUEUE)?;
    device.set_up()?;
    device.set_address(*address)?;
    device.route_all()
}
