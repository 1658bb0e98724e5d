//! Mahimahi packet-delivery traces (`*.up`, `*.down`).
//!
//! One whole number of milliseconds per line: the instant at which one 1500-byte packet may cross
//! the link. A stamp repeats for every further packet in the same millisecond. At the end the trace
//! starts again, shifted by its last stamp, which is thus its period: with stamps 0 and 10, packets
//! may cross at 0, 10, 10, 20, 20 ms and so on.
//!
//! Source of the format: Mahimahi's `traces/README` and `link_queue.cc`; Netravali et al.,
//! "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015. What Mahimahi refuses (no
//! stamps, decreasing stamps, a last stamp of 0, an empty line) is refused here too, except blanks
//! around a number and empty lines at the end.
//!
//! Mahimahi's own code counts an opportunity as 1504 bytes, the packet with its TUN header; the
//! rates here are of the 1500 bytes that are sent.

use std::fmt::Write;

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::InputError;
use crate::location::{Location, in_place_of_a_number, whole};

/// What one opportunity delivers.
pub const OPPORTUNITY: Bytes = Bytes::new(1500);

/// The largest stamp that fits a [`Duration`], in ms (213 days).
const MAX_MS: u64 = u64::MAX / 1_000_000_000;

/// When a link may deliver packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkTrace {
    /// The instant of each delivery opportunity, in milliseconds from the start; never decreasing.
    pub opportunities: Vec<u64>,
    /// After this long the trace starts again: the last stamp, more than 0.
    pub period: Duration,
}

impl LinkTrace {
    /// A trace of the given stamps, in ms. `file` names it in errors, where stamp `n` is line `n`.
    ///
    /// # Errors
    /// When there are no stamps, one is less than the one before it, or the last one is 0 (the
    /// trace would have no length) or more than 213 days.
    pub fn new(file: &str, opportunities: Vec<u64>) -> Result<LinkTrace, InputError> {
        let Some(&last) = opportunities.last() else {
            return Err(Location::whole(file).error(
                "no stamps",
                "at least one line with a whole number of milliseconds",
                "a file with the single line 1 is a steady 12 Mbit/s",
            ));
        };
        if let Some(i) = opportunities.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(Location::line(file, i + 2).error(
                format!("{} after {}", opportunities[i + 1], opportunities[i]),
                "stamps that never decrease",
                "sort the file (sort -n), or cut it here if two traces were joined",
            ));
        }
        if last == 0 || last > MAX_MS {
            return Err(Location::line(file, opportunities.len()).error(
                format!("{last} as the last stamp, which is the length of the trace in ms"),
                format!("a last stamp from 1 to {MAX_MS}"),
                "end the trace with the time at which it is to start again; subtract the first \
                 stamp from all if they are Unix time",
            ));
        }
        Ok(LinkTrace { opportunities, period: Duration::from_millis(last) })
    }

    /// When the `n`-th opportunity is, counted from 0 and across loops; [`Time::NEVER`] beyond what
    /// a [`Time`] holds.
    pub fn opportunity(&self, n: u64) -> Time {
        let count = self.opportunities.len() as u64;
        let Some(loops) = n.checked_div(count) else { return Time::NEVER };
        let stamp = self.opportunities[(n % count) as usize];
        let ps =
            u128::from(self.period.ps()) * u128::from(loops) + u128::from(stamp) * 1_000_000_000;
        u64::try_from(ps).map_or(Time::NEVER, Time::from_ps)
    }

    /// The mean rate: all opportunities, used in full, over the period.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities.len() as u128 * u128::from(OPPORTUNITY.bits());
        let bps = (bits * 1_000_000_000_000).checked_div(u128::from(self.period.ps()));
        Rate::from_bps(bps.map_or(0, |bps| u64::try_from(bps).unwrap_or(u64::MAX)))
    }

    /// The longest time without an opportunity, the one across the loop included. Gaps are legal:
    /// a cellular link has outages of seconds.
    pub fn longest_gap(&self) -> Duration {
        // The trace starts again at its last stamp, so the gap across the loop is the first stamp.
        let first = self.opportunities.first().copied().unwrap_or(0);
        let inner = self.opportunities.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        Duration::from_ps(inner.fold(first, u64::max).saturating_mul(1_000_000_000))
    }

    /// The trace as a file that Mahimahi's `mm-link` takes.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.opportunities.len() * 6);
        for stamp in &self.opportunities {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{stamp}");
        }
        text
    }
}

