//! A law in the TCP connections of a cgroup.

use std::fs::File;
use std::mem::{MaybeUninit, offset_of};
use std::net::Ipv6Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, OpenObject};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;
use ratewire_units::Rate;

use crate::skeletons::host::types::host as Counters;
use crate::skeletons::host::{HostSkel, HostSkelBuilder};
use crate::{Error, Law, pins};

/// What to attach.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The law.
    pub law: Law,
    /// Folder of the cgroup (version 2) whose connections take part; `None` for all.
    pub cgroup: Option<PathBuf>,
    /// Interface from whose addresses connections take part, as they are when it is attached; `None` for any.
    pub iface: Option<String>,
    /// The most that a connection asks routers for; under NoQ, at which it sends.
    pub desired: Rate,
    /// NoQ: also where a connection's own interface does not pause when what it fills has no room.
    pub is_forced: bool,
}

/// What a host's connections have come to since it was attached.
#[derive(Clone, Debug)]
pub struct Status {
    /// The law.
    pub law: Law,
    /// Connections that take part.
    pub taking_part: u64,
    /// Connections whose other end does not speak it.
    pub plain: u64,
    /// Connections that the kernel would not let have the congestion control.
    pub refused: u64,
}

/// Attaches a law to a cgroup's connections, from the next that opens; whatever fails, nothing stays.
///
/// # Errors
/// When there is no such cgroup, the law is attached already, or the kernel refuses.
pub fn attach(spec: &Spec) -> Result<(), Error> {
    crate::quiet();
    pins::check_reach()?;
    // Two would each reserve room for their option, and switch off each other's callbacks.
    if let Some(law) = Law::ALL.into_iter().find(|law| is_pinned(*law)) {
        return Err(pins::attached_already(law.control()));
    }
    check_free(spec.law)?;
    let opened = open_cgroup(spec)?;
    let addresses = addresses(spec)?;
    let folder = pins::shared()?.join(folder_name(spec.law));
    pins::claim(&folder, spec.law.control())?;
    let attached = load(spec, &opened, &addresses).and_then(|held| held.pin(&folder));
    if attached.is_err() {
        // What went wrong first is what to tell.
        let _ = pins::remove(&folder);
    }
    attached
}

fn open_cgroup(spec: &Spec) -> Result<File, Error> {
    let cgroup = match &spec.cgroup {
        Some(path) => path.clone(),
        None => root_cgroup()?,
    };
    File::open(&cgroup).map_err(|e| {
        Error::new(
            format!("cannot open the cgroup {}", cgroup.display()),
            "name a folder of the cgroup2 file system, as `mount -t cgroup2` shows it",
        )
        .because(e)
    })
}

/// A law in a cgroup's connections for as long as this lives, and the process does.
#[derive(Debug)]
pub struct Held {
    law: Law,
    control: Link,
    option: Link,
    counters: u32,
}

/// Attaches a law to the connections of the cgroup that `spec` names until what is returned is dropped, or the process
/// ends, however it does.
///
/// # Errors
/// When there is no such cgroup, the congestion control is loaded already, or the kernel refuses.
pub fn hold(spec: &Spec) -> Result<Held, Error> {
    crate::quiet();
    check_free(spec.law)?;
    load(spec, &open_cgroup(spec)?, &addresses(spec)?)
}

/// How the cgroups of emulated runs are called, followed by the number of the run's process, a dash and the law.
pub const EMULATION: &str = "ratewire-emulate-";

