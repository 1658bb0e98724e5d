//! PIE, the proportional integral controller enhanced (RFC 8033).
//!
//! Latency is measured by timestamps (4.3, and the pseudo code of appendix A): it is the wait of
//! the packet that left last. The defaults of alpha and beta are those of appendix A.
//!
//! # Optional elements (section 5)
//! - in: ECN (5.1), derandomisation (5.4), the cap on increases (5.5).
//! - out: an estimate of the departure rate (5.2), which timestamps make needless.
//! - out: turning PIE off while the queue is short (5.3); an unlimited queue has no threshold for
//!   this.
//!
//! # Deliberate differences
//! - An empty queue has no latency, as in Linux. The RFC's code keeps the wait of the packet that
//!   left last.
//! - The probability decays while both samples of the latency are zero (4.2 and appendix A). In
//!   appendix B it decays while both are below half of the target.
//! - A mark resets the accumulated probability, as a drop does. The RFC resets it after a drop
//!   (5.4); Linux keeps it after a forced mark.
//! - A packet that finds no room leaves the accumulated probability as it is. Appendix B resets it.
//! - While a burst has allowance left, the accumulated probability does not grow, as in Linux. In
//!   appendix B it grows.

#[cfg(test)]
mod tests;

use ratewire_laws::OptionError;
use ratewire_laws::options::{OptionKind, OptionSpec, Options};
use ratewire_units::{Bytes, Duration, Time};

use super::discipline::{
    Arrival, Departure, Discipline, DisciplineInfo, NamedDiscipline, Treatment, option,
};
use super::timer::Timer;

/// PIE at one queue. Names in brackets are the RFC's.
#[derive(Clone, Debug)]
pub struct Pie {
    /// Target latency (QDELAY_REF).
    target: Duration,
    /// Timer of the probability's updates (T_UPDATE).
    updates: Timer,
    /// Gains, in 1/s.
    alpha: f64,
    beta: f64,
    /// Time for which all packets of a burst pass (MAX_BURST).
    max_burst: Duration,
    ecn: bool,
    /// Probability from which packets that can be marked are dropped too (mark_ecnth).
    ecn_threshold: f64,
    /// Bytes of a full packet (MEAN_PKTSIZE).
    packet: Bytes,
    /// Probability of a drop (drop_prob_).
    probability: f64,
    /// Wait of the packet that left last (current_qdelay).
    delay: Duration,
    /// Value of `delay` at the last update (qdelay_old_).
    old_delay: Duration,
    /// Rest of the current burst's allowance (burst_allowance_).
    allowance: Duration,
    /// Sum of the probabilities of packets since the last drop (accu_prob_).
    accumulated: f64,
}

const OPTIONS: &[OptionSpec] = &[
    option("target", OptionKind::Time, "15 ms", "Latency to hold. RFC 8033, 4.2: QDELAY_REF."),
    option(
        "update",
        OptionKind::Time,
        "15 ms",
        "Time between updates of the drop probability. RFC 8033, 4.2: T_UPDATE.",
    ),
    option(
        "alpha",
        OptionKind::Number(0.0, 100.0),
        "0.125",
        "Gain of the deviation from the target, in 1/s. RFC 8033, appendix A: 1/8.",
    ),
    option(
        "beta",
        OptionKind::Number(0.0, 100.0),
        "1.25",
        "Gain of the change of the latency, in 1/s. RFC 8033, appendix A: 1 + 1/4.",
    ),
    option(
        "burst",
        OptionKind::Time,
        "150 ms",
        "Time for which packets pass after the queue was short. RFC 8033, 4.4: MAX_BURST.",
    ),
    option(
        "ecn",
        OptionKind::Switch,
        "false",
        "Mark packets that can be marked, instead of dropping them.",
    ),
    option(
        "ecn_threshold",
        OptionKind::Number(0.0, 1.0),
        "0.1",
        "Drop probability from which packets that can be marked are dropped too. RFC 8033, 5.1: mark_ecnth.",
    ),
];

