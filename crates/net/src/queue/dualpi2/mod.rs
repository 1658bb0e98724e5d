//! DualPI2, the dual queue coupled AQM for low latency, low loss and scalable throughput (RFC
//! 9332).
//!
//! Names and pseudo code are those of appendix A, with the edge cases of A.2. Queue 0 is the
//! Classic queue (C), queue 1 the low-latency queue (L).
//!
//! # Updates (`dualpi2_update`)
//! Between two updates, the backlog changes only at arrivals and departures, and the wait of a
//! queue's head grows with time. [`DualPi2::catch_up`] computes each past update with the waits at
//! its time.
//!
//! # Deliberate differences
//! - The scheduler is weighted round robin by bytes with a credit, as in Linux's sch_dualpi2: the
//!   RFC's pseudo code leaves `scheduler()` open.
//! - The limit of both queues is the link's `queue`; an arriving packet that finds no room is
//!   dropped. The RFC tests for a full-size packet's room, whatever the size of the arriving one.

#[cfg(test)]
mod tests;

use ratewire_laws::OptionError;
use ratewire_laws::options::{OptionKind, OptionSpec, Options};
use ratewire_units::{Bytes, Duration, Time};

use super::discipline::{
    Arrival, Departure, Discipline, DisciplineInfo, NamedDiscipline, Treatment, option,
};
use super::sorted::Queues;
use super::timer::Timer;
use crate::packet::Ecn;

/// The Classic queue.
const CLASSIC: u32 = 0;
/// The low-latency queue.
const LOW_LATENCY: u32 = 1;

/// DualPI2 at one link. Names in brackets are the RFC's.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    /// Target of the wait in the Classic queue.
    target: Duration,
    /// Timer of the probabilities' updates (Tupdate).
    updates: Timer,
    /// Gains, in 1/s.
    alpha: f64,
    beta: f64,
    /// Coupling factor (k).
    coupling: f64,
    /// Wait above which the low-latency queue marks by itself (minTh), and the further wait over
    /// which its probability rises to 1 (range).
    ramp_start: Duration,
    ramp: Duration,
    /// Share of the Classic queue while packets wait in both queues.
    classic_share: f64,
    /// Bytes of a full packet.
    packet: Bytes,
    /// Base probability (p').
    base: f64,
    /// Wait at the last update (prevq).
    previous: Duration,
    /// Times at which the heads of both queues came, as of the last call.
    heads: [Option<Time>; 2],
    /// Sums of probabilities since the last mark or drop, by queue (count of recur).
    counts: [f64; 2],
    /// The Classic queue is next if this is above zero, else the low-latency queue.
    credit: f64,
}

const OPTIONS: &[OptionSpec] = &[
    option(
        "target",
        OptionKind::Time,
        "15 ms",
        "Wait of the Classic queue to hold. RFC 9332, A.1.",
    ),
    option(
        "update",
        OptionKind::Time,
        "15 ms",
        "Time between updates of the probabilities. RFC 9332, A.1: Tupdate, the lesser of the target and a third of 100 ms.",
    ),
    option(
        "alpha",
        OptionKind::Number(0.0, 1000.0),
        "0.15",
        "Integral gain in 1/s. RFC 9332, A.1: 0.1 Tupdate / RTT_max^2, RTT_max 100 ms.",
    ),
    option(
        "beta",
        OptionKind::Number(0.0, 1000.0),
        "3",
        "Proportional gain in 1/s. RFC 9332, A.1: 0.3 / RTT_max.",
    ),
    option(
        "coupling",
        OptionKind::Number(0.1, 100.0),
        "2",
        "Probability of a low-latency packet's mark over the root of that of a Classic packet's drop. RFC 9332, A.1: k.",
    ),
    option(
        "ramp_start",
        OptionKind::Time,
        "800 us",
        "Wait of a low-latency packet from which it may be marked by its own queue. RFC 9332, A.1: minTh.",
    ),
    option(
        "ramp",
        OptionKind::Time,
        "400 us",
        "Wait beyond `ramp_start` from which every such packet is marked; 0 for a step. RFC 9332, A.1: range.",
    ),
    option(
        "classic_share",
        OptionKind::Number(0.001, 0.999),
        "0.1",
        "Share of the Classic queue while packets wait in both, as in Linux's sch_dualpi2 (c_protection).",
    ),
];

/// A low-latency packet is marked by its own queue only if more packets than these wait behind it
/// (Th_len).
const LEAST_BEHIND: u32 = 1;
impl DualPi2 {
    /// Probability of a mark or drop of a Classic packet (p_C).
    fn classic(&self) -> f64 {
        self.base * self.base
    }

    /// Probability of a low-latency packet's mark, coupled to the Classic queue's (p_CL).
    fn coupled(&self) -> f64 {
        (self.coupling * self.base).min(1.0)
    }

    /// Whether every low-latency packet is marked already, so that only drops can slow senders
    /// further (p_CL >= p_Lmax).
    fn is_overloaded(&self) -> bool {
        self.coupled() >= 1.0
    }

    /// Probability of a mark by the low-latency queue itself (laqm, p'_L).
    fn native(&self, sojourn: Duration, behind: u32) -> f64 {
        if behind <= LEAST_BEHIND || sojourn <= self.ramp_start {
            return 0.0;
        }
        let above = sojourn.saturating_sub(self.ramp_start).secs();
        if self.ramp.is_zero() { 1.0 } else { (above / self.ramp.secs()).min(1.0) }
    }

    /// Returns true for this share of calls, evenly spaced (recur).
    fn recurs(&mut self, queue: u32, likelihood: f64) -> bool {
        let count = &mut self.counts[queue as usize];
        *count += likelihood;
        let hits = *count > 1.0;
        if hits {
            *count -= 1.0;
        }
        hits
    }

