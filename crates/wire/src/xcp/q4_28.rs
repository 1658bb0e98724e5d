use ratewire_units::Duration;

/// Picoseconds in a second over 2^28, as a fraction: 5^12 / 2^16. Both ways stay within 64 bits.
const PS_NUM: u64 = 244_140_625;
const PS_SHIFT: u32 = 16;
/// 16 s, the first length that does not fit.
const LIMIT: Duration = Duration::from_secs(16);

/// A time as XCP carries it: unsigned, 4 integer and 28 fraction bits, in seconds (drafts -01 to
/// -03, section 3.1).
///
/// One unit is 2^-28 s, about 3.725 ns; the largest value is 16 - 2^-28 s. Zero means unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Q4_28(u32);

impl Q4_28 {
    /// Unknown, or below the grain of the sender's timer.
    pub const UNKNOWN: Q4_28 = Q4_28(0);
    /// The shortest known time, 2^-28 s.
    pub const MIN: Q4_28 = Q4_28(1);
    /// The longest time, 16 - 2^-28 s.
    pub const MAX: Q4_28 = Q4_28(u32::MAX);

    /// The value whose 32 bits on the wire are `bits`: that many times 2^-28 s.
    pub const fn from_bits(bits: u32) -> Q4_28 {
        Q4_28(bits)
    }
    /// The 32 bits on the wire.
    pub const fn bits(self) -> u32 {
        self.0
    }
    /// The value nearest to `d`; [`Q4_28::MAX`] for anything longer. Zero stays zero, and what is
    /// longer never becomes zero, because that would turn a short time into an unknown one.
    pub const fn from_duration(d: Duration) -> Q4_28 {
        if d.ps() >= LIMIT.ps() {
            return Q4_28::MAX;
        }
        if d.is_zero() {
            return Q4_28::UNKNOWN;
        }
        let nearest = ((d.ps() << PS_SHIFT) + PS_NUM / 2) / PS_NUM;
        match nearest {
            0 => Q4_28::MIN,
            // The last half unit below 16 s rounds to 2^32.
            n if n > u32::MAX as u64 => Q4_28::MAX,
            n => Q4_28(n as u32),
        }
    }
    /// The same time to the nearest picosecond. A unit is 3,725 of them, so that converting back
    /// gives the same bits.
    pub const fn duration(self) -> Duration {
        Duration::from_ps((self.0 as u64 * PS_NUM + (1 << (PS_SHIFT - 1))) >> PS_SHIFT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_the_times_of_the_specification_sheet() {
        for (us, bits) in [
            (1_200, 0x0004_ea4b),
            (5_000, 0x0014_7ae1),
            (40_000, 0x00a3_d70a),
            (500_000, 0x0800_0000),
            (1_000_000, 0x1000_0000),
        ] {
            assert_eq!(Q4_28::from_duration(Duration::from_micros(us)).bits(), bits, "{us} us");
        }
        assert_eq!(Q4_28::from_bits(0x0800_0000).duration(), Duration::from_millis(500));
        assert_eq!(Q4_28::MIN.duration(), Duration::from_ps(3_725));
        assert_eq!(Q4_28::MAX.duration(), Duration::from_ps(15_999_999_996_275));
    }

    #[test]
    fn only_zero_is_unknown() {
        let bits = |ps| Q4_28::from_duration(Duration::from_ps(ps)).bits();
        assert_eq!(bits(0), 0);
        assert_eq!(bits(1), 1);
        assert_eq!(bits(1_862), 1, "just below half a unit");
        assert_eq!(bits(5_587), 1, "just below one and a half");
        assert_eq!(bits(5_588), 2, "just above one and a half");
    }

    #[test]
    fn saturates_at_sixteen_seconds() {
        for d in [
            Duration::from_ps(15_999_999_998_137),
            Duration::from_ps(15_999_999_999_999),
            Duration::from_secs(16),
            Duration::from_secs(17),
            Duration::MAX,
        ] {
            assert_eq!(Q4_28::from_duration(d), Q4_28::MAX, "{} ps", d.ps());
        }
        let below_the_last_half = Duration::from_ps(15_999_999_994_412);
        assert_eq!(Q4_28::from_duration(below_the_last_half).bits(), u32::MAX - 1);
    }
}
