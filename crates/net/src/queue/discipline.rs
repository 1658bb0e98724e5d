//! Which packets a queue drops or marks early: RED and CoDel.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Duration, Time};

use crate::random::unit;
use crate::spec::{CoDelSpec, RedSpec};

/// What to do with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    /// Mark it if it can be marked, else drop it.
    MarkOrDrop,
    Drop,
}

/// Random early detection (Floyd and Jacobson 1993), with the gentle slope above `max`.
#[derive(Clone, Debug)]
pub(crate) struct Red {
    spec: RedSpec,
    average: f64,
    /// Packets since the last one dropped or marked.
    count: f64,
    /// Since when nothing waits, as far as is known; up to then the average is worked out.
    idle_since: Option<Time>,
}

impl Red {
    pub(crate) fn new(spec: RedSpec) -> Red {
        Red { spec, average: 0.0, count: 0.0, idle_since: Some(Time::ZERO) }
    }

    /// The queue has become empty.
    pub(crate) fn emptied(&mut self, now: Time) {
        self.idle_since = Some(now);
    }

    /// A packet, which takes `packet_time` to send, arrives at a queue of `waiting` bytes.
    pub(crate) fn on_arrival(
        &mut self,
        now: Time,
        waiting: Bytes,
        packet_time: Option<Duration>,
        random: &mut Xoshiro256PlusPlus,
    ) -> Verdict {
        let w = self.spec.weight;
        let idle = self.idle_since.take().filter(|_| waiting == Bytes::ZERO);
        if let (Some(since), Some(packet_time)) = (idle, packet_time) {
            // As if as many packets as the idle time had room for had found it empty.
            let missed = now.since(since).ps() as f64 / packet_time.ps().max(1) as f64;
            self.average *= libm::pow(1.0 - w, missed);
        }
        // Still empty unless this packet has to wait, which the next one will see.
        self.idle_since = (waiting == Bytes::ZERO).then_some(now);
        self.average += w * (waiting.as_f64() - self.average);
        let (min, max) = (self.spec.min.as_f64(), self.spec.max.as_f64());
        let probability = if self.average < min {
            self.count = 0.0;
            return Verdict::Pass;
        } else if self.average < max {
            self.spec.max_probability * (self.average - min) / (max - min)
        } else if self.average < 2.0 * max {
            let p = self.spec.max_probability;
            p + (1.0 - p) * (self.average - max) / max
        } else {
            self.count = 0.0;
            return Verdict::Drop;
        };
        // Spreads the drops evenly (1993 paper, section 7).
        let spread = probability / (1.0 - self.count * probability).max(1e-9);
        if unit(random.next_u64()) < spread {
            self.count = 0.0;
            if self.spec.ecn { Verdict::MarkOrDrop } else { Verdict::Drop }
        } else {
            self.count += 1.0;
            Verdict::Pass
        }
    }
}

/// Controlled delay (RFC 8289, section 5).
#[derive(Clone, Debug)]
pub(crate) struct CoDel {
    spec: CoDelSpec,
    /// When the delay will have been above target for an interval.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    last_count: u32,
    /// Size of the largest packet so far: a standing queue is more than one of these.
    largest: Bytes,
}

impl CoDel {
    pub(crate) fn new(spec: CoDelSpec) -> CoDel {
        CoDel {
            spec,
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            largest: Bytes::ZERO,
        }
    }

    fn control_law(&self, from: Time) -> Time {
        from + self.spec.interval.scale(1.0 / libm::sqrt(f64::from(self.count)))
    }

