//! Measures how fairly flows share over time, and how soon after each change.
//!
//! It looks at *contenders*: listed flows with unlimited data or of a given size, whose receiver
//! reads at once. Flows of constant rate take part, but are not judged. The fair rates are max-min
//! over the current rates of links (for a trace, the mean rate). At a single bottleneck they are
//! proportional to the flows' weights, which are equal unless a law's option changes them. Only
//! proportions count, because headers and other traffic lower all rates.
//!
//! A run is divided into *periods* between changes: contenders join or leave, links change their
//! rate, go down or up. Periods of at least two contenders are divided into windows, each fair or
//! not.

mod period;
mod plan;

use ratewire_report::Settling;
use ratewire_sim::setup::Setup;
use ratewire_statistics::max_min;
use ratewire_units::{Bytes, Time};

use period::Period;
use plan::{Contender, Plan, Step};

/// Processes the samples of a run as they arrive.
pub(crate) struct Shares {
    plan: Plan,
    /// Whether each contender is active.
    is_active: Vec<bool>,
    /// Current rate of each link in bits per second, and whether the link is up.
    links: Vec<(f64, bool)>,
    /// The measured part of the run.
    measured: (Time, Time),
    /// Contenders that have completed since the last sample.
    completed: Vec<(Time, usize)>,
    /// End of the previous interval.
    before: Time,
    /// End of the current interval.
    now: Time,
    /// Bytes that each contender delivered in this interval.
    delivered: Vec<f64>,
    period: Option<Period>,
    /// The time from which fair rates are summed.
    summed_from: Time,
    /// Up to when they are.
    summed: Time,
    /// Current fair rate of each contender, in bits per second.
    fair: Vec<f64>,
    shared: Sharing,
}

/// Results of the observation.
#[derive(Default)]
pub(crate) struct Sharing {
    /// By listed flow: bits that its fair rates come to, in the measured part of the run from the
    /// given time on. `None` for a flow that contends for nothing.
    pub(crate) due: Vec<Option<f64>>,
    /// Sum over all windows of Jain's index times the window's seconds.
    jain: f64,
    /// Total time of all windows, in seconds.
    seconds: f64,
    /// One entry for each period that was long enough.
    pub(crate) settlings: Vec<Settling>,
}

impl Sharing {
    /// Jain's index of rates over fair rates, averaged over the time of all windows.
    pub(crate) fn jain_over_time(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.jain / self.seconds)
    }
}

impl Shares {
    /// Watches a run, and sums fair rates from `summed_from` on.
    pub(crate) fn new(setup: &Setup, summed_from: Time) -> Shares {
        let plan = Plan::of(setup);
        let links = setup.network.links.iter();
        let count = plan.contenders.len();
        Shares {
            is_active: vec![false; count],
            links: links.map(|link| (link.lasting_rate().bps() as f64, true)).collect(),
            measured: setup.measured.unwrap_or((Time::ZERO, Time::NEVER)),
            completed: Vec::new(),
            before: Time::ZERO,
            now: Time::ZERO,
            delivered: vec![0.0; count],
            period: None,
            summed_from,
            summed: Time::ZERO,
            fair: vec![0.0; count],
            shared: Sharing {
                due: plan.places().iter().map(|place| place.map(|_| 0.0)).collect(),
                ..Sharing::default()
            },
            plan,
        }
    }

    /// Starts a new interval if a sample of an interval that ends at `at` is the first of it.
    pub(crate) fn reach(&mut self, at: Time) {
        if at > self.now {
            self.close();
            self.before = self.now;
            self.now = at;
        }
    }

    /// Adds data that a flow delivered in the current interval.
    pub(crate) fn deliver(&mut self, flow: u32, amount: Bytes) {
        if let Some(place) = self.plan.place(flow) {
            self.delivered[place] += amount.as_f64();
        }
    }

    pub(crate) fn complete(&mut self, flow: u32, at: Time) {
        if let Some(place) = self.plan.place(flow) {
            self.completed.push((at, place));
        }
    }

    pub(crate) fn finish(mut self) -> Sharing {
        self.close();
        self.end_period();
        let (from, to) = self.measured;
        let measured = from.secs()..to.secs();
        self.shared.settlings.retain(|settling| measured.contains(&settling.at_s));
        self.shared
    }

