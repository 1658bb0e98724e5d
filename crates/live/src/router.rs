//! A law's port at the egress of an interface.

use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::process::Command;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapHandle, TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder};
use nix::net::if_::{if_nameindex, if_nametoindex};
use ratewire_units::{Bytes, Duration, Rate, Throughput};

use crate::skeletons::router::RouterSkelBuilder;
use crate::skeletons::router::types::router as State;
use crate::{Error, Law, pins};

/// By which our filter is known among those of an interface.
const HANDLE: u32 = 0x5257;
const PRIORITY: u32 = 0x5257;

/// Where a router's port reads its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// The backlog of the interface's queueing discipline.
    Backlog,
    /// Worked out: what a link of the capacity would have waiting. For interfaces without a queue of their own, or
    /// whose bottleneck comes after it.
    Virtual,
}

/// What to attach.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The interface's name.
    pub iface: String,
    /// The law.
    pub law: Law,
    /// What the law shares out: of the bottleneck that follows, in bytes of the link layer.
    pub capacity: Rate,
    /// Where the queue is read.
    pub queue: Queue,
}

/// What a port is doing.
#[derive(Clone, Debug)]
pub struct Status {
    /// The interface's name.
    pub iface: String,
    /// The law.
    pub law: Law,
    /// What it shares out.
    pub capacity: Throughput,
    /// Packets and bytes since it was attached.
    pub packets: u64,
    /// Link-layer bytes, likewise.
    pub bytes: Bytes,
    /// Packets that carried a congestion header.
    pub with_header: u64,
    /// Packets that could not be looked at, because another processor was at it.
    pub missed: u64,
    /// Bytes waiting when the last packet came.
    pub waiting: Bytes,
    /// What arrived in the last control interval.
    pub input: Throughput,
    /// Mean RTT of the packets.
    pub mean_rtt: Duration,
    /// RCP: the rate for all. XCP: the change of the total that was last asked for.
    pub says: Throughput,
}

/// Attaches a law's port; whatever fails, the interface is left as it was.
///
/// # Errors
/// When there is no such interface, a port is attached to it already, or the kernel refuses.
pub fn attach(spec: &Spec) -> Result<(), Error> {
    crate::quiet();
    let ifindex = if_nametoindex(spec.iface.as_str()).map_err(|_| no_interface(&spec.iface))?;
    let folder = pins::folder()?.join(folder_name(ifindex));
    let whose = format!("a law's port at {}", spec.iface);
    if hook(ifindex).query().is_ok() {
        return Err(pins::attached_already(&whose));
    }
    if spec.queue == Queue::Backlog {
        check_queue(&spec.iface)?;
    }
    // Of an interface, or a namespace, of the same number that is no more.
    pins::remove(&folder)?;
    pins::claim(&folder, &whose)?;
    let attached = load(spec, ifindex, &folder);
    if attached.is_err() {
        // What went wrong first is what to tell.
        let _ = pins::remove(&folder);
    }
    attached
}

/// Queueing disciplines that do not say at their root what waits.
const SILENT: [&str; 4] = ["mq", "mqprio", "pfifo_fast", "noqueue"];

/// # Errors
/// When the interface's queueing discipline does not say what waits. Where `tc` is missing it is believed.
fn check_queue(iface: &str) -> Result<(), Error> {
    let said = tc(&["qdisc", "show", "dev", iface, "root"]);
    let kind = said.as_deref().and_then(|said| said.split_whitespace().nth(1));
    let Some(kind) = kind.filter(|kind| SILENT.contains(kind)) else { return Ok(()) };
    Err(Error::new(
        format!("the queue of {iface}, {kind}, does not say what waits in it"),
        "use --queue virtual, or give the interface one that does: tbf, htb, fq_codel, pfifo",
    ))
}

