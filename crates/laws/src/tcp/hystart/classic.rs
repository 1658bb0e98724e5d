//! The HyStart of Linux's CUBIC (Ha, Rhee, 2008): leaves slow start at once.
//!
//! Rounds last one RTT: a round ends with the first acknowledgement of data that was unsent when
//! it began, whatever the window is. (Before Linux 6.14, rounds began with a window of 16 packets.)
//! From a window of 16 packets on, slow start ends with the first of
//!
//! - a train of acknowledgements, each at most 2 ms after the one before, that has lasted since the
//!   round began for more than half of `least + cushion`, or with pacing all of it. `cushion`
//!   allows for bundles of segments: four of 64 KB at the pace of slow start, at most 1 ms.
//! - in a round with 9 samples: `current > least + min(max(least / 8, 4 ms), 16 ms)`.
//!
//! `least` is the least RTT of the flow, `current` that of the round.

use ratewire_units::{Duration, Time};

use super::{Step, Watched, significant_rise};
use crate::law::Acked;

/// Least window, in packets, that is watched (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// Longest gap within a train (`hystart_ack_delta_us`).
const ACK_DELTA: Duration = Duration::from_millis(2);
/// Samples in a round before the delay is judged (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u32 = 8;
/// Most that bundles of segments may add to the length of a train.
const MAX_CUSHION: Duration = Duration::from_millis(1);
/// Payload of the bundles that a train may be longer by, in bytes (`hystart_ack_delay`).
const BUNDLES: f64 = 4.0 * 65_536.0;
/// Pace of slow start in windows an RTT (`tcp_update_pacing_rate`).
const SLOW_START_PACE: f64 = 2.0;

/// HyStart of one flow.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Classic {
    /// Acknowledging more than this offset ends the round; zero before the first.
    window_end: u64,
    round_start: Time,
    /// Last acknowledgement of the train that began with the round.
    train: Time,
    /// Least RTT of the flow, and of this round; [`Duration::MAX`] before the first sample.
    least: Duration,
    current: Duration,
    samples: u32,
}

impl Classic {
    pub(super) fn new() -> Classic {
        Classic {
            window_end: 0,
            round_start: Time::ZERO,
            train: Time::ZERO,
            least: Duration::MAX,
            current: Duration::MAX,
            samples: 0,
        }
    }

    pub(super) fn on_ack(&mut self, acked: &Acked, watched: Watched) -> Step {
        let Some(rtt) = acked.rtt else { return Step::Grow(1.0) };
        self.least = self.least.min(rtt);
        if acked.cumulative > self.window_end {
            self.window_end = acked.next;
            (self.round_start, self.train) = (acked.now, acked.now);
            (self.current, self.samples) = (Duration::MAX, 0);
        }
        if watched.cwnd < LOW_WINDOW * watched.mss {
            return Step::Grow(1.0);
        }
        let fills_path = self.continues_train(acked, watched);
        if fills_path || self.is_delayed(rtt) { Step::Leave } else { Step::Grow(1.0) }
    }

    /// Whether this acknowledgement belongs to a train that is as long as the path.
    fn continues_train(&mut self, acked: &Acked, watched: Watched) -> bool {
        if acked.now.since(self.train) > ACK_DELTA {
            return false;
        }
        self.train = acked.now;
        let cushion = acked.srtt.scale(BUNDLES / (SLOW_START_PACE * watched.cwnd));
        let whole = self.least + cushion.min(MAX_CUSHION);
        let longest = if watched.is_paced { whole } else { whole / 2 };
        acked.now.since(self.round_start) > longest
    }

    /// Counts a sample; whether the round's RTT has risen.
    fn is_delayed(&mut self, rtt: Duration) -> bool {
        self.current = self.current.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.current > self.least + significant_rise(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const MSS: f64 = 1000.0;

    fn at_us(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    /// A watch whose flow has had an RTT of 100 ms.
    fn watch() -> Classic {
        let mut watch = Classic::new();
        let rtt = Some(Duration::from_millis(100));
        // Nothing new, which begins no round.
        watch.on_ack(&Acked { rtt, cumulative: 0, ..testing::acked() }, window(10.0));
        watch
    }

    fn window(packets: f64) -> Watched {
        Watched { cwnd: packets * MSS, mss: MSS, is_paced: false }
    }

    /// Acknowledges `n` packets of one round, `gap` apart, in a window of `packets`. Returns how
    /// many were acknowledged when slow start ended.
    fn round(watch: &mut Classic, n: u64, gap_us: u64, rtt_us: u64, of: Watched) -> Option<u64> {
        (0..n).find(|i| {
            let acked = Acked {
                now: at_us(1_000_000 + i * gap_us),
                rtt: Some(Duration::from_micros(rtt_us)),
                cumulative: 11_000 + i,
                next: 1 << 40,
                ..testing::acked()
            };
            watch.on_ack(&acked, of) == Step::Leave
        })
    }

    /// Half of 100 ms and 1 ms more: 50.5 ms after the round began.
    #[test]
    fn a_train_of_half_the_round_trip_ends_slow_start() {
        let found = round(&mut watch(), 1000, 100, 100_000, window(100.0));
        assert_eq!(found, Some(506));
        let paced = Watched { is_paced: true, ..window(100.0) };
        assert_eq!(round(&mut watch(), 2000, 100, 100_000, paced), Some(1011));
    }

    /// At 100 ms and 10,000 packets of 1,000 bytes, the pace is 200 MB/s: 4 times 64 KB take
    /// 1.3 ms, which counts as 1 ms. With 100,000 packets they take 0.13 ms.
    #[test]
    fn bundles_of_segments_make_a_train_longer() {
        let gaps = |packets| round(&mut watch(), 100_000, 1, 100_000, window(packets));
        assert_eq!(gaps(10_000.0), Some(50_501));
        assert_eq!(gaps(100_000.0), Some(50_066));
    }

    #[test]
    fn a_gap_of_more_than_two_milliseconds_ends_the_train() {
        assert_eq!(round(&mut watch(), 1000, 2000, 100_000, window(100.0)), Some(26));
        assert_eq!(round(&mut watch(), 1000, 2001, 100_000, window(100.0)), None);
    }

    /// The ninth sample is judged: above 100 ms and an eighth.
    #[test]
    fn a_rise_of_the_round_trip_ends_slow_start() {
        assert_eq!(round(&mut watch(), 100, 10, 112_500, window(100.0)), None);
        assert_eq!(round(&mut watch(), 100, 10, 112_501, window(100.0)), Some(8));
        assert_eq!(round(&mut watch(), 8, 10, 200_000, window(100.0)), None);
    }

    #[test]
    fn small_windows_are_not_watched() {
        assert_eq!(round(&mut watch(), 1000, 100, 200_000, window(15.0)), None);
        assert_eq!(round(&mut watch(), 1000, 100, 200_000, window(16.0)), Some(8));
    }

    /// The first byte that was unsent when a round began, and no byte before it, begins the next.
    #[test]
    fn a_round_ends_after_the_first_unsent_byte() {
        let acked = |cumulative, next| Acked { cumulative, next, ..testing::acked() };
        let mut watch = watch();
        watch.on_ack(&acked(1000, 20_000), window(10.0));
        assert_eq!((watch.window_end, watch.samples), (20_000, 0), "of a small window too");
        watch.on_ack(&acked(20_000, 40_000), window(100.0));
        assert_eq!((watch.window_end, watch.samples), (20_000, 1));
        watch.on_ack(&acked(20_001, 41_000), window(100.0));
        assert_eq!((watch.window_end, watch.samples), (41_000, 1));
    }
}
