//! HyStart++ (RFC 9406): ends the first slow start when the RTT rises, before packets are lost.
//!
//! Rounds last one RTT: a round ends with the first acknowledgement of data that was unsent when
//! it began, and this acknowledgement begins the next one. `current` and `last` are the least RTT
//! of this round and of the one before.
//! Section 4.2:
//!
//! - slow start: once a round has 8 samples, and
//!   `current >= last + max(4 ms, min(last / 8, 16 ms))`, conservative slow start (CSS) begins,
//!   with `baseline = current`;
//! - CSS: the window grows at a quarter of the speed. Once a round has 8 samples, and `current <
//!   baseline`, the rise was temporary, and slow start resumes;
//! - after 5 rounds of CSS, the one in which it began included, slow start is over.
//!
//! HyStart++ is used until slow start first ends, as section 4.3 recommends, and not after
//! timeouts, because the slow-start threshold is then known.

use ratewire_units::Duration;

use super::{Step, significant_rise};
use crate::law::Acked;

/// Minimum number of samples in a round (N_RTT_SAMPLE).
const N_RTT_SAMPLE: u32 = 8;
/// Divisor of the growth in CSS (CSS_GROWTH_DIVISOR).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Length of CSS in rounds (CSS_ROUNDS).
const CSS_ROUNDS: u32 = 5;

/// HyStart++ of one flow in its first slow start.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct PlusPlus {
    /// Least RTT at which CSS began, and rounds of CSS begun; `None` in slow start.
    css: Option<Css>,
    /// Acknowledging more than this offset ends the round; zero before the first.
    window_end: u64,
    /// Least RTT of the round before, [`Duration::MAX`] if it had none.
    last: Duration,
    /// Least RTT of this round, [`Duration::MAX`] if it has none.
    current: Duration,
    samples: u32,
}

#[derive(Clone, Debug)]
struct Css {
    baseline: Duration,
    rounds: u32,
}

impl PlusPlus {
    pub(super) fn new() -> PlusPlus {
        PlusPlus {
            css: None,
            window_end: 0,
            last: Duration::MAX,
            current: Duration::MAX,
            samples: 0,
        }
    }

    /// Handles an acknowledgement in slow start or in CSS.
    pub(super) fn on_ack(&mut self, acked: &Acked) -> Step {
        if acked.cumulative > self.window_end {
            self.last = core::mem::replace(&mut self.current, Duration::MAX);
            self.samples = 0;
            self.window_end = acked.next;
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                if css.rounds >= CSS_ROUNDS {
                    return Step::Leave;
                }
            }
        }
        if let Some(rtt) = acked.rtt {
            self.current = self.current.min(rtt);
            self.samples = self.samples.saturating_add(1);
            if self.samples >= N_RTT_SAMPLE {
                self.judge();
            }
        }
        Step::Grow(if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 })
    }

    fn judge(&mut self) {
        if let Some(css) = &self.css {
            if self.current < css.baseline {
                self.css = None;
            }
        } else if self.last != Duration::MAX
            && self.current >= self.last + significant_rise(self.last)
        {
            self.css = Some(Css { baseline: self.current, rounds: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const MS: fn(u64) -> Duration = Duration::from_millis;
    const SLOW_START: Step = Step::Grow(1.0);
    const CSS: Step = Step::Grow(4.0);

    /// Runs a round of `n` acknowledgements with this RTT; the first one begins it. Returns the
    /// first and the last step.
    fn round(h: &mut PlusPlus, n: u64, rtt: Duration) -> (Step, Step) {
        let start = h.window_end + 1;
        let step = |i| {
            let (cumulative, next) = (start + i, start + 2 * n);
            h.on_ack(&Acked { rtt: Some(rtt), cumulative, next, ..testing::acked() })
        };
        let steps: alloc::vec::Vec<Step> = (0..n).map(step).collect();
        (steps[0], steps[steps.len() - 1])
    }

    #[test]
    fn a_rise_of_the_rtt_begins_css_and_five_rounds_end_it() {
        let mut h = PlusPlus::new();
        assert_eq!(round(&mut h, 10, MS(100)).1, SLOW_START);
        // An eighth of 100 ms: 112 is too little, 112.5 is enough.
        assert_eq!(round(&mut h, 20, MS(112)).1, SLOW_START);
        assert_eq!(round(&mut h, 20, MS(100)).1, SLOW_START);
        let risen = Duration::from_micros(112_500);
        assert_eq!(round(&mut h, 20, risen), (SLOW_START, CSS));
        for _ in 0..4 {
            assert_eq!(round(&mut h, 40, risen), (CSS, CSS));
        }
        assert_eq!(round(&mut h, 40, risen).0, Step::Leave);
    }

    #[test]
    fn the_rise_that_counts_is_between_4_and_16_ms() {
        for (base, enough) in [(1, 4), (8, 4), (32, 4), (64, 8), (128, 16), (400, 16)] {
            for (rise, step) in [(enough - 1, SLOW_START), (enough, CSS)] {
                let mut h = PlusPlus::new();
                round(&mut h, 10, MS(base));
                let said = round(&mut h, 10, MS(base + rise)).1;
                assert_eq!(said, step, "base {base} ms, rise {rise} ms");
            }
        }
    }

    #[test]
    fn a_rise_that_passes_brings_slow_start_back() {
        let mut h = PlusPlus::new();
        round(&mut h, 10, MS(100));
        assert_eq!(round(&mut h, 10, MS(120)).1, CSS);
        assert_eq!(round(&mut h, 10, MS(120)).1, CSS);
        assert_eq!(round(&mut h, 10, MS(119)).1, SLOW_START);
        // A new rise is judged against the last round, and has five rounds again.
        assert_eq!(round(&mut h, 10, MS(140)).1, CSS);
        for _ in 0..4 {
            assert_eq!(round(&mut h, 10, MS(140)).1, CSS);
        }
        assert_eq!(round(&mut h, 10, MS(140)).0, Step::Leave);
    }

    #[test]
    fn fewer_than_eight_samples_say_nothing() {
        let mut h = PlusPlus::new();
        round(&mut h, 10, MS(100));
        assert_eq!(round(&mut h, 7, MS(200)).1, SLOW_START);
        assert_eq!(round(&mut h, 8, MS(300)).1, CSS);
    }

    #[test]
    fn retransmitted_packets_give_no_sample() {
        let mut h = PlusPlus::new();
        round(&mut h, 10, MS(100));
        for _ in 0..100 {
            let acked = Acked { rtt: None, ..testing::acked() };
            assert_eq!(h.on_ack(&acked), SLOW_START);
        }
    }
}
