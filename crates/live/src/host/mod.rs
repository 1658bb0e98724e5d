//! A law in the TCP connections of a cgroup.

mod pausing;
mod status;
mod whom;

use std::fs::File;
use std::mem::MaybeUninit;
use std::net::Ipv6Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use libbpf_rs::query::LinkTypeInfo;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapHandle, OpenObject};
use nix::sys::statfs::{CGROUP2_SUPER_MAGIC, fstatfs};
use ratewire_kernel::XcpRules;
use ratewire_units::Rate;

use crate::pins::{self, Folder, Pins};
use crate::skeletons::host::types::{self, rw_xcp_rules};
use crate::skeletons::host::{HostSkel, HostSkelBuilder};
use crate::{Error, KernelLaw, cgroup};

use pausing::Watcher;
pub use pausing::watch;
pub use status::{Status, halfway, status};

/// A host's law to attach.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The law.
    pub law: KernelLaw,
    /// Folder of the cgroup (version 2) whose connections take part; `None` for all.
    pub cgroup: Option<PathBuf>,
    /// Interface from whose addresses connections take part, as they are at the attachment; `None`
    /// for any.
    pub iface: Option<String>,
    /// Highest rate that a connection asks routers for; under NoQ, the rate at which it sends.
    pub desired: Rate,
    /// XCP: the sender's rules.
    pub xcp: XcpRules,
    /// NoQ: no window also if a connection's own interface does not pause when the next queue is
    /// full. Otherwise [`watch`] must run as long as the law is attached.
    pub is_forced: bool,
    /// What connections at one port state falsely, for tests of policers.
    pub lie: Option<Lie>,
}

/// Lies of a host on connections that have a port at either end. Factors of 1 change nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lie {
    /// The port.
    pub port: u16,
    /// Factor of the round-trip time that a sender states, 0 to 65535.
    pub rtt: f64,
    /// Factor of the rate that a sender states, 0 to 65535 (XCP, JetMax).
    pub throughput: f64,
    /// Factor of the feedback that a receiver returns, 0 to 65535; a change that slows the sender
    /// down is divided by it.
    pub inflate: f64,
    /// Whether a sender ignores what would slow it down.
    pub ignore_feedback: bool,
}

impl Lie {
    /// The fields of `struct lie`, in order.
    fn fields(&self) -> [u32; 5] {
        let fixed = |factor: f64| (factor * 65536.0).round() as u32;
        let Lie { port, rtt, throughput, inflate, ignore_feedback } = *self;
        let [rtt, throughput, inflate] = [rtt, throughput, inflate].map(fixed);
        [u32::from(port), rtt, throughput, inflate, u32::from(ignore_feedback)]
    }
}

fn taken(law: KernelLaw) -> Error {
    let what = format!("{} is attached already", law.control());
    Error::new(what, "detach it first: ratewire live detach --hosts")
}

/// Attaches a law to a cgroup's connections, from the next that opens. If it fails, nothing stays.
///
/// # Errors
/// If there is no such cgroup, the law is attached already, its congestion control is taken, hosts
/// of an emulated run would take part, or the kernel refuses.
pub fn attach(spec: &Spec, emulated: FindEmulated) -> Result<(), Error> {
    crate::quiet();
    let mut pins = Pins::lock()?;
    // Two laws would each reserve room for their option, and switch off each other's callbacks.
    if let Some(law) = pinned(pins.root())?.into_iter().map(|(law, _)| law).next() {
        return Err(taken(law));
    }
    let path = cgroup_of(spec)?;
    let opened = open_cgroup(&path)?;
    check_free(spec.law, &path, emulated)?;
    let addresses = whom::addresses(spec)?;
    let root = pins.make()?;
    let name = folder_name(spec.law);
    let folder = root.claim(&name, || taken(spec.law))?;
    let control = spec.law.control();
    let attached = load(spec, control, &opened, &addresses).and_then(|held| held.pin(&folder));
    if attached.is_err() {
        // The first error is the one to report.
        let _ = root.remove(&name, &PINS);
    }
    attached
}

/// Names that are tried, each of which another process may take first.
const MOST_TRIES: u32 = 16;

fn cgroup_of(spec: &Spec) -> Result<PathBuf, Error> {
    spec.cgroup.clone().map_or_else(cgroup::root, Ok)
}

fn open_cgroup(path: &Path) -> Result<File, Error> {
    let help = "name a folder of the cgroup2 file system, as `mount -t cgroup2` shows it";
    let group = File::open(path).map_err(|e| {
        Error::new(format!("cannot open the cgroup {}", path.display()), help).because(e)
    })?;
    if fstatfs(&group).map(|s| s.filesystem_type()) != Ok(CGROUP2_SUPER_MAGIC) {
        return Err(Error::new(format!("{} is no cgroup of version 2", path.display()), help));
    }
    Ok(group)
}