    /// Ends the interval up to `now`. First applies its changes, then adds its data, which count
    /// only if nothing changed within the interval.
    fn close(&mut self) {
        let (start, end) = (self.before, self.now);
        let mut is_whole = true;
        while let Some((at, event, steps)) = self.next_change(end) {
            self.sum(at);
            let changes = steps.into_iter().filter(|step| self.apply(*step)).count();
            if changes > 0 {
                is_whole &= at <= start;
                self.end_period();
                self.share_anew();
                self.begin_period(event, at, if at <= start { start } else { end });
            }
        }
        self.sum(end);
        if let (true, Some(period)) = (is_whole, &mut self.period) {
            if start == self.measured.0 {
                period.begin_window();
            }
            let jain = period.add(end.since(start), &self.delivered);
            if let Some(jain) = jain
                && start >= self.measured.0
                && end <= self.measured.1
            {
                self.shared.jain += jain * period.window.secs();
                self.shared.seconds += period.window.secs();
            }
        }
        self.delivered.fill(0.0);
    }

    /// The next change before `end`: its time, event and steps.
    fn next_change(&mut self, end: Time) -> Option<(Time, String, Vec<Step>)> {
        let planned = self.plan.changes.front().map_or(Time::NEVER, |change| change.at);
        let completed = self.completed.first().map_or(Time::NEVER, |(at, _)| *at);
        if planned.min(completed) >= end {
            return None;
        }
        if completed < planned {
            let (at, place) = self.completed.remove(0);
            let event = format!("{} completes", self.plan.contenders[place].name);
            return Some((at, event, vec![Step::Leave(place)]));
        }
        self.plan.changes.pop_front().map(|change| (change.at, change.event, change.steps))
    }

    /// Applies a step; returns whether it changed anything. A flow that has stopped may complete
    /// later.
    fn apply(&mut self, step: Step) -> bool {
        match step {
            Step::Join(place) => !std::mem::replace(&mut self.is_active[place], true),
            Step::Leave(place) => std::mem::replace(&mut self.is_active[place], false),
            Step::Rate(link, rate) => std::mem::replace(&mut self.links[link].0, rate) != rate,
            Step::Up(link, up) => std::mem::replace(&mut self.links[link].1, up) != up,
        }
    }

    /// Adds the current fair rates up to a time.
    fn sum(&mut self, until: Time) {
        let from = self.summed.max(self.summed_from).max(self.measured.0);
        let seconds = until.min(self.measured.1).since(from).secs();
        self.summed = self.summed.max(until);
        for (due, place) in self.shared.due.iter_mut().zip(self.plan.places()) {
            if let (Some(due), Some(place)) = (due, place) {
                *due += self.fair[*place] * seconds;
            }
        }
    }

    fn active(&self) -> impl Iterator<Item = usize> {
        (0..self.is_active.len()).filter(|i| self.is_active[*i])
    }

    /// Computes the fair rates of all that are active.
    fn share_anew(&mut self) {
        let mut rates: Vec<f64> =
            self.links.iter().map(|(bps, up)| if *up { *bps } else { 0.0 }).collect();
        let members: Vec<usize> = self.active().collect();
        let contenders = members.iter().map(|i| &self.plan.contenders[*i]);
        let way = |c: &Contender| {
            // What bounds a flow's rate is as a link of its own.
            let own = c.most.map(|most| {
                rates.push(most);
                rates.len() - 1
            });
            (c.path.iter().copied().chain(own).collect(), c.weight)
        };
        let paths: Vec<_> = contenders.map(way).collect();
        self.fair.fill(0.0);
        for (i, fair) in members.into_iter().zip(max_min(&rates, &paths)) {
            self.fair[i] = fair;
        }
    }

    fn begin_period(&mut self, event: String, at: Time, from: Time) {
        let is_judged = |i: &usize| self.plan.contenders[*i].most.is_none();
        let members: Vec<usize> = self.active().filter(is_judged).collect();
        if members.len() < 2 {
            return;
        }
        let contenders: Vec<_> = members.iter().map(|i| &self.plan.contenders[*i]).collect();
        let fair = members.iter().map(|i| self.fair[*i]).collect();
        self.period = Period::begin(event, at, from, members, fair, &contenders);
    }

    fn end_period(&mut self) {
        self.shared.settlings.extend(self.period.take().and_then(Period::end));
    }
}

#[cfg(test)]
mod tests;
