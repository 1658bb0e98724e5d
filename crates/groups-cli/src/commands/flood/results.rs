//! Results of a flood.

use std::fmt::Write;

use ratewire_units::{Bytes, Duration, Time};
use serde::Serialize;

use super::super::service::Service;
use super::plan::Plan;
use super::tally::Tally;

/// Results, for `--json`. Rates and latencies are those after the warm-up.
#[derive(Debug, Serialize)]
pub(super) struct Results {
    senders: usize,
    receivers: usize,
    groups: usize,
    size_bytes: u64,
    service: Service,
    warmup_s: f64,
    sent: Flow,
    /// Of all receivers together.
    delivered: Flow,
    /// `None` if no message was received.
    latency_us: Option<Latency>,
    /// Share of the time in which the daemon did not read from the sender, by sender.
    held: Vec<f64>,
    /// Messages that did not arrive; each counts once for each receiver.
    lost: u64,
    /// Messages that still were on their way when the flood ended, counted in the same way.
    under_way: u64,
    /// Messages that came after a later one of their sender, or twice.
    misplaced: u64,
    /// Receivers whose sequence differs from that of the others; `None` if the service promises no
    /// common order.
    disagreeing: Option<u64>,
    /// Number of messages before the first difference.
    first_difference: Option<u64>,
    /// Notices that the members of the groups have changed, at all receivers.
    membership_changes: u64,
    /// Messages that the daemon has not accepted.
    refused: u64,
}

/// Messages in a period.
#[derive(Debug, Serialize)]
struct Flow {
    messages: u64,
    period_s: f64,
    messages_per_s: f64,
    bytes_per_s: f64,
}

/// Time from sending to receiving, in microseconds.
#[derive(Debug, Serialize)]
struct Latency {
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Flow {
    fn new(messages: u64, period: Duration, size: Bytes) -> Flow {
        let per_s = if period.is_zero() { 0.0 } else { messages as f64 / period.secs() };
        let (period_s, bytes_per_s) = (period.secs(), per_s * size.as_f64());
        Flow { messages, period_s, messages_per_s: per_s, bytes_per_s }
    }
}

impl Results {
    pub(super) fn new(plan: &Plan, tally: &Tally) -> Results {
        let period = |last: Time| {
            let last = tally.until.unwrap_or(last);
            if last > tally.from { last.since(tally.from) } else { Duration::from_ps(0) }
        };
        let (sending, receiving) = (period(tally.last_sent), period(tally.last_received));
        let share = |held: Duration| match sending.is_zero() {
            true => 0.0,
            false => held.secs() / sending.secs(),
        };
        let at = |quantile| tally.latency.value_at_quantile(quantile) as f64 / 1e3;
        let latency = || Latency {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: tally.latency.max() as f64 / 1e3,
        };
        let (order, missing) = (tally.order.as_ref(), tally.missing());
        Results {
            senders: plan.senders,
            receivers: plan.receiving(),
            groups: plan.groups.len(),
            size_bytes: plan.size.get(),
            service: plan.service,
            warmup_s: plan.warmup.secs(),
            sent: Flow::new(tally.sent.iter().map(|sent| sent.counted).sum(), sending, plan.size),
            delivered: Flow::new(tally.delivered, receiving, plan.size),
            latency_us: (!tally.latency.is_empty()).then(latency),
            held: tally.sent.iter().map(|sent| share(sent.held)).collect(),
            lost: if tally.is_drained { missing } else { 0 },
            under_way: if tally.is_drained { 0 } else { missing },
            misplaced: tally.misplaced,
            disagreeing: order.map(|order| order.violations()),
            first_difference: order.and_then(|order| order.first_difference()),
            membership_changes: tally.changes,
            refused: tally.refused,
        }
    }

    /// Whether the service's promises were kept. Lost messages break those of all services but
    /// `unreliable`.
    pub(super) fn are_kept(&self) -> bool {
        let is_whole = self.lost == 0 || self.service == Service::Unreliable;
        is_whole && self.misplaced == 0 && self.disagreeing.is_none_or(|n| n == 0)
    }

    /// The results as lines.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{}, {}, {}, {}, {}; {:.1} s after {:.1} s of warm-up\n",
            counted(self.senders, "sender"),
            counted(self.receivers, "receiver"),
            counted(self.groups, "group"),
            Bytes::new(self.size_bytes),
            self.service.name(),
            self.sent.period_s,
            self.warmup_s,
        );
        for (what, flow) in [("sent", &self.sent), ("delivered", &self.delivered)] {
            let Flow { messages_per_s, bytes_per_s, .. } = flow;
            let megabytes = bytes_per_s / 1e6;
            _ = writeln!(text, "{what:<10} {messages_per_s:.0} messages/s, {megabytes:.2} MB/s");
        }
        if let Some(Latency { p50, p90, p99, p999, max }) = self.latency_us {
            let named = [("p50", p50), ("p90", p90), ("p99", p99), ("p99.9", p999), ("max", max)];
            let shown = named.map(|(name, us)| format!("{name} {}", time(us)));
            _ = writeln!(text, "latency    {}", shown.join(", "));
        }
        _ = writeln!(text, "held       {}", self.held_text());
        _ = writeln!(text, "lost       {}", self.lost);
        _ = writeln!(text, "order      {}", self.order_text());
        for (what, count) in [
            ("under way", self.under_way),
            ("changes", self.membership_changes),
            ("refused", self.refused),
        ] {
            if count > 0 {
                _ = writeln!(text, "{what:<10} {count}");
            }
        }
        text
    }

    /// Shares of the time in which the daemon did not read.
    fn held_text(&self) -> String {
        let percent: Vec<f64> = self.held.iter().map(|share| share * 100.0).collect();
        match &percent[..] {
            [one] => format!("{one:.0} % of the time"),
            several => {
                let least = several.iter().copied().fold(f64::INFINITY, f64::min);
                let most = several.iter().copied().fold(0.0, f64::max);
                let mean = several.iter().sum::<f64>() / several.len() as f64;
                format!("{mean:.0} % of the time (senders: {least:.0} to {most:.0} %)")
            }
        }
    }

    fn order_text(&self) -> String {
        let mut text = match (self.disagreeing, self.first_difference) {
            (Some(receivers), Some(place)) => {
                let differ = counted(receivers as usize, "receiver");
                format!("BROKEN: {differ} got another sequence after message {place}")
            }
            (Some(_), None) if self.receivers > 1 => {
                "all receivers got the same sequence".to_string()
            }
            _ if self.service >= Service::Fifo => "each sender's messages in order".to_string(),
            _ => "not promised".to_string(),
        };
        if self.misplaced > 0 {
            text = format!("BROKEN: {} messages came late or twice; {text}", self.misplaced);
        }
        text
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Microseconds with three digits.
fn time(us: f64) -> String {
    let (value, unit) = match us {
        us if us < 1e3 => (us, "us"),
        us if us < 1e6 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let shown = [0.5, 12.34, 456.7, 1_234.0, 65_432.1, 2_500_000.0].map(time);
        assert_eq!(shown, ["0.50 us", "12.3 us", "457 us", "1.23 ms", "65.4 ms", "2.50 s"]);
    }
}
