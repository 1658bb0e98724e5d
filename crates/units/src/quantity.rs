//! The strings users write: `"1 Gbit/s"`, `"50 ms"`, `"200 KB"`, `"100 packets"`, `"2 bdp"`.
//!
//! Grammar: a non-negative decimal number (`1`, `0.5`, `1_000`, `1e9`), optional blanks, a unit.
//! The unit may not be left out: a bare number is the mistake these types exist to prevent.

use alloc::format;
use alloc::string::String;
use core::str::FromStr;

use crate::{Bytes, Duration, Rate};

/// Why a string is not the quantity asked for. The text says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QuantityError(String);

/// Microseconds with the Greek letter mu (U+03BC). [`TIME_UNITS`] has the micro sign (U+00B5).
const GREEK_US: &str = "\u{3bc}s";

/// Unit names of times, with their size in seconds.
pub const TIME_UNITS: &[(&str, f64)] = &[
    ("ps", 1e-12),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("µs", 1e-6),
    (GREEK_US, 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
];

/// Unit names of rates, with their size in bits per second.
pub const RATE_UNITS: &[(&str, f64)] = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("Tbit/s", 1e12),
    ("b/s", 1.0),
    ("kb/s", 1e3),
    ("Mb/s", 1e6),
    ("Gb/s", 1e9),
    ("Tb/s", 1e12),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
    ("Tbps", 1e12),
    ("B/s", 8.0),
    ("KB/s", 8e3),
    ("kB/s", 8e3),
    ("MB/s", 8e6),
    ("GB/s", 8e9),
    ("B/ms", 8e3),
];

/// Unit names of sizes, with their size in bytes.
pub const SIZE_UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("KB", 1e3),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

/// Splits `"50 ms"` into the number and the unit's name.
///
/// # Errors
/// When there is no number, it is negative or not finite.
pub fn split(text: &str) -> Result<(f64, &str), QuantityError> {
    let text = text.trim();
    let end = number_end(text);
    let (digits, unit) = text.split_at(end);
    let number: f64 = digits
        .replace('_', "")
        .parse()
        .map_err(|_| QuantityError(format!("{text:?} does not start with a number")))?;
    if !number.is_finite() || number < 0.0 {
        return Err(QuantityError(format!("{text:?} must be a finite number, 0 or more")));
    }
    Ok((number, unit.trim_start()))
}

/// Where the number ends; an `e` belongs to it only when an exponent follows (`1e9`, not `1 eel`).
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let exponent = matches!(bytes[i], b'e' | b'E')
            && i > 0
            && match bytes.get(i + 1) {
                Some(b'+' | b'-') => bytes.get(i + 2).is_some_and(u8::is_ascii_digit),
                next => next.is_some_and(u8::is_ascii_digit),
            };
        let sign =
            matches!(bytes[i], b'+' | b'-') && (i == 0 || matches!(bytes[i - 1], b'e' | b'E'));
        if bytes[i].is_ascii_digit() || matches!(bytes[i], b'.' | b'_') || exponent || sign {
            i += 1;
        } else {
            break;
        }
    }
    i
}

fn scaled(text: &str, units: &[(&str, f64)], what: &str) -> Result<f64, QuantityError> {
    let (number, unit) = split(text)?;
    match units.iter().find(|(name, _)| *name == unit) {
        Some((_, size)) => Ok(number * size),
        None if unit.is_empty() => Err(QuantityError(format!(
            "{text:?} has no unit; {what} is written like {}",
            example(what)
        ))),
        None => {
            Err(QuantityError(format!("{unit:?} is not a unit of {what}; known: {}", names(units))))
        }
    }
}

fn example(what: &str) -> &'static str {
    match what {
        "a time" => "\"50 ms\"",
        "a rate" => "\"10 Mbit/s\"",
        _ => "\"200 KB\"",
    }
}

fn names(units: &[(&str, f64)]) -> String {
    let mut list = String::new();
    // The two letters look alike, so the error lists one of them.
    for (name, _) in units.iter().filter(|(name, _)| *name != GREEK_US) {
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(name);
    }
    list
}

