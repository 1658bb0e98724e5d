//! Messages at a rate.

use ratewire_units::{Duration, Time};

/// Longest time that a paced sender makes up for.
const SLACK: Duration = Duration::from_millis(10);

/// Messages that a sender owes to its rate.
pub(super) struct Pace {
    rate: f64,
    /// When the next message is due.
    pub(super) next: Time,
}

impl Pace {
    /// So many messages a second, the first at `next`.
    pub(super) fn new(rate: f64, next: Time) -> Pace {
        Pace { rate, next }
    }

    /// The pace of sender `me` of `senders` that send so many messages a second together. Senders
    /// take turns.
    pub(super) fn share(rate: f64, me: usize, senders: usize, now: Time) -> Pace {
        let (own, before) = (rate / senders as f64, me as f64 / rate);
        Pace::new(own, now + Duration::from_secs_f64(before))
    }

    /// Messages that are due. A sender that was held back skips those it cannot make up for.
    pub(super) fn due(&mut self, now: Time) -> u64 {
        let slack = Duration::from_secs_f64(1.0 / self.rate).max(SLACK);
        self.next = self.next.max(Time::from_ps(now.ps().saturating_sub(slack.ps())));
        if now < self.next { 0 } else { (now.since(self.next).secs() * self.rate) as u64 + 1 }
    }

    pub(super) fn sent(&mut self, messages: u64) {
        self.next += Duration::from_secs_f64(messages as f64 / self.rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_owes_what_is_due_and_forgives_what_is_late() {
        let mut pace = Pace::new(1_000.0, Time::from_millis(5));
        assert_eq!(pace.due(Time::from_millis(4)), 0);
        assert_eq!(pace.due(Time::from_millis(5)), 1);
        assert_eq!(pace.due(Time::from_millis(8)), 4);
        pace.sent(4);
        assert_eq!((pace.due(Time::from_millis(8)), pace.next), (0, Time::from_millis(9)));
        assert_eq!(pace.due(Time::from_secs(5)), 11);
        let mut slow = Pace::new(2.0, Time::from_secs(1));
        assert_eq!(slow.due(Time::from_secs(9)), 2);
    }

    #[test]
    fn senders_take_turns() {
        let next = |me| Pace::share(40.0, me, 4, Time::from_secs(1)).next;
        assert_eq!([0, 1, 3].map(next), [1_000, 1_025, 1_075].map(Time::from_millis));
        assert_eq!(Pace::share(40.0, 0, 4, Time::ZERO).due(Time::from_millis(99)), 1);
    }
}
