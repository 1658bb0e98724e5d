//! Detection of policers, whose token buckets drop what exceeds their rate once the tokens are
//! spent ("long-term bandwidth sampling" in Linux; Flach et al., SIGCOMM 2016).

use ratewire_units::Time;

/// Least number of rounds of an interval. One of more than four times as many is given up.
const LEAST_ROUNDS: u32 = 4;
/// Share of lost to delivered packets that makes an interval one of a policer.
const LOSS: f64 = 50.0 / 256.0;
/// Rates of two intervals are equal if they differ by no more than this share,
const RATIO: f64 = 1.0 / 8.0;
/// or by no more than this, in bytes per second.
const DIFFERENCE: f64 = 500.0;
/// Rounds for which the policer's rate is kept.
const ROUNDS_KEPT: u32 = 48;

/// Counts of a flow at an acknowledgement, in payload bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) now: Time,
    pub(super) delivered: u64,
    pub(super) lost: u64,
}

/// Looks for intervals of equal rate that lose much.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    rounds: u32,
    began: Counts,
    /// Rate of the interval before, in bytes per second.
    before: Option<f64>,
    /// Rate of the policer, while it is kept.
    rate: Option<f64>,
}

impl Policer {
    /// Rate of the policer in bytes per second; `None` for no policer.
    pub(super) fn rate(&self) -> Option<f64> {
        self.rate
    }

    fn begin_interval(&mut self, counts: Counts) {
        self.rounds = 0;
        self.began = counts;
    }

    /// Forgets all.
    pub(super) fn reset(&mut self) {
        *self = Policer::default();
    }

    /// Takes an acknowledgement that begins a round or does not, has shown losses or not, and is of
    /// packets that the application limited or not.
    pub(super) fn sample(&mut self, counts: Counts, round: bool, losses: bool, limited: bool) {
        if !self.is_sampling {
            if !losses {
                return;
            }
            // Before the first loss the tokens may not have been spent.
            self.begin_interval(counts);
            self.is_sampling = true;
        }
        if limited {
            return self.reset();
        }
        self.rounds += u32::from(round);
        if self.rounds > 4 * LEAST_ROUNDS {
            return self.reset();
        }
        // An interval ends with a loss, when the tokens are spent again.
        if self.rounds < LEAST_ROUNDS || !losses {
            return;
        }
        let lost = counts.lost.saturating_sub(self.began.lost) as f64;
        let delivered = counts.delivered.saturating_sub(self.began.delivered) as f64;
        let elapsed = counts.now.since(self.began.now).secs();
        if delivered > 0.0 && lost >= LOSS * delivered && elapsed >= 1e-3 {
            self.end_interval(counts, delivered / elapsed);
        }
    }

    fn end_interval(&mut self, counts: Counts, rate: f64) {
        if let Some(before) = self.before {
            let difference = (rate - before).abs();
            if difference <= RATIO * before || difference <= DIFFERENCE {
                self.rate = Some(0.5 * (rate + before));
                self.rounds = 0;
                return;
            }
        }
        self.before = Some(rate);
        self.begin_interval(counts);
    }

    /// Counts a round of the policer's rate. Returns whether the rate has been kept for long enough
    /// and is forgotten.
    pub(super) fn keep(&mut self) -> bool {
        self.rounds += 1;
        let is_over = self.rounds >= ROUNDS_KEPT;
        if is_over {
            self.reset();
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use ratewire_units::Duration;

    use super::*;

    /// Rounds of 100 ms that each deliver `delivered` packets and lose `lost`.
    fn rounds(policer: &mut Policer, counts: &mut Counts, n: u32, delivered: u64, lost: u64) {
        for _ in 0..n {
            counts.now += Duration::from_millis(100);
            counts.delivered += 1000 * delivered;
            counts.lost += 1000 * lost;
            policer.sample(*counts, true, lost > 0, false);
        }
    }

    #[test]
    fn two_lossy_intervals_of_equal_rate_show_a_policer() {
        let (mut policer, mut counts) = (Policer::default(), Counts::default());
        rounds(&mut policer, &mut counts, 10, 100, 0);
        assert!(!policer.is_sampling);
        rounds(&mut policer, &mut counts, 4, 80, 20);
        assert_eq!((policer.rate(), policer.rounds), (None, 0));
        rounds(&mut policer, &mut counts, 4, 84, 20);
        // 80 and 84 packets of 1000 bytes in each 100 ms.
        let rate = policer.rate().expect("a policer");
        assert!((rate / 820e3 - 1.0).abs() < 1e-9, "{rate}");
        assert!((1..ROUNDS_KEPT).all(|_| !policer.keep()));
        assert!(policer.keep());
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn intervals_of_unlike_rates_or_with_few_losses_show_none() {
        let (mut policer, mut counts) = (Policer::default(), Counts::default());
        rounds(&mut policer, &mut counts, 4, 80, 20);
        rounds(&mut policer, &mut counts, 4, 95, 20);
        assert_eq!(policer.rate(), None);
        let (mut policer, mut counts) = (Policer::default(), Counts::default());
        rounds(&mut policer, &mut counts, 16, 90, 10);
        assert!(policer.rate().is_none() && policer.is_sampling);
        rounds(&mut policer, &mut counts, 1, 90, 10);
        assert!(!policer.is_sampling, "an interval is given up after 16 rounds");
    }

    #[test]
    fn what_the_application_limits_is_no_sample() {
        let (mut policer, mut counts) = (Policer::default(), Counts::default());
        rounds(&mut policer, &mut counts, 3, 80, 20);
        policer.sample(counts, false, true, true);
        assert!(!policer.is_sampling);
    }
}
