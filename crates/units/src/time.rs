//! Instants and lengths of time, in whole picoseconds.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

const PS_PER_SECOND: u64 = 1_000_000_000_000;

/// An instant, in picoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any event: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }
    /// The instant `n` milliseconds after the start.
    pub const fn from_millis(n: u64) -> Time {
        Time(n * 1_000_000_000)
    }
    /// The instant `n` seconds after the start.
    pub const fn from_secs(n: u64) -> Time {
        Time(n * 1_000_000_000_000)
    }
    /// Picoseconds since the start.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Seconds since the start, for reports and control laws.
    pub fn secs(self) -> f64 {
        self.0 as f64 / PS_PER_SECOND as f64
    }
    /// Time since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run.
    pub const MAX: Duration = Duration(u64::MAX);

    /// `n` picoseconds.
    pub const fn from_ps(n: u64) -> Duration {
        Duration(n)
    }
    /// `n` nanoseconds.
    pub const fn from_nanos(n: u64) -> Duration {
        Duration(n * 1_000)
    }
    /// `n` microseconds.
    pub const fn from_micros(n: u64) -> Duration {
        Duration(n * 1_000_000)
    }
    /// `n` milliseconds.
    pub const fn from_millis(n: u64) -> Duration {
        Duration(n * 1_000_000_000)
    }
    /// `n` whole seconds.
    pub const fn from_secs(n: u64) -> Duration {
        Duration(n * PS_PER_SECOND)
    }
    /// `s` seconds, rounded to the nearest picosecond; negative and NaN give zero, too long gives
    /// [`Duration::MAX`].
    pub fn from_secs_f64(s: f64) -> Duration {
        // `as` saturates and turns NaN into 0, as documented above.
        Duration((s * PS_PER_SECOND as f64 + 0.5) as u64)
    }
    /// Picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// Seconds.
    pub fn secs(self) -> f64 {
        self.0 as f64 / PS_PER_SECOND as f64
    }
    /// Milliseconds.
    pub fn millis(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The length as the standard library has it, rounded up to nanoseconds: a wait is never too
    /// short.
    pub const fn to_std(self) -> core::time::Duration {
        core::time::Duration::from_nanos(self.0.div_ceil(1_000))
    }
    /// Whether this is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// The difference, zero if `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
    /// This length scaled by a non-negative factor.
    pub fn scale(self, factor: f64) -> Duration {
        Duration((self.0 as f64 * factor + 0.5) as u64)
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}
impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, d: Duration) -> Time {
        Time(self.0.saturating_sub(d.0))
    }
}
impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}
impl Add for Duration {
    type Output = Duration;
    fn add(self, d: Duration) -> Duration {
        Duration(self.0.saturating_add(d.0))
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}
impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, n: u64) -> Duration {
        Duration(self.0.saturating_mul(n))
    }
}
impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, n: u64) -> Duration {
        Duration(self.0 / n)
    }
}

impl fmt::Display for Duration {
    /// The largest unit that keeps the number at 1 or above: `50 ms`, `1.5 s`, `300 ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] =
            [(PS_PER_SECOND, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")];
        for (size, name) in UNITS {
            if self.0 >= size {
                return crate::scaled::write_scaled(f, self.0 as f64 / size as f64, name);
            }
        }
        if self.0 == 0 { f.write_str("0 s") } else { write!(f, "{} ps", self.0) }
    }
}
impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER { f.write_str("never") } else { Duration(self.0).fmt(f) }
    }
}
impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_never_too_short() {
        let nanos = |ps| Duration::from_ps(ps).to_std().as_nanos();
        assert_eq!([0, 1, 1_000, 1_001].map(nanos), [0, 1, 1, 2]);
        assert_eq!(Duration::MAX.to_std().as_nanos(), u128::from(u64::MAX.div_ceil(1_000)));
    }
}
