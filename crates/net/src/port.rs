//! Ports of laws, each at the start of a link.

use rand_core::Rng;
use ratewire_laws::{AnyLaw, AnyPort, Draw, Header, Reason};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::link::Link;
use crate::packet::Ecn;
use crate::prefetch::prefetch_bytes;
use crate::random::{draw, stream};
use crate::spec::{LinkId, LinkSpec, PortClocks};

/// How often in a row a port's timer may fail to advance.
const MOST_STALLS: u32 = 10_000;
/// Least advance of a timer, also if its law leaves the timer where it was.
const STALL: Duration = Duration::from_nanos(1);
/// Advance of such a timer after [`MOST_STALLS`], so that it takes little computing time.
const LONG_STALL: Duration = Duration::from_millis(1);

/// All ports of a network.
#[derive(Debug)]
pub(crate) struct Ports {
    all: Vec<PortInPhase>,
    /// The law of each port.
    laws: Vec<usize>,
    /// The link of each port.
    links: Vec<LinkId>,
    /// How often the timer of each port did not advance since it last did. Two timers of a law may
    /// be due at once.
    stalls: Vec<u32>,
    stalled: Option<(LinkId, Time)>,
    /// With `wire = "exact"`: the laws, which encode and decode each header at each port.
    exact: Option<Vec<AnyLaw>>,
}

/// A port whose clock is ahead of the run's.
#[derive(Debug)]
struct PortInPhase {
    port: AnyPort,
    /// Time since the port was switched on when the run starts.
    phase: Duration,
}

impl PortInPhase {
    /// The port's own time.
    #[inline]
    fn clock(&self, now: Time) -> Time {
        now + self.phase
    }

    /// Time of the port's next timer, by the run's clock.
    fn next_timer(&self) -> Time {
        match self.port.next_timer() {
            Time::NEVER => Time::NEVER,
            at => Time::from_ps(at.ps().saturating_sub(self.phase.ps())),
        }
    }
}

/// A random time below the port's first control interval; zero for a port without timers.
fn random_phase(port: &AnyPort, link: LinkId, seed: u64) -> Duration {
    match port.next_timer() {
        Time::NEVER => Duration::ZERO,
        first => first.since(Time::ZERO).scale(draw(seed, "port phase", u64::from(link.0))),
    }
}

impl Ports {
    pub(crate) fn new(exact: Option<Vec<AnyLaw>>) -> Ports {
        Ports {
            all: Vec::new(),
            laws: Vec::new(),
            links: Vec::new(),
            stalls: Vec::new(),
            stalled: None,
            exact,
        }
    }

