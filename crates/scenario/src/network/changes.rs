//! `[[change]]`: changes of rate, of delay, of losses, of queues, and of links' state.

use ratewire_net::spec::{Change, Limit, LinkId, Loss};
use ratewire_units::{Duration, Rate, Time};

use super::Net;
use super::finish::{MOST_STEPS, Rooms};
use super::properties::queue::{Queue, queue};
use super::properties::{Properties, loss};
use crate::diagnostic::and_more;
use crate::document::At;
use crate::section::Section;

/// A table with `up`, and the times of its first and last change.
struct Turn {
    up: At<bool>,
    links: Vec<usize>,
    first: Duration,
    last: Duration,
}

/// Keys of what a table changes.
const CHANGED: [&str; 5] = ["rate", "delay", "up", "loss", "queue"];

/// A table that makes its changes again and again.
struct Again {
    title: String,
    at: Duration,
    every: Duration,
    links: Vec<usize>,
    keys: Vec<&'static str>,
}

/// What a `[[change]]` table says.
struct Wanted {
    rate: Option<At<Rate>>,
    delay: Option<At<Duration>>,
    up: Option<At<bool>>,
    loss: Option<At<Loss>>,
    queue: Option<At<Queue>>,
}

/// Reads all `[[change]]` tables; `end` is that of the run.
pub(crate) fn read(
    root: &Section<'_>,
    rooms: &Rooms<'_>,
    duration: Duration,
    end: Duration,
) -> Vec<(Time, LinkId, Change)> {
    let net = rooms.net;
    let (mut changes, mut repeated, mut turns) = (Vec::new(), Vec::new(), Vec::new());
    for section in root.sections("change", &["change"]) {
        let at = section.time("at");
        let links = section.text("link").map(|name| net.expect_links(section.context, name));
        let every = section.time("every");
        let wanted = Wanted::read(&section, rooms);
        section.finish();
        let keys: Vec<_> = CHANGED.into_iter().filter(|key| section.has(key)).collect();
        if keys.is_empty() {
            section
                .context
                .error(section.span, format!("{} changes nothing", section.title))
                .help("give it a `rate`, a `delay`, a `loss`, a `queue` or `up`");
        }
        let (Some(at), Some(links)) = (at, links) else { continue };
        if at.value >= end {
            section
                .context
                .warning(at.span, format!("at {} the run has ended", at.value))
                .of_end()
                .help(format!("its duration is {end}"));
        }
        let mut of_links = Vec::new();
        for &link in &links {
            wanted.check(&section, &net.links[link].name, &net.links[link].properties);
            let changes = wanted.changes(rooms, link);
            of_links.extend(changes.into_iter().map(|change| (LinkId(link as u32), change)));
        }
        let Some(times) = times(&section, at.value, every, duration, of_links.len()) else {
            continue;
        };
        if let (Some(up), Some(last)) = (wanted.up, times.last().copied()) {
            turns.push(Turn { up, links: links.clone(), first: at.value, last });
        }
        if let Some(every) = every.filter(|_| at.value < duration) {
            let title = section.title.clone();
            let again = Again { title, at: at.value, every: every.value, links, keys };
            again.warn_of_same_times(&section, &repeated, net);
            repeated.push(again);
        }
        for at in times {
            let all = of_links.iter().cloned();
            changes.extend(all.map(|(link, change)| (Time::ZERO + at, link, change)));
        }
    }
    warn_of_links_up(root, net, &turns);
    changes
}

/// Warns of each `up = true` of links that have not been down before.
fn warn_of_links_up(root: &Section<'_>, net: &Net, turns: &[Turn]) {
    for turn in turns.iter().filter(|turn| turn.up.value) {
        let ends_outage = |link: &usize| {
            let has_outages = net.links[*link].properties.variation.outages.is_some();
            let brings_down = |other: &Turn| {
                !other.up.value && other.first <= turn.last && other.links.contains(link)
            };
            has_outages || turns.iter().any(brings_down)
        };
        let Some((first, more)) = turn.links.split_first() else { continue };
        if turn.links.iter().any(ends_outage) {
            continue;
        }
        let links = and_more(&net.links[*first].name, more.len());
        let are = if more.is_empty() { "is" } else { "are" };
        root.context
            .warning(
                turn.up.span,
                format!("`up = true` means nothing here: {links} {are} up already"),
            )
            .help("links are up at the start; an earlier table brings one down with `up = false`");
    }
}