/// What `tc` says; `None` where it is missing or fails.
fn tc(args: &[&str]) -> Option<String> {
    let done = Command::new("tc").args(args).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Whether no filter is left at the interface, ours or others'; not where that cannot be told.
fn is_bare(iface: &str) -> bool {
    let filters = |hook| tc(&["filter", "show", "dev", iface, hook]);
    ["ingress", "egress"].into_iter().all(|hook| filters(hook).is_some_and(|said| said.is_empty()))
}

fn load(spec: &Spec, ifindex: u32, folder: &Path) -> Result<(), Error> {
    let refused = |e: libbpf_rs::Error| {
        let what = format!("the kernel refuses the router's program on {}", spec.iface);
        Error::new(what, "`ratewire doctor` says what is missing").because(e)
    };
    let mut room = MaybeUninit::uninit();
    let open = RouterSkelBuilder::default().open(&mut room).map_err(refused)?;
    let skeleton = open.load().map_err(refused)?;
    let program = skeleton.progs.ratewire_router.as_fd();
    let mut clsact = hook_of(program, ifindex);
    // It fails where there is one already, which is then not ours to remove.
    let owns_clsact = clsact.create().is_ok();
    let attached = pin(spec, owns_clsact, &skeleton.maps.router, folder)
        .and_then(|()| hook_of(program, ifindex).attach().map(drop));
    if attached.is_err() && owns_clsact {
        let _ = clsact.attach_point(TC_EGRESS | TC_INGRESS).destroy();
    }
    attached.map_err(refused)
}

fn pin(spec: &Spec, owns_clsact: bool, map: &impl MapCore, folder: &Path) -> libbpf_rs::Result<()> {
    configure(map, spec.law, spec.capacity, spec.queue, owns_clsact)?;
    MapHandle::from_map_id(map.info()?.info.id)?.pin(folder.join("state"))
}

/// Tells the program what it is to do, from its beginning.
pub(crate) fn configure(
    map: &impl MapCore,
    law: Law,
    capacity: Rate,
    queue: Queue,
    owns_clsact: bool,
) -> libbpf_rs::Result<()> {
    let mut state = vec![0; size_of::<State>()];
    let capacity = capacity.throughput().get() as u64;
    put(&mut state, offset_of!(State, capacity), &capacity.to_ne_bytes());
    put(&mut state, offset_of!(State, law), &law.number().to_ne_bytes());
    let is_virtual = u32::from(queue == Queue::Virtual);
    put(&mut state, offset_of!(State, is_virtual), &is_virtual.to_ne_bytes());
    put(&mut state, offset_of!(State, owns_clsact), &u32::from(owns_clsact).to_ne_bytes());
    map.update(&0_u32.to_ne_bytes(), &state, MapFlags::ANY)
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// Detaches what [`attach`] has attached to the interfaces of this network namespace, or to one of them, and what an
/// `attach` that was killed has left behind; returns from which.
///
/// # Errors
/// When the kernel refuses.
pub fn detach(only: Option<&str>) -> Result<Vec<String>, Error> {
    crate::quiet();
    let folder = pins::folder()?;
    let mut detached = Vec::new();
    let interfaces = interfaces()?;
    if let Some(only) = only
        && !interfaces.iter().any(|(_, iface)| iface == only)
    {
        return Err(no_interface(only));
    }
    for (ifindex, iface) in interfaces {
        if only.is_some_and(|only| only != iface) {
            continue;
        }
        let pinned = folder.join(folder_name(ifindex));
        let owns_clsact =
            state(&pinned).is_some_and(|state| state.u32(offset_of!(State, owns_clsact)) == 1);
        let was_attached = hook(ifindex).query().is_ok();
        if was_attached {
            hook(ifindex).detach().map_err(|e| cannot_detach(&iface).because(e))?;
        }
        // Others may have come to use what was made for us.
        if was_attached && owns_clsact && is_bare(&iface) {
            let mut clsact = hook(ifindex);
            clsact
                .attach_point(TC_EGRESS | TC_INGRESS)
                .destroy()
                .map_err(|e| cannot_detach(&iface).because(e))?;
        }
        if was_attached || pinned.exists() {
            detached.push(iface);
        }
        pins::remove(&pinned)?;
    }
    pins::prune()?;
    Ok(detached)
}

fn no_interface(iface: &str) -> Error {
    Error::new(format!("no interface is called {iface:?}"), "`ip link` lists them")
}

fn cannot_detach(iface: &str) -> Error {
    Error::new(
        format!("the kernel does not detach the router's program from {iface}"),
        "`tc filter show dev INTERFACE egress` shows what is there",
    )
}

/// What the ports of this network namespace are doing.
///
/// # Errors
/// When the interfaces cannot be listed.
pub fn status() -> Result<Vec<Status>, Error> {
    pins::check_rights()?;
    let folder = pins::path()?;
    let one = |(ifindex, iface): (u32, String)| {
        let state = state(&folder.join(folder_name(ifindex)))?;
        state.status(iface)
    };
    Ok(interfaces()?.into_iter().filter_map(one).collect())
}

fn interfaces() -> Result<Vec<(u32, String)>, Error> {
    let list =
        if_nameindex().map_err(|e| Error::new("cannot list the interfaces", "").because(e))?;
    let one = |i: &nix::net::if_::Interface| (i.index(), i.name().to_string_lossy().into_owned());
    Ok(list.iter().map(one).collect())
}

fn folder_name(ifindex: u32) -> String {
    format!("router-{ifindex}")
}

/// Our place at the egress of an interface; good for asking and detaching.
fn hook(ifindex: u32) -> TcHook {
    // Asking needs no program.
    hook_of(std::io::stdin().as_fd(), ifindex)
}

fn hook_of(program: BorrowedFd<'_>, ifindex: u32) -> TcHook {
    TcHookBuilder::new(program)
        .ifindex(ifindex.cast_signed())
        .handle(HANDLE)
        .priority(PRIORITY)
        .hook(TC_EGRESS)
}

/// The pinned state of a port, if there is one.
fn state(folder: &Path) -> Option<Pinned> {
    let map = MapHandle::from_pinned_path(folder.join("state")).ok()?;
    let bytes = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    (bytes.len() == size_of::<State>()).then_some(Pinned(bytes))
}

/// The bytes of a [`State`].
struct Pinned(Vec<u8>);

impl Pinned {
    fn u64(&self, at: usize) -> u64 {
        let mut value = [0; 8];
        value.copy_from_slice(&self.0[at..at + 8]);
        u64::from_ne_bytes(value)
    }
    fn u32(&self, at: usize) -> u32 {
        let mut value = [0; 4];
        value.copy_from_slice(&self.0[at..at + 4]);
        u32::from_ne_bytes(value)
    }
    fn status(&self, iface: String) -> Option<Status> {
        let rate = |at: usize| Throughput::new(self.u64(at) as f64);
        Some(Status {
            iface,
            law: Law::numbered(self.u32(offset_of!(State, law)))?,
            capacity: rate(offset_of!(State, capacity)),
            packets: self.u64(offset_of!(State, packets)),
            bytes: Bytes::new(self.u64(offset_of!(State, bytes))),
            with_header: self.u64(offset_of!(State, with_header)),
            missed: self.u64(offset_of!(State, missed)),
            waiting: Bytes::new(self.u64(offset_of!(State, waiting))),
            input: rate(offset_of!(State, input)),
            mean_rtt: Duration::from_micros(self.u64(offset_of!(State, mean_rtt_us))),
            says: Throughput::new(self.u64(offset_of!(State, says)).cast_signed() as f64),
        })
    }
}