/// A whole number of units of `least`.
fn whole(value: f64, text: &str, least: &str) -> Result<u64, QuantityError> {
    let text = text.trim();
    if value > 0.0 && value < 1.0 {
        Err(QuantityError(format!("{text:?} is not 0 and less than {least}")))
    } else if value < u64::MAX as f64 {
        Ok((value + 0.5) as u64)
    } else {
        Err(QuantityError(format!("{text:?} is too large")))
    }
}

impl FromStr for Duration {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Duration, QuantityError> {
        Ok(Duration::from_ps(whole(scaled(text, TIME_UNITS, "a time")? * 1e12, text, "1 ps")?))
    }
}
impl FromStr for Rate {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Rate, QuantityError> {
        Ok(Rate::from_bps(whole(scaled(text, RATE_UNITS, "a rate")?, text, "1 bit/s")?))
    }
}
impl FromStr for Bytes {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Bytes, QuantityError> {
        Ok(Bytes::new(whole(scaled(text, SIZE_UNITS, "a size")?, text, "1 B")?))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::{SerialTime, Throughput};

    #[test]
    fn reads_what_users_write() {
        assert_eq!("50 ms".parse(), Ok(Duration::from_millis(50)));
        assert_eq!("0.5s".parse(), Ok(Duration::from_millis(500)));
        for micro in ["us", "\u{b5}s", "\u{3bc}s"] {
            assert_eq!(
                alloc::format!("5 {micro}").parse(),
                Ok(Duration::from_micros(5)),
                "{micro}"
            );
        }
        assert_eq!("1 Gbit/s".parse(), Ok(Rate::from_mbps(1000)));
        assert_eq!("1250 B/ms".parse(), Ok(Rate::from_mbps(10)));
        assert_eq!("1e9 bit/s".parse(), Ok(Rate::from_mbps(1000)));
        assert_eq!("200 KB".parse(), Ok(Bytes::new(200_000)));
        assert_eq!("64 KiB".parse(), Ok(Bytes::new(65_536)));
        assert_eq!(split("2 bdp"), Ok((2.0, "bdp")));
        assert_eq!(split("1_000 packets"), Ok((1000.0, "packets")));
    }

    #[test]
    fn says_what_is_wrong() {
        let text = |r: Result<Duration, QuantityError>| r.unwrap_err().to_string();
        assert!(text("50".parse()).contains("has no unit"));
        assert!(text("50 parsec".parse()).contains("known: ps, ns, us, \u{b5}s, ms, s, min, h"));
        assert!(text("-1 s".parse()).contains("0 or more"));
        assert!(text("ms".parse()).contains("does not start with a number"));
        assert!(text("1e300 s".parse()).contains("too large"));
        assert!(text("0.4 ps".parse()).contains("less than 1 ps"));
        assert!("0.5 bit/s".parse::<Rate>().unwrap_err().to_string().contains("less than 1 bit/s"));
        assert!("1e-30 B".parse::<Bytes>().unwrap_err().to_string().contains("less than 1 B"));
        assert_eq!("0 bit/s".parse(), Ok(Rate::ZERO));
    }

    #[test]
    fn prints_what_it_reads() {
        for text in ["50 ms", "1.5 s", "300 ns", "7 ps"] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), text);
        }
        assert_eq!(Rate::from_bps(45_000_000).to_string(), "45 Mbit/s");
        assert_eq!(Throughput::new(-125_000.0).to_string(), "-1 Mbit/s");
        assert_eq!(Bytes::new(1500).to_string(), "1.5 KB");
    }

    #[test]
    fn serial_time_is_exact_from_one_bit_to_four_hundred_gigabits() {
        let time = |bps: u64, bytes: u64| -> u64 {
            let per_byte: SerialTime = Rate::from_bps(bps).serial_time().unwrap();
            per_byte.of(Bytes::new(bytes)).ps()
        };
        assert_eq!(time(1, 1500), 12_000_000_000_000_000);
        assert_eq!(time(1_000_000_000, 1500), 12_000_000);
        assert_eq!(time(400_000_000_000, 64), 1_280);
        assert_eq!(time(3_000_000_000, 3_000), 8_000_000);
        assert_eq!(Rate::ZERO.serial_time(), None);
    }
}
