//! A law's port at the egress of an interface.

mod options;
mod pinned;
mod police;
mod status;

use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{
    MapCore, MapFlags, MapHandle, OpenObject, TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder,
};
use nix::net::if_::{if_nameindex, if_nametoindex};
use ratewire_kernel::{JetmaxConstants, RcpConstants, Rule, XcpConstants, police_leeway};
use ratewire_units::Rate;

use crate::pins::{Folder, Pins, STATE, router_folder};
use crate::skeletons::router::types::{
    router as State, rw_jetmax_constants, rw_rcp_rule, rw_xcp_constants,
};
use crate::skeletons::router::{RouterSkel, RouterSkelBuilder};
use crate::{Error, KernelLaw};

pub use police::Police;
pub(crate) use status::read;
use status::state;
pub use status::{Policed, Status, halfway, status};

/// Handle that distinguishes our filter from others of an interface.
const HANDLE: u32 = 0x5257;
const PRIORITY: u32 = 0x5257;

/// Queue that a router's port reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// The backlog of the interface's queueing discipline.
    Backlog,
    /// Computed: the queue that a link of the capacity would have. For interfaces without a queue
    /// of their own, or with the bottleneck behind them.
    Virtual,
}

/// Capacity that a law shares out: of the bottleneck that follows, in bytes of the link layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// This rate.
    Given(Rate),
    /// The departure rate while the queue is not empty; at first the interface's own speed.
    Measured,
}

/// A law at routers, with what it is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// XCP.
    Xcp(XcpConstants),
    /// RCP.
    Rcp(RcpConstants),
    /// PIQI-RCP, as reconstructed.
    PiqiRcp(RcpConstants),
    /// JetMax.
    Jetmax(JetmaxConstants),
}

impl Law {
    /// The law with the constants that it has by default; `None` if routers have no part in it.
    pub fn of(law: KernelLaw) -> Option<Law> {
        match law {
            KernelLaw::Xcp => Some(Law::Xcp(XcpConstants::default())),
            KernelLaw::Rcp => Some(Law::Rcp(RcpConstants::of(Rule::Rcp))),
            KernelLaw::PiqiRcp => Some(Law::PiqiRcp(RcpConstants::of(Rule::Piqi))),
            KernelLaw::Jetmax => Some(Law::Jetmax(JetmaxConstants::default())),
            KernelLaw::Noq => None,
        }
    }

    fn number(&self) -> u32 {
        let law = match self {
            Law::Xcp(_) => KernelLaw::Xcp,
            Law::Rcp(_) => KernelLaw::Rcp,
            Law::PiqiRcp(_) => KernelLaw::PiqiRcp,
            Law::Jetmax(_) => KernelLaw::Jetmax,
        };
        law.number()
    }
}

/// A port to attach.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The interface's name.
    pub iface: String,
    /// The law.
    pub law: Law,
    /// Capacity that the law shares out.
    pub capacity: Capacity,
    /// Queue that the port reads.
    pub queue: Queue,
    /// The port's policer, if it has one.
    pub police: Option<Police>,
}

/// Attaches a law's port. If it fails, the interface is as before.
///
/// # Errors
/// If there is no such interface, a port is attached to it already, or the kernel refuses.
pub fn attach(spec: &Spec) -> Result<(), Error> {
    crate::quiet();
    let ifindex = index(&spec.iface)?;
    let mut pins = Pins::lock()?;
    let taken = || {
        let iface = &spec.iface;
        let remedy = format!("detach it first: ratewire live detach --iface {iface}");
        Error::new(format!("a law's port at {iface} is attached already"), remedy)
    };
    if is_attached(ifindex) {
        return Err(taken());
    }
    match (spec.queue, spec.capacity) {
        (Queue::Backlog, _) => check_queue(&spec.iface)?,
        (Queue::Virtual, Capacity::Given(_)) => {}
        (Queue::Virtual, Capacity::Measured) => {
            let what =
                "a virtual queue is computed from the capacity, so it cannot measure the capacity";
            return Err(Error::new(what, "give the capacity, or read the queue: --queue backlog"));
        }
    }
    let name = router_folder(ifindex);
    let own = pins.make_own()?;
    // Remains of a killed command, which would pass for another's, or pins for a past interface of
    // the same number.
    let attached = take_away(ifindex, &spec.iface, Some(&own))
        .and_then(|_| own.claim(&name, taken))
        .and_then(|folder| load(spec, ifindex, &folder));
    if attached.is_err() {
        // The first error is the one to report.
        let _ = own.remove(&name, &[STATE]);
        pins.tidy_own();
    }
    attached
}

/// Queueing disciplines that do not report their backlog at the root.
const SILENT: [&str; 4] = ["mq", "mqprio", "pfifo_fast", "noqueue"];

