//! A queue of an egress, and the neighbours that are paused while it is long.
//!
//! The queue is the whole of the egress, or that of one class. A queueing discipline that serves
//! its classes in turn, with a class for each input, makes a box fair among its inputs as an
//! Ethernet switch is, if each input is paused for its own queue alone.

use ratewire_backpressure::watch::{PauseSignal, Thresholds, Watch};
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::Spec;
use super::neighbour::Upstream;
use super::qdisc::{Qdisc, root};
use crate::Error;

/// Shortest and longest time from one look at a queue to the next.
pub(super) const PERIOD: Duration = Duration::from_micros(200);
const LONGEST: Duration = Duration::from_millis(1);

/// A queue and its neighbours.
pub(super) struct Line {
    class: Option<u32>,
    watch: Watch,
    neighbours: Vec<Upstream>,
    xoff: Bytes,
    /// Rate at which the neighbours can fill the queue; `None` if it is not known.
    rate: Option<Rate>,
}

/// What a port told its neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    /// Whether a pause began.
    pub(super) has_paused: bool,
    /// Frames and messages sent.
    pub(super) sent: u64,
    /// Frames and messages that could not be sent.
    pub(super) failed: u64,
}

impl Line {
    /// The queues that a port watches: one for each class that neighbours name.
    pub(super) fn all(spec: &Spec) -> Result<Vec<Line>, Error> {
        let mut classes: Vec<_> = spec.upstream.iter().map(|source| source.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes.into_iter().map(|class| Line::open(spec, class)).collect()
    }

    fn open(spec: &Spec, class: Option<u32>) -> Result<Line, Error> {
        let own = spec.upstream.iter().filter(|source| source.class == class);
        let neighbours = own.map(|source| Upstream::open(&source.neighbour, spec.rate));
        let neighbours = neighbours.collect::<Result<Vec<_>, _>>()?;
        // Half of the shortest pause that a neighbour can be told.
        let shortest = neighbours.iter().map(|one| one.longest).min().unwrap_or(Duration::MAX);
        let thresholds = Thresholds {
            xoff: spec.xoff,
            xon: spec.xon,
            refresh: Duration::from_ps(shortest.ps() / 2),
            room: spec.room,
        };
        let rates = neighbours.iter().map(|one| one.rate.map(Rate::bps));
        let rate = rates.sum::<Option<u64>>().map(Rate::from_bps);
        Ok(Line { class, watch: Watch::new(thresholds), neighbours, xoff: spec.xoff, rate })
    }

    /// The queue among an interface's queueing disciplines.
    fn queue<'a>(&self, all: &'a [Qdisc]) -> Option<&'a Qdisc> {
        match self.class {
            None => root(all),
            Some(class) => all.iter().find(|qdisc| qdisc.parent == class),
        }
    }

    /// Checks that the queue can be watched, and that neighbours are paused before it is full.
    /// `room` is the limit of a queue that has none of its own.
    pub(super) fn check(
        &self,
        iface: &str,
        all: &[Qdisc],
        room: Option<Bytes>,
    ) -> Result<(), Error> {
        let queue = self.queue(all);
        if let (Some(class), None) = (self.class, queue) {
            let class = format!("{:x}:{:x}", class >> 16, class & 0xffff);
            return Err(Error::new(
                format!("class {class} at {iface} has no queue of its own"),
                format!("give it one: tc qdisc add dev {iface} parent {class} bfifo limit 1000000"),
            ));
        }
        let limit = queue.and_then(|queue| queue.limit).map(|limit| Bytes::new(limit.into()));
        match limit.or(room) {
            Some(limit) if self.xoff >= limit => Err(Error::new(
                format!("--xoff is {}, and the queue at {iface} has room for {limit}", self.xoff),
                "packets arrive until a pause takes effect: a lower --xoff; or a higher limit of the queue, or --room",
            )),
            _ => Ok(()),
        }
    }

    /// Looks at the queue, and tells the neighbours.
    pub(super) fn look(&mut self, now: Time, all: &[Qdisc]) -> Told {
        let mut told = Told::default();
        // A queue that somebody has removed holds nothing.
        let waiting = self.queue(all).map_or(0, |queue| queue.counters.bytes_waiting);
        let (held, waiting) = (self.watch.held(), Bytes::new(waiting.into()));
        let was_paused = self.watch.has_stopped();
        let signal = match waiting > held {
            true => self.watch.add(now, waiting.saturating_sub(held)),
            false => self.watch.remove(held.saturating_sub(waiting)),
        };
        if let Some(signal) = signal.or_else(|| self.watch.refresh(now)) {
            self.tell(signal, &mut told);
        }
        told.has_paused = self.watch.has_stopped() && !was_paused;
        told
    }

    fn tell(&mut self, signal: PauseSignal, told: &mut Told) {
        for neighbour in &mut self.neighbours {
            // Neighbours come and go; a pause is told again.
            match neighbour.tell(signal == PauseSignal::Stop) {
                Ok(()) => told.sent += 1,
                Err(_) => told.failed += 1,
            }
        }
    }

    /// Whether the neighbours are paused.
    pub(super) fn has_paused(&self) -> bool {
        self.watch.has_stopped()
    }

    /// Names of the neighbours.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.neighbours.iter().map(|neighbour| neighbour.name.clone())
    }

    /// Lets the neighbours go.
    pub(super) fn close(&mut self) {
        if self.watch.has_stopped() {
            self.tell(PauseSignal::Go, &mut Told::default());
        }
    }

    /// Time until the queue is to be looked at again: while neighbours may send, they could fill it
    /// no sooner.
    pub(super) fn respite(&self) -> Duration {
        let left = self.xoff.saturating_sub(self.watch.held());
        let per_byte = self.rate.and_then(Rate::serial_time).filter(|_| !self.watch.has_stopped());
        per_byte.map_or(PERIOD, |per_byte| per_byte.of(left)).clamp(PERIOD, LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noq::qdisc::{Counters, ROOT};

    const CLASS: u32 = 0x1_0010;

    /// A queue of 100 kB whose neighbours send at 1 Gbit/s: 0.8 ms.
    fn line(class: Option<u32>) -> Line {
        let (xoff, xon) = (Bytes::new(100_000), Bytes::new(50_000));
        let (refresh, room) = (Duration::from_millis(10), Bytes::new(1_000_000));
        let watch = Watch::new(Thresholds { xoff, xon, refresh, room });
        Line { class, watch, neighbours: vec![], xoff, rate: Some(Rate::from_mbps(1000)) }
    }

    /// A root and a class under it, with so many bytes each.
    fn queues(root: u32, of_class: u32, limit: Option<u32>) -> [Qdisc; 2] {
        [(ROOT, root), (CLASS, of_class)].map(|(parent, bytes_waiting)| {
            let counters = Counters { bytes_waiting, ..Counters::default() };
            Qdisc { kind: "bfifo".to_string(), handle: 1, parent, limit, counters }
        })
    }

    #[test]
    fn a_class_is_watched_alone() {
        let (mut whole, mut of_class) = (line(None), line(Some(CLASS)));
        let all = queues(150_000, 90_000, None);
        assert!(whole.look(Time::ZERO, &all).has_paused && whole.has_paused());
        assert!(!of_class.look(Time::ZERO, &all).has_paused);
        let all = queues(200_000, 110_000, None);
        assert!(!whole.look(Time::ZERO, &all).has_paused, "it is paused already");
        assert!(of_class.look(Time::ZERO, &all).has_paused);
        of_class.look(Time::ZERO, &queues(200_000, 60_000, None));
        assert!(of_class.has_paused(), "between the thresholds");
        of_class.look(Time::ZERO, &queues(200_000, 50_000, None));
        assert!(!of_class.has_paused());
        // Somebody has removed the class.
        of_class.look(Time::ZERO, &queues(0, 110_000, None)[..1]);
        assert!(!of_class.has_paused());
    }

    #[test]
    fn a_queue_is_looked_at_before_it_can_be_long() {
        let mut line = line(None);
        assert_eq!(line.respite(), Duration::from_micros(800));
        line.look(Time::ZERO, &queues(50_000, 0, None));
        assert_eq!(line.respite(), Duration::from_micros(400));
        line.look(Time::ZERO, &queues(99_000, 0, None));
        assert_eq!(line.respite(), PERIOD);
        line.look(Time::ZERO, &queues(150_000, 0, None));
        assert_eq!(line.respite(), PERIOD, "it may end at any time");
        line.look(Time::ZERO, &queues(0, 0, None));
        line.rate = Some(Rate::from_mbps(10));
        assert_eq!(line.respite(), LONGEST);
        line.rate = None;
        assert_eq!(line.respite(), PERIOD, "the rate is not known");
    }

    #[test]
    fn a_queue_must_be_there_and_have_room_above_what_pauses() {
        let room = Some(Bytes::new(100_000));
        let said = |line: Line, all: &[Qdisc], room| {
            line.check("eth1", all, room).map_err(|e| e.to_string()).err().unwrap_or_default()
        };
        let short = queues(0, 0, Some(100_000));
        assert!(said(line(None), &short, None).contains("--xoff is 100 KB"));
        assert!(said(line(Some(CLASS)), &short, None).contains("has room for 100 KB"));
        assert_eq!(said(line(None), &queues(0, 0, Some(100_001)), None), "");
        assert_eq!(said(line(None), &queues(0, 0, None), None), "", "its limit is not known");
        assert!(said(line(None), &queues(0, 0, None), room).contains("has room for 100 KB"));
        let missing = said(line(Some(CLASS)), &short[..1], None);
        assert!(missing.contains("class 1:10 at eth1 has no queue"), "{missing}");
        assert!(missing.contains("tc qdisc add dev eth1 parent 1:10"), "{missing}");
    }
}
