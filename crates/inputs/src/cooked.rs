//! "Cooked" bandwidth traces, as the Pensieve line of work keeps them.
//!
//! Two columns: time in seconds, throughput in Mbit/s (10^6 bits per second); irregular steps. The
//! first time need not be 0, and may be Unix time or a date with a time such as `2023-04-04
//! 10:07:13`: the trace is shifted so that it starts there.
//! Each rate holds from its time to the next. The last one holds for the median length of the
//! others, since the file does not say; then the trace starts again. A single row is a constant
//! rate, with a period of 1 s. `#` starts a comment. Rates without a unit are bit/s if in Mbit/s
//! even the slowest that is not 0 would be a Tbit/s or more.
//!
//! Columns are separated by blanks, tabs, commas or semicolons. A heading such as
//! `time_ms,rtt_ms,rate_kbps` says which columns the two are and in which units; the other columns
//! are named in a note.
//!
//! Source of the format: Mao, Netravali, Alizadeh, "Neural Adaptive Video Streaming with
//! Pensieve", SIGCOMM 2017, whose tools cooked the FCC and HSDPA logs. Pensieve's own player lets a
//! rate hold *up to* its time, not from it: the same rates, one step earlier.

use ratewire_units::quantity::RATE_UNITS;
use ratewire_units::{Duration, Rate, Time};

use crate::heading::{Unit, Wanted};
use crate::rows::Row;
use crate::steps::{self, TIME, Values};
use crate::{InputError, Note};

/// The largest rate taken, in bit/s: a petabit per second.
const MAX_BPS: f64 = 1e15;

const RATES: Values<Rate> = Values {
    columns: [
        TIME,
        Wanted {
            what: "the rate",
            words: &[
                "throughput",
                "tput",
                "bandwidth",
                "bw",
                "rate",
                "bitrate",
                "datarate",
                "capacity",
                "goodput",
            ],
            others: &["loss", "error", "packet", "frame", "sample", "success", "retransmission"],
            unit: Unit::Rate,
            usual: "Mbit/s",
        },
    ],
    example: "a file with the single row \"0 10\" is a steady 10 Mbit/s",
    remedy,
    value: rate,
};

/// The rate of a link over time, in steps, repeating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTrace {
    /// When each step starts, strictly increasing from 0, and its rate; never empty. Rate zero is
    /// an outage.
    pub steps: Vec<(Duration, Rate)>,
    /// After this long the trace starts again; more than 0.
    pub period: Duration,
}

impl RateTrace {
    /// The rate at an instant, the trace repeating for ever.
    pub fn rate_at(&self, now: Time) -> Rate {
        let offset = Duration::from_ps(now.ps().checked_rem(self.period.ps()).unwrap_or(0));
        let after = self.steps.partition_point(|(start, _)| *start <= offset);
        after.checked_sub(1).map_or(Rate::ZERO, |i| self.steps[i].1)
    }

    /// The rate averaged over the period.
    pub fn mean_rate(&self) -> Rate {
        let ends = self.steps.iter().skip(1).map(|(start, _)| *start).chain([self.period]);
        let sum: u128 = self
            .steps
            .iter()
            .zip(ends)
            .map(|((start, rate), end)| {
                u128::from(rate.bps()) * u128::from(end.saturating_sub(*start).ps())
            })
            .sum();
        let mean = sum.checked_div(u128::from(self.period.ps())).unwrap_or(0);
        Rate::from_bps(u64::try_from(mean).unwrap_or(u64::MAX))
    }
}

/// Reads a trace.
///
/// # Errors
/// When there is no row, a row has other columns than the heading, or than two without one, a
/// time is not later than the one before it, or a number is negative, not a number, or out of
/// range (9e6 s after the first time, 1e15 bit/s).
pub fn parse(file: &str, text: &str, notes: &mut Vec<Note>) -> Result<RateTrace, InputError> {
    let (steps, period) = steps::read(file, text, &RATES, notes)?;
    Ok(RateTrace { steps, period })
}