/// Checks that nobody has a law's congestion control: its name is the machine's, whatever the namespace.
///
/// # Errors
/// When somebody has.
pub fn check_free(law: Law) -> Result<(), Error> {
    let name = law.control();
    let loaded = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    if loaded.unwrap_or_default().split_whitespace().all(|loaded| loaded != name) {
        return Ok(());
    }
    let (holder, remedy) = if is_pinned(law) {
        let holder = format!("`ratewire live host --law {}`", law.name());
        (holder, "`ratewire live detach --hosts`, or wait until it is no longer needed")
    } else if let Some(process) = emulating(law) {
        let holder = format!("the emulated run of process {process}");
        (holder, "wait for its end; only one at a time can have it on a machine")
    } else {
        ("a program".to_string(), "`bpftool struct_ops` and `bpftool link` show whose it is")
    };
    let what = format!("the congestion control {name} is taken");
    Err(Error::new(what, remedy).because(format!("{holder} has it")))
}

/// Checks that no host's law is attached to the connections of this process, which would send under it whatever they
/// choose themselves.
///
/// # Errors
/// When one is.
pub fn check_apart() -> Result<(), Error> {
    crate::quiet();
    // Where there is no cgroup, nothing is attached to one.
    let (Ok(root), Ok(own)) = (root_cgroup(), own_cgroup()) else { return Ok(()) };
    let groups = own.ancestors().take_while(|group| group.starts_with(&root));
    let own: Vec<u64> = groups.filter_map(|group| Some(group.metadata().ok()?.ino())).collect();
    let is_ours = |law: &Law| attached_to(*law).is_some_and(|group| own.contains(&group));
    match Law::ALL.into_iter().find(is_ours) {
        Some(law) => Err(Error::new(
            format!(
                "`ratewire live host --law {}` has all connections from here take part",
                law.name()
            ),
            "`ratewire live detach --hosts`; or attach it to a cgroup that this command is not in: `--cgroup`",
        )),
        None => Ok(()),
    }
}

/// The number of the cgroup whose connections have a host's law, if it is attached.
fn attached_to(law: Law) -> Option<u64> {
    let link = Link::open(Path::new(pins::ROOT).join(folder_name(law)).join("option")).ok()?;
    match link.info().ok()?.info {
        LinkTypeInfo::Cgroup(cgroup) => Some(cgroup.cgroup_id),
        _ => None,
    }
}

fn is_pinned(law: Law) -> bool {
    Path::new(pins::ROOT).join(folder_name(law)).exists()
}

/// The process of another emulated run that has a law.
fn emulating(law: Law) -> Option<u32> {
    let groups = std::fs::read_dir(root_cgroup().ok()?).ok()?;
    let of_law = groups.flatten().filter_map(|group| {
        let name = group.file_name().into_string().ok()?;
        let (process, of) = name.strip_prefix(EMULATION)?.split_once('-')?;
        process.parse().ok().filter(|_| of == law.name())
    });
    let is_alive = |process: u32| Path::new("/proc").join(process.to_string()).exists();
    of_law.into_iter().find(|process| *process != std::process::id() && is_alive(*process))
}

pub(crate) fn refused(law: Law) -> impl Fn(libbpf_rs::Error) -> Error {
    move |e| {
        let what = format!("the kernel refuses {}", law.control());
        Error::new(what, "`ratewire doctor` says what is missing").because(e)
    }
}

impl Held {
    /// What its connections have come to so far, if the kernel says.
    pub fn status(&self) -> Option<Status> {
        counted(self.law, &MapHandle::from_map_id(self.counters).ok()?)
    }

    /// Has it stay when the process ends.
    fn pin(mut self, folder: &Path) -> Result<(), Error> {
        let refused = refused(self.law);
        self.control.pin(folder.join("control")).map_err(&refused)?;
        self.option.pin(folder.join("option")).map_err(&refused)?;
        MapHandle::from_map_id(self.counters)
            .and_then(|mut map| map.pin(folder.join("counters")))
            .map_err(&refused)
    }
}

/// Of `net/tcp.h`.
const TCP_CONG_NON_RESTRICTED: u32 = 1;

