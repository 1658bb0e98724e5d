//! Transmission times on links with a trace.

use std::sync::Arc;

use ratewire_units::{Bytes, Duration, Time};

use crate::spec::Opportunities;

/// Position in a trace of delivery opportunities.
#[derive(Clone, Debug)]
pub(crate) struct TraceCursor {
    trace: Arc<Opportunities>,
    /// Start of the current repetition.
    period_start: Time,
    /// Index of the current opportunity.
    at: usize,
    /// Bytes left of the current opportunity.
    left: u64,
}

impl TraceCursor {
    pub(crate) fn new(trace: Arc<Opportunities>) -> TraceCursor {
        let left = trace.bytes.get();
        TraceCursor { trace, period_start: Time::ZERO, at: 0, left }
    }

    fn when(&self) -> Time {
        self.period_start + self.trace.at[self.at]
    }

    fn advance(&mut self) {
        self.at += 1;
        if self.at == self.trace.at.len() {
            self.at = 0;
            self.period_start += self.trace.period;
        }
        self.left = self.trace.bytes.get();
    }

    /// Time at which the last byte of a packet leaves that is first in the queue from `now`.
    /// Opportunities before `now` are lost.
    pub(crate) fn finish(&mut self, now: Time, size: Bytes) -> Time {
        let whole_periods = now.since(self.when()).ps() / self.trace.period.ps().max(1);
        if whole_periods > 1 {
            self.period_start += self.trace.period * (whole_periods - 1);
        }
        while self.when() < now || self.left == 0 {
            self.advance();
        }
        let mut needed = size.get();
        while needed > self.left {
            needed -= self.left;
            self.advance();
        }
        self.left -= needed;
        self.when()
    }

    /// Transmission time of `size` bytes at the trace's mean rate, which counts as time spent
    /// sending.
    pub(crate) fn mean_time(&self, size: Bytes) -> Duration {
        let offered = self.trace.bytes.get() * self.trace.at.len() as u64;
        self.trace.period.scale(size.as_f64() / offered as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Duration::from_millis(n)
    }

    fn cursor(at: &[u64], period: u64) -> TraceCursor {
        TraceCursor::new(Arc::new(Opportunities {
            at: at.iter().map(|t| Duration::from_millis(*t)).collect(),
            period: Duration::from_millis(period),
            bytes: Bytes::new(1500),
        }))
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_need_several() {
        let mut c = cursor(&[1, 1, 5], 10);
        assert_eq!(c.finish(ms(0), Bytes::new(700)), ms(1));
        assert_eq!(c.finish(ms(0), Bytes::new(700)), ms(1));
        assert_eq!(c.finish(ms(1), Bytes::new(1700)), ms(5), "100 + 1500 at 1 ms, 100 at 5 ms");
        assert_eq!(
            c.finish(ms(5), Bytes::new(1500)),
            ms(11),
            "1400 at 5 ms, 100 in the repetition"
        );
    }

    #[test]
    fn opportunities_that_pass_unused_are_lost() {
        let mut c = cursor(&[1, 5], 10);
        assert_eq!(c.finish(ms(2), Bytes::new(1500)), ms(5));
        assert_eq!(c.finish(ms(996), Bytes::new(1500)), ms(1001));
    }
}