/// A law in a cgroup's connections, until this value is dropped or the process ends.
#[derive(Debug)]
pub struct HeldLaw {
    law: KernelLaw,
    control: Link,
    option: Link,
    counters: u32,
    /// Interfaces that pause, where the law is for them alone.
    pausing: Option<u32>,
}

/// Attaches a law to the connections of the cgroup in `spec` until the returned value is dropped or
/// the process ends, in whatever way. Its congestion control has a number in its name, `rw_xcp_1`,
/// so that several may be held at a time, beside one that is attached.
///
/// # Errors
/// If there is no such cgroup, or the kernel refuses.
pub fn hold(spec: &Spec) -> Result<HeldLaw, Error> {
    crate::quiet();
    let cgroup = open_cgroup(&cgroup_of(spec)?)?;
    let addresses = whom::addresses(spec)?;
    let mut names = (1..).map(|n| format!("{}_{n}", spec.law.control()));
    let mut tries = 0;
    loop {
        let name = names.find(|name| !is_loaded(name)).expect("numbers do not end");
        tries += 1;
        match load(spec, &name, &cgroup, &addresses) {
            // Another process was quicker.
            Err(_) if tries < MOST_TRIES && is_loaded(&name) => {}
            held => return held,
        }
    }
}

/// Finds the process of an emulated run whose hosts' connections are in a cgroup.
pub type FindEmulated = fn(&Path) -> Option<u32>;

/// Checks that a law can be attached to a cgroup: its congestion control's name is the machine's,
/// whatever the namespace, and emulated hosts send under their own laws.
fn check_free(law: KernelLaw, cgroup: &Path, emulated: FindEmulated) -> Result<(), Error> {
    if let Some(process) = emulated(cgroup) {
        let what = "hosts of an emulated run would take part";
        let remedy = "wait for its end, or name another cgroup: --cgroup";
        let why = format!("process {process} emulates in a cgroup below {}", cgroup.display());
        return Err(Error::new(what, remedy).because(why));
    }
    if is_loaded(law.control()) {
        let what = format!("the congestion control {} is taken", law.control());
        let remedy = "`bpftool struct_ops` and `bpftool link` show whose it is";
        return Err(Error::new(what, remedy));
    }
    Ok(())
}

/// Whether the machine has a congestion control of this name.
fn is_loaded(control: &str) -> bool {
    let loaded = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    loaded.unwrap_or_default().split_whitespace().any(|loaded| loaded == control)
}

/// The law that a host forces on all connections of this process, whatever they choose.
pub fn all_here() -> Option<KernelLaw> {
    crate::quiet();
    // Without a cgroup, nothing is attached to one.
    let (root, own) = (cgroup::root().ok()?, cgroup::own().ok()?);
    let groups = own.ancestors().take_while(|group| group.starts_with(&root));
    let own: Vec<u64> = groups.filter_map(|group| Some(group.metadata().ok()?.ino())).collect();
    let pinned = pinned(pins::open().ok()?.as_ref()).ok()?;
    let is_ours = |folder: &Folder| attached_to(folder).is_some_and(|group| own.contains(&group));
    pinned.into_iter().find(|(_, folder)| is_ours(folder)).map(|(law, _)| law)
}

/// Number of the cgroup whose connections have a host's law, if the law is attached.
fn attached_to(folder: &Folder) -> Option<u64> {
    let link = Link::open(folder.pin(OPTION)).ok()?;
    match link.info().ok()?.info {
        LinkTypeInfo::Cgroup(cgroup) => Some(cgroup.cgroup_id),
        _ => None,
    }
}

/// Laws with a host's folder, and the folders.
fn pinned(root: Option<&Folder>) -> Result<Vec<(KernelLaw, Folder)>, Error> {
    let one = |law| Ok(folder(root, law)?.map(|folder| (law, folder)));
    KernelLaw::ALL.into_iter().filter_map(|law| one(law).transpose()).collect()
}

pub(crate) fn refused(law: KernelLaw) -> impl Fn(libbpf_rs::Error) -> Error {
    move |e| {
        let what = format!("the kernel refuses {}", law.control());
        Error::new(what, "`ratewire doctor` says what is missing").because(e)
    }
}

impl HeldLaw {
    /// Counters of the host's connections, if the kernel reports them.
    pub fn status(&self) -> Option<Status> {
        status::counted(self.law, &MapHandle::from_map_id(self.counters).ok()?)
    }