/// The programs, loaded and told what to do.
pub(crate) fn prepare<'a>(
    room: &'a mut MaybeUninit<OpenObject>,
    spec: &Spec,
) -> libbpf_rs::Result<HostSkel<'a>> {
    let mut open = HostSkelBuilder::default().open(room)?;
    let (exid, option_len, answer_len) = spec.law.option();
    let rodata = open.maps.rodata_data.as_deref_mut().expect("the program has constants");
    rodata.law = spec.law.number();
    rodata.exid = exid;
    rodata.option_len = option_len;
    rodata.answer_len = answer_len;
    rodata.by_address = u32::from(spec.iface.is_some());
    rodata.is_forced = u32::from(spec.is_forced);
    rodata.desired = spec.desired.throughput().get() as u64;
    let mut name = [0; 16];
    name[..spec.law.control().len()].copy_from_slice(spec.law.control().as_bytes());
    rodata.control_name = name.map(|byte: u8| byte.cast_signed());
    let control = open.struct_ops.control_mut();
    control.name = name.map(|byte: u8| byte.cast_signed());
    // A sender without a window is for who may configure the network; the others are for any program and namespace.
    if spec.law != Law::Noq {
        control.flags = TCP_CONG_NON_RESTRICTED;
    }
    open.load()
}

fn load(spec: &Spec, cgroup: &File, addresses: &[Ipv6Addr]) -> Result<Held, Error> {
    let refused = refused(spec.law);
    let mut room = MaybeUninit::uninit();
    let mut skeleton = prepare(&mut room, spec).map_err(&refused)?;
    if spec.law == Law::Noq && !spec.is_forced {
        tell_pausing(&skeleton.maps.pausing)?;
    }
    tell_addresses(&skeleton.maps.addresses, addresses)?;
    let control = skeleton.maps.control.attach_struct_ops().map_err(&refused)?;
    let cgroup = cgroup.as_fd().as_raw_fd();
    let option = skeleton.progs.ratewire_option.attach_cgroup(cgroup).map_err(&refused)?;
    let counters = skeleton.maps.host.info().map_err(&refused)?.info.id;
    Ok(Held { law: spec.law, control, option, counters })
}

/// The addresses of the interface that `spec` names, if it names one; IPv4's as IPv6 writes them.
fn addresses(spec: &Spec) -> Result<Vec<Ipv6Addr>, Error> {
    let Some(iface) = &spec.iface else { return Ok(Vec::new()) };
    crate::router::index(iface)?;
    let all = getifaddrs().map_err(|e| Error::new("cannot list addresses", "").because(e))?;
    let of_iface = all.filter(|one| one.interface_name == *iface).filter_map(|one| one.address);
    let ip = |address: SockaddrStorage| {
        let v4 = address.as_sockaddr_in().map(|v4| v4.ip().to_ipv6_mapped());
        v4.or_else(|| address.as_sockaddr_in6().map(|v6| v6.ip()))
    };
    let addresses: Vec<_> = of_iface.filter_map(ip).collect();
    if addresses.is_empty() {
        let remedy = "give it one first: connections take part by their own address";
        return Err(Error::new(format!("{iface} has no address"), remedy));
    }
    Ok(addresses)
}

/// Tells the program from which addresses of this network namespace connections take part.
fn tell_addresses(map: &impl MapCore, addresses: &[Ipv6Addr]) -> Result<(), Error> {
    let netns = netns()?.to_ne_bytes();
    for address in addresses {
        let key = [&netns[..], &address.octets()].concat();
        map.update(&key, &[1], MapFlags::ANY)
            .map_err(|e| Error::new("the kernel does not take an address", "").because(e))?;
    }
    Ok(())
}

/// The number of this network namespace, as programs see it.
fn netns() -> Result<u32, Error> {
    let netns = std::fs::metadata("/proc/self/ns/net").map_err(|e| {
        Error::new("cannot tell the network namespace", "is /proc mounted?").because(e)
    })?;
    Ok(netns.ino() as u32)
}