/// Checks that the interface's queueing discipline reports its backlog; without `tc`, that is
/// assumed.
///
/// # Errors
/// If the queueing discipline reports no backlog.
pub(crate) fn check_queue(iface: &str) -> Result<(), Error> {
    let said = tc(&["qdisc", "show", "dev", iface, "root"]);
    let kind = said.as_deref().and_then(|said| said.split_whitespace().nth(1));
    let Some(kind) = kind.filter(|kind| SILENT.contains(kind)) else { return Ok(()) };
    Err(Error::new(
        format!("the queueing discipline of {iface}, {kind}, does not report its backlog"),
        "use --queue virtual, or give the interface one that does: tbf, htb, fq_codel, pfifo",
    ))
}

/// Output of `tc`; `None` if it is missing or fails.
fn tc(args: &[&str]) -> Option<String> {
    let done = Command::new("tc").args(args).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Whether an interface has no hook for filters; false if that is not known.
fn lacks_clsact(iface: &str) -> bool {
    // The hook's place, which the older `ingress` takes too.
    tc(&["qdisc", "show", "dev", iface]).is_some_and(|said| !said.contains("parent ffff:fff1"))
}

/// Whether the interface has no filter left, ours or others'; false if that is not known.
fn is_bare(iface: &str) -> bool {
    let filters = |hook| tc(&["filter", "show", "dev", iface, hook]);
    ["ingress", "egress"].into_iter().all(|hook| filters(hook).is_some_and(|said| said.is_empty()))
}

fn load(spec: &Spec, ifindex: u32, folder: &Folder) -> Result<(), Error> {
    let refused = |e: libbpf_rs::Error| {
        let what = format!("the kernel refuses the router's program on {}", spec.iface);
        Error::new(what, "`ratewire doctor` says what is missing").because(e)
    };
    let mut room = MaybeUninit::uninit();
    let skeleton = prepare(&mut room, spec).map_err(refused)?;
    let program = skeleton.progs.ratewire_router.as_fd();
    let mut clsact = hook_of(program, ifindex);
    // `create` does not report whether the hook existed. The fact is noted before the hook is made,
    // so that `detach` finds it whenever this command is killed.
    let owns_clsact = lacks_clsact(&spec.iface);
    let is_ours = u32::from(owns_clsact).to_ne_bytes();
    configure(&skeleton.maps.routers, &[(offset_of!(State, owns_clsact), &is_ours)])
        .and_then(|()| pin(&skeleton.maps.routers, folder))
        .map_err(refused)?;
    let attached = clsact.create().and_then(|_| hook_of(program, ifindex).attach());
    if attached.is_err() && owns_clsact {
        let _ = clsact.attach_point(TC_EGRESS | TC_INGRESS).destroy();
    }
    attached.map(drop).map_err(refused)
}

fn pin(map: &impl MapCore, folder: &Folder) -> libbpf_rs::Result<()> {
    MapHandle::from_map_id(map.info()?.info.id)?.pin(folder.pin(STATE))
}

/// Assumed speed if it is unknown: a measurement finds less within some intervals, and a twentieth
/// more in each.
const UNKNOWN_SPEED: Rate = Rate::from_mbps(1000);

/// An interface's own speed.
pub(crate) fn speed(iface: &str) -> Rate {
    let said = std::fs::read_to_string(format!("/sys/class/net/{iface}/speed"));
    let mbps = said.ok().and_then(|said| said.trim().parse().ok()).filter(|mbps| *mbps > 0);
    mbps.map_or(UNKNOWN_SPEED, Rate::from_mbps)
}

/// The program, loaded and configured.
pub(crate) fn prepare<'a>(
    room: &'a mut MaybeUninit<OpenObject>,
    Spec { iface, law, capacity, queue, police }: &Spec,
) -> libbpf_rs::Result<RouterSkel<'a>> {
    let mut open = RouterSkelBuilder::default().open(room)?;
    let constants = open.maps.rodata_data.as_deref_mut().expect("the program has constants");
    let is_measured = u32::from(*capacity == Capacity::Measured);
    constants.law = law.number();
    match law {
        Law::Xcp(of_law) => {
            let (short, [queue_cap, queue_limit]) = of_law.fields();
            let [alpha, beta, gamma, min_interval_us, max_interval_us, allowed_queue_us, memory] =
                short;
            constants.xcp = rw_xcp_constants {
                alpha,
                beta,
                gamma,
                min_interval_us,
                max_interval_us,
                allowed_queue_us,
                memory,
                pad: 0,
                queue_cap,
                queue_limit,
            };
        }
        Law::Rcp(of_law) | Law::PiqiRcp(of_law) => {
            let [spare, queue, target, slot_us] = of_law.fields();
            constants.rcp = rw_rcp_rule { spare, queue, target, slot_us };
        }
        Law::Jetmax(of_law) => {
            let [gamma, interval_us] = of_law.fields();
            constants.jetmax = rw_jetmax_constants { gamma, interval_us };
        }
    }
    constants.is_virtual = u32::from(*queue == Queue::Virtual);
    constants.is_measured = is_measured;
    if let Some(police) = police {
        constants.is_policed = 1;
        constants.police_leeway = police_leeway(police.tolerance);
        open.maps.suspects.set_max_entries(police.suspects)?;
    }
    let skeleton = open.load()?;
    let suspects = match police {
        Some(_) => skeleton.maps.suspects.info()?.info.id,
        None => 0,
    };
    let rate = match capacity {
        Capacity::Given(rate) => *rate,
        Capacity::Measured => speed(iface),
    };
    let bytes_per_second = rate.throughput().get() as u64;
    configure(
        &skeleton.maps.routers,
        &[
            (offset_of!(State, capacity), &bytes_per_second.to_ne_bytes()),
            (offset_of!(State, law), &law.number().to_ne_bytes()),
            (offset_of!(State, is_measured), &is_measured.to_ne_bytes()),
            (offset_of!(State, suspects), &suspects.to_ne_bytes()),
        ],
    )?;
    Ok(skeleton)
}

