//! The ports of laws at the starts of links.

use rand_core::Rng;
use ratewire_laws::{AnyLaw, AnyPort, Header, LinkContext, Reason};
use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::link::Link;
use crate::packet::{Ecn, Label};
use crate::prefetch::prefetch_bytes;
use crate::random::stream;
use crate::spec::{LinkId, LinkSpec};

/// All ports of a network.
#[derive(Debug)]
pub(crate) struct Ports {
    all: Vec<AnyPort>,
    /// The law of each port.
    laws: Vec<usize>,
    /// With `wire = "exact"`, the laws, whose headers pass through their bytes at each port.
    exact: Option<Vec<AnyLaw>>,
}

impl Ports {
    pub(crate) fn new(exact: Option<Vec<AnyLaw>>) -> Ports {
        Ports { all: Vec::new(), laws: Vec::new(), exact }
    }

    /// Puts the port of a link's law there, if that law has ports; says whether it has.
    pub(crate) fn add(
        &mut self,
        id: LinkId,
        spec: &LinkSpec,
        laws: &[AnyLaw],
        seed: u64,
        link: &mut Link,
    ) -> bool {
        let context = LinkContext {
            rate: spec.service.mean_rate(),
            delay: spec.delay,
            id: id.port_id(),
            draw: stream(seed, "port", u64::from(id.0)).next_u64(),
        };
        let port = spec.law.and_then(|law| Some((law, laws[law].port(&context)?)));
        let Some((law, port)) = port else { return false };
        self.laws.push(law);
        link.port = self.all.len() as u32;
        link.port_timer = port.next_timer();
        self.all.push(port);
        true
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A packet comes to a link, and waits or is about to leave.
    #[inline(always)]
    pub(crate) fn on_arrival(
        &mut self,
        now: Time,
        link: &mut Link,
        label: &mut Label,
        header: &mut Header,
    ) {
        let queue = link.port_queue();
        let port = &mut self.all[link.port as usize];
        let size = Bytes::new(u64::from(label.size));
        port.on_arrival(now, size, header, queue);
        if label.ecn.may_be_marked() && port.mark(now, size, queue) {
            label.ecn = Ecn::Marked;
            link.tally.marked += 1;
        }
    }

    /// A packet's transmission starts.
    #[inline(always)]
    pub(crate) fn on_departure(
        &mut self,
        now: Time,
        link: &mut Link,
        size: Bytes,
        header: &mut Header,
    ) {
        let queue = link.port_queue();
        self.all[link.port as usize].on_departure(now, size, header, queue);
        self.quantise(link, size, header);
    }

    /// A packet comes to an idle link and leaves at once.
    #[inline(always)]
    pub(crate) fn on_passage(
        &mut self,
        now: Time,
        link: &mut Link,
        label: &mut Label,
        header: &mut Header,
    ) {
        let size = Bytes::new(u64::from(label.size));
        let port = &mut self.all[link.port as usize];
        if port.on_passage(now, size, header, label.ecn.may_be_marked()) {
            label.ecn = Ecn::Marked;
            link.tally.marked += 1;
        }
        self.quantise(link, size, header);
    }

    /// With exact headers, passes one through its bytes, which may round it.
    #[inline(always)]
    fn quantise(&self, link: &Link, size: Bytes, header: &mut Header) {
        if let Some(laws) = &self.exact {
            let law = &laws[self.laws[link.port as usize]];
            *header = law.quantise(*header, size);
        }
    }

    /// The timer of a link's port is due.
    pub(crate) fn on_timer(&mut self, link: &mut Link) {
        let queue = link.port_queue();
        let port = &mut self.all[link.port as usize];
        port.on_timer(link.port_timer, queue);
        // A law whose interval comes to nothing must not stop time.
        link.port_timer = port.next_timer().max(link.port_timer + Duration::from_nanos(1));
    }

    /// A link's rate has changed, if a port stands there.
    pub(crate) fn on_rate_change(&mut self, now: Time, link: &mut Link, rate: Rate) {
        if link.has_port() {
            let port = &mut self.all[link.port as usize];
            port.on_rate_change(now, rate);
            link.port_timer = port.next_timer();
        }
    }

    /// The reason that the port of a link gave for the last packet that left; `None` where no port
    /// stands.
    pub(crate) fn reason(&self, link: &Link) -> Option<Reason> {
        self.all.get(link.port as usize).map(|port| port.reason())
    }

    /// Fetches the port of a link into the caches, if one stands there.
    #[inline]
    pub(crate) fn prefetch(&self, link: &Link) {
        if link.has_port() {
            prefetch_bytes(&self.all[link.port as usize], 0..size_of::<AnyPort>());
        }
    }
}
