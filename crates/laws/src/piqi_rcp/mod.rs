//! A **reconstruction** of PIQI-RCP, the proportional-integral, queue-independent RCP (Jain,
//! Loguinov).
//!
//! The available papers give neither its equation nor its constants. They state its results: no
//! queue term, stable under different RTTs, far less overshoot than RCP, max-min fair. Both
//! readings of "proportional-integral" that fit are implemented. The law here is derived, not
//! published. Units: bytes, seconds, bytes per second.
//!
//! # Router, at the end of each slot of `T = min(d0, slot)`
//! - `R = R (1 + (integral T/d0 (gamma C - y) - proportional (y - y_last)) / (gamma C))`.
//! - Everything else is as in [`rcp`](crate::rcp): `y`, `d0`, the first `R`, its limits, the
//!   header.
//!
//! # Host
//! - Upwards: `x += ramp (R - x)` in each RTT of its own, continuously, from 0 for a new flow. With
//!   `ramp = 0` it takes `R` at once. Downwards: at once (`fall = "at-once"`), or by the same ramp.
//!
//! # Stability (fluid, one RTT d, u = omega d)
//! The loop is `e^-ds (integral/d + proportional s) / s`, times `1 / (1 + ds/ramp)` for the ramp.
//! It is stable for
//!
//! | router | host | `integral` below |
//! |---|---|---|
//! | `proportional = p` | `ramp = 0` | `sqrt(1 - p^2) (pi/2 + arcsin p)` |
//! | for `p` = 0, 0.25, 0.5, 0.75 | | 1.571, 1.766, 1.814, 1.600 |
//! | `proportional = 0` | `ramp = k`, both ways | `u / sin u` where `u tan u = k` |
//! | for `k` = 0.25, 0.5, 1, 2 | | 1.040, 1.075, 1.135, 1.223 |
//! | both | both ways | p, k 0.5, 0.5 1.504; 0.25, 0.5 1.300; 0.75, 0.25 1.716 |
//!
//! The tests hold the law against this table: it settles 5 % below and swings 5 % above. With
//! `proportional = 0` a host that falls at once is between these two cases, and settles at least
//! 5 % beyond the second (measured, k 0.25 to 2). The slot adds its own length to `d`.
//!
//! # Defaults: integral 0.5, proportional 0, ramp 0.5, fall at once, gamma 0.95
//! The defaults are half of the bound of the second row. They follow from the results of PIQI-RCP
//! in the comparison slides:
//! - A join must cost far less queue than under RCP, so senders ramp: no rule at the router helps
//!   against newcomers who use `R` in their first round trip.
//! - Senders must fall at once. With the ramp both ways a queue lengthens round trips, which slows
//!   the senders' fall and makes the queue longer than RCP's.
//! - `proportional` shortens the queue further, but is off. If a slot holds few packets, `y` rises
//!   and falls from slot to slot. The product of the factors `1 - p change` then does not return to
//!   1, and the utilisation stays below gamma.

#[cfg(test)]
mod tests;

use alloc::vec;
use alloc::vec::Vec;

use crate::law::LawInfo;
use crate::options::{OptionKind, OptionSpec, Options, Part};
use crate::paced::AFTER_LOSS;
use crate::rcp::{Formats, Ramp, RateLaw, Rule, Slot, Variant, shared};
use crate::reason::Figure;

pub(crate) const INTEGRAL: OptionSpec = OptionSpec {
    name: "integral",
    kind: OptionKind::Number(0.0, 10.0),
    default: "0.5",
    part: Part::Port,
    doc: "share of the spare capacity given out per mean RTT. Reconstructed.",
};

pub(crate) const GAMMA: OptionSpec = OptionSpec {
    name: "gamma",
    kind: OptionKind::Number(0.01, 1.0),
    default: "0.95",
    part: Part::Port,
    doc: "share of the capacity to fill. Below 1, for nothing else drains a queue.",
};

const OPTIONS: &[OptionSpec] = &[
    INTEGRAL,
    OptionSpec {
        name: "proportional",
        kind: OptionKind::Number(0.0, 1.0),
        default: "0",
        part: Part::Port,
        doc: "share of a change of the arrival rate that R answers at once. Reconstructed.",
    },
    OptionSpec {
        name: "ramp",
        kind: OptionKind::Number(0.0, 10.0),
        default: "0.5",
        part: Part::Source,
        doc: "share of the way to the routers' rate that it goes in an RTT; 0 takes the rate \
              at once. Reconstructed.",
    },
    OptionSpec {
        name: "fall",
        kind: OptionKind::Word(&["at-once", "ramp"]),
        default: "at-once",
        part: Part::Source,
        doc: "whether a lower rate is taken at once or approached like a higher one. \
              Reconstructed.",
    },
    GAMMA,
    shared::SLOT,
    shared::INITIAL_RTT,
    shared::INITIAL_RATE,
    shared::MIN_PACKETS,
    shared::CAPACITY,
    shared::DESIRED,
    shared::PROBE,
    AFTER_LOSS,
];

/// PIQI-RCP, reconstructed, with its parameters.
pub type PiqiRcp = RateLaw<PiRule>;

/// `R` grows with spare capacity and resists changes of the arrival rate.
#[derive(Clone, Debug)]
pub struct PiRule {
    integral: f64,
    proportional: f64,
    /// `y` of this slot, when it has ended, and of the one before, B/s.
    input: f64,
    last_input: f64,
}

impl Rule for PiRule {
    const EQUATION: &'static str =
        "R = R (1 + (integral T/d0 (gamma C - y) - proportional (y - y_last)) / (gamma C))";

    fn figures(&self) -> Vec<Figure> {
        vec![
            Figure::one("integral", self.integral),
            Figure::one("proportional", self.proportional),
            Figure::rate("y_last", self.last_input),
        ]
    }

    fn growth(&mut self, slot: &Slot) -> f64 {
        self.last_input = core::mem::replace(&mut self.input, slot.input);
        let spare = self.integral * (slot.length / slot.rtt) * (slot.capacity - slot.input);
        let change = self.proportional * (slot.input - self.last_input);
        (spare - change) / slot.capacity
    }
}

impl Variant for PiRule {
    const INFO: LawInfo = LawInfo {
        name: "piqi-rcp",
        title: "PIQI-RCP",
        summary: "reconstructed proportional-integral RCP: no queue term, senders ramp to the routers' rate",
        explanation: include_str!("explain.md"),
        operations: "",
        options: OPTIONS,
    };
    const FORMATS: Formats = Formats { request: 5, reply: 6 };
    const EXTREMES: &'static [&'static [(&'static str, &'static str)]] = &[
        &[("proportional", "1"), ("integral", "10"), ("ramp", "10"), ("fall", "ramp")],
        &[("ramp", "0"), ("after_loss", "ignore"), ("initial_rtt", "1 us")],
    ];

    fn new(options: &Options) -> PiRule {
        let [integral, proportional] =
            ["integral", "proportional"].map(|name| options.number(name));
        PiRule { integral, proportional, input: 0.0, last_input: 0.0 }
    }
    fn ramp(options: &Options) -> Option<Ramp> {
        let share = options.number("ramp");
        let falls_at_once = options.word("fall") == "at-once";
        (share > 0.0).then_some(Ramp { share, falls_at_once })
    }
}
