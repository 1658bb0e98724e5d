//! Controlled delay (RFC 8289, section 5).

#[cfg(test)]
mod tests;

use ratewire_laws::OptionError;
use ratewire_laws::options::{OptionKind, OptionSpec, Options};
use ratewire_units::{Bytes, Duration, Time};

use super::discipline::{
    Departure, Discipline, DisciplineInfo, NamedDiscipline, Treatment, option,
};

/// CoDel at one queue.
#[derive(Clone, Debug)]
pub struct CoDel {
    /// Acceptable standing delay.
    target: Duration,
    /// Window over which the minimum of the delay is taken.
    interval: Duration,
    /// Whether packets that can be marked are marked.
    ecn: bool,
    /// Time at which the delay will have been above target for an interval.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    last_count: u32,
    /// Size of the largest packet so far (maxpacket). A backlog of no more is no standing queue.
    largest: Bytes,
}

const OPTIONS: &[OptionSpec] = &[
    option("target", OptionKind::Time, "5 ms", "Acceptable standing delay."),
    option("interval", OptionKind::Time, "100 ms", "Window in which the least delay is taken."),
    option(
        "ecn",
        OptionKind::Switch,
        "false",
        "Mark packets that can be marked, instead of dropping them.",
    ),
];

impl CoDel {
    pub(super) fn new(target: Duration, interval: Duration, ecn: bool) -> CoDel {
        CoDel {
            target,
            interval,
            ecn,
            first_above: None,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            largest: Bytes::ZERO,
        }
    }

    fn control_law(&self, from: Time) -> Time {
        from + self.interval.scale(1.0 / libm::sqrt(f64::from(self.count)))
    }
}

impl NamedDiscipline for CoDel {
    const INFO: DisciplineInfo = DisciplineInfo {
        name: "codel",
        title: "CoDel",
        summary: "Controlled delay (RFC 8289): drops when even the least wait of an interval is above the target",
        explanation: include_str!("explain.md"),
        example: "discipline = { codel = { target = \"5 ms\" } }",
        options: OPTIONS,
    };

    fn from_options(o: &Options, _: Bytes) -> Result<CoDel, OptionError> {
        let interval = o.time("interval");
        if interval.is_zero() {
            return Err(OptionError::new("interval", "the interval of CoDel must be above 0"));
        }
        Ok(CoDel::new(o.time("target"), interval, o.switch("ecn")))
    }
}

impl Discipline for CoDel {
    fn marks(&self) -> bool {
        self.ecn
    }

    fn on_departure(&mut self, departure: &Departure) -> Treatment {
        // Of all queues, where there are several (RFC 8289, 4.4).
        let (now, left) = (departure.now, departure.link_bytes);
        self.largest = self.largest.max(departure.size);
        let ok_to_drop = if departure.sojourn < self.target || left <= self.largest {
            self.first_above = None;
            false
        } else {
            let due = *self.first_above.get_or_insert(now + self.interval);
            now >= due
        };
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            } else if now >= self.drop_next {
                self.count += 1;
                self.drop_next = self.control_law(self.drop_next);
                return Treatment::signal(self.ecn);
            }
            return Treatment::Pass;
        }
        if !ok_to_drop {
            return Treatment::Pass;
        }
        self.dropping = true;
        // Resumes near the rate that controlled the queue last time (RFC 8289, 5.5).
        let delta = self.count - self.last_count;
        let recent = now.since(self.drop_next) < self.interval * 16;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
        Treatment::signal(self.ecn)
    }

    fn on_empty(&mut self, _: Time) {
        self.first_above = None;
        self.dropping = false;
    }
}
