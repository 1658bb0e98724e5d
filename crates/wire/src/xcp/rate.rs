//! Speeds as XCP carries them. Arithmetic without `f64::round` and `ceil`, which need `std`.

use ratewire_units::Throughput;

/// A delta in whole bytes per second: the nearest, halves away from zero, saturating, NaN to 0.
pub(super) fn delta_to_wire(t: Throughput) -> i32 {
    let v = t.get();
    // `as` truncates, saturates and turns NaN into 0. Adding a half first would turn the largest
    // number below a half into 1.
    let whole = v as i32;
    let rest = v - f64::from(whole);
    if rest >= 0.5 {
        whole.saturating_add(1)
    } else if rest <= -0.5 {
        whole.saturating_sub(1)
    } else {
        whole
    }
}

/// The delta of `n` bytes per second; exact.
pub(super) fn delta_from_wire(n: i32) -> Throughput {
    Throughput::new(f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(v: f64) -> i32 {
        delta_to_wire(Throughput::new(v))
    }

    #[test]
    fn rounds_to_the_nearest_byte_per_second() {
        for (v, expected) in [
            (0.0, 0),
            (-0.0, 0),
            (0.4, 0),
            (0.499_999_999_999_999_94, 0),
            (0.5, 1),
            (-0.5, -1),
            (-0.4, 0),
            (1.5, 2),
            (2.5, 3),
            (-2.5, -3),
            (125_000.0, 125_000),
            (2_147_483_646.5, i32::MAX),
            (-2_147_483_647.5, i32::MIN),
        ] {
            assert_eq!(wire(v), expected, "{v}");
        }
    }

    #[test]
    fn saturates_and_sends_nan_to_zero() {
        for v in [2_147_483_647.4, 2_147_483_648.0, 1e300, f64::INFINITY] {
            assert_eq!(wire(v), i32::MAX, "{v}");
            assert_eq!(wire(-v - 1.0), i32::MIN, "-{v} - 1");
        }
        assert_eq!(wire(f64::NAN), 0);
    }
}