    /// A packet of `size` that waited `sojourn` is next to leave, and `left` bytes wait behind it.
    /// Ask again with the next packet when this one is dropped.
    pub(crate) fn on_departure(
        &mut self,
        now: Time,
        sojourn: Duration,
        left: Bytes,
        size: Bytes,
    ) -> Verdict {
        self.largest = self.largest.max(size);
        let ok_to_drop = if sojourn < self.spec.target || left <= self.largest {
            self.first_above = None;
            false
        } else {
            let due = *self.first_above.get_or_insert(now + self.spec.interval);
            now >= due
        };
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            } else if now >= self.drop_next {
                self.count += 1;
                self.drop_next = self.control_law(self.drop_next);
                return self.hit();
            }
            return Verdict::Pass;
        }
        if !ok_to_drop {
            return Verdict::Pass;
        }
        self.dropping = true;
        // Resumes near the rate that controlled the queue last time (RFC 8289, 4.3).
        let delta = self.count - self.last_count;
        let recent = now.since(self.drop_next) < self.spec.interval * 16;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
        self.hit()
    }

    fn hit(&self) -> Verdict {
        if self.spec.ecn { Verdict::MarkOrDrop } else { Verdict::Drop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn red_passes_below_min_drops_above_twice_max_and_some_between() {
        let spec = RedSpec {
            min: Bytes::new(10_000),
            max: Bytes::new(30_000),
            max_probability: 0.1,
            weight: 1.0,
            ecn: false,
        };
        let mut random = stream(1, "red", 0);
        let mut share = |waiting: u64| {
            let mut red = Red::new(spec.clone());
            red.idle_since = None;
            let hits = (0..10_000)
                .filter(|_| {
                    red.on_arrival(Time::ZERO, Bytes::new(waiting), None, &mut random)
                        != Verdict::Pass
                })
                .count();
            hits as f64 / 10_000.0
        };
        assert_eq!(share(9_000), 0.0);
        assert_eq!(share(60_000), 1.0);
        // The even spreading makes the gap uniform on 1..1/p, whose mean is about 1/(2p).
        let between = share(20_000);
        assert!((0.08..0.11).contains(&between), "{between}");
    }

    #[test]
    fn codel_drops_only_after_an_interval_above_target_and_then_faster() {
        let ms = Duration::from_millis;
        let spec = CoDelSpec { target: ms(5), interval: ms(100), ecn: false };
        let mut codel = CoDel::new(spec);
        let mtu = Bytes::new(1500);
        let mut drops = Vec::new();
        for i in 0..1000 {
            let now = Time::ZERO + ms(i);
            if codel.on_departure(now, ms(20), Bytes::new(30_000), mtu) == Verdict::Drop {
                drops.push(i);
            }
        }
        assert_eq!(&drops[..4], &[100, 200, 271, 329], "interval / sqrt(count) apart");
        assert_eq!(
            codel.on_departure(Time::ZERO + ms(1000), ms(1), Bytes::new(30_000), mtu),
            Verdict::Pass,
            "below target it stops"
        );
        assert!(!codel.dropping);
    }

    /// The average of a queue that was long and through which packets then pass without waiting.
    #[test]
    fn red_forgets_with_idle_time_and_not_only_with_packets() {
        let spec = RedSpec {
            min: Bytes::new(10_000),
            max: Bytes::new(30_000),
            max_probability: 0.1,
            weight: 0.01,
            ecn: false,
        };
        let mut random = stream(1, "red", 0);
        let mut red = Red::new(spec);
        let ms = |n| Time::ZERO + Duration::from_millis(n);
        let packet = Some(Duration::from_millis(1));
        for i in 0..1000 {
            red.on_arrival(ms(i), Bytes::new(25_000), packet, &mut random);
        }
        assert!(red.average > 24_000.0, "{}", red.average);
        red.emptied(ms(1000));
        red.on_arrival(ms(1010), Bytes::ZERO, packet, &mut random);
        let after_ten = red.average;
        assert!((after_ten / 25_000.0 - 0.99f64.powi(11)).abs() < 0.01, "{after_ten}");
        // That packet did not wait, so the time after it is idle time too.
        red.on_arrival(ms(1110), Bytes::ZERO, packet, &mut random);
        assert!((red.average / after_ten - 0.99f64.powi(101)).abs() < 0.01, "{}", red.average);
        // This one finds somebody waiting: the queue was not empty.
        let before = red.average;
        red.on_arrival(ms(2000), Bytes::new(1), packet, &mut random);
        assert!((red.average / before - 0.99).abs() < 0.001);
    }

    #[test]
    fn codel_leaves_a_queue_of_one_large_packet_alone() {
        let ms = Duration::from_millis;
        let spec = CoDelSpec { target: ms(5), interval: ms(100), ecn: false };
        let mut codel = CoDel::new(spec);
        let small = Bytes::new(40);
        codel.on_departure(Time::ZERO, ms(20), Bytes::new(3000), Bytes::new(1500));
        for i in 0..1000 {
            let verdict = codel.on_departure(Time::ZERO + ms(i), ms(20), Bytes::new(1500), small);
            assert_eq!(verdict, Verdict::Pass);
        }
    }
}
