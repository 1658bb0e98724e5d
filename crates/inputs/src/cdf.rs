//! Flow-size distributions.
//!
//! Two columns: flow size in bytes, and the share of flows no larger than that, as a probability
//! 0..1 or as percent 0..100. The last row must be 1 or 100 and says which of the two it is. Files
//! of the HPCC simulator use percent, those of HKUST's TrafficGenerator probability. Both columns
//! may stay equal from row to row but never decrease. `#` starts a comment. A heading such as
//! `cdf,size_KB` says which columns the two are, and in which unit the sizes.
//!
//! Between rows the distribution is linear, as the generators of HPCC (`custom_rand.py`) and htsim
//! draw from it. If the first row has a share above 0, this share of the flows has exactly the
//! row's size. If two rows have one size and different shares, the difference is the share of flows
//! of exactly that size.

use ratewire_units::Bytes;

use crate::heading::{self, Unit, Wanted};
use crate::location::Location;
use crate::rows::{Row, rows};
use crate::{InputError, Note};

/// The columns of a distribution.
const COLUMNS: [Wanted; 2] = [
    Wanted {
        what: "flow size",
        words: &["size", "bytes", "flowsize"],
        others: &["packet", "packets", "pkts", "segments"],
        unit: Unit::Size,
        usual: "bytes",
    },
    Wanted {
        what: "cumulative share (0..1 or 0..100)",
        words: &["share", "cdf", "probability", "prob", "percent", "percentage", "cumulative"],
        others: &["pdf"],
        unit: Unit::None,
        usual: "",
    },
];

/// The largest size taken, in bytes: 2^53, to which every whole number is exact in a float.
const MAX_BYTES: f64 = 9_007_199_254_740_992.0;

/// Largest share that is read. The last row is then checked to be 1 or 100.
const MAX_SHARE: f64 = 1e6;

/// How far the last row may be from 1 or 100, for files whose shares were summed in floats.
const TOLERANCE: f64 = 1e-6;

/// A cumulative distribution of flow sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeCdf {
    /// Size in bytes and the probability 0..=1 that a flow is no larger; at least two points, both
    /// columns never decreasing, the last probability exactly 1.
    pub points: Vec<(f64, f64)>,
}

impl SizeCdf {
    /// The size below which a share `p` of the flows lies: linear between points, rounded to the
    /// nearest byte, at least 1 byte. `p` is clamped to 0..=1; not a number counts as 0.
    ///
    /// With `p` uniform in 0..1 this draws from the distribution.
    pub fn quantile(&self, p: f64) -> Bytes {
        let p = if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) };
        let after = self.points.partition_point(|(_, share)| *share < p);
        let size = match (after.checked_sub(1).map(|i| self.points[i]), self.points.get(after)) {
            // The point before has a share below `p`, this one at least `p`: never 0 / 0.
            (Some((x0, p0)), Some((x1, p1))) => (x0 + (x1 - x0) * ((p - p0) / (p1 - p0))).min(*x1),
            (None, Some((x1, _))) => *x1,
            (Some((x0, _)), None) => x0,
            (None, None) => 0.0,
        };
        Bytes::new((size + 0.5) as u64).max(Bytes::new(1))
    }

    /// The mean size in bytes, of the continuous distribution (before rounding to whole bytes).
    pub fn mean(&self) -> f64 {
        let atom = self.points.first().map_or(0.0, |(size, share)| size * share);
        let parts = self.points.windows(2);
        parts.fold(atom, |sum, w| sum + (w[0].0 + w[1].0) / 2.0 * (w[1].1 - w[0].1))
    }
}

/// Bytes of the headers of IPv4 and TCP: files of flows that small may count packets.
const PACKET_HEADERS: f64 = 40.0;

