//! Real time: the same scenario, with kernels and programs at its hosts.
//!
//! Each host is a network namespace with one TUN device. What its kernel sends goes through the
//! network model that the simulator runs ([`ratewire_net`]): the same links, queues and laws'
//! ports, told the time by the clock. What arrives is written to the device of the host it is for.
//!
//! **Time.** What happens in the network happens at the time that the model says, however late it
//! is worked out: a packet that is looked at late leaves the next queue no later for it. How late
//! packets left the network is counted, and is what a run's [`Fidelity`] is judged by.
//!
//! **Threads.** The network runs in a real-time thread that waits for nobody. One thread writes and
//! reads for all flows, one asks kernels about them, and the caller's thread records what the
//! network tells (`handoff`).
//!
//! **Flows** of a scenario are TCP connections under the kernel's congestion control of that name,
//! whose applications write and read as the scenario says; or programs
//! ([`ProgramSpec`](ratewire_sim::setup::ProgramSpec)).

// They panic where the reader has gone away.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod agenda;
mod arriving;
mod bundle;
mod check;
mod clock;
mod control;
mod default_control;
mod device;
mod dialect;
pub mod doctor;
mod error;
mod fidelity;
mod flow;
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "live")]
mod group;
mod handoff;
mod host;
mod laws;
mod leftovers;
mod names;
mod options;
mod packet;
mod private;
mod program;
mod readiness;
mod seen;
mod stage;
mod sys;
mod tun;
mod user;
mod world;

pub use check::{check, check_kernel};
pub use error::Error;
pub use fidelity::{Fidelity, LATE, MOST_LATE};
#[cfg(feature = "live")]
pub use group::holder;
pub use options::ignores;
pub use private::hides_working_directory;
pub use stage::{Emulated, Options, ProgramEnd, Shell, run};
pub use user::Users;
