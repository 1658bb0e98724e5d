//! Cost of a link by the length of the queue in front of it (section 4.2.1).
//!
//! Buffer space is the resource with a price. Bandwidth is not the overlay's to ration, because
//! each of its links shares the network with other traffic as one connection.

use core::iter::Sum;
use core::ops::{Add, RangeInclusive};

/// An amount of the overlay's own money.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Dollars(f64);

impl Dollars {
    /// Zero.
    pub const ZERO: Dollars = Dollars(0.0);

    /// This many dollars.
    pub const fn new(amount: f64) -> Dollars {
        Dollars(amount)
    }
    /// The number of dollars.
    pub const fn get(self) -> f64 {
        self.0
    }
    /// The smaller of two amounts.
    pub fn min(self, other: Dollars) -> Dollars {
        if other < self { other } else { self }
    }
    /// The larger of two amounts.
    pub fn max(self, other: Dollars) -> Dollars {
        if self < other { other } else { self }
    }
    /// Money left after paying `price`; below zero if `price` is more.
    pub fn less(self, price: Dollars) -> Dollars {
        Dollars(self.0 - price.0)
    }
    /// The amount over a benefit. What costs nothing needs no benefit.
    pub(crate) fn over(self, benefit: f64) -> Dollars {
        if self == Dollars::ZERO { self } else { self.times(1.0 / benefit) }
    }
    /// The amount times a factor.
    pub fn times(self, factor: f64) -> Dollars {
        Dollars(self.0 * factor)
    }
}

impl Add for Dollars {
    type Output = Dollars;
    fn add(self, other: Dollars) -> Dollars {
        Dollars(self.0 + other.0)
    }
}
impl Sum for Dollars {
    fn sum<I: Iterator<Item = Dollars>>(amounts: I) -> Dollars {
        amounts.fold(Dollars::ZERO, |a, b| a + b)
    }
}

/// Number of messages waiting in front of a link, averaged over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Occupancy(f64);

impl Occupancy {
    /// This many messages.
    pub const fn new(messages: f64) -> Occupancy {
        Occupancy(messages)
    }
    /// The number of messages.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// How the cost of a link grows with the queue in front of it. Each function is 0 for an empty
/// queue and `cap` at the soft limit, and goes on growing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Price {
    /// `S (g^(x/M) - 1) / (g - 1)` with the base g, above 1. Theory asks for the greatest benefit
    /// over the least, such as 20. The paper takes e, so that the price rises with the first
    /// waiting messages.
    Exponential {
        /// The base g.
        base: f64,
    },
    /// `S x/M`: the paper tried it and rejected it as unstable.
    Linear,
    /// `S (x/M)^2`: the paper tried it and rejected it as unstable.
    Square,
}

impl Default for Price {
    fn default() -> Price {
        Price::Exponential { base: core::f64::consts::E }
    }
}

impl Price {
    /// Names of the functions; the first is the default.
    pub const NAMES: &[&str] = &["exponential", "linear", "square"];
    /// Smallest and largest base of the exponential function.
    pub const BASES: RangeInclusive<f64> = 1.01..=1e6;

    /// The function with this name. `base` is that of the exponential one.
    pub fn named(name: &str, base: f64) -> Option<Price> {
        match name {
            "exponential" => Some(Price::Exponential { base }),
            "linear" => Some(Price::Linear),
            "square" => Some(Price::Square),
            _ => None,
        }
    }

    /// The function's name.
    pub fn name(self) -> &'static str {
        match self {
            Price::Exponential { .. } => "exponential",
            Price::Linear => "linear",
            Price::Square => "square",
        }
    }

    /// The base of the exponential function.
    pub fn base(self) -> Option<f64> {
        match self {
            Price::Exponential { base } => Some(base),
            Price::Linear | Price::Square => None,
        }
    }

    /// Cost of one message over a link with `waiting` messages in front of it.
    pub fn of(self, waiting: Occupancy, soft_limit: Occupancy, cap: Dollars) -> Dollars {
        let share = waiting.0 / soft_limit.0;
        let grown = match self {
            Price::Exponential { base } => libm::expm1(share * libm::log(base)) / (base - 1.0),
            Price::Linear => share,
            Price::Square => share * share,
        };
        cap.times(grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Occupancy = Occupancy::new(100.0);
    const CAP: Dollars = Dollars::new(20.0);

    /// Check values of the paper's function, computed by hand.
    #[test]
    fn the_exponential_has_its_check_values() {
        let table = [
            (0.0, 0.0),
            (10.0, 1.2241),
            (25.0, 3.3059),
            (50.0, 7.5508),
            (75.0, 13.0014),
            (90.0, 16.9891),
            (95.0, 18.4569),
            (100.0, 20.0),
        ];
        for (waiting, cost) in table {
            let found = Price::default().of(Occupancy::new(waiting), LIMIT, CAP).get();
            assert!((found - cost).abs() < 5e-5, "{found} at {waiting}");
        }
        let inverse = [(8.24, 1.0), (35.74, 5.0), (57.28, 9.0), (62.01, 10.0), (96.79, 19.0)];
        for (waiting, cost) in inverse {
            let found = Price::default().of(Occupancy::new(waiting), LIMIT, CAP).get();
            assert!((found - cost).abs() < 2e-3, "{found} at {waiting}");
        }
    }

    #[test]
    fn all_agree_at_both_ends_and_the_exponential_lies_between() {
        let at = |price: Price, waiting| price.of(Occupancy::new(waiting), LIMIT, CAP).get();
        let theory = Price::Exponential { base: 20.0 };
        for price in [Price::default(), theory, Price::Linear, Price::Square] {
            assert_eq!(at(price, 0.0), 0.0);
            assert!((at(price, 100.0) - 20.0).abs() < 1e-12);
            assert!(at(price, 150.0) > 20.0, "{price:?} stops at the soft limit");
        }
        assert!(at(Price::Square, 30.0) < at(Price::default(), 30.0));
        assert!(at(Price::default(), 30.0) < at(Price::Linear, 30.0));
    }

    /// Section 4.2.1: with base 20 the price stays near zero until about 20 messages wait.
    #[test]
    fn the_base_of_theory_rises_later() {
        let at = |base, waiting| {
            Price::Exponential { base }.of(Occupancy::new(waiting), LIMIT, CAP).get()
        };
        // 20 (20^0.2 - 1) / 19 and 20 (20^0.5 - 1) / 19.
        assert!((at(20.0, 20.0) - 0.86375).abs() < 1e-5, "{}", at(20.0, 20.0));
        assert!((at(20.0, 50.0) - 3.65488).abs() < 1e-5, "{}", at(20.0, 50.0));
        assert!(at(20.0, 20.0) < 0.35 * at(core::f64::consts::E, 20.0));
    }

    /// Results of earlier releases stay the same to the last bit.
    #[test]
    fn base_e_needs_no_logarithm() {
        for waiting in 0..300 {
            let waiting = f64::from(waiting) / 1.7;
            let plain = libm::expm1(waiting / 100.0) / (core::f64::consts::E - 1.0);
            let found = Price::default().of(Occupancy::new(waiting), LIMIT, CAP).get();
            assert_eq!(found, 20.0 * plain);
        }
    }

    #[test]
    fn names_lead_to_functions_and_back() {
        for name in Price::NAMES {
            assert_eq!(Price::named(name, 3.0).unwrap().name(), *name);
        }
        assert_eq!(Price::named(Price::NAMES[0], core::f64::consts::E), Some(Price::default()));
        assert_eq!(Price::named("cubic", 3.0), None);
    }
}
