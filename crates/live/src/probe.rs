//! The router's program run on packets without attaching it: for tests, and to measure what it costs.

use std::mem::MaybeUninit;
use std::time::Duration;

use libbpf_rs::{OpenObject, ProgramInput, ProgramMut};
use ratewire_units::Rate;

use crate::router::{Capacity, Queue, Spec, prepare};
use crate::skeletons::router::RouterSkel;
use crate::{Error, Law};

/// Room in which a probe's program is kept.
pub type Room = MaybeUninit<OpenObject>;

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
        let length = {
            let input = ProgramInput {
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

fn cost(program: &ProgramMut<'_>, frame: &[u8], packets: u32) -> Result<Duration, Error> {
    let input = ProgramInput { data_in: Some(frame), repeat: packets, ..Default::default() };
    program.test_run(input).map(|run| run.duration).map_err(refused)
}

fn refused(e: libbpf_rs::Error) -> Error {
    Error::new("the kernel refuses the router's program", "`ratewire doctor` says what is missing")
        .because(e)
}