fn remedy(row: &Row<'_>) -> &'static str {
    match row.fields.len() {
        1 => "a single column of whole numbers is a Mahimahi trace: give the file as one",
        _ => {
            "name the columns in a first line, such as \"time_s,throughput_mbps,rtt_ms\": columns \
             with other names are left out"
        }
    }
}

fn rate(row: &Row<'_>, field: &str, scale: f64) -> Result<Rate, InputError> {
    let unit = RATE_UNITS.iter().find(|(_, size)| *size == scale).map_or("bit/s", |(name, _)| name);
    let rate = row.number(field, &format!("throughput in {unit}"), MAX_BPS / scale)?;
    Ok(Rate::from_bps((rate * scale + 0.5) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RateTrace, InputError> {
        parse("c.txt", text, &mut Vec::new())
    }

    fn refused(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// Starts in seconds and rates in kbit/s.
    fn steps(text: &str) -> Vec<(f64, u64)> {
        let steps = read(text).unwrap_or_else(|error| panic!("{error}")).steps;
        steps.iter().map(|(start, rate)| (start.secs(), rate.bps() / 1000)).collect()
    }

    const THREE: [(f64, u64); 3] = [(0.0, 3500), (1.0, 4000), (2.0, 5250)];

    #[test]
    fn a_comma_without_a_blank_separates() {
        assert_eq!(steps("0,3.5\n1,4.0\n2,5.25\n"), THREE);
        assert_eq!(steps("0, 3.5\n1\t4e0\n2.0 5.25\n"), THREE);
    }

    #[test]
    fn unix_time_is_shifted_before_the_limit_is_checked() {
        let unix = "1669852800.1 3.5\n1669852801.1 4.0\n1669852802.1 5.25\n";
        assert_eq!(steps(unix), THREE);
        let later = "1669852800.1 3.5\n1669852801.3 4.0\n";
        assert_eq!(read(later).unwrap().steps[1].0, Duration::from_millis(1200), "exactly");
        let long = refused("1669852800 1\n1679852800 1\n");
        assert!(long.starts_with("c.txt:2: found 10000000 s after the first row"), "{long}");
        // So many picoseconds are less than nothing in 64 bits.
        assert!(refused("0 1\n18446744.5 1\n").contains("s after the first row"));
        assert!(refused("0 1\n1e9 1\n").contains("found 1000000000 s after the first row"));
        let in_ms = refused("1669852800100 3.5\n1669852801100 4\n");
        assert!(in_ms.contains("c.txt:1: found \"1669852800100\""), "{in_ms}");
        assert!(in_ms.contains("time_ms"), "{in_ms}");
    }

    #[test]
    fn dates_are_times_of_one_zone() {
        let text = "time,throughput (Mbps),speed\n2023-04-04 10:07:13 CDT,3.5,20\n\
                    2023-04-04 10:07:14 CDT,4,21\n2023-04-04 10:07:15 CDT,5.25,\n";
        assert_eq!(steps(text), THREE);
        let mut notes = Vec::new();
        parse("c.csv", text, &mut notes).unwrap();
        assert_eq!(notes.len(), 1, "dates need no unit: {notes:?}");
        let bare = "2023-04-04T10:07:13,3.5\n2023-04-04T10:07:14,4\n2023-04-04T10:07:15,5.25\n";
        assert_eq!(steps(bare), THREE);
        assert_eq!(steps(&bare.replace('T', " ")), THREE);
        assert_eq!(steps(&bare.replace(',', ";")), THREE);
        let zones = refused(&text.replace("14 CDT", "14 CST"));
        assert!(zones.starts_with("c.txt:3: found a time in another time zone"), "{zones}");
        let again = refused(&text.replace(":14", ":13"));
        assert!(again.contains("times that increase"), "{again}");
    }

    #[test]
    fn a_heading_says_which_columns_and_units() {
        let text = "rtt_ms,time_ms,rate_kbps\n20,1669852800100,3500\n21,1669852801100,4e3\n\
                    22,1669852802100,5250.0\n";
        assert_eq!(steps(text), THREE);
        let mut notes = Vec::new();
        parse("c.txt", text, &mut notes).unwrap();
        assert_eq!(notes.len(), 1);
        let told = notes[0].to_string();
        assert!(told.starts_with("line 1: the column \"rtt_ms\" is not used"), "{told}");
        assert_eq!(steps("time,throughput\n0,3.5\n1,4\n2,5.25\n"), THREE);
        let commented = "# a note\n# time_ms rate_kbps\n0 3500\n1000 4000\n2000 5250\n";
        assert_eq!(steps(commented), THREE);
        assert_eq!(steps("# measured in ms, by night\n0 3.5\n1 4\n2 5.25\n"), THREE);
        assert!(refused("time_s,rate_kbps\n0,1,2\n").contains("c.txt:2: found 3 columns"));
        assert!(refused("time_s,rate_kbps\n0,\n").contains("c.txt:2: found nothing"));
        assert!(refused("time_s,rate_kbps\n0\n").contains("1 column"));
        assert!(refused("time;throughput\n0;3,5\n").contains("decimals with a point"));
        assert_eq!(steps("time;throughput;\n0;3.5;\n1;4;\n2;5.25;\n"), THREE);
        assert!(refused("time_s,rate_kbps\n").contains("no rows"));
        assert!(refused("0 1 2\n").contains("name the columns in a first line"));
    }

    #[test]
    fn shifts_to_zero_and_ends_with_a_median_step() {
        let trace = read("# seconds Mbit/s\n0.5 1.5\n1.0\t2\n3.0 0\n4.0 0.25\n").unwrap();
        let starts: Vec<f64> = trace.steps.iter().map(|(start, _)| start.secs()).collect();
        assert_eq!(starts, [0.0, 0.5, 2.5, 3.5]);
        assert_eq!(trace.steps[0].1, Rate::from_bps(1_500_000));
        assert_eq!(trace.period, Duration::from_millis(4_500));
    }

    #[test]
    fn rates_without_a_unit_that_are_too_fast_are_bits() {
        let told = |text: &str| {
            let mut notes = Vec::new();
            let trace = parse("c.txt", text, &mut notes).unwrap();
            let rates: Vec<u64> = trace.steps.iter().map(|(_, rate)| rate.bps()).collect();
            (rates, notes.iter().map(Note::to_string).collect::<Vec<_>>().join("\n"))
        };
        for head in ["", "time_s,throughput\n"] {
            let (rates, notes) = told(&format!("{head}0,1000000\n1,0\n2,25000000000\n"));
            assert_eq!(rates, [1_000_000, 0, 25_000_000_000]);
            assert!(notes.contains("the rates have no unit and are read in bit/s"), "{notes}");
            assert!(!notes.contains("Mbit/s\""), "one note of the unit: {notes}");
        }
        assert_eq!(told("0 999999\n1 2000000\n"), (vec![999_999_000_000, 2e12 as u64], "".into()));
        let (named, notes) = told("time_s,rate_mbps\n0,1000000\n");
        assert_eq!((named, notes.as_str()), (vec![1_000_000_000_000], ""));
    }

    #[test]
    fn loops() {
        let trace = read("0 8\n1 2\n").unwrap();
        let at = |ms: u64| trace.rate_at(Time::ZERO + Duration::from_millis(ms)).bps() / 1_000_000;
        assert_eq!([at(0), at(999), at(1000), at(1999), at(2000), at(9_500)], [8, 8, 2, 2, 8, 2]);
        assert_eq!(trace.mean_rate(), Rate::from_mbps(5));
    }

    #[test]
    fn one_row_is_a_constant_rate() {
        let trace = read("17 10\n").unwrap();
        assert_eq!(trace.steps, [(Duration::ZERO, Rate::from_mbps(10))]);
        assert_eq!(trace.period, Duration::from_secs(1));
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert!(refused("").starts_with("c.txt: found no rows"));
        assert!(refused("# nothing\n").contains("no rows"));
        assert!(refused("0 1\n2 1\n1 1\n").starts_with("c.txt:3: found 1 s after 2 s"));
        assert!(refused("0 1\n0 2\n").contains("increase"));
        assert!(refused("0 1\n1 -2\n").contains("c.txt:2: found \"-2\""));
        assert!(refused("0 NaN\n").contains("c.txt:1: found text that is no number"));
        assert!(refused("inf 1\n").contains("c.txt:1: found text that is no number"));
        assert!(refused("0 1\n1 1e12\n").contains("Mbit/s"));
        assert!(refused("7\n").contains("Mahimahi"));
        assert!(refused("1 2 3\n").contains("3 columns"));
    }
}
