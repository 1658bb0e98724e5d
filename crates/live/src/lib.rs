//! Laws in a running Linux kernel.
//!
//! The kernel itself is not changed: programs are loaded into it. A [`router`] attaches a law's
//! port to the egress of an interface. A [`host`] lets the TCP connections of a cgroup carry the
//! congestion header as an option and send at the rate that routers allow. Both stay after the
//! command that attached them, until they are detached: their objects are pinned below
//! [`pins::ROOT`]. A [`noq`] port is a program that runs: it pauses its upstream and obeys pauses.

// They panic if the reader has gone away.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod cgroup;
pub mod doctor;
pub mod host;
pub mod noq;
pub mod pins;
pub mod probe;
pub mod router;
pub mod sockets;

mod clock;
mod error;
mod law;
mod netlink;
mod skeletons;

pub use error::Error;
pub use law::KernelLaw;

/// Keeps libbpf from writing to standard error: errors carry its messages.
fn quiet() {
    libbpf_rs::set_print(None);
}
