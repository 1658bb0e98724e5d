//! A link's rate over time, to express queues as a time.

use ratewire_net::spec::{Change, LinkId};
use ratewire_sim::setup::Setup;
use ratewire_units::{Rate, Time};

/// Rates of a link with their start times, or the mean rate of a trace of opportunities.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    /// Start, rate, and bits that could be sent before the start, in bit ps/s. The first step
    /// starts at 0.
    steps: Vec<(Time, Rate, u128)>,
}

impl Rates {
    pub fn of(setup: &Setup, link: usize) -> Rates {
        let of_it = |(at, id, change): &(Time, LinkId, Change)| match change {
            Change::Rate(rate) if id.index() == link => Some((*at, *rate)),
            _ => None,
        };
        let mut changes: Vec<(Time, Rate)> = setup.changes.iter().filter_map(of_it).collect();
        changes.sort_by_key(|(at, _)| *at);
        let first = setup.network.links[link].service.mean_rate();
        let mut rates = Rates { steps: vec![(Time::ZERO, first, 0)] };
        for (at, rate) in changes {
            let before = rates.sent_until(at);
            rates.steps.push((at, rate, before));
        }
        rates
    }

    /// Rate in bytes a second, if it never changes.
    pub fn only(&self) -> Option<f64> {
        let (_, first, _) = self.steps[0];
        self.steps.iter().all(|(_, rate, _)| *rate == first).then_some(first.throughput().get())
    }

    /// Mean rate between two times, in bytes a second.
    pub fn mean(&self, from: Time, to: Time) -> f64 {
        let sent = self.sent_until(to) - self.sent_until(from);
        sent as f64 / to.since(from).ps().max(1) as f64 / 8.0
    }

    fn sent_until(&self, at: Time) -> u128 {
        let next = self.steps.partition_point(|(start, ..)| *start <= at);
        let (start, rate, before) = self.steps[next.saturating_sub(1)];
        before + u128::from(rate.bps()) * u128::from(at.since(start).ps())
    }
}
