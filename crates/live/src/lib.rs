//! Laws in a running Linux kernel.
//!
//! Nothing of the kernel is changed: programs are loaded into it. A [`router`] attaches a law's
//! port to the egress of an interface; a [`host`] has the TCP connections of a cgroup carry the
//! congestion header as an option and send at the rate that routers allow. Both stay when the
//! command that attached them ends, and until they are detached: what they hold is pinned below
//! [`pins::ROOT`].

// They panic where the reader has gone away.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod cgroup;
pub mod doctor;
pub mod host;
pub mod pins;
pub mod probe;
pub mod router;
pub mod sockets;

mod error;
mod law;
mod skeletons;

pub use error::Error;
pub use law::Law;

/// Keeps the library that loads programs from writing to standard error: what it says is in the
/// errors.
fn quiet() {
    libbpf_rs::set_print(None);
}