    /// Adds the port of a link's law; returns whether the link has a law with ports.
    pub(crate) fn add(
        &mut self,
        id: LinkId,
        spec: &LinkSpec,
        laws: &[AnyLaw],
        clocks: PortClocks,
        seed: u64,
        link: &mut Link,
    ) -> bool {
        let number = stream(seed, "port", u64::from(id.0)).next_u64();
        let context = spec.context(id, Draw::new(number));
        let port = spec.law.and_then(|law| Some((law, laws[law].port(&context)?)));
        let Some((law, port)) = port else { return false };
        self.laws.push(law);
        self.links.push(id);
        self.stalls.push(0);
        link.port = self.all.len() as u32;
        let phase = match clocks {
            PortClocks::Equal => Duration::ZERO,
            PortClocks::Random => random_phase(&port, id, seed),
        };
        let port = PortInPhase { port, phase };
        link.port_timer = port.next_timer();
        self.all.push(port);
        true
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Handles the arrival of a packet that may have to wait; [`Ports::on_departure`] follows.
    /// Returns the packet's mark: a pointer to its label would keep the label in memory.
    #[inline(always)]
    pub(crate) fn on_arrival(
        &mut self,
        now: Time,
        link: &mut Link,
        size: Bytes,
        ecn: Ecn,
        header: &mut Header,
    ) -> Ecn {
        let queue = link.port_queue();
        let at = &mut self.all[link.port as usize];
        let clock = at.clock(now);
        at.port.on_arrival(clock, size, header, queue);
        if ecn.may_be_marked() && at.port.mark(clock, size, queue) {
            return Ports::note_mark(link);
        }
        ecn
    }

    /// Handles the start of a packet's transmission.
    #[inline(always)]
    pub(crate) fn on_departure(
        &mut self,
        now: Time,
        link: &mut Link,
        size: Bytes,
        header: &mut Header,
    ) {
        let queue = link.port_queue();
        let at = &mut self.all[link.port as usize];
        at.port.on_departure(at.clock(now), size, header, queue);
        self.quantise(link, size, header);
    }

    /// Handles the arrival and departure of a packet that finds its link idle; returns its mark.
    #[inline(always)]
    pub(crate) fn on_passage(
        &mut self,
        now: Time,
        link: &mut Link,
        size: Bytes,
        ecn: Ecn,
        header: &mut Header,
    ) -> Ecn {
        let at = &mut self.all[link.port as usize];
        let is_marked = at.port.on_passage(at.clock(now), size, header, ecn.may_be_marked());
        self.quantise(link, size, header);
        if is_marked { Ports::note_mark(link) } else { ecn }
    }

    /// Counts a mark. Other packets must not touch the tally, whose cache line few of them need.
    #[inline]
    fn note_mark(link: &mut Link) -> Ecn {
        link.tally.marked += 1;
        Ecn::Marked
    }

    /// With exact headers: encodes and decodes a header, which may round its values.
    #[inline(always)]
    fn quantise(&self, link: &Link, size: Bytes, header: &mut Header) {
        if let Some(laws) = &self.exact {
            let law = &laws[self.laws[link.port as usize]];
            *header = law.quantise(*header, size);
        }
    }

    /// Handles the due timer of a link's port.
    pub(crate) fn on_timer(&mut self, link: &mut Link) {
        let queue = link.port_queue();
        let at = &mut self.all[link.port as usize];
        at.port.on_timer(at.clock(link.port_timer), queue);
        let next = at.next_timer();
        if next >= link.port_timer + STALL {
            link.port_timer = next;
            self.stalls[link.port as usize] = 0;
        } else {
            self.stall(link);
        }
    }

    /// Advances the timer of a port whose law left it where it was.
    #[cold]
    fn stall(&mut self, link: &mut Link) {
        let stalls = &mut self.stalls[link.port as usize];
        *stalls = stalls.saturating_add(1);
        if *stalls < MOST_STALLS {
            link.port_timer += STALL;
        } else {
            self.stalled.get_or_insert((self.links[link.port as usize], link.port_timer));
            link.port_timer += LONG_STALL;
        }
    }

    /// Whether a link's port acts on arrivals, and not as packets leave. One with a timer does not,
    /// whatever it says.
    pub(crate) fn acts_on_arrival_only(&self, link: &Link) -> bool {
        let says_so = |at: &PortInPhase| at.port.acts_on_arrival_only();
        link.port_timer == Time::NEVER && self.all.get(link.port as usize).is_some_and(says_so)
    }

    /// Whether headers are encoded and decoded as packets leave a port.
    pub(crate) fn are_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// The link of the first port that has done what no law may do, and what.
    pub(crate) fn fault(&self) -> Option<(LinkId, String)> {
        let mut all = self.links.iter().zip(&self.all);
        all.find_map(|(link, own)| Some((*link, own.port.fault()?)))
    }

    /// The link of the first port whose timer stalled too often, and the time of that timer.
    pub(crate) fn stalled(&self) -> Option<(LinkId, Time)> {
        self.stalled
    }

    /// Handles a change of a link's rate, if the link has a port.
    pub(crate) fn on_rate_change(&mut self, now: Time, link: &mut Link, rate: Rate) {
        if link.has_port() {
            let at = &mut self.all[link.port as usize];
            at.port.on_rate_change(at.clock(now), rate);
            link.port_timer = at.next_timer();
        }
    }

    /// The reason that a link's port gives for the last departure; `None` without a port.
    pub(crate) fn reason(&self, link: &Link) -> Option<Reason> {
        self.all.get(link.port as usize).map(|at| at.port.reason())
    }

    /// Prefetches the port of a link, if it has one.
    #[inline]
    pub(crate) fn prefetch(&self, link: &Link) {
        if link.has_port() {
            prefetch_bytes(&self.all[link.port as usize], 0..size_of::<PortInPhase>());
        }
    }
}