    /// Works out the updates up to `now`, at multiples of the interval. The heads have not changed
    /// since the last call.
    fn catch_up(&mut self, now: Time) {
        while let Some(at) = self.updates.take(now) {
            let before = (self.base, self.previous);
            self.update(at);
            if self.heads == [None, None] && before == (self.base, self.previous) {
                self.updates.skip(now);
            }
        }
    }

    /// One update (dualpi2_update of A.2), from the longer wait of both queues' heads.
    fn update(&mut self, at: Time) {
        let waits = self.heads.map(|came| came.map_or(Duration::ZERO, |came| at.since(came)));
        let wait = waits[0].max(waits[1]);
        let (wait_s, target, previous) = (wait.secs(), self.target.secs(), self.previous.secs());
        self.base += self.alpha * (wait_s - target) + self.beta * (wait_s - previous);
        self.base = self.base.clamp(0.0, 1.0);
        self.previous = wait;
    }

    /// Treatment of a departing Classic packet (dualpi2_dequeue of A.2).
    fn treat_classic(&mut self) -> Treatment {
        let likelihood = self.classic();
        if !self.recurs(CLASSIC, likelihood) {
            return Treatment::Pass;
        }
        // From p_Cmax on, overload disables ECN.
        let most = (1.0 / (self.coupling * self.coupling)).min(1.0);
        Treatment::signal(likelihood < most)
    }

    /// Treatment of a departing low-latency packet (dualpi2_dequeue of A.2).
    fn treat_low_latency(&mut self, departure: &Departure) -> Treatment {
        let (classic, coupled) = (self.classic(), self.coupled());
        if self.is_overloaded() && self.recurs(LOW_LATENCY, classic) {
            return Treatment::Drop;
        }
        let native = if self.is_overloaded() {
            0.0
        } else {
            self.native(departure.sojourn, departure.backlog.packets)
        };
        match self.recurs(LOW_LATENCY, native.max(coupled)) {
            true => Treatment::MarkOrDrop,
            false => Treatment::Pass,
        }
    }

    /// Changes the credit if packets wait in the other queue. A queue that is alone takes nothing
    /// from the other one.
    fn adjust_credit(&mut self, departure: &Departure) {
        let bytes = departure.size.as_f64();
        if departure.queue == CLASSIC && self.heads[LOW_LATENCY as usize].is_some() {
            self.credit -= (1.0 - self.classic_share) * bytes;
        } else if departure.queue == LOW_LATENCY && self.heads[CLASSIC as usize].is_some() {
            self.credit += self.classic_share * bytes;
        }
    }
}

impl NamedDiscipline for DualPi2 {
    const INFO: DisciplineInfo = DisciplineInfo {
        name: "dualpi2",
        title: "DualPI2",
        summary: "Dual queue coupled AQM (RFC 9332): a short queue for scalable senders (L4S) beside one for all others",
        explanation: include_str!("explain.md"),
        example: "discipline = { dualpi2 = { target = \"15 ms\", coupling = 2 } }",
        options: OPTIONS,
    };

    fn from_options(o: &Options, packet: Bytes) -> Result<DualPi2, OptionError> {
        let classic_share = o.number("classic_share");
        Ok(DualPi2 {
            target: o.time("target"),
            updates: Timer::new(o.time("update"), Self::INFO.title)?,
            alpha: o.number("alpha"),
            beta: o.number("beta"),
            coupling: o.number("coupling"),
            ramp_start: o.time("ramp_start"),
            ramp: o.time("ramp"),
            classic_share,
            packet,
            base: 0.0,
            previous: Duration::ZERO,
            heads: [None, None],
            counts: [0.0, 0.0],
            credit: first_credit(classic_share, packet),
        })
    }
}

impl Discipline for DualPi2 {
    fn marks(&self) -> bool {
        true
    }
    fn sorts(&self) -> bool {
        true
    }

    /// `dualpi2_enqueue`: ECT(1) and CE go to the low-latency queue.
    fn place(&mut self, arrival: &Arrival, _: &mut dyn FnMut() -> f64) -> u32 {
        self.catch_up(arrival.now);
        let queue = match arrival.ecn {
            Ecn::Scalable | Ecn::Marked => LOW_LATENCY,
            Ecn::NotCapable | Ecn::Capable => CLASSIC,
        };
        self.heads[queue as usize].get_or_insert(arrival.now);
        queue
    }

    fn choose(&mut self, now: Time, queues: Queues<'_>) -> u32 {
        self.catch_up(now);
        match (queues.head(CLASSIC), queues.head(LOW_LATENCY)) {
            (Some(_), None) => CLASSIC,
            (Some(_), Some(_)) if self.credit > 0.0 => CLASSIC,
            _ => LOW_LATENCY,
        }
    }

    fn on_departure(&mut self, departure: &Departure) -> Treatment {
        self.heads[departure.queue as usize & 1] = departure.next.map(|head| head.came);
        self.adjust_credit(departure);
        if departure.queue == CLASSIC {
            self.treat_classic()
        } else {
            self.treat_low_latency(departure)
        }
    }

    fn on_empty(&mut self, now: Time) {
        self.catch_up(now);
        self.heads = [None, None];
        self.credit = first_credit(self.classic_share, self.packet);
    }
}

/// Credit of the Classic queue after an idle time. It is negative for a share below one half: the
/// low-latency queue then goes first.
fn first_credit(classic_share: f64, packet: Bytes) -> f64 {
    (2.0 * classic_share - 1.0) * packet.as_f64()
}
