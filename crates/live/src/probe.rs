//! The router's program run on packets without an attachment: for tests, and to measure its cost.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::time::Duration;

use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::skel::Skel;
use libbpf_rs::{OpenObject, Program, ProgramInput, ProgramMut};
use ratewire_kernel::XcpRules;
use ratewire_units::Rate;

use crate::router::{self, Capacity, Police, Queue, Spec, Status, prepare, read};
use crate::skeletons::router::RouterSkel;
use crate::{Error, KernelLaw, host};

/// Room in which a probe's program is kept.
pub type ProbeMemory = MaybeUninit<OpenObject>;

/// Bytes of `struct __sk_buff`.
const CONTEXT: usize = 192;

/// A loaded router.
pub struct Probe<'a> {
    skeleton: RouterSkel<'a>,
}

impl<'a> Probe<'a> {
    /// Loads the program for a link of this capacity, with a virtual queue and no policer.
    ///
    /// # Errors
    /// If the kernel refuses, for lack of rights or otherwise.
    pub fn new(
        room: &'a mut ProbeMemory,
        law: KernelLaw,
        capacity: Rate,
    ) -> Result<Probe<'a>, Error> {
        Probe::policed(room, law, capacity, None)
    }

    /// Loads the program for a link of this capacity, with a virtual queue.
    ///
    /// # Errors
    /// If the kernel refuses, for lack of rights or otherwise.
    pub fn policed(
        room: &'a mut ProbeMemory,
        law: KernelLaw,
        capacity: Rate,
        police: Option<Police>,
    ) -> Result<Probe<'a>, Error> {
        crate::quiet();
        let no_router = || Error::new(format!("routers have no part in {}", law.name()), "");
        let spec = Spec {
            iface: String::new(),
            law: router::Law::of(law).ok_or_else(no_router)?,
            capacity: Capacity::Given(capacity),
            queue: Queue::Virtual,
            police,
        };
        let skeleton = prepare(room, &spec).map_err(refused)?;
        Ok(Probe { skeleton })
    }

    /// Passes an Ethernet frame through the program; returns the frame as it leaves.
    ///
    /// # Errors
    /// If the kernel does not take the frame.
    pub fn pass(&self, frame: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; frame.len() + 64];
        // Without a context, even an empty one, the kernel says that the frame takes no room on a
        // link.
        let mut context = [0; CONTEXT];
        let length = {
            let input = ProgramInput {
                context_in: Some(&mut context),
                data_in: Some(frame),
                data_out: Some(&mut out),
                ..Default::default()
            };
            let run = self.skeleton.progs.ratewire_router.test_run(input).map_err(refused)?;
            if run.return_value != u32::MAX {
                let what = format!("the program's verdict on a packet is {}", run.return_value);
                return Err(Error::new(what, ""));
            }
            run.data.map_or(0, |data| data.len())
        };
        out.truncate(length);
        Ok(out)
    }

    /// State of the port, without an interface.
    pub fn status(&self) -> Option<Status> {
        read(&self.skeleton.maps.routers)?.status(String::new())
    }

    /// Time for a frame, as the mean of this many.
    ///
    /// # Errors
    /// If the kernel does not take the frame.
    pub fn cost(&self, frame: &[u8], packets: u32) -> Result<Duration, Error> {
        cost(&self.skeleton.progs.ratewire_router, frame, packets)
    }

    /// Time for a frame through a program that does nothing.
    ///
    /// # Errors
    /// If the kernel does not take the frame.
    pub fn cost_of_nothing(&self, frame: &[u8], packets: u32) -> Result<Duration, Error> {
        cost(&self.skeleton.progs.ratewire_nothing, frame, packets)
    }
}

/// Number of instructions that the kernel's verifier examined for each program of a law, by the
/// programs' names; the router's with this policer.
///
/// # Errors
/// If the kernel refuses one.
pub fn verified(law: KernelLaw, police: Option<Police>) -> Result<Vec<(String, u32)>, Error> {
    crate::quiet();
    let spec = host::Spec {
        law,
        cgroup: None,
        iface: None,
        desired: Rate::from_mbps(1000),
        xcp: XcpRules::default(),
        is_forced: false,
        lie: None,
    };
    let mut room = ProbeMemory::uninit();
    let host = host::prepare(&mut room, &spec, law.control()).map_err(host::refused(law))?;
    if law == KernelLaw::Xcp {
        // What the first is loaded without.
        let xcp = XcpRules::default().paced(false).heeds_loss(false);
        let mut room = ProbeMemory::uninit();
        host::prepare(&mut room, &host::Spec { xcp, ..spec.clone() }, law.control())
            .map_err(host::refused(law))?;
    }
    let mut room = ProbeMemory::uninit();
    let router = match KernelLaw::OF_ROUTERS.contains(&law) {
        true => Some(Probe::policed(&mut room, law, Rate::from_mbps(1000), police)?),
        false => None,
    };
    let objects = router.iter().map(|probe| probe.skeleton.object()).chain([host.object()]);
    let ids: libbpf_rs::Result<Vec<u32>> = objects
        .flat_map(|object| object.progs())
        .map(|program| Program::id_from_fd(program.as_fd()))
        .collect();
    let ids = ids.map_err(refused)?;
    let own = ProgInfoIter::default().filter(|program| ids.contains(&program.id));
    Ok(own
        .map(|program| (program.name.to_string_lossy().into_owned(), program.verified_insns))
        .collect())
}

fn cost(program: &ProgramMut<'_>, frame: &[u8], packets: u32) -> Result<Duration, Error> {
    let input = ProgramInput { data_in: Some(frame), repeat: packets, ..Default::default() };
    program.test_run(input).map(|run| run.duration).map_err(refused)
}

fn refused(e: libbpf_rs::Error) -> Error {
    Error::new("the kernel refuses the router's program", "`ratewire doctor` says what is missing")
        .because(e)
}
