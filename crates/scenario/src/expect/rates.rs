//! How fast a link sends at each time, for queues that are told in time.

use ratewire_net::spec::{Change, LinkId};
use ratewire_sim::setup::Setup;
use ratewire_units::{Rate, Time};

/// The rate of a link from each time on, or the mean of its trace of opportunities.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    /// The first is from the beginning on.
    steps: Vec<(Time, Rate)>,
}

impl Rates {
    pub fn of(setup: &Setup, link: usize) -> Rates {
        let mut steps = vec![(Time::ZERO, setup.network.links[link].service.mean_rate())];
        let of_it = |(at, id, change): &(Time, LinkId, Change)| match change {
            Change::Rate(rate) if id.index() == link => Some((*at, *rate)),
            _ => None,
        };
        steps.extend(setup.changes.iter().filter_map(of_it));
        steps.sort_by_key(|(at, _)| *at);
        Rates { steps }
    }

    /// The rate, if it is one from beginning to end.
    pub fn only(&self) -> Option<Rate> {
        let (_, first) = self.steps[0];
        self.steps.iter().all(|(_, rate)| *rate == first).then_some(first)
    }

    /// How many seconds a byte takes, on average between two times, and at most.
    pub fn per_byte(&self, from: Time, to: Time) -> (f64, f64) {
        if from >= to {
            return (0.0, 0.0);
        }
        let ends = self.steps.iter().skip(1).map(|(at, _)| *at).chain([Time::NEVER]);
        let within = self.steps.iter().zip(ends).filter_map(|((start, rate), end)| {
            let (start, end) = ((*start).max(from), end.min(to));
            (start < end).then(|| (end.since(start).secs(), seconds_a_byte(*rate)))
        });
        let (sum, most) = within.fold((0.0, 0.0), |(sum, most): (f64, f64), (time, takes)| {
            (sum + time * takes, most.max(takes))
        });
        (sum / to.since(from).secs(), most)
    }
}

/// Without end at rate 0.
pub(super) fn seconds_a_byte(rate: Rate) -> f64 {
    rate.throughput().get().recip()
}
