//! Packets of all kinds through the router's program: by the kernel's test run, and from one
//! network namespace to another. Needs root and `ethtool`.

// Sockets wait for packets.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod acp;
mod frames;
mod namespaces;
mod sockets;
mod tcp;