/// Below this sum of probabilities no packet is dropped (5.4).
const LEAST_ACCUMULATED: f64 = 0.85;
/// From this sum of probabilities on a packet is dropped without a draw (5.4).
const MOST_ACCUMULATED: f64 = 8.5;
/// Probability below which a latency under half the target lets all packets pass (4.1).
const LOW_PROBABILITY: f64 = 0.2;
/// From this probability on, an update adds at most `MOST_GROWTH` (5.5).
const HIGH_PROBABILITY: f64 = 0.1;
const MOST_GROWTH: f64 = 0.02;
/// Factor of the probability at an update without latency (4.2).
const DECAY: f64 = 0.98;

/// Divisor of both gains at this probability (4.2).
fn divisor(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

impl Pie {
    /// Works out the updates up to `now`, at multiples of the interval. The latency has not changed
    /// since it was last measured.
    fn catch_up(&mut self, now: Time) {
        while self.updates.take(now).is_some() {
            let before = (self.probability, self.old_delay, self.allowance);
            self.update();
            if before == (self.probability, self.old_delay, self.allowance) {
                self.updates.skip(now);
            }
        }
    }

    /// One update (4.2, 4.4, 5.5).
    fn update(&mut self) {
        let (delay, old, target) = (self.delay.secs(), self.old_delay.secs(), self.target.secs());
        let change = self.alpha * (delay - target) + self.beta * (delay - old);
        let change = change / divisor(self.probability);
        let most = if self.probability >= HIGH_PROBABILITY { MOST_GROWTH } else { 1.0 };
        self.probability += change.min(most);
        if self.delay.is_zero() && self.old_delay.is_zero() {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old_delay = self.delay;
        self.allowance = self.allowance.saturating_sub(self.updates.interval());
    }

    /// Whether to drop a packet that finds this many bytes waiting (4.1, 5.4).
    fn drops_early(&mut self, waiting: Bytes, draw: &mut dyn FnMut() -> f64) -> bool {
        let is_short = self.old_delay < self.target / 2 && self.probability < LOW_PROBABILITY;
        if is_short || waiting <= self.packet * 2 {
            return false;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        if self.accumulated < LEAST_ACCUMULATED {
            return false;
        }
        let drops = self.accumulated >= MOST_ACCUMULATED || draw() < self.probability;
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }
}

impl NamedDiscipline for Pie {
    const INFO: DisciplineInfo = DisciplineInfo {
        name: "pie",
        title: "PIE",
        summary: "Proportional integral controller enhanced (RFC 8033): drops at random, so as to hold a latency",
        explanation: include_str!("explain.md"),
        example: "discipline = { pie = { target = \"15 ms\", ecn = true } }",
        options: OPTIONS,
    };

    fn from_options(o: &Options, packet: Bytes) -> Result<Pie, OptionError> {
        Ok(Pie {
            target: o.time("target"),
            updates: Timer::new(o.time("update"), Self::INFO.title)?,
            alpha: o.number("alpha"),
            beta: o.number("beta"),
            max_burst: o.time("burst"),
            ecn: o.switch("ecn"),
            ecn_threshold: o.number("ecn_threshold"),
            packet,
            probability: 0.0,
            delay: Duration::ZERO,
            old_delay: Duration::ZERO,
            allowance: o.time("burst"),
            accumulated: 0.0,
        })
    }
}

impl Discipline for Pie {
    fn marks(&self) -> bool {
        self.ecn
    }
    fn draws(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, arrival: &Arrival, draw: &mut dyn FnMut() -> f64) -> Treatment {
        self.catch_up(arrival.now);
        let half = self.target / 2;
        if self.probability == 0.0 && self.delay < half && self.old_delay < half {
            self.allowance = self.max_burst;
        }
        if !self.allowance.is_zero() || !self.drops_early(arrival.backlog.bytes, draw) {
            return Treatment::Pass;
        }
        Treatment::signal(self.ecn && self.probability < self.ecn_threshold)
    }

    fn on_departure(&mut self, departure: &Departure) -> Treatment {
        self.catch_up(departure.now);
        self.delay = departure.sojourn;
        Treatment::Pass
    }

    fn on_empty(&mut self, now: Time) {
        self.catch_up(now);
        self.delay = Duration::ZERO;
    }
}