/// The times at which a table makes this number of changes; `None` if an error is noted.
fn times(
    section: &Section<'_>,
    at: Duration,
    every: Option<At<Duration>>,
    duration: Duration,
    changes: usize,
) -> Option<Vec<Duration>> {
    let Some(every) = every else { return Some(vec![at]) };
    if every.value.is_zero() {
        section
            .context
            .error(every.span, "`every` cannot be 0 s")
            .help("allowed: a time above 0, after which the change is made again");
        return None;
    }
    let again = duration.saturating_sub(at).ps() / every.value.ps();
    if again.saturating_mul(changes as u64) > MOST_STEPS {
        section
            .context
            .error(every.span, "this table changes links more than a million times")
            .help("shorten the run, or give a longer `every`");
        return None;
    }
    let times = (0..=again).map(|n| at + every.value * n);
    Some(times.take_while(|time| *time < duration || *time == at).collect())
}

impl Again {
    /// Warns if an earlier table changes the same of a link at the same times: it is in vain then.
    fn warn_of_same_times(&self, section: &Section<'_>, earlier: &[Again], net: &Net) {
        let together = |other: &&Again| {
            let apart = self.at.ps().abs_diff(other.at.ps());
            other.every == self.every && apart.is_multiple_of(self.every.ps())
        };
        for other in earlier.iter().filter(together) {
            let key = self.keys.iter().find(|key| other.keys.contains(key));
            let link = self.links.iter().find(|link| other.links.contains(link));
            let (Some(key), Some(link)) = (key, link) else { continue };
            let (from, every) = (self.at.max(other.at), self.every);
            section
                .context
                .warning(
                    section.span,
                    format!(
                        "{} and {} change `{key}` of {:?} together, each {every} from {from} on",
                        other.title, self.title, net.links[*link].name
                    ),
                )
                .help(format!(
                    "the later table of the file holds; to take turns, let their `at` differ by a \
                     part of {every}"
                ));
        }
    }
}

impl Wanted {
    fn read(section: &Section<'_>, rooms: &Rooms<'_>) -> Wanted {
        Wanted {
            rate: section.rate("rate"),
            delay: section.time("delay"),
            up: section.switch("up"),
            loss: section.given("loss", |entry| loss(section, &entry.item)),
            queue: section.given("queue", |entry| queue(section, &entry.item, rooms.packet)),
        }
    }

    /// Notes an error for each change that the link cannot make.
    fn check(&self, section: &Section<'_>, name: &str, properties: &Properties) {
        if let (Some(up), Some(At { value: Some(_), .. })) = (self.up, properties.variation.outages)
        {
            section
                .context
                .error(up.span, format!("{name:?} goes down and comes up by its `outages`"))
                .help("leave out one of the two");
        }
        if let (Some(delay), Some(_)) = (self.delay, &properties.delay_trace) {
            section
                .context
                .error(delay.span, format!("the delay of {name:?} comes from a trace"))
                .help("leave out the change of its delay, or its `delay_trace`");
        }
        if let (Some(rate), Some(_)) = (self.rate, &properties.trace) {
            section
                .context
                .error(rate.span, format!("the rate of {name:?} comes from a trace"))
                .help("a link with a trace changes its delay or goes down, not its rate");
        }
    }

    /// The changes of a link.
    fn changes(&self, rooms: &Rooms<'_>, link: usize) -> Vec<Change> {
        let changes = [
            self.rate.map(|rate| Change::Rate(rate.value)),
            self.delay.map(|delay| Change::Delay(delay.value)),
            self.up.map(|up| Change::Up(up.value)),
            self.loss.as_ref().map(|loss| Change::Loss(loss.value.clone())),
            self.queue.map(|queue| Change::Limit(self.limit(rooms, link, queue))),
        ];
        changes.into_iter().flatten().collect()
    }

    /// Room of the new queue: a bdp or a time refers to the rate of the same change, if there is
    /// one.
    fn limit(&self, rooms: &Rooms<'_>, link: usize, queue: At<Queue>) -> Limit {
        let own = rooms.net.links[link].properties.mean_rate();
        let rate = self.rate.map(|rate| rate.value).or(own);
        rooms.limit(link, Some(queue), rate.unwrap_or(Rate::ZERO))
    }
}
