//! HyStart++ (RFC 9406): ends the first slow start when the RTT rises, before packets are lost.
//!
//! Rounds last one RTT: a round ends when the data that was next to be sent at its start is
//! acknowledged. `current` and `last` are the least RTT of this round and of the one before.
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

use crate::law::Acked;

/// Minimum rise of the RTT that counts (MIN_RTT_THRESH; 4.3).
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
/// Rise of the RTT that always counts (MAX_RTT_THRESH).
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
/// Between the two, the share of the RTT that counts (MIN_RTT_DIVISOR).
const MIN_RTT_DIVISOR: u64 = 8;
/// Minimum number of samples in a round (N_RTT_SAMPLE).
const N_RTT_SAMPLE: u32 = 8;
/// Divisor of the growth in CSS (CSS_GROWTH_DIVISOR).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Length of CSS in rounds (CSS_ROUNDS).
const CSS_ROUNDS: u32 = 5;
/// Maximum number of packets that one acknowledgement adds without pacing (L; 4.3).
pub(super) const UNPACED_LIMIT: f64 = 8.0;

/// HyStart++ of one flow in its first slow start.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// Least RTT at which CSS began, and rounds of CSS begun; `None` in slow start.
    css: Option<Css>,
    /// Stream offset whose acknowledgement ends the round; `None` before the first.
    window_end: Option<u64>,
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

/// Effect of an acknowledgement on the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Add the acknowledged bytes divided by this.
    Grow(f64),
    /// Slow start is over: the window is the new slow-start threshold.
    Leave,
}

impl HyStart {
    pub(super) fn new() -> HyStart {
        HyStart {
            css: None,
            window_end: None,
            last: Duration::MAX,
            current: Duration::MAX,
            samples: 0,
        }
    }

    /// Handles an acknowledgement in slow start or in CSS.
    pub(super) fn on_ack(&mut self, acked: &Acked) -> Step {
        let window_end = *self.window_end.get_or_insert(acked.next);
        if let Some(rtt) = acked.rtt {
            self.current = self.current.min(rtt);
            self.samples = self.samples.saturating_add(1);
            if self.samples >= N_RTT_SAMPLE {
                self.judge();
            }
        }
        if acked.cumulative >= window_end {
            self.last = core::mem::replace(&mut self.current, Duration::MAX);
            self.samples = 0;
            self.window_end = Some(acked.next);
            if let Some(css) = &mut self.css {
                css.rounds += 1;
                if css.rounds >= CSS_ROUNDS {
                    return Step::Leave;
                }
            }
        }
        Step::Grow(if self.css.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 })
    }

    fn judge(&mut self) {
        if let Some(css) = &self.css {
            if self.current < css.baseline {
                self.css = None;
            }
        } else if self.last != Duration::MAX {
            let share = self.last / MIN_RTT_DIVISOR;
            let thresh = share.min(MAX_RTT_THRESH).max(MIN_RTT_THRESH);
            if self.current >= self.last + thresh {
                self.css = Some(Css { baseline: self.current, rounds: 0 });
            }
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

    /// Runs a round of `n` acknowledgements with this RTT; the last one ends it. Returns the last
    /// two steps.
    fn round(h: &mut HyStart, end: &mut u64, n: u64, rtt: Duration) -> (Step, Step) {
        let mut said = (SLOW_START, SLOW_START);
        for i in 1..=n {
            let cumulative = *end + i * 1000;
            let next = *end + n * 1000 + i * 2000;
            said.0 = said.1;
            let window_end = h.window_end.unwrap_or(*end + n * 1000);
            let cumulative = if i == n { window_end } else { cumulative.min(window_end - 1) };
            said.1 = h.on_ack(&Acked { rtt: Some(rtt), cumulative, next, ..testing::acked() });
        }
        *end = h.window_end.unwrap();
        said
    }

    #[test]
    fn a_rise_of_the_rtt_begins_css_and_five_rounds_end_it() {
        let (mut h, mut end) = (HyStart::new(), 0);
        assert_eq!(round(&mut h, &mut end, 10, MS(100)).1, SLOW_START);
        // An eighth of 100 ms: 112 is too little, 112.5 is enough.
        assert_eq!(round(&mut h, &mut end, 20, MS(112)).1, SLOW_START);
        assert_eq!(round(&mut h, &mut end, 20, MS(100)).1, SLOW_START);
        let risen = Duration::from_micros(112_500);
        assert_eq!(round(&mut h, &mut end, 20, risen), (CSS, CSS));
        for _ in 0..3 {
            assert_eq!(round(&mut h, &mut end, 40, risen), (CSS, CSS));
        }
        assert_eq!(round(&mut h, &mut end, 40, risen), (CSS, Step::Leave));
    }

    #[test]
    fn the_rise_that_counts_is_between_4_and_16_ms() {
        for (base, enough) in [(1, 4), (8, 4), (32, 4), (64, 8), (128, 16), (400, 16)] {
            for (rise, step) in [(enough - 1, SLOW_START), (enough, CSS)] {
                let (mut h, mut end) = (HyStart::new(), 0);
                round(&mut h, &mut end, 10, MS(base));
                let said = round(&mut h, &mut end, 10, MS(base + rise)).1;
                assert_eq!(said, step, "base {base} ms, rise {rise} ms");
            }
        }
    }

    #[test]
    fn a_rise_that_passes_brings_slow_start_back() {
        let (mut h, mut end) = (HyStart::new(), 0);
        round(&mut h, &mut end, 10, MS(100));
        assert_eq!(round(&mut h, &mut end, 10, MS(120)).1, CSS);
        assert_eq!(round(&mut h, &mut end, 10, MS(120)).1, CSS);
        assert_eq!(round(&mut h, &mut end, 10, MS(119)).1, SLOW_START);
        // A new rise is judged against the last round, and has five rounds again.
        assert_eq!(round(&mut h, &mut end, 10, MS(140)).1, CSS);
        for _ in 0..3 {
            assert_eq!(round(&mut h, &mut end, 10, MS(140)).1, CSS);
        }
        assert_eq!(round(&mut h, &mut end, 10, MS(140)).1, Step::Leave);
    }

    #[test]
    fn fewer_than_eight_samples_say_nothing() {
        let (mut h, mut end) = (HyStart::new(), 0);
        round(&mut h, &mut end, 10, MS(100));
        assert_eq!(round(&mut h, &mut end, 7, MS(200)).1, SLOW_START);
        assert_eq!(round(&mut h, &mut end, 8, MS(300)).1, CSS);
    }

    #[test]
    fn retransmitted_packets_give_no_sample() {
        let (mut h, mut end) = (HyStart::new(), 0);
        round(&mut h, &mut end, 10, MS(100));
        for _ in 0..100 {
            let acked = Acked { rtt: None, cumulative: end, next: end + 1, ..testing::acked() };
            assert_eq!(h.on_ack(&acked), SLOW_START);
        }
    }
}