/// Reads a distribution.
///
/// # Errors
/// When there are fewer than two rows, a row has other columns than the heading, or than two
/// without one, a column decreases, a number is
/// negative or not a number, or the last share is neither 1 nor 100.
pub fn parse(file: &str, text: &str, notes: &mut Vec<Note>) -> Result<SizeCdf, InputError> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last = Location::whole(file);
    let mut all = rows(file, text).peekable();
    let heading = heading::of(file, text, &mut all, &COLUMNS, notes)?;
    let unit = heading.columns[0].scale;
    for row in all {
        let [size, share] = heading.fields(&row, remedy(&row))?;
        let size = row.number(size, "flow size", MAX_BYTES / unit)? * unit;
        let share = row.number(share, "cumulative share, as probability or percent", MAX_SHARE)?;
        if let Some((size_before, share_before)) = points.last() {
            let (column, now, before) = if size < *size_before {
                ("size", size, size_before)
            } else {
                ("share", share, share_before)
            };
            if now < *before {
                return Err(row.at.error(
                    format!("the {column} {now} after {before}"),
                    "sizes and shares that never decrease",
                    "sort the rows by size; the second column is the share of flows up to that \
                     size, not of that size",
                ));
            }
        }
        points.push((size, share));
        last = row.at;
    }
    notes.extend(heading.unitless.into_iter().flatten());
    if points.len() < 2 {
        let found = if points.is_empty() { "no rows" } else { "one row" };
        return Err(last.error(
            found,
            "two rows or more: flow size in bytes, cumulative share",
            "for flows of one size, give the scenario that size in place of a distribution",
        ));
    }
    if points.iter().all(|(size, _)| *size == 0.0) {
        return Err(last.error(
            "flows of size 0 only",
            "a largest size of at least 1 byte",
            "correct the sizes, which are bytes",
        ));
    }
    let least = points.iter().find(|(_, share)| *share > 0.0).map(|(size, _)| *size);
    if let Some(least) = least.filter(|size| *size < PACKET_HEADERS)
        && !heading.columns[0].is_unit_named
    {
        notes.push(Location::whole(file).note(
            format!("the smallest flows have {least} bytes, if the sizes are bytes"),
            "if they are packets, multiply them; a first line \"size_bytes,cdf\" says that they are not",
        ));
    }
    normalise(&mut points, last)?;
    Ok(SizeCdf { points })
}

