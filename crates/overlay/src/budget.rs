//! A client's money: salary, savings, and salary period (sections 4.2.2 and 4.2.3).
//!
//! Decisions that the paper leaves open:
//! - Savings are capped after a salary is paid, so that a client never holds more than S. If they
//!   were capped before, a client could hold S plus a salary, and a link above its soft limit would
//!   still sell.
//! - A client that was blocked and bought nothing keeps its period: there is no dearest message to
//!   judge by. If such a client shortened its period, it would shorten without end.
//! - A large message counts as several. A client that can pay for one of them may send it, and owes
//!   the rest: otherwise a message above the cap could never be sent.

use ratewire_units::{Duration, Time};

use crate::params::Params;
use crate::price::Dollars;

/// A client's money and period.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Money that the client gets at a time.
    salary: Dollars,
    money: Dollars,
    period: Duration,
    payday: Time,
    /// Whether a message was too dear since the client was last paid.
    blocked: bool,
    /// Highest price that the client paid since then.
    dearest: Option<Dollars>,
}

/// Decision about a message that a client wants to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The client pays, and the message goes.
    Buy,
    /// There is money for the message, but chance delays it.
    Wait,
    /// There is too little money.
    Blocked,
}

impl Budget {
    /// A budget that starts now, with a salary in hand: `salary`, or that of all clients.
    pub fn new(now: Time, salary: Option<Dollars>, params: &Params) -> Budget {
        let salary = salary.unwrap_or(params.salary);
        Budget {
            salary,
            money: salary.min(params.cap),
            period: params.first_period,
            payday: now + params.first_period,
            blocked: false,
            dearest: None,
        }
    }

    /// Money that the client gets at a time.
    pub fn salary(&self) -> Dollars {
        self.salary
    }
    /// Money that the client holds.
    pub fn money(&self) -> Dollars {
        self.money
    }
    /// Time between its salaries.
    pub fn period(&self) -> Duration {
        self.period
    }
    /// Time of the next salary.
    pub fn payday(&self) -> Time {
        self.payday
    }

    /// Pays the salaries that were due by `until`, each at its time.
    pub fn catch_up(&mut self, until: Time, params: &Params) {
        if self.payday > until {
            return;
        }
        self.pay(params);
        if self.payday <= until {
            // The client asked for nothing meanwhile: its period stays.
            let missed = until.since(self.payday).ps() / self.period.ps().max(1) + 1;
            self.money = (self.money + self.salary.times(missed as f64)).min(params.cap);
            self.payday += self.period * missed;
        }
    }

    /// Sets the clock back.
    pub fn set_back(&mut self, by: Duration) {
        self.payday = self.payday - by;
    }

    /// Forgoes salaries before `earliest`, as of a client that has enough.
    pub fn skip_to(&mut self, earliest: Time) {
        self.payday = self.payday.max(earliest);
    }

    /// Pays a salary and adapts the period (equations 3 and 4).
    pub fn pay(&mut self, params: &Params) {
        self.money = (self.money + self.salary).min(params.cap);
        if let (true, Some(dearest)) = (self.blocked, self.dearest) {
            self.period = if dearest < params.threshold {
                harmonic(self.period, params.interval)
            } else {
                self.period * 2
            };
        }
        self.blocked = false;
        self.dearest = None;
        self.payday += self.period;
    }

    /// Decides about a message that counts as `counted` of this cost. The client must be able to
    /// pay for `at_once` of them, or have all that it can hold; `draw` is a random number from 0 up
    /// to 1. What costs nothing needs no money.
    pub fn decide(
        &mut self,
        cost: Dollars,
        (counted, at_once): (u32, u32),
        draw: f64,
        params: &Params,
    ) -> Decision {
        let needed = cost.times(f64::from(at_once)).min(params.cap.max(cost));
        if cost > Dollars::ZERO && needed > self.money {
            self.blocked = true;
            return Decision::Blocked;
        }
        if params.randomise && draw * cost.get() >= 1.0 {
            return Decision::Wait;
        }
        self.money = self.money.less(cost.times(f64::from(counted)));
        self.dearest = Some(self.dearest.filter(|most| *most >= cost).unwrap_or(cost));
        Decision::Buy
    }
}

/// `T U / (T + U)`: one more salary in an interval U.
fn harmonic(period: Duration, interval: Duration) -> Duration {
    let (t, u) = (period.ps() as u128, interval.ps() as u128);
    let shorter = t * u / (t + u).max(1);
    Duration::from_ps((shorter as u64).max(1))
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
