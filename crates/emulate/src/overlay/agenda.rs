//! What happens to an overlay's processes, and when.

use std::collections::BTreeMap;

use ratewire_sim::overlay::spec::{FaultKind, OverlaySpec};
use ratewire_units::{Duration, Time};

use super::clients::Run;

/// Something that is due.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Due {
    Start(Run),
    Stop(Run),
    /// The daemon of this node is killed.
    Crash(usize),
    Restart(usize),
    Sample,
}

/// Events that are still to happen, by time. Events of one time are in the order of the scenario,
/// with a sample last.
#[derive(Debug)]
pub(super) struct Agenda {
    due: BTreeMap<(Time, usize), Due>,
    interval: Option<Duration>,
    next_sample: Time,
    end: Time,
}

impl Agenda {
    pub(super) fn new(
        spec: &OverlaySpec,
        runs: &[Run],
        interval: Option<Duration>,
        end: Time,
    ) -> Agenda {
        let mut all = Vec::new();
        for run in runs {
            all.extend(run.start.map(|at| (at, Due::Start(run.clone()))));
            all.extend(run.stop.map(|at| (at, Due::Stop(run.clone()))));
        }
        for fault in &spec.faults {
            match fault.kind {
                FaultKind::Crash(node) => all.push((fault.at, Due::Crash(node.index()))),
                FaultKind::Restart(node) => all.push((fault.at, Due::Restart(node.index()))),
                // The network cuts and heals links.
                FaultKind::Cut(..) | FaultKind::Heal(..) => {}
            }
        }
        let all = all.into_iter().enumerate().filter(|(_, (at, _))| *at < end);
        let due = all.map(|(n, (at, due))| ((at, n), due)).collect();
        let interval = interval.filter(|interval| !interval.is_zero());
        let next_sample = interval.map_or(Time::NEVER, |interval| Time::ZERO + interval);
        Agenda { due, interval, next_sample, end }
    }
}

impl Agenda {
    /// Takes the next event, which may be overdue. If `now` has passed several samples, only the
    /// last of them is due.
    pub(super) fn next(&mut self, now: Time) -> Option<(Time, Due)> {
        if let Some(interval) = self.interval
            && self.next_sample < self.end
        {
            let missed = now.since(self.next_sample).ps() / interval.ps();
            self.next_sample = (self.next_sample + interval * missed).min(self.end);
        }
        let first = self.due.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
        let sample = self.next_sample.min(self.end);
        if first <= sample
            && let Some(((at, _), due)) = self.due.pop_first()
        {
            return Some((at, due));
        }
        if self.next_sample > self.end {
            return None;
        }
        self.next_sample = match self.interval {
            Some(interval) if self.next_sample < self.end => {
                (self.next_sample + interval).min(self.end)
            }
            _ => Time::NEVER,
        };
        Some((sample, Due::Sample))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_at_intervals_and_at_the_end() {
        let at = |millis| Time::from_millis(millis);
        let mut agenda = Agenda {
            due: BTreeMap::from([((at(20), 0), Due::Crash(1)), ((at(5), 1), Due::Restart(1))]),
            interval: Some(Duration::from_millis(10)),
            next_sample: at(10),
            end: at(25),
        };
        let all: Vec<(Time, Due)> = std::iter::from_fn(|| agenda.next(Time::ZERO)).collect();
        let due = [Due::Restart(1), Due::Sample, Due::Crash(1), Due::Sample, Due::Sample];
        let times = [5, 10, 20, 20, 25].map(Time::from_millis);
        assert_eq!(all, times.into_iter().zip(due).collect::<Vec<_>>());
        assert!(agenda.next(at(25)).is_none());
    }

    #[test]
    fn samples_that_were_missed_are_one() {
        let mut agenda = Agenda {
            due: BTreeMap::new(),
            interval: Some(Duration::from_millis(10)),
            next_sample: Time::from_millis(10),
            end: Time::from_millis(50),
        };
        let mut at = |now| agenda.next(Time::from_millis(now)).map(|(at, _)| at);
        let seen = [at(9), at(12), at(39), at(40), at(50), at(50)];
        let times = [10, 20, 30, 40, 50].map(|millis| Some(Time::from_millis(millis)));
        assert_eq!((&seen[..5], seen[5]), (&times[..], None));
    }
}
