//! `[record]`: how often flows and links are sampled, at which link the rates of flows are, and
//! what completion times are compared with.

use ratewire_net::spec::LinkId;
use ratewire_sim::setup::Ideal;
use ratewire_units::Duration;

use crate::network::Net;
use crate::section::Section;
use crate::window::Edges;

const MILLISECOND: u64 = 1_000_000_000;

/// Most samples of a run.
const MOST_SAMPLES: u64 = 10_000_000;

/// What is sampled besides all flows and links.
pub(crate) struct Record {
    /// Interval between samples.
    pub interval: Duration,
    /// The link at which the rates of flows are sampled.
    pub rates_at: Option<LinkId>,
    /// What completion times are compared with.
    pub ideal: Ideal,
}

/// Reads the table and checks that all `edges` are multiples of the interval.
pub(crate) fn read(root: &Section<'_>, net: &Net, duration: Duration, edges: &Edges) -> Record {
    let mut rates_at = None;
    let section = root.section("record");
    if let Some(section) = &section
        && let Some(name) = section.text("rates_at")
    {
        rates_at = net.expect_link(section.context, name).map(|link| LinkId(link as u32));
    }
    let ideal = match section.as_ref().map(|section| section.word_or("slowdown")) {
        Some("hpcc") => Ideal::Hpcc,
        _ => Ideal::Alone,
    };
    let interval = interval(root, section, duration, edges);
    Record { interval, rates_at, ideal }
}

fn interval(
    root: &Section<'_>,
    section: Option<Section<'_>>,
    duration: Duration,
    edges: &Edges,
) -> Duration {
    let context = root.context;
    let given = section.and_then(|section| {
        let interval = section.time("interval");
        section.finish();
        let interval = interval?;
        if interval.value.is_zero() || duration.ps() / interval.value.ps() > MOST_SAMPLES {
            context
                .error(interval.span, format!("an interval of {} is too short", interval.value))
                .help(format!(
                    "at most {MOST_SAMPLES} samples fit a run; this one takes {duration}"
                ));
            return None;
        }
        if interval.value > duration {
            context
                .error(
                    interval.span,
                    format!("an interval of {} is longer than the run", interval.value),
                )
                .help(format!("its duration is {duration}"));
            return None;
        }
        Some(interval.value)
    });
    let interval = given.unwrap_or_else(|| suitable(duration, edges));
    check(root, edges, interval);
    interval
}

/// Notes an error for each of `edges` that is not a multiple of the interval.
fn check(root: &Section<'_>, edges: &Edges, interval: Duration) {
    let mut reported = Vec::new();
    for (edge, what) in edges {
        if edge.value.ps() % interval.ps().max(1) != 0 && !reported.contains(&edge.span) {
            reported.push(edge.span);
            let (edge_text, interval) = (exactly(edge.value), exactly(interval));
            root.context
                .error(edge.span, format!("{what} is no multiple of the sampling interval"))
                .help(format!("{edge_text} is not {interval} times a whole number; see [record]"));
        }
    }
}

/// A time with all its digits. Rounded, a time that is not a multiple could look like one.
fn exactly(time: Duration) -> String {
    let rounded = time.to_string();
    let (_, unit) = rounded.split_once(' ').unwrap_or(("", "s"));
    let one = format!("1 {unit}").parse::<Duration>().map_or(1, |one| one.ps());
    let (whole, rest) = (time.ps() / one, time.ps() % one);
    // The fraction has as many digits as the unit has zeros.
    let digits = format!("{rest:0width$}", width = one.ilog10() as usize);
    match digits.trim_end_matches('0') {
        "" => format!("{whole} {unit}"),
        digits => format!("{whole}.{digits} {unit}"),
    }
}

/// A thousandth of the duration, rounded up to 1, 2 or 5 times a power of ten, at least 1 ms.
///
/// It is shorter, but not below 1 ms, if `edges` are multiples only then.
fn suitable(duration: Duration, edges: &Edges) -> Duration {
    let wanted = (duration.ps() / 1000).max(1);
    let mut nice = Vec::new();
    let mut power = MILLISECOND;
    'all: loop {
        for step in [1, 2, 5] {
            nice.push(power.saturating_mul(step));
            if power.saturating_mul(step) >= wanted {
                break 'all;
            }
        }
        power = power.saturating_mul(10);
    }
    let fits = |interval: &&u64| edges.iter().all(|(edge, _)| edge.value.ps() % **interval == 0);
    let best = nice.iter().rev().find(fits).or(nice.last()).copied().unwrap_or(MILLISECOND);
    // A run shorter than a millisecond also gets a thousand samples.
    Duration::from_ps(if duration.ps() < MILLISECOND { wanted } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Span;
    use crate::document::At;

    #[test]
    fn times_are_written_to_the_last_digit() {
        for text in ["0 s", "10 ms", "1.7001 s", "3.000000000001 s", "5.05 us", "7 ps", "3600 s"] {
            assert_eq!(exactly(text.parse().unwrap()), text);
        }
    }

    #[test]
    fn intervals_are_round_and_fit() {
        let ms = Duration::from_millis;
        assert_eq!(suitable(ms(30_000), &Vec::new()), ms(50));
        assert_eq!(suitable(ms(10_000), &Vec::new()), ms(10));
        assert_eq!(suitable(ms(200_000), &Vec::new()), ms(200));
        assert_eq!(suitable(ms(10), &Vec::new()), ms(1));
        assert_eq!(suitable(Duration::from_micros(10), &Vec::new()), Duration::from_nanos(10));
        let edge = At { value: ms(5_030), span: Span::default() };
        assert_eq!(suitable(ms(30_000), &vec![(edge, "x")]), ms(10));
    }
}