fn remedy(row: &Row<'_>) -> &'static str {
    match row.fields.len() {
        1 => {
            "delete the line, if it is the mean that some files begin with; its unit is that of \
             the sizes, which must be bytes"
        }
        _ => {
            "the three-column form of ns-2 counts packets: multiply by the packet size and drop the \
             middle column"
        }
    }
}

/// Brings percent to probability and the last share to exactly 1.
fn normalise(points: &mut [(f64, f64)], last: Location<'_>) -> Result<(), InputError> {
    let end = points[points.len() - 1].1;
    let near = |whole: f64| (end - whole).abs() <= whole * TOLERANCE;
    let whole = match () {
        () if near(1.0) => 1.0,
        () if near(100.0) => 100.0,
        () => {
            return Err(last.error(
                format!("a distribution that ends at {end}"),
                "a last share of 1 (probability) or 100 (percent)",
                "add a row with the largest flow size and 1 or 100",
            ));
        }
    };
    for (_, share) in points.iter_mut() {
        // A share a rounding error above the last one would be a probability above 1.
        *share = (*share / whole).min(1.0);
        if *share == end / whole {
            *share = 1.0;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse("s.txt", text, &mut Vec::new()).unwrap_err().to_string()
    }

    fn read(text: &str) -> SizeCdf {
        parse("s.txt", text, &mut Vec::new()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn both_scales_are_one_distribution() {
        let percent = read("0 0\n1000 25\n9000 100\n");
        let share = read("# bytes share\n0 0\n1000 0.25\n9000 1\n");
        assert_eq!(percent, share);
        assert_eq!(share.quantile(0.25), Bytes::new(1000));
        assert_eq!(share.quantile(0.125), Bytes::new(500));
        assert_eq!(share.quantile(1.0), Bytes::new(9000));
        assert_eq!(share.mean(), 500.0 * 0.25 + 5000.0 * 0.75);
    }

    #[test]
    fn is_at_least_a_byte_and_takes_any_probability() {
        let cdf = read("0 0\n10 1\n");
        for p in [0.0, -3.0, f64::NAN, f64::NEG_INFINITY, 0.01] {
            assert_eq!(cdf.quantile(p), Bytes::new(1));
        }
        assert_eq!(cdf.quantile(f64::INFINITY), Bytes::new(10));
    }

    #[test]
    fn sizes_that_may_be_packets_are_told() {
        let notes = |text: &str| {
            let mut notes = Vec::new();
            parse("s.txt", text, &mut notes).expect("a distribution");
            notes.len()
        };
        // The same shares in packets, in bytes, and with a heading that says so.
        assert_eq!(notes("6 0\n6 0.15\n13 0.2\n20000 1\n"), 1);
        assert_eq!(notes("0 0\n10000 0.15\n20000 0.2\n30000000 1\n"), 0);
        assert_eq!(notes("size_bytes,cdf\n6,0\n6,0.15\n20000,1\n"), 0);
    }

    #[test]
    fn a_heading_says_which_columns_and_units() {
        let plain = read("0 0\n1000 25\n9000 100\n");
        assert_eq!(read("percent,flow size (KB)\n0,0\n25,1.0\n1e2,9\n"), plain);
        assert_eq!(read("bytes,cdf\n0,0\n1000.0,0.25\n9e3,1\n"), plain);
        assert!(refused("size_packets cdf\n0 0\n1 1\n").contains("names no column"));
        assert!(refused("12345\n0 0\n1 1\n").contains("the mean that some files begin with"));
    }

    #[test]
    fn atoms_keep_their_weight() {
        let first = read("100 0.5\n200 1\n");
        assert_eq!(first.quantile(0.0), Bytes::new(100));
        assert_eq!(first.quantile(0.5), Bytes::new(100));
        assert_eq!(first.quantile(0.75), Bytes::new(150));
        assert_eq!(first.mean(), 125.0);
        let inner = read("0 0\n100 0.2\n100 0.8\n200 1\n");
        assert_eq!(inner.quantile(0.2), Bytes::new(100));
        assert_eq!(inner.quantile(0.7), Bytes::new(100));
        let single = read("100 1\n100 1\n");
        assert_eq!((single.quantile(0.3), single.mean()), (Bytes::new(100), 100.0));
    }

    #[test]
    fn an_unused_range_of_sizes_is_never_drawn() {
        let cdf = read("0 0\n10 0.5\n1000 0.5\n1010 1\n");
        assert_eq!(cdf.quantile(0.5), Bytes::new(10));
        assert!(cdf.quantile(0.500_001) >= Bytes::new(1000));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(refused("").starts_with("s.txt: found no rows"));
        assert!(refused("5 1\n").starts_with("s.txt:1: found one row"));
        assert!(refused("0 0\n10 0.5\n20 0.97\n").contains("s.txt:3: found a distribution"));
        assert!(refused("0 0\n20 0.97\n").contains("ends at 0.97"));
        assert!(refused("0 0\n9 50\n").contains("ends at 50"));
        assert!(refused("0 0\n9 0.5\n8 1\n").starts_with("s.txt:3: found the size 8 after 9"));
        assert!(refused("0 0\n8 0.5\n9 0.4\n").contains("the share 0.4 after 0.5"));
        assert!(refused("0 0\n-8 1\n").contains("s.txt:2: found \"-8\""));
        assert!(refused("0 0\n8 nan\n").contains("s.txt:2: found text that is no number"));
        assert!(refused("0 0\n0 100\n").contains("s.txt:2: found flows of size 0 only"));
        assert!(refused("1 1 0\n6 1 1\n").contains("ns-2"));
    }

    #[test]
    fn a_rounding_error_at_the_end_is_no_error() {
        let cdf = read("0 0\n5 99.9999999\n8 100.00000001\n");
        assert_eq!(cdf.points[2].1, 1.0);
        assert!(cdf.points[1].1 < 1.0);
    }
}
