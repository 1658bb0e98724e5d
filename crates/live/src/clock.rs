//! The machine's monotonic clock, by which the kernel's programs tell the time, too.

use std::io;

use nix::time::{ClockId, clock_gettime};

/// Nanoseconds of the clock. Picoseconds since the machine's start would not fit 64 bits after 213
/// days.
pub(crate) fn monotonic() -> io::Result<u64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok((now.tv_sec() * 1_000_000_000 + now.tv_nsec()).unsigned_abs())
}
