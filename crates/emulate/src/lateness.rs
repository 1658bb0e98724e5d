//! How late things happened, counted by classes.

use ratewire_units::{Duration, Time};

/// Lateness above which something counts as late.
pub const LATE: Duration = Duration::from_millis(1);

/// Classes of lateness: eight for each doubling, from a microsecond on.
const CLASSES: usize = 8 * 24;

/// How late packets left the network, or hosts did their work.
#[derive(Clone, Debug)]
pub struct Lateness {
    /// What was counted.
    pub count: u64,
    /// What was later than [`LATE`].
    pub late: u64,
    /// Maximum lateness.
    pub worst: Duration,
    classes: Vec<u64>,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { count: 0, late: 0, worst: Duration::ZERO, classes: vec![0; CLASSES] }
    }
}

impl Lateness {
    /// Notes that something due at `due` happened at `at`.
    pub(crate) fn note(&mut self, due: Time, at: Time) {
        let late = at.since(due);
        self.count += 1;
        self.worst = self.worst.max(late);
        self.late += u64::from(late > LATE);
        self.classes[class(late)] += 1;
    }

    pub(crate) fn add(&mut self, other: &Lateness) {
        self.count += other.count;
        self.late += other.late;
        self.worst = self.worst.max(other.worst);
        self.classes.iter_mut().zip(&other.classes).for_each(|(own, other)| *own += other);
    }

    /// Share that was late.
    pub fn late_share(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.late as f64 / self.count as f64 }
    }

    /// Lateness that this share did not exceed, at most 9 % too high.
    pub fn quantile(&self, share: f64) -> Duration {
        let target = (share * self.count as f64).ceil() as u64;
        let mut sum = 0;
        for (class, count) in self.classes.iter().enumerate() {
            sum += count;
            if sum >= target.max(1) {
                return longest(class).min(self.worst);
            }
        }
        self.worst
    }
}

fn class(late: Duration) -> usize {
    let micros = late.ps() as f64 / 1e6;
    if micros <= 1.0 {
        return 0;
    }
    ((micros.log2() * 8.0).ceil() as usize).min(CLASSES - 1)
}

fn longest(class: usize) -> Duration {
    Duration::from_secs_f64(1e-6 * (class as f64 / 8.0).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(n: u64) -> Time {
        Time::ZERO + Duration::from_micros(n)
    }

    #[test]
    fn lateness_is_counted_and_quantiles_are_close() {
        let mut lateness = Lateness::default();
        (1..=1000).for_each(|late| lateness.note(micros(10), micros(10 + late)));
        assert_eq!((lateness.count, lateness.late), (1000, 0));
        assert_eq!(lateness.worst, Duration::from_micros(1000));
        let p99 = lateness.quantile(0.99).ps() as f64 / 1e6;
        assert!((990.0..1079.0).contains(&p99), "{p99}");
    }

    #[test]
    fn what_is_before_its_time_is_not_late() {
        let mut lateness = Lateness::default();
        lateness.note(micros(10), micros(5));
        assert_eq!(lateness.worst, Duration::ZERO);
    }

    #[test]
    fn what_two_have_counted_adds_up() {
        let [mut one, mut other] = [Lateness::default(), Lateness::default()];
        one.note(micros(0), micros(5));
        other.note(micros(0), micros(5000));
        one.add(&other);
        assert_eq!((one.count, one.late, one.worst), (2, 1, Duration::from_micros(5000)));
        assert_eq!(one.quantile(1.0), one.worst);
    }
}
