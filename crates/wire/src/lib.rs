//! Congestion headers of explicit-rate protocols: bytes to structs and back.
//!
//! Sans-IO, `no_std`, no allocation. Every integer on the wire is big-endian. Two ways in:
//!
//! - a **view** ([`xcp::XcpView`]) checks a header where it lies in a packet and reads or rewrites
//!   single fields: what a router does;
//! - a **struct** ([`xcp::XcpHeader`]) holds the fields in the types of `ratewire-units`: what a
//!   host and the simulator use.
//!
//! Nothing here panics on what it reads: a malformed header is an error that names the field, what
//! was found and what is allowed.

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![no_std]

#[doc(hidden)]
pub mod fuzzing;
pub mod xcp;
