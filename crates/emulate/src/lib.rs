//! Real time: the same scenario, with kernels and programs at its hosts.
//!
//! Each host is a network namespace with one TUN device. Its kernel's packets go through the
//! network model of the simulator ([`ratewire_net`]): the same links, queues and law ports, driven
//! by the clock. Packets that arrive are written to the device of their host.
//!
//! **Time.** Everything in the network happens at the time that the model says, however late it is
//! computed: a packet that is processed late leaves the next queue no later. How late packets left
//! the network is counted, and decides a run's [`Fidelity`].
//!
//! **Threads.** The network runs in a real-time thread that waits for nobody. One thread writes and
//! reads for all flows, one asks kernels about them, and the caller's thread records (`handoff`).
//!
//! **Flows** of a scenario are TCP connections under the kernel's congestion control of that name,
//! with the writes and reads that the scenario says; or programs
//! ([`ProgramSpec`](ratewire_sim::setup::ProgramSpec)). Edges of ensembles are connections of ACP
//! between processes (`acp`).

// They panic if the reader has gone away.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod acp;
mod agenda;
mod arriving;
mod bundle;
mod check;
mod clock;
mod commands;
mod control;
mod daemons;
mod default_control;
mod device;
mod dialect;
pub mod doctor;
mod error;
mod executables;
mod fidelity;
mod flow;
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "live")]
mod group;
mod handoff;
mod host;
mod host_probe;
mod lateness;
mod laws;
mod leftovers;
mod machine;
mod names;
mod options;
mod overlay;
mod packet;
mod parts;
mod ports;
mod private;
mod processes;
mod program;
mod readiness;
mod seen;
mod shell;
mod stage;
mod sys;
mod tun;
mod user;
mod world;

pub use check::{check, check_machine};
pub use daemons::find_program;
pub use error::Error;
pub use fidelity::{Fidelity, MOST_HOSTS_LATE, MOST_LATE};
#[cfg(feature = "live")]
pub use group::running_in;
pub use lateness::{LATE, Lateness};
pub use machine::{kernel_release, processors};
pub use options::{differences, stand_in};
pub use private::hides_working_directory;
pub use processes::{has_processes, switches_and_ends};
pub use shell::Shell;
pub use stage::{Emulated, EmulationOptions, ProgramEnd, run};
pub use user::Users;
