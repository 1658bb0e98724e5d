//! The router's program run on packets without attaching it: for tests, and to measure what it
//! costs.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::time::Duration;

use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::skel::Skel;
use libbpf_rs::{OpenObject, Program, ProgramInput, ProgramMut};
use ratewire_units::Rate;

use crate::router::{Capacity, Queue, Spec, Status, prepare, read};
use crate::skeletons::router::RouterSkel;
use crate::{Error, Law, host};

/// Room in which a probe's program is kept.
pub type Room = MaybeUninit<OpenObject>;

/// Bytes of `struct __sk_buff`.
const CONTEXT: usize = 192;

/// A loaded router.
pub struct Probe<'a> {
    skeleton: RouterSkel<'a>,
}

impl<'a> Probe<'a> {
    /// Loads the program for a link of this capacity, whose queue is worked out.
    ///
    /// # Errors
    /// When the kernel refuses, for want of rights or otherwise.
    pub fn new(room: &'a mut Room, law: Law, capacity: Rate) -> Result<Probe<'a>, Error> {
        crate::quiet();
        let spec = Spec {
            iface: String::new(),
            law,
            capacity: Capacity::Given(capacity),
            queue: Queue::Virtual,
        };
        let skeleton = prepare(room, &spec).map_err(refused)?;
        Ok(Probe { skeleton })
    }

    /// Passes an Ethernet frame through; returns it as it leaves.
    ///
    /// # Errors
    /// When the kernel does not take the frame.
    pub fn pass(&self, frame: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; frame.len() + 64];
        // Without a context, however empty, the kernel has the frame take no room on a link.
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

    /// What the port is doing; of no interface.
    pub fn status(&self) -> Option<Status> {
        read(&self.skeleton.maps.routers)?.status(String::new())
    }

    /// How long a frame takes, on the mean of so many.
    ///
    /// # Errors
    /// When the kernel does not take the frame.
    pub fn cost(&self, frame: &[u8], packets: u32) -> Result<Duration, Error> {
        cost(&self.skeleton.progs.ratewire_router, frame, packets)
    }

    /// How long a frame takes through a program that does nothing.
    ///
    /// # Errors
    /// When the kernel does not take the frame.
    pub fn cost_of_nothing(&self, frame: &[u8], packets: u32) -> Result<Duration, Error> {
        cost(&self.skeleton.progs.ratewire_nothing, frame, packets)
    }
}

/// How many instructions the kernel's verifier went through before it took each program of a law,
/// by the programs' names.
///
/// # Errors
/// When the kernel does not take one.
pub fn verified(law: Law) -> Result<Vec<(String, u32)>, Error> {
    crate::quiet();
    let spec = host::Spec {
        law,
        cgroup: None,
        iface: None,
        desired: Rate::from_mbps(1000),
        is_forced: false,
    };
    let mut room = Room::uninit();
    let host = host::prepare(&mut room, &spec).map_err(host::refused(law))?;
    let mut room = Room::uninit();
    let router = match Law::OF_ROUTERS.contains(&law) {
        true => Some(Probe::new(&mut room, law, Rate::from_mbps(1000))?),
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
