//! Time, rates and byte counts as types.
//!
//! A bare number never crosses a function boundary in Ratewire: one of the papers found two unit
//! bugs in a protocol specification, which types would have found.
//!
//! | type | holds | unit |
//! |---|---|---|
//! | [`Time`] | an instant since the start of the run | picoseconds, `u64` (213 days) |
//! | [`Duration`] | a length of time | picoseconds, `u64` |
//! | [`Bytes`] | an amount of data | bytes, `u64` |
//! | [`Rate`] | a capacity or a configured speed | bits per second, `u64` |
//! | [`Throughput`] | a measured or allotted speed, of either sign | bytes per second, `f64` |
//! | [`SerialTime`] | how long a link takes for a byte | picoseconds per byte, Q44.20 |
//!
//! [`quantity`] reads the strings users write (`"1 Gbit/s"`, `"50 ms"`, `"200 KB"`). [`text`] makes
//! other text of users fit to be shown, and [`names`] finds what a name of theirs means.

#![deny(clippy::print_stdout, clippy::print_stderr)]
#![no_std]
extern crate alloc;

mod bytes;
pub mod names;
pub mod quantity;
mod rate;
mod scaled;
#[cfg(feature = "serde")]
mod stored;
pub mod text;
mod time;

pub use bytes::Bytes;
pub use rate::{Rate, SerialTime, Throughput};
pub use time::{Duration, Time};