/// Tells the program which interfaces of this network namespace pause when what they fill has no room, as `ethtool` says.
fn tell_pausing(map: &impl MapCore) -> Result<(), Error> {
    let failed = |what: &str, why: String| {
        let remedy = "install ethtool; or take it everywhere: --mode force";
        Error::new(what, remedy).because(why)
    };
    let netns = netns()?.to_ne_bytes();
    for (ifindex, iface) in crate::router::interfaces()? {
        let done = Command::new("ethtool")
            .args(["-a", &iface])
            .output()
            .map_err(|e| failed("cannot ask which interfaces pause", e.to_string()))?;
        if pauses(&String::from_utf8_lossy(&done.stdout)) {
            let key = [netns, ifindex.to_ne_bytes()].concat();
            map.update(&key, &[1], MapFlags::ANY)
                .map_err(|e| failed("the kernel does not take an interface", e.to_string()))?;
        }
    }
    Ok(())
}

/// Whether an interface heeds who asks it to pause: what was negotiated counts, if anything was.
fn pauses(said: &str) -> bool {
    let value = |name: &str| {
        said.lines()
            .find_map(|line| line.trim().strip_prefix(name))
            .map(|value| value.trim() == "on")
    };
    value("RX negotiated:").or(value("RX:")).unwrap_or(false)
}

/// Detaches every law's host; returns the congestion controls that were there. Connections that use one keep it to
/// their end.
///
/// # Errors
/// When it cannot be removed.
pub fn detach() -> Result<Vec<&'static str>, Error> {
    pins::check_reach()?;
    let folder = Path::new(pins::ROOT);
    let mut detached = Vec::new();
    for law in Law::ALL {
        let pinned = folder.join(folder_name(law));
        if pinned.exists() {
            pins::remove(&pinned)?;
            detached.push(law.control());
        }
    }
    Ok(detached)
}

/// What the hosts' connections have come to.
///
/// # Errors
/// When the caller is not root.
pub fn status() -> Result<Vec<Status>, Error> {
    pins::check_reach()?;
    let folder = Path::new(pins::ROOT);
    Ok(Law::ALL.into_iter().filter_map(|law| one(law, &folder.join(folder_name(law)))).collect())
}

fn one(law: Law, folder: &Path) -> Option<Status> {
    counted(law, &MapHandle::from_pinned_path(folder.join("counters")).ok()?)
}

fn counted(law: Law, map: &MapHandle) -> Option<Status> {
    let bytes = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let count = |at: usize| {
        let mut value = [0; 8];
        value.copy_from_slice(bytes.get(at..at + 8)?);
        Some(u64::from_ne_bytes(value))
    };
    Some(Status {
        law,
        taking_part: count(offset_of!(Counters, taking_part))?,
        plain: count(offset_of!(Counters, plain))?,
        refused: count(offset_of!(Counters, refused))?,
    })
}

fn folder_name(law: Law) -> String {
    format!("host-{}", law.control())
}

/// Where the cgroup2 file system is mounted.
///
/// # Errors
/// When it is not.
pub fn root_cgroup() -> Result<PathBuf, Error> {
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
/// When that cannot be told.
pub fn own_cgroup() -> Result<PathBuf, Error> {
    let own = std::fs::read_to_string("/proc/self/cgroup").map_err(|e| {
        Error::new("cannot tell this process's cgroup", "is /proc mounted?").because(e)
    })?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
    Ok(root_cgroup()?.join(own))
}

#[cfg(test)]
mod tests {
    use super::pauses;

    #[test]
    fn what_was_negotiated_counts() {
        let said = "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\toff\nTX:\t\toff\n";
        assert!(!pauses(said));
        assert!(pauses(&said.replace("RX:\t\toff", "RX:\t\ton")));
        assert!(pauses(&format!("{said}RX negotiated: on\nTX negotiated: on\n")));
        assert!(!pauses(&format!("{}RX negotiated: off\n", said.replace("off", "on"))));
        assert!(!pauses("netlink error: Operation not supported\n"));
    }
}
