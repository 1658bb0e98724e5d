//! Times and throughputs as draft -00 has them on the wire, which rounds them up.

use ratewire_units::{Bytes, Duration, Throughput};

const PS_PER_MS: u64 = 1_000_000_000;

/// Whole milliseconds, rounded up, so that only zero is unknown.
pub(super) fn rtt_to_wire(rtt: Duration) -> u32 {
    u32::try_from(rtt.ps().div_ceil(PS_PER_MS)).unwrap_or(u32::MAX)
}

pub(super) fn rtt_from_wire(ms: u32) -> Duration {
    Duration::from_millis(u64::from(ms))
}

/// Whole bytes per millisecond, rounded up; negative and NaN give 0.
pub(super) fn throughput_to_wire(t: Throughput) -> u32 {
    let v = t.get();
    let whole = (v / 1000.0) as u32;
    if f64::from(whole) * 1000.0 < v { whole.saturating_add(1) } else { whole }
}

pub(super) fn throughput_from_wire(bytes_per_ms: u32) -> Throughput {
    Throughput::new(f64::from(bytes_per_ms) * 1000.0)
}

/// One packet per X, in whole bytes per millisecond. In integers, because a float division of exact
/// values may land a hair above a whole number and would then be rounded up by a whole unit.
pub(super) fn x_to_wire(x: Duration, packet_size: Bytes) -> u32 {
    if x.is_zero() {
        return 0;
    }
    let rate = byte_ps_per_ms(packet_size).div_ceil(u128::from(x.ps()));
    u32::try_from(rate).unwrap_or(u32::MAX)
}

/// The time of one packet, rounded up so that [`x_to_wire`] rounds up to where it came from.
pub(super) fn x_from_wire(bytes_per_ms: u32, packet_size: Bytes) -> Duration {
    if bytes_per_ms == 0 {
        return Duration::ZERO;
    }
    let ps = byte_ps_per_ms(packet_size).div_ceil(u128::from(bytes_per_ms));
    Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

fn byte_ps_per_ms(packet_size: Bytes) -> u128 {
    u128::from(packet_size.get()) * u128::from(PS_PER_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1500);

    #[test]
    fn times_round_up_to_whole_milliseconds() {
        assert_eq!(rtt_to_wire(Duration::ZERO), 0);
        assert_eq!(rtt_to_wire(Duration::from_ps(1)), 1);
        assert_eq!(rtt_to_wire(Duration::from_millis(40)), 40);
        assert_eq!(rtt_to_wire(Duration::from_millis(40) + Duration::from_ps(1)), 41);
        assert_eq!(rtt_to_wire(Duration::MAX), u32::MAX);
        assert_eq!(rtt_to_wire(rtt_from_wire(u32::MAX)), u32::MAX);
    }

    #[test]
    fn throughputs_round_up_to_whole_bytes_per_millisecond() {
        for (v, expected) in [
            (0.0, 0),
            (-5.0, 0),
            (f64::NAN, 0),
            (1e-9, 1),
            (1_250_000.0, 1250),
            (1_250_000.1, 1251),
            (4_294_967_295_000.0, u32::MAX),
            (f64::INFINITY, u32::MAX),
        ] {
            assert_eq!(throughput_to_wire(Throughput::new(v)), expected, "{v}");
        }
    }

    #[test]
    fn largest_throughput_is_34_terabits_in_steps_of_8_kilobits() {
        let largest = throughput_from_wire(u32::MAX);
        assert_eq!(largest.get(), 4_294_967_295_000.0);
        assert!((largest.bps() / 1e12 - 34.36).abs() < 0.001, "neither 32 Tb/s nor 34 Gb/s");
        assert_eq!(throughput_from_wire(1).bps(), 8000.0);
    }

    #[test]
    fn x_and_throughput_are_one_packet_apart() {
        assert_eq!(x_to_wire(Duration::from_micros(1200), PACKET), 1250);
        assert_eq!(x_from_wire(1250, PACKET), Duration::from_micros(1200));
        assert_eq!(x_to_wire(Duration::ZERO, PACKET), 0);
        assert_eq!(x_from_wire(0, PACKET), Duration::ZERO);
        assert_eq!(x_to_wire(Duration::MAX, PACKET), 1, "slow is not unknown");
        assert_eq!(x_to_wire(Duration::from_ps(1), PACKET), u32::MAX);
        assert_eq!(x_from_wire(u32::MAX, PACKET), Duration::from_ps(350));
        assert_eq!(x_from_wire(1, Bytes::MAX), Duration::MAX);
    }

    #[test]
    fn without_a_packet_size_neither_is_known() {
        assert_eq!(x_to_wire(Duration::from_millis(1), Bytes::ZERO), 0);
        assert_eq!(x_from_wire(1250, Bytes::ZERO), Duration::ZERO);
    }
}
