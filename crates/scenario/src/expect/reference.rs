//! Series of rates from another simulator, to compare a run with.

use ratewire_inputs::InputError;

/// Rates of flows over intervals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// Ends of the intervals in seconds, increasing; the first starts at 0.
    pub ends: Vec<f64>,
    /// Rate of each flow in bits per second, by interval.
    pub rates: Vec<Vec<f64>>,
}

impl Series {
    /// Mean rate of `flow` between two instants; `None` where the series does not reach.
    pub fn mean(&self, flow: usize, from: f64, to: f64) -> Option<f64> {
        // A gap of up to a microsecond is rounding in the file, not missing data.
        if to <= from || self.ends.last().is_none_or(|end| *end < to - 1e-6) {
            return None;
        }
        let first = self.ends.partition_point(|end| *end <= from);
        let mut start = if first == 0 { 0.0 } else { self.ends[first - 1] };
        let mut sum = 0.0;
        let mut length = 0.0;
        for (end, rates) in self.ends[first..].iter().zip(&self.rates[first..]) {
            let overlap = end.min(to) - start.max(from);
            if overlap <= 0.0 {
                break;
            }
            sum += rates[flow] * overlap;
            length += overlap;
            start = *end;
        }
        (length > 0.0).then(|| sum / length)
    }
}

/// Reads a CSV file: a heading line, then rows of a time and at least `flows` rates.
pub(crate) fn parse(file: &str, text: &str, flows: usize) -> Result<Series, InputError> {
    let refuse = |line: Option<usize>, found: String, allowed: &str| InputError {
        file: file.to_string(),
        line,
        found,
        allowed: allowed.to_string(),
        remedy: "the form is: t_s,flow0_bps,flow1_bps,... with rows in order of time".to_string(),
    };
    let mut series = Series { ends: Vec::new(), rates: Vec::new() };
    for (i, line) in text.lines().enumerate().skip(1) {
        if line.trim().is_empty() {
            continue;
        }
        let mut numbers = Vec::new();
        for word in line.split(',').take(flows + 1) {
            match word.trim().parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => numbers.push(number),
                _ => return Err(refuse(Some(i + 1), format!("{word:?}"), "a number, 0 or more")),
            }
        }
        if numbers.len() <= flows {
            let found = format!("{} columns", numbers.len());
            return Err(refuse(Some(i + 1), found, &format!("a time and {flows} rates")));
        }
        let end = numbers.remove(0);
        if series.ends.last().map_or(end <= 0.0, |last| end <= *last) {
            return Err(refuse(
                Some(i + 1),
                format!("the time {end}"),
                "times that increase from 0",
            ));
        }
        series.ends.push(end);
        series.rates.push(numbers);
    }
    if series.ends.is_empty() {
        return Err(refuse(None, "no rows".to_string(), "a heading line and rows of numbers"));
    }
    Ok(series)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "t_s,flow0_bps,flow1_bps,total_bps\n0.5,100,0,100\n1.0,300,10,310\n2.0,50,50,100\n";

    #[test]
    fn means_weigh_by_time() {
        let series = parse("r.csv", TEXT, 2).unwrap();
        assert_eq!(series.mean(0, 0.0, 1.0), Some(200.0));
        assert_eq!(series.mean(1, 0.5, 2.0), Some(55.0 / 1.5));
        assert_eq!(series.mean(0, 1.25, 1.75), Some(50.0));
        assert_eq!(series.mean(0, 1.5, 2.5), None);
    }

    #[test]
    fn says_what_is_wrong() {
        let refused = |text: &str, flows| parse("r.csv", text, flows).unwrap_err().to_string();
        assert!(refused(TEXT, 4).starts_with("r.csv:2: found 4 columns"));
        assert!(refused("t\n1,x\n", 1).contains("found \"x\""));
        assert!(refused("t\n1,1\n1,1\n", 1).contains("times that increase"));
        assert!(refused("t\n", 1).contains("no rows"));
    }
}
