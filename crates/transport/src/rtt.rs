//! Round-trip time estimation and the retransmission timeout (RFC 6298).

use ratewire_units::Duration;

/// Timeout before any sample (RFC 6298, 2.1).
const INITIAL_RTO: Duration = Duration::from_secs(1);

/// Smoothed RTT, its variation, and the timeout that follows.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    srtt: Duration,
    variation: Duration,
    latest: Duration,
    min: Duration,
    max: Duration,
    min_rto: Duration,
    max_rto: Duration,
    /// Time to wait for an acknowledgement, as it follows from the rest.
    rto: Duration,
    backoff: u32,
    /// Whether the only sample is that of the opening.
    is_of_opening: bool,
}

impl RttEstimator {
    /// An estimator without samples. The timeout stays between these; more than `max_rto` it is
    /// only if the path asks for it.
    pub fn new(min_rto: Duration, max_rto: Duration) -> RttEstimator {
        RttEstimator {
            srtt: Duration::ZERO,
            variation: Duration::ZERO,
            latest: Duration::ZERO,
            min: Duration::MAX,
            max: Duration::ZERO,
            min_rto,
            max_rto,
            rto: INITIAL_RTO.max(min_rto),
            backoff: 0,
            is_of_opening: false,
        }
    }

    /// Adds a sample of a packet that was sent only once (Karn). A sample of zero counts as one
    /// picosecond, because zero means "unknown".
    #[inline]
    pub fn sample(&mut self, rtt: Duration) {
        let rtt = rtt.max(Duration::from_ps(1));
        let is_first = core::mem::take(&mut self.is_of_opening);
        if self.srtt.is_zero() || (is_first && rtt * 2 < self.srtt) {
            self.srtt = rtt;
            self.variation = rtt / 2;
        } else {
            let (s, r, v) = (self.srtt.ps(), rtt.ps(), self.variation.ps());
            self.variation = Duration::from_ps(v - v / 4 + s.abs_diff(r) / 4);
            self.srtt = Duration::from_ps(s - s / 8 + r / 8);
        }
        self.latest = rtt;
        self.min = self.min.min(rtt);
        self.max = self.max.max(rtt);
        self.backoff = 0;
        self.rto = self.unextended_rto();
    }

    /// Adds the first sample, of the packet that opens the connection. Its answer may have waited
    /// for more than the path: a switch asks its members first. So a sample of less than half of it
    /// takes its place.
    pub fn sample_opening(&mut self, rtt: Duration) {
        self.sample(rtt);
        self.is_of_opening = true;
    }

    /// Smoothed RTT; zero while unknown.
    pub fn srtt(&self) -> Duration {
        self.srtt
    }
    /// Latest sample; zero while unknown.
    pub fn latest(&self) -> Duration {
        self.latest
    }
    /// Smallest sample.
    pub fn min(&self) -> Option<Duration> {
        (self.min != Duration::MAX).then_some(self.min)
    }
    /// Largest sample.
    pub fn max(&self) -> Option<Duration> {
        (!self.max.is_zero()).then_some(self.max)
    }
    /// Time to wait for an acknowledgement.
    #[inline]
    pub fn rto(&self) -> Duration {
        self.rto
    }
    /// Time to wait while the timer has not expired.
    #[inline]
    fn unextended_rto(&self) -> Duration {
        let measured = self.srtt + self.variation * 4;
        if self.srtt.is_zero() { INITIAL_RTO } else { measured }.max(self.min_rto)
    }
    /// Doubles the timeout after the timer has expired (RFC 6298, 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
        let base = self.unextended_rto();
        self.rto = (base * (1 << self.backoff)).min(self.max_rto).max(base);
    }
    /// Ends the doubling without a sample.
    pub fn end_backing_off(&mut self) {
        self.backoff = 0;
        self.rto = self.unextended_rto();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_RTO: Duration = Duration::from_secs(120);

    #[test]
    fn follows_rfc_6298() {
        let ms = Duration::from_millis;
        let mut e = RttEstimator::new(ms(200), MAX_RTO);
        assert_eq!((e.rto(), e.min(), e.max()), (ms(1000), None, None));
        e.sample(ms(100));
        assert_eq!((e.srtt(), e.rto()), (ms(100), ms(300)));
        e.sample(ms(180));
        // RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5; SRTT = 7/8 * 100 + 1/8 * 180 = 110
        assert_eq!((e.srtt(), e.rto()), (ms(110), ms(340)));
        e.back_off();
        e.back_off();
        assert_eq!(e.rto(), ms(1360));
        e.sample(ms(110));
        assert!(e.rto() < ms(340), "a sample ends the backing off");
        assert_eq!((e.min(), e.max()), (Some(ms(100)), Some(ms(180))));
        assert_eq!(RttEstimator::new(ms(3000), MAX_RTO).rto(), ms(3000));
    }

    #[test]
    fn an_answer_to_an_opening_that_has_waited_is_forgotten() {
        let ms = Duration::from_millis;
        let opened = || {
            let mut e = RttEstimator::new(ms(200), MAX_RTO);
            e.sample_opening(ms(100));
            e
        };
        let mut e = opened();
        e.sample(ms(49));
        assert_eq!((e.srtt(), e.rto()), (ms(49), ms(200)));
        e.sample(ms(9));
        assert_eq!(e.srtt(), ms(44), "only the first sample does so");
        let mut e = opened();
        e.sample(ms(52));
        assert_eq!(e.srtt(), ms(94));
    }

    #[test]
    fn the_timeout_stays_within_its_bounds() {
        let mut e = RttEstimator::new(Duration::from_millis(200), MAX_RTO);
        e.sample(Duration::from_micros(10));
        for _ in 0..100 {
            e.sample(Duration::from_micros(10));
        }
        assert_eq!(e.rto(), Duration::from_millis(200));
        for _ in 0..40 {
            e.back_off();
        }
        assert_eq!(e.rto(), MAX_RTO);
        let mut far = RttEstimator::new(Duration::ZERO, MAX_RTO);
        far.sample(Duration::from_secs(100));
        far.back_off();
        assert_eq!(far.rto(), Duration::from_secs(300), "never below one RTT, even past the bound");
    }
}
