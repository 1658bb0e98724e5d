//! A client's money: salary, savings, and how often it is paid (sections 4.2.2 and 4.2.3).
//!
//! What the paper leaves open is decided here:
//! - Savings are capped when the salary comes in, so that a client never holds more than S. (Capped
//!   just before, it could hold S plus a salary, and a link above its soft limit would still sell.)
//! - A client that was blocked and bought nothing keeps its period: the dearest message it bought
//!   says nothing. Speeding up for want of a purchase would have no end.

use ratewire_units::{Duration, Time};

use crate::params::Params;
use crate::price::Dollars;

/// A client's money and period.
#[derive(Clone, Debug)]
pub struct Budget {
    money: Dollars,
    period: Duration,
    payday: Time,
    /// Whether it wanted something it could not afford since it was last paid.
    blocked: bool,
    /// The most it paid for a message since then.
    dearest: Option<Dollars>,
}

/// What becomes of a message that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is paid for and goes.
    Buy,
    /// There is money for it, but chance keeps it back.
    Wait,
    /// There is too little money.
    Blocked,
}

impl Budget {
    /// A client that starts now, with a salary in hand.
    pub fn new(now: Time, params: &Params) -> Budget {
        Budget {
            money: params.salary.min(params.cap),
            period: params.first_period,
            payday: now + params.first_period,
            blocked: false,
            dearest: None,
        }
    }

    /// What it holds.
    pub fn money(&self) -> Dollars {
        self.money
    }
    /// Time between its salaries.
    pub fn period(&self) -> Duration {
        self.period
    }
    /// When it is paid next.
    pub fn payday(&self) -> Time {
        self.payday
    }

    /// It is paid, and its period adapts (equations 3 and 4).
    pub fn pay(&mut self, params: &Params) {
        self.money = (self.money + params.salary).min(params.cap);
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

    /// What becomes of a message that costs this much; `draw` is a number from 0 up to 1.
    pub fn decide(&mut self, cost: Dollars, draw: f64, params: &Params) -> Decision {
        if cost > self.money {
            self.blocked = true;
            return Decision::Blocked;
        }
        if params.randomise && draw * cost.get() >= 1.0 {
            return Decision::Wait;
        }
        self.money = self.money.less(cost);
        self.dearest = Some(self.dearest.filter(|most| *most >= cost).unwrap_or(cost));
        Decision::Buy
    }
}

/// `T U / (T + U)`: one more salary an interval U.
fn harmonic(period: Duration, interval: Duration) -> Duration {
    let (t, u) = (period.ps() as u128, interval.ps() as u128);
    let shorter = t * u / (t + u).max(1);
    Duration::from_ps((shorter as u64).max(1))
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
