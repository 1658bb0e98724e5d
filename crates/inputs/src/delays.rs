//! Delays of a link over time, in the form of rate traces ([`crate::cooked`]).
//!
//! Two columns: time in seconds, one-way delay in milliseconds; irregular steps. All else is as in
//! rate traces, headings too: the trace is shifted to start at 0, each delay holds from its time to
//! the next, the last one for the median length of the others, and then the trace starts again.

use ratewire_units::Duration;

use crate::heading::{ONE_WAY, Unit, Wanted};
use crate::rows::Row;
use crate::steps::{self, TIME, Values};
use crate::{InputError, Note};

/// The largest delay taken, in seconds: a day.
const MAX_SECONDS: f64 = 86_400.0;

const DELAYS: Values<Duration> = Values {
    columns: [
        TIME,
        Wanted {
            what: "the delay",
            words: &["delay", "latency", "owd", ONE_WAY],
            others: &["rtt", "trip", "loss", "timestamp"],
            unit: Unit::Time,
            usual: "ms",
        },
    ],
    example: "a file with the single row \"0 20\" is a steady 20 ms",
    remedy: |_| "name the columns in a first line, such as \"time_s,delay_ms\"",
    value,
};

/// The delay of a link over time, in steps, repeating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace {
    /// When each step starts, strictly increasing from 0, and its delay; never empty.
    pub steps: Vec<(Duration, Duration)>,
    /// After this long the trace starts again; more than 0.
    pub period: Duration,
}

impl DelayTrace {
    /// The delay averaged over the period.
    pub fn mean_delay(&self) -> Duration {
        let ends = self.steps.iter().skip(1).map(|(start, _)| *start).chain([self.period]);
        let lasting = self.steps.iter().zip(ends);
        let sum: u128 = lasting
            .map(|((start, delay), end)| {
                u128::from(delay.ps()) * u128::from(end.saturating_sub(*start).ps())
            })
            .sum();
        let mean = sum.checked_div(u128::from(self.period.ps())).unwrap_or(0);
        Duration::from_ps(u64::try_from(mean).unwrap_or(u64::MAX))
    }
}

/// Reads a trace.
///
/// # Errors
/// When there is no row, a row has other columns than the heading, or than two without one, a time
/// is not later than the one before it, or a number is negative, not a number, or out of range (9e6
/// s after the first time, delays of a day).
pub fn parse(file: &str, text: &str, notes: &mut Vec<Note>) -> Result<DelayTrace, InputError> {
    let (steps, period) = steps::read(file, text, &DELAYS, notes)?;
    Ok(DelayTrace { steps, period })
}

fn value(row: &Row<'_>, field: &str, scale: f64) -> Result<Duration, InputError> {
    let what = if scale == 1e-3 { "delay in milliseconds" } else { "delay" };
    let delay = row.number(field, what, MAX_SECONDS / scale)?;
    Ok(Duration::from_secs_f64(delay * scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_have_steps_a_period_and_a_mean() {
        let trace = parse("d", "100 20\n101 80.5\n104 20\n", &mut Vec::new()).unwrap();
        let steps: Vec<(f64, f64)> =
            trace.steps.iter().map(|(start, delay)| (start.secs(), delay.secs())).collect();
        assert_eq!(steps, [(0.0, 0.02), (1.0, 0.0805), (4.0, 0.02)]);
        assert_eq!(trace.period, Duration::from_secs(6), "the median of 1 s and 3 s is 2 s");
        let mean = (20.0 + 3.0 * 80.5 + 2.0 * 20.0) / 6.0;
        assert!((trace.mean_delay().secs() * 1e3 - mean).abs() < 1e-9);
    }

    #[test]
    fn a_heading_says_which_columns_and_units() {
        let mut notes = Vec::new();
        let text = "time_ms,rtt_ms,delay_us\n0,40,20000\n500,41,20500\n";
        let trace = parse("d.csv", text, &mut notes).unwrap();
        let (ms, us) = (Duration::from_millis, Duration::from_micros);
        assert_eq!(trace.steps, [(ms(0), ms(20)), (ms(500), us(20_500))]);
        assert!(notes[0].to_string().contains("the column \"rtt_ms\" is not used"), "{notes:?}");
        let bare = parse("d.csv", "time,latency\n0,20\n1,21\n", &mut notes).unwrap();
        assert_eq!(bare.steps[1], (ms(1000), ms(21)), "milliseconds, if nothing else is said");
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let refused = |text: &str| parse("d.txt", text, &mut Vec::new()).unwrap_err().to_string();
        assert!(refused("").contains("the time in seconds, the delay in ms"));
        assert!(refused("").contains("a steady 20 ms"));
        assert!(refused("7\n").contains("found 1 column"));
        assert!(refused("0 1\n1 -2\n").starts_with("d.txt:2: found \"-2\""));
        assert!(refused("0 86400001\n").contains("delay in milliseconds"));
        assert!(refused("0 1\n0 2\n").contains("increase"));
        let round = refused("time_s,rtt_ms\n0,40\n");
        assert!(round.contains("the column \"rtt_ms\" of round trips"), "{round}");
        assert!(round.contains("halve the numbers"), "{round}");
    }
}
