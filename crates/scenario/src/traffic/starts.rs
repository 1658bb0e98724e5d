//! Starts of listed flows: equal, staggered, listed one by one, or random.

use ratewire_net::random;
use ratewire_sim::setup::Setup;
use ratewire_units::Duration;

use crate::document::{Entry, Value};
use crate::section::Section;

/// The starts that a `[[flow]]` table gives its flows.
pub(super) struct Starts {
    /// First and last possible start: one for all flows, or one a flow.
    times: Vec<(Duration, Duration)>,
    /// Whether each flow has its own.
    are_listed: bool,
    stagger: Duration,
}

impl Starts {
    /// Reads `start` and `stagger`.
    pub fn read(section: &Section<'_>) -> Starts {
        let is_list = |entry: &Entry| matches!(entry.item.value, Value::List(_));
        // A list with an error may be of any length: the default takes its place.
        let (times, are_listed) = section.or_default("start", |entry| {
            Some((section.times_of("start", &entry.item)?, is_list(entry)))
        });
        let before = section.context.errors();
        let stagger = section.time_or("stagger");
        if let (Some(start), Some(stagger)) = (section.get("start"), section.get("stagger"))
            && is_list(start)
            && section.context.errors() == before
        {
            section
                .context
                .error(stagger.item.span, "`stagger` and a list of starts exclude each other")
                .help("a list gives each flow its start: leave `stagger` out");
        }
        Starts { times, are_listed, stagger }
    }

    /// Notes an error if there is a list whose length is not the number of flows.
    pub fn check_count(&self, section: &Section<'_>, flows: usize) {
        if let Some(entry) = section.get("start").filter(|_| self.are_listed)
            && self.times.len() != flows
        {
            let counted =
                |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
            let (times, flows) = (counted(self.times.len(), "start"), counted(flows, "flow"));
            section
                .context
                .error(
                    entry.item.span,
                    format!("`start` lists {times}, and the table makes {flows}"),
                )
                .help("list one start a flow, in the order of the hosts in the topology");
        }
    }

    /// First and last possible start of a flow of the table, by its number from 0, and its distance
    /// from the starts of the first.
    pub fn of(&self, number: usize) -> (Duration, Duration, Duration) {
        let at = if self.are_listed { number } else { 0 };
        let (first, last) = self.times.get(at).copied().unwrap_or_default();
        let later = self.stagger * number as u64;
        (first + later, last + later, later)
    }

    /// The latest possible start without `stagger`, and whether it is one of a range.
    pub fn latest(&self) -> (Duration, bool) {
        let latest = self.times.iter().max_by_key(|(_, last)| *last).copied().unwrap_or_default();
        (latest.1, latest.0 < latest.1)
    }
}

/// A flow whose `start` is a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomStart {
    /// Index of the flow, whose start in the setup is the first of the range.
    pub flow: usize,
    /// Length of the range.
    pub most: Duration,
}

/// Draws the starts of these flows, each from a stream of its own: a draw depends on the seed and
/// the flow's name, and on no other flow.
pub(crate) fn draw(starts: &[RandomStart], setup: &mut Setup) {
    setup.has_random_starts = !starts.is_empty();
    for start in starts {
        let flow = &mut setup.flows[start.flow];
        let drawn = random::draw(setup.seed, &format!("start of {}", flow.name), 0);
        flow.start += start.most.scale(drawn);
        for program in setup.programs.iter_mut().filter(|one| one.flow == Some(start.flow)) {
            program.start = Some(flow.start);
        }
    }
}
