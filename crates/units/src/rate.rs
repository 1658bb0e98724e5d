//! Speeds: configured capacities, measured throughputs, and serialisation times.

use core::fmt;
use core::num::NonZeroU64;
use core::ops::{Add, AddAssign, Mul, Neg, Sub};

use crate::{Bytes, Duration};

/// A capacity or configured speed, in whole bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

/// A measured or allotted speed, in bytes per second. Control laws compute with it; it may be
/// fractional, and negative where it is a change.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Throughput(f64);

/// How long a link needs for one byte: picoseconds with 20 fractional bits.
///
/// Exact to a millionth of a picosecond per byte, so that the error stays below one picosecond for
/// any packet, from 1 bit/s (8e12 ps a byte) up to 8 Tbit/s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SerialTime(NonZeroU64);

impl Rate {
    /// No capacity: a link of this rate sends nothing.
    pub const ZERO: Rate = Rate(0);

    /// `n` bits per second.
    pub const fn from_bps(n: u64) -> Rate {
        Rate(n)
    }
    /// `n` megabits (10^6 bits) per second.
    pub const fn from_mbps(n: u64) -> Rate {
        Rate(n * 1_000_000)
    }
    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// The rate in bytes per second.
    pub fn throughput(self) -> Throughput {
        Throughput(self.0 as f64 / 8.0)
    }
    /// How many whole bytes pass in `d`.
    pub fn bytes_in(self, d: Duration) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(d.ps()) / 8_000_000_000_000;
        Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
    /// Time for one byte; `None` at rate zero, where nothing is ever sent.
    pub fn serial_time(self) -> Option<SerialTime> {
        const BYTE_PS_Q20: u128 = 8_000_000_000_000 << 20;
        let rate = u128::from(self.0);
        let per_byte = (BYTE_PS_Q20 + rate / 2).checked_div(rate)?;
        let per_byte = u64::try_from(per_byte).unwrap_or(u64::MAX);
        // Beyond 8e18 bit/s a byte would take no time at all.
        Some(SerialTime(NonZeroU64::new(per_byte).unwrap_or(NonZeroU64::MIN)))
    }
}

impl SerialTime {
    /// How long `size` takes to send.
    #[inline]
    pub fn of(self, size: Bytes) -> Duration {
        let ps = (u128::from(self.0.get()) * u128::from(size.get())) >> 20;
        Duration::from_ps(if ps >> 64 == 0 { ps as u64 } else { u64::MAX })
    }
}

impl Throughput {
    /// No speed.
    pub const ZERO: Throughput = Throughput(0.0);

    /// `n` bytes per second.
    pub const fn new(n: f64) -> Throughput {
        Throughput(n)
    }
    /// Bytes per second.
    pub const fn get(self) -> f64 {
        self.0
    }
    /// Bits per second.
    pub fn bps(self) -> f64 {
        self.0 * 8.0
    }
    /// `size` in `d`; zero when `d` is zero.
    pub fn over(size: Bytes, d: Duration) -> Throughput {
        if d.is_zero() { Throughput::ZERO } else { Throughput(size.as_f64() / d.secs()) }
    }
    /// The smaller of two.
    pub fn min(self, o: Throughput) -> Throughput {
        if o.0 < self.0 { o } else { self }
    }
    /// The larger of two.
    pub fn max(self, o: Throughput) -> Throughput {
        if o.0 > self.0 { o } else { self }
    }
    /// Time that `size` takes at this speed; [`Duration::MAX`] at speed zero or below.
    pub fn time_for(self, size: Bytes) -> Duration {
        if self.0 > 0.0 { Duration::from_secs_f64(size.as_f64() / self.0) } else { Duration::MAX }
    }
}

impl Add for Throughput {
    type Output = Throughput;
    fn add(self, o: Throughput) -> Throughput {
        Throughput(self.0 + o.0)
    }
}
impl AddAssign for Throughput {
    fn add_assign(&mut self, o: Throughput) {
        self.0 += o.0;
    }
}
impl Sub for Throughput {
    type Output = Throughput;
    fn sub(self, o: Throughput) -> Throughput {
        Throughput(self.0 - o.0)
    }
}
impl Mul<f64> for Throughput {
    type Output = Throughput;
    fn mul(self, k: f64) -> Throughput {
        Throughput(self.0 * k)
    }
}
impl Neg for Throughput {
    type Output = Throughput;
    fn neg(self) -> Throughput {
        Throughput(-self.0)
    }
}

fn write_bps(f: &mut fmt::Formatter<'_>, bps: f64) -> fmt::Result {
    const UNITS: [(f64, &str); 4] =
        [(1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let size = if bps < 0.0 { -bps } else { bps };
    for (unit, name) in UNITS {
        if size >= unit {
            return crate::scaled::write_scaled(f, bps / unit, name);
        }
    }
    crate::scaled::write_scaled(f, bps, "bit/s")
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bps(f, self.0 as f64)
    }
}
impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bps(f, self.bps())
    }
}
impl fmt::Debug for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
