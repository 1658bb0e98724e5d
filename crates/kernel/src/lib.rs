//! The laws as the kernel runs them: the C of `bpf/laws`, compiled for this machine.
//!
//! The kernel has no floating point, so its laws are C with integers, free of anything specific to
//! BPF. The same files are compiled here. The simulator runs the very arithmetic that the kernel
//! runs (`xcp@kernel`), and tests hold it against the laws in Rust.
//!
//! This crate decides nothing: each method is one call. The C says what the numbers mean, in which
//! units, and in which ranges.

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![no_std]
#[cfg(test)]
extern crate std;

#[cfg(test)]
mod tests;

mod arithmetic;
mod header;
mod jetmax;
mod meter;
mod police;
mod rcp;
mod xcp;

pub use arithmetic::{mul_shift, share_part, share_times};
pub use header::Header;
pub use jetmax::{JetmaxAnswer, JetmaxConstants, JetmaxHeader, JetmaxPort, JetmaxSender};
pub use meter::Meter;
pub use police::{Claim, Policed, Suspect, police_leeway};
pub use rcp::{RcpConstants, RcpPort, RcpSender, Rule};
pub use xcp::{XcpConstants, XcpPort, XcpReceiver, XcpRules, XcpSender, XcpThroughput};
