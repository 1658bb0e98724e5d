//! Random early detection (Floyd and Jacobson 1993), with the gentle slope above `max`.

#[cfg(test)]
mod tests;

use ratewire_laws::OptionError;
use ratewire_laws::options::{OptionKind, OptionSpec, Options};
use ratewire_units::{Bytes, Time};

use super::discipline::{Arrival, Discipline, DisciplineInfo, NamedDiscipline, Treatment, option};

/// RED at one queue.
#[derive(Clone, Debug)]
pub struct Red {
    /// Below this average queue nothing is dropped.
    min: Bytes,
    /// At this average queue the drop probability is `max_probability`; at twice this it is 1.
    max: Bytes,
    max_probability: f64,
    /// Gain of the average.
    weight: f64,
    /// Whether packets that can be marked are marked instead of dropped, below twice `max`.
    ecn: bool,
    average: f64,
    /// Packets since the last one dropped or marked.
    count: f64,
    /// Time from which on the queue is known to be empty. The average is worked out up to it.
    idle_since: Option<Time>,
}

const OPTIONS: &[OptionSpec] = &[
    option(
        "min",
        OptionKind::Size(None),
        "5 packets",
        "Average queue below which nothing is dropped.",
    ),
    option(
        "max",
        OptionKind::Size(None),
        "15 packets",
        "Average queue at which the drop probability is `max_probability`; it grows to 1 at twice this.",
    ),
    option("max_probability", OptionKind::Number(1e-9, 1.0), "0.1", "Drop probability at `max`."),
    option("weight", OptionKind::Number(1e-9, 1.0), "0.002", "Gain of the average."),
    option(
        "ecn",
        OptionKind::Switch,
        "false",
        "Mark packets that can be marked, instead of dropping them.",
    ),
];

impl NamedDiscipline for Red {
    const INFO: DisciplineInfo = DisciplineInfo {
        name: "red",
        title: "RED",
        summary: "Random early detection (Floyd and Jacobson 1993), gentle: drops at random by the average queue",
        explanation: include_str!("explain.md"),
        example: "discipline = { red = { min = \"5 packets\", max = \"15 packets\", ecn = true } }",
        options: OPTIONS,
    };

    fn from_options(o: &Options, packet: Bytes) -> Result<Red, OptionError> {
        let size = |name| o.plain_size(name).bytes(packet);
        let (min, max) = (size("min"), size("max"));
        if min >= max {
            let message = format!("`min` of RED ({min}) must be below `max` ({max})");
            return Err(OptionError::between("min", "max", message));
        }
        Ok(Red {
            min,
            max,
            max_probability: o.number("max_probability"),
            weight: o.number("weight"),
            ecn: o.switch("ecn"),
            average: 0.0,
            count: 0.0,
            idle_since: Some(Time::ZERO),
        })
    }
}

impl Discipline for Red {
    fn marks(&self) -> bool {
        self.ecn
    }
    fn draws(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, arrival: &Arrival, draw: &mut dyn FnMut() -> f64) -> Treatment {
        let w = self.weight;
        let (now, waiting) = (arrival.now, arrival.backlog.bytes);
        let idle = self.idle_since.take().filter(|_| waiting == Bytes::ZERO);
        if let (Some(since), Some(packet_time)) = (idle, arrival.packet_time) {
            // As if the packets that fit into the idle time had all found an empty queue.
            let missed = now.since(since).ps() as f64 / packet_time.ps().max(1) as f64;
            self.average *= libm::pow(1.0 - w, missed);
        }
        // The queue stays empty unless this packet has to wait, which the next arrival shows.
        self.idle_since = (waiting == Bytes::ZERO).then_some(now);
        self.average += w * (waiting.as_f64() - self.average);
        let (min, max) = (self.min.as_f64(), self.max.as_f64());
        let probability = if self.average < min {
            self.count = 0.0;
            return Treatment::Pass;
        } else if self.average < max {
            self.max_probability * (self.average - min) / (max - min)
        } else if self.average < 2.0 * max {
            let p = self.max_probability;
            p + (1.0 - p) * (self.average - max) / max
        } else {
            self.count = 0.0;
            return Treatment::Drop;
        };
        // Spreads the drops evenly (1993 paper, section 7).
        let spread = probability / (1.0 - self.count * probability).max(1e-9);
        if draw() < spread {
            self.count = 0.0;
            Treatment::signal(self.ecn)
        } else {
            self.count += 1.0;
            Treatment::Pass
        }
    }

    fn on_empty(&mut self, now: Time) {
        self.idle_since = Some(now);
    }
}
