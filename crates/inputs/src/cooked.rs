//! "Cooked" bandwidth traces, as the Pensieve line of work keeps them.
//!
//! Two columns: time in seconds, throughput in Mbit/s (10^6 bits per second); irregular steps. The
//! first time need not be 0: the trace is shifted so that it starts there. Each rate holds from its
//! time to the next. The last one holds for the median length of the others, since the file does
//! not say; then the trace starts again. A single row is a constant rate, with a period of 1 s.
//! `#` starts a comment.
//!
//! Source of the format: Mao, Netravali, Alizadeh, "Neural Adaptive Video Streaming with
//! Pensieve", SIGCOMM 2017, whose tools cooked the FCC and HSDPA logs. Pensieve's own player lets a
//! rate hold *up to* its time, not from it: the same rates, one step earlier.

use ratewire_units::{Duration, Rate, Time};

use crate::InputError;
use crate::location::Location;
use crate::rows::{Row, rows};

/// The largest rate taken, in Mbit/s: a petabit per second.
const MAX_MBPS: f64 = 1e9;

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
/// When there is no row, a row has not two columns, a time is not later than the one before it, or
/// a number is negative, not a number, or out of range (times to 9e6 s, rates to 1e9 Mbit/s).
pub fn parse(file: &str, text: &str) -> Result<RateTrace, InputError> {
    let (steps, period) = steps(file, text, &RATES)?;
    Ok(RateTrace { steps, period })
}

/// What a trace of two columns holds beside its times.
pub(crate) struct Values<T> {
    /// Both columns in words.
    pub(crate) columns: &'static str,
    /// A file that means a steady value.
    pub(crate) example: &'static str,
    pub(crate) step: fn(&Row<'_>) -> Result<(Duration, T), InputError>,
}

const RATES: Values<Rate> = Values {
    columns: "time in seconds, throughput in Mbit/s",
    example: "a file with the single row \"0 10\" is a steady 10 Mbit/s",
    step,
};

/// Reads the steps of a trace; returns them with the time after which the trace starts again.
pub(crate) fn steps<T>(
    file: &str,
    text: &str,
    values: &Values<T>,
) -> Result<(Vec<(Duration, T)>, Duration), InputError> {
    let mut steps: Vec<(Duration, T)> = Vec::new();
    for row in rows(file, text) {
        let (time, value) = (values.step)(&row)?;
        if let Some((before, _)) = steps.last()
            && time <= *before
        {
            return Err(row.at.error(
                format!("{} s after {} s", time.secs(), before.secs()),
                "times that increase from row to row",
                "sort the rows by time, and keep one of those with the same time",
            ));
        }
        steps.push((time, value));
    }
    let Some(shift) = steps.first().map(|(start, _)| *start) else {
        return Err(Location::whole(file).error(
            "no rows",
            format!("rows of two columns: {}", values.columns),
            values.example,
        ));
    };
    for (start, _) in &mut steps {
        *start = start.saturating_sub(shift);
    }
    let period = steps[steps.len() - 1].0 + last_step(&steps);
    Ok((steps, period))
}

fn step(row: &Row<'_>) -> Result<(Duration, Rate), InputError> {
    let remedy = "a single column of whole numbers is a Mahimahi trace: give the file as one";
    let [time, rate] = row.exactly(RATES.columns, remedy)?;
    let time = row.seconds(time, "time")?;
    let mbps = row.number(rate, "throughput in Mbit/s", MAX_MBPS)?;
    Ok((time, Rate::from_bps((mbps * 1e6 + 0.5) as u64)))
}

/// The median of the steps' lengths, which the file gives for all but the last.
fn last_step<T>(steps: &[(Duration, T)]) -> Duration {
    let mut lengths: Vec<u64> =
        steps.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0).ps()).collect();
    lengths.sort_unstable();
    let middle = lengths.len() / 2;
    match lengths.len() {
        0 => Duration::from_secs(1),
        n if n % 2 == 1 => Duration::from_ps(lengths[middle]),
        _ => Duration::from_ps(lengths[middle - 1].midpoint(lengths[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse("c.txt", text).unwrap_err().to_string()
    }

    #[test]
    fn shifts_to_zero_and_ends_with_a_median_step() {
        let trace = parse("c", "# seconds Mbit/s\n0.5 1.5\n1.0\t2\n3.0 0\n4.0 0.25\n").unwrap();
        let starts: Vec<f64> = trace.steps.iter().map(|(start, _)| start.secs()).collect();
        assert_eq!(starts, [0.0, 0.5, 2.5, 3.5]);
        assert_eq!(trace.steps[0].1, Rate::from_bps(1_500_000));
        assert_eq!(trace.period, Duration::from_millis(4_500));
    }

    #[test]
    fn loops() {
        let trace = parse("c", "0 8\n1 2\n").unwrap();
        let at = |ms: u64| trace.rate_at(Time::ZERO + Duration::from_millis(ms)).bps() / 1_000_000;
        assert_eq!([at(0), at(999), at(1000), at(1999), at(2000), at(9_500)], [8, 8, 2, 2, 8, 2]);
        assert_eq!(trace.mean_rate(), Rate::from_mbps(5));
    }

    #[test]
    fn one_row_is_a_constant_rate() {
        let trace = parse("c", "17 10\n").unwrap();
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
        assert!(refused("0 1e12\n").contains("Mbit/s"));
        assert!(refused("7\n").contains("Mahimahi"));
        assert!(refused("1 2 3\n").contains("3 columns"));
    }
}