/// Changes the state of a program that is not attached yet.
fn configure(map: &impl MapCore, values: &[(usize, &[u8])]) -> libbpf_rs::Result<()> {
    let key = 0_u32.to_ne_bytes();
    let mut state = map.lookup(&key, MapFlags::ANY)?.unwrap_or_default();
    for (at, value) in values {
        state[*at..*at + value.len()].copy_from_slice(value);
    }
    map.update(&key, &state, MapFlags::ANY)
}

/// Detaches ports from all interfaces of this network namespace, or from one, with the remains of a
/// killed `attach`; returns the interfaces.
///
/// # Errors
/// If the kernel refuses.
pub fn detach(only: Option<&str>) -> Result<Vec<String>, Error> {
    crate::quiet();
    let pins = Pins::lock()?;
    let own = pins.own()?;
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
        if take_away(ifindex, &iface, own.as_ref())? {
            detached.push(iface);
        }
    }
    if only.is_none() {
        // Pins of interfaces that are gone, whose programs went with them.
        pins.remove_own()?;
    }
    pins.tidy_own();
    pins.prune();
    Ok(detached)
}

/// Detaches our objects from an interface, complete or not; returns whether there were any.
fn take_away(ifindex: u32, iface: &str, own: Option<&Folder>) -> Result<bool, Error> {
    let name = router_folder(ifindex);
    let pinned = own.map_or(Ok(None), |own| own.open(&name))?;
    let state = pinned.as_ref().and_then(state);
    let owns_clsact = state.is_some_and(|state| state.u32(offset_of!(State, owns_clsact)) == 1);
    let was_attached = is_attached(ifindex);
    if was_attached {
        hook(ifindex).detach().map_err(|e| cannot_detach(iface).because(e))?;
    }
    // Others may have come to use a hook that was made for us.
    if owns_clsact && is_bare(iface) {
        let destroyed = hook(ifindex).attach_point(TC_EGRESS | TC_INGRESS).destroy();
        // A killed `attach` may not have made it yet.
        if was_attached {
            destroyed.map_err(|e| cannot_detach(iface).because(e))?;
        }
    }
    if let Some(own) = own {
        own.remove(&name, &[STATE])?;
    }
    Ok(was_attached || pinned.is_some())
}

/// The number of an interface.
///
/// # Errors
/// If there is no such interface.
pub(crate) fn index(iface: &str) -> Result<u32, Error> {
    if_nametoindex(iface).map_err(|_| no_interface(iface))
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

pub(crate) fn interfaces() -> Result<Vec<(u32, String)>, Error> {
    let list =
        if_nameindex().map_err(|e| Error::new("cannot list the interfaces", "").because(e))?;
    let one = |i: &nix::net::if_::Interface| (i.index(), i.name().to_string_lossy().into_owned());
    Ok(list.iter().map(one).collect())
}

/// Whether our program is at the egress of an interface.
fn is_attached(ifindex: u32) -> bool {
    hook(ifindex).query().is_ok()
}

/// Our place at the egress of an interface, for questions and for detaching.
fn hook(ifindex: u32) -> TcHook {
    // A question needs no program.
    hook_of(std::io::stdin().as_fd(), ifindex)
}

fn hook_of(program: BorrowedFd<'_>, ifindex: u32) -> TcHook {
    TcHookBuilder::new(program)
        .ifindex(ifindex.cast_signed())
        .handle(HANDLE)
        .priority(PRIORITY)
        .hook(TC_EGRESS)
}
