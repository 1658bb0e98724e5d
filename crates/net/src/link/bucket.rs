//! Token buckets of policers and shapers.

use ratewire_units::{Bytes, Duration, Rate, SerialTime, Time};

use crate::spec::TokenBucket;

/// A token bucket, full at the start of the run.
///
/// A bucket fills at a constant rate, so the time at which it is full says what it holds, as in the
/// generic cell rate algorithm (ITU-T I.371, virtual scheduling).
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    /// Time in which the tokens of a byte arrive; `None` if none do.
    per_byte: Option<SerialTime>,
    /// Time in which an empty bucket fills.
    depth: Duration,
    full_at: Time,
}

impl Bucket {
    pub(super) fn new(spec: &TokenBucket) -> Bucket {
        let per_byte = spec.rate.max(Rate::from_bps(1)).serial_time();
        let depth = per_byte.map_or(Duration::ZERO, |per_byte| per_byte.of(spec.burst));
        Bucket { per_byte, depth, full_at: Time::ZERO }
    }

    /// Takes the tokens of a packet, if the bucket holds as many; returns whether it does.
    pub(crate) fn takes(&mut self, now: Time, size: Bytes) -> bool {
        let needed = self.needed(size);
        let has_tokens = self.full_at.since(now) + needed <= self.depth;
        if has_tokens {
            self.full_at = self.full_at.max(now) + needed;
        }
        has_tokens
    }

    /// Takes the tokens of a packet at the first time from `now` on at which the bucket holds as
    /// many, and returns that time. A packet larger than the bucket waits until it is full.
    pub(crate) fn release(&mut self, now: Time, size: Bytes) -> Time {
        let needed = self.needed(size);
        let at = now.max(self.full_at - self.depth.saturating_sub(needed));
        self.full_at = self.full_at.max(at) + needed;
        at
    }

    /// Time in which the tokens of this many bytes arrive.
    fn needed(&self, size: Bytes) -> Duration {
        self.per_byte.map_or(Duration::ZERO, |per_byte| per_byte.of(size))
    }
}

/// A shaper: a token bucket, and the packet that waits for its tokens.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
    bucket: Bucket,
    /// Time at which the transmission of the last packet starts, once it has its tokens.
    starts: Time,
}

impl Shaper {
    pub(super) fn new(spec: &TokenBucket) -> Shaper {
        Shaper { bucket: Bucket::new(spec), starts: Time::ZERO }
    }

    /// Takes the tokens of a packet that leaves its queue now; returns when it starts.
    pub(super) fn start(&mut self, now: Time, size: Bytes) -> Time {
        self.starts = self.bucket.release(now, size);
        self.starts
    }

    /// When the packet that left the queue last starts, or started.
    pub(super) fn starts(&self) -> Time {
        self.starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Time {
        Time::ZERO + Duration::from_micros(n)
    }

    /// 8 Mbit/s: a byte a microsecond.
    fn bucket(burst: u64) -> Bucket {
        Bucket::new(&TokenBucket { rate: Rate::from_mbps(8), burst: Bytes::new(burst) })
    }

    #[test]
    fn a_full_bucket_passes_its_burst_and_then_its_rate() {
        let mut b = bucket(3000);
        let takes = |b: &mut Bucket, at, size| b.takes(us(at), Bytes::new(size));
        assert_eq!([0; 4].map(|at| takes(&mut b, at, 1000)), [true, true, true, false]);
        // A packet that is dropped takes no tokens.
        assert!(!takes(&mut b, 999, 1000) && takes(&mut b, 999, 999) && takes(&mut b, 1999, 1000));
        // It never holds more than its burst.
        assert!(takes(&mut b, 100_000, 3000) && !takes(&mut b, 100_000, 1));
        assert!(!takes(&mut b, 200_000, 3001), "a packet larger than the bucket");
    }

    #[test]
    fn a_shaper_delays_each_packet_until_it_has_its_tokens() {
        let mut b = bucket(1500);
        let mut release = |at, size| b.release(us(at), Bytes::new(size));
        assert_eq!(
            [release(0, 1000), release(0, 1000), release(0, 1000)],
            [us(0), us(500), us(1500)]
        );
        assert_eq!([release(2000, 500), release(9000, 1500)], [us(2000), us(9000)]);
        assert_eq!([release(9000, 2000), release(9000, 1000)], [us(10_500), us(12_000)]);
    }

    #[test]
    fn a_bucket_of_rate_zero_passes_its_burst() {
        let mut b = Bucket::new(&TokenBucket { rate: Rate::ZERO, burst: Bytes::new(1000) });
        let takes = [0, 0, 1_000_000].map(|at| b.takes(us(at), Bytes::new(500)));
        assert_eq!(takes, [true, true, false]);
    }
}
