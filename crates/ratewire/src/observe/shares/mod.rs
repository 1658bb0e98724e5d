//! Measures how fairly flows share over time, and how soon after each change.
//!
//! It looks at *contenders*: listed flows with unlimited data or of a given size, whose receiver
//! reads at once. The fair rates are max-min over the current rates of links (for a trace, the mean
//! rate). At a single bottleneck they are proportional to the flows' weights, which are equal
//! unless a law's option changes them. Only proportions count, because headers and other traffic
//! lower all rates.
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
use plan::{Plan, Step};

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
    shared: Sharing,
}

/// Results of the observation.
#[derive(Default)]
pub(crate) struct Sharing {
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
    pub(crate) fn new(setup: &Setup) -> Shares {
        let plan = Plan::of(setup);
        let links = setup.network.links.iter();
        let count = plan.contenders.len();
        Shares {
            plan,
            is_active: vec![false; count],
            links: links.map(|link| (link.lasting_rate().bps() as f64, true)).collect(),
            measured: setup.measured.unwrap_or((Time::ZERO, Time::NEVER)),
            completed: Vec::new(),
            before: Time::ZERO,
            now: Time::ZERO,
            delivered: vec![0.0; count],
            period: None,
            shared: Sharing::default(),
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
            let changes = steps.into_iter().filter(|step| self.apply(*step)).count();
            if changes > 0 {
                is_whole &= at <= start;
                self.end_period();
                self.begin_period(event, at, if at <= start { start } else { end });
            }
        }
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

    fn begin_period(&mut self, event: String, at: Time, from: Time) {
        let members: Vec<usize> =
            (0..self.is_active.len()).filter(|i| self.is_active[*i]).collect();
        if members.len() < 2 {
            return;
        }
        let rates: Vec<f64> =
            self.links.iter().map(|(bps, up)| if *up { *bps } else { 0.0 }).collect();
        let contenders: Vec<_> = members.iter().map(|i| &self.plan.contenders[*i]).collect();
        let paths: Vec<_> = contenders.iter().map(|c| (c.path.clone(), c.weight)).collect();
        let fair = max_min(&rates, &paths);
        self.period = Period::begin(event, at, from, members, fair, &contenders);
    }

    fn end_period(&mut self) {
        self.shared.settlings.extend(self.period.take().and_then(Period::end));
    }
}

#[cfg(test)]
mod tests;