/// Reads a trace.
///
/// # Errors
/// When the file is empty, a line is not a whole number of milliseconds (an empty line before the
/// end counts), or [`LinkTrace::new`] refuses the stamps.
pub fn parse(file: &str, text: &str) -> Result<LinkTrace, InputError> {
    let mut stamps = Vec::new();
    for (i, line) in text.trim_end().lines().enumerate() {
        let line = line.trim();
        let stamp = whole(line).ok_or_else(|| {
            Location::line(file, i + 1).error(
                in_place_of_a_number(line),
                format!("one whole number of milliseconds, 0 to {MAX_MS}"),
                remedy(line),
            )
        })?;
        stamps.push(stamp);
    }
    LinkTrace::new(file, stamps)
}

fn remedy(line: &str) -> &'static str {
    if line.is_empty() {
        "delete the empty line"
    } else if line.starts_with('#') {
        "delete the comment: the format has none, and Mahimahi refuses it"
    } else if line.starts_with(char::is_alphabetic) {
        "delete the line: the format has no heading"
    } else if line.split([',', ' ', '\t']).filter(|field| !field.is_empty()).count() == 2 {
        "two columns (seconds, Mbit/s) are a \"cooked\" trace: give the file as one"
    } else {
        "round the stamp to a whole millisecond, or delete the line"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse("t.down", text).unwrap_err().to_string()
    }

    #[test]
    fn reads_repeats_and_loops_at_the_last_stamp() {
        let trace = parse("t", "0\n0\n5\n10\n").unwrap();
        assert_eq!(trace.opportunities, [0, 0, 5, 10]);
        assert_eq!(trace.period, Duration::from_millis(10));
        let ms: Vec<u64> = (0..9).map(|n| trace.opportunity(n).ps() / 1_000_000_000).collect();
        assert_eq!(ms, [0, 0, 5, 10, 10, 10, 15, 20, 20]);
        assert_eq!(trace.opportunity(u64::MAX), Time::NEVER);
    }

    #[test]
    fn stamps_may_be_written_as_floats() {
        let trace = parse("t", "0.0\n5.0\n1e1\n").unwrap();
        assert_eq!(trace.opportunities, [0, 5, 10]);
    }

    #[test]
    fn one_packet_a_millisecond_is_twelve_megabits() {
        let trace = parse("t", "1\n").unwrap();
        assert_eq!(trace.mean_rate(), Rate::from_mbps(12));
        assert_eq!(trace.longest_gap(), Duration::from_millis(1));
    }

    #[test]
    fn a_gap_is_legal_wherever_it_is() {
        assert_eq!(parse("t", "1\n901\n1000").unwrap().longest_gap(), Duration::from_millis(900));
        assert_eq!(parse("t", "700\n710\n").unwrap().longest_gap(), Duration::from_millis(700));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(refused("").starts_with("t.down: found no stamps"));
        assert!(refused("\n\n").contains("no stamps"));
        assert!(refused("1\n2.5\n").starts_with("t.down:2: found \"2.5\""));
        assert!(refused("1\n\n3\n").contains("t.down:2: found nothing"));
        assert!(refused("-1\n").contains(":1:"));
        assert!(refused("0.5 3.1\n").contains("cooked"));
        assert!(refused("0.5,3.1\n").contains("cooked"));
        assert!(refused("stamp_ms\n1\n").contains("no heading"));
        assert!(refused("# note\n1\n").contains("comment"));
        assert!(refused("3\n5\n4\n").starts_with("t.down:3: found 4 after 5"));
        assert!(refused("0\n0\n").starts_with("t.down:2: found 0 as the last stamp"));
        assert!(refused("99999999999999\n").contains("as the last stamp"));
        assert!(refused("99999999999999999999999\n").contains(":1:"));
    }

    #[test]
    fn writes_what_it_reads() {
        let text = "0\n0\n7\n1200\n";
        assert_eq!(parse("t", text).unwrap().to_text(), text);
    }
}