    /// Keeps the law attached when the process ends. The counters are pinned last: they say that
    /// all of it stays.
    fn pin(mut self, folder: &Folder) -> Result<(), Error> {
        let refused = refused(self.law);
        self.control.pin(folder.pin(CONTROL)).map_err(&refused)?;
        self.option.pin(folder.pin(OPTION)).map_err(&refused)?;
        for (map, name) in
            self.pausing.map(|map| (map, PAUSING)).into_iter().chain([(self.counters, COUNTERS)])
        {
            MapHandle::from_map_id(map)
                .and_then(|mut map| map.pin(folder.pin(name)))
                .map_err(&refused)?;
        }
        Ok(())
    }
}

/// From `net/tcp.h`.
const TCP_CONG_NON_RESTRICTED: u32 = 1;

/// The programs, loaded and configured.
pub(crate) fn prepare<'a>(
    room: &'a mut MaybeUninit<OpenObject>,
    spec: &Spec,
    control_name: &str,
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
    let [throughput, aging, paced, bounded, modest, heeds_loss, weight] = spec.xcp.fields();
    rodata.xcp_rules =
        rw_xcp_rules { throughput, aging, paced, bounded, modest, heeds_loss, weight };
    if let Some(lie) = &spec.lie {
        let [port, rtt, throughput, inflate, ignore_feedback] = lie.fields();
        rodata.lie = types::lie { port, rtt, throughput, inflate, ignore_feedback };
    }
    let mut name = [0; 16];
    name[..control_name.len()].copy_from_slice(control_name.as_bytes());
    rodata.control_name = name.map(|byte: u8| byte.cast_signed());
    let control = open.struct_ops.control_mut();
    control.name = name.map(|byte: u8| byte.cast_signed());
    // A sender without a window is for users who may configure the network. The others are for any
    // program and namespace.
    if spec.law != KernelLaw::Noq {
        control.flags = TCP_CONG_NON_RESTRICTED;
    }
    open.load()
}

fn load(
    spec: &Spec,
    control: &str,
    cgroup: &File,
    addresses: &[Ipv6Addr],
) -> Result<HeldLaw, Error> {
    let refused = refused(spec.law);
    let mut room = MaybeUninit::uninit();
    let mut skeleton = prepare(&mut room, spec, control).map_err(&refused)?;
    let mut pausing = None;
    if spec.law == KernelLaw::Noq && !spec.is_forced {
        Watcher::new()?.look(&skeleton.maps.pausing)?;
        pausing = Some(skeleton.maps.pausing.info().map_err(&refused)?.info.id);
    }
    whom::set_addresses(&skeleton.maps.addresses, addresses)?;
    let control = skeleton.maps.control.attach_struct_ops().map_err(&refused)?;
    let cgroup = cgroup.as_fd().as_raw_fd();
    let option = skeleton.progs.ratewire_option.attach_cgroup(cgroup).map_err(&refused)?;
    let counters = skeleton.maps.host.info().map_err(&refused)?.info.id;
    Ok(HeldLaw { law: spec.law, control, option, counters, pausing })
}

/// Detaches every law's host; returns the congestion controls that were attached. Connections that
/// use one keep it until they close; those of NoQ that [`watch`] served fall back.
///
/// # Errors
/// If it cannot be removed.
pub fn detach() -> Result<Vec<&'static str>, Error> {
    let pins = Pins::lock()?;
    let Some(root) = pins.root() else { return Ok(Vec::new()) };
    let mut detached = Vec::new();
    for (law, folder) in pinned(Some(root))? {
        // A link without its file goes, but not always at once: a new attachment right after would
        // find the name taken.
        for link in [OPTION, CONTROL].map(|name| Link::open(folder.pin(name))) {
            // Older kernels cannot detach a congestion control; there it goes with its file.
            let _ = link.and_then(|link| link.detach());
        }
        root.remove(&folder_name(law), &PINS)?;
        detached.push(law.control());
    }
    Ok(detached)
}

/// Pins of a law's host: its congestion control, its TCP option, its counters, and for NoQ the
/// interfaces that pause.
const PINS: [&str; 4] = [CONTROL, OPTION, COUNTERS, PAUSING];
const CONTROL: &str = "control";
const OPTION: &str = "option";
const COUNTERS: &str = "counters";
const PAUSING: &str = "pausing";

/// Name of the folder with a host's pins.
fn folder_name(law: KernelLaw) -> String {
    format!("host-{}", law.control())
}

/// The folder with a host's pins, if it exists.
fn folder(root: Option<&Folder>, law: KernelLaw) -> Result<Option<Folder>, Error> {
    root.map_or(Ok(None), |root| root.open(&folder_name(law)))
}
