//! Following one packet on its way, to tell which port bound its flow's rate.

use ratewire_laws::{Header, PortQueue, Reason};
use ratewire_units::{Bytes, Duration, Time};

use crate::packet::{ContentId, Label, NIL};
use crate::spec::LinkId;

/// One link on a followed packet's way.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// Which.
    pub link: LinkId,
    /// When the packet came to its queue.
    pub arrived: Time,
    /// The queue that the packet found.
    pub queue: PortQueue,
    /// When its transmission started; `None` if that did not happen.
    pub left: Option<Time>,
    /// Its congestion header as it came.
    pub came_with: Header,
    /// Its congestion header as it left.
    pub left_with: Header,
    /// Whether it came with a congestion mark.
    pub came_marked: bool,
    /// Whether it left with a congestion mark.
    pub left_marked: bool,
    /// The reason that the port there gave as the packet left; `None` where no port stands.
    pub reason: Option<Reason>,
    /// The flow that it was in: behind a switch of an ensemble, another than before.
    pub flow: u32,
    /// What its far end did to the link while the packet waited; `None` if it paused it at no time.
    pub held: Option<Held>,
}

/// How the buffer at a link's far end held a packet back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// For how long, while the packet waited, the link was paused.
    pub paused: Duration,
    /// The bytes in the buffer as the packet leaves.
    pub buffered: Bytes,
    /// Above this it pauses the link.
    pub xoff: Bytes,
}

impl Hop {
    /// How long the packet waited; `None` if it never left.
    pub fn waited(&self) -> Option<Duration> {
        self.left.map(|left| left.since(self.arrived))
    }
    /// Whether the link changed what the packet says of congestion.
    pub fn changed_it(&self) -> bool {
        self.came_marked != self.left_marked || self.came_with != self.left_with
    }
}

/// The packet that is followed, if one is, and where it has been.
#[derive(Debug)]
pub struct Tracer {
    content: ContentId,
    hops: Vec<Hop>,
    /// Hops before it was answered.
    answered: Option<usize>,
    /// For how long the link it is at had been paused when it came.
    paused_before: Duration,
}

impl Default for Tracer {
    fn default() -> Tracer {
        Tracer { content: NIL, hops: Vec::new(), answered: None, paused_before: Duration::ZERO }
    }
}

impl Tracer {
    /// Whether this is the packet that is followed.
    #[inline]
    pub fn follows(&self, label: &Label) -> bool {
        self.content == label.content
    }

    /// Whether a packet that is followed is on its way.
    pub fn is_busy(&self) -> bool {
        self.content != NIL
    }

    /// Ends the following of a packet, if one is followed or was until it was dropped.
    pub fn take_trail(&mut self) -> Option<Trail> {
        let followed = core::mem::take(self);
        let mut there = followed.hops;
        let back = followed.answered.map_or_else(Vec::new, |n| there.split_off(n));
        (!there.is_empty()).then_some(Trail { there, back })
    }

    /// What was followed has come to where others take its place: the next of them that is sent
    /// with [`Network::send_on`](crate::Network::send_on) or
    /// [`Network::acknowledge_on`](crate::Network::acknowledge_on) is followed.
    #[cold]
    pub fn hand_on(&mut self) {
        self.content = NIL;
    }

    /// Follows a packet from here on, in place of any other.
    #[cold]
    pub(crate) fn follow(&mut self, content: ContentId) {
        *self = Tracer { content, ..Tracer::default() };
    }

    /// A packet takes the place of the one that was followed up to here.
    #[cold]
    pub(crate) fn take_place(&mut self, content: ContentId) {
        self.content = content;
    }

    /// The followed packet has turned into its own acknowledgement.
    #[cold]
    pub(crate) fn note_answer(&mut self) {
        self.answered.get_or_insert(self.hops.len());
    }

    /// The followed packet comes to a link that was paused for so long before.
    #[cold]
    pub(crate) fn note_arrival(&mut self, paused_before: Duration, hop: Hop) {
        self.paused_before = paused_before;
        self.hops.push(hop);
    }

    /// For how long the link at which the followed packet is had been paused when it came.
    pub(crate) fn paused_before(&self) -> Duration {
        self.paused_before
    }

    /// The hop at which the followed packet is.
    #[cold]
    pub(crate) fn hop_mut(&mut self) -> Option<&mut Hop> {
        self.hops.last_mut()
    }

    /// A packet is dropped or lost.
    #[inline]
    pub(crate) fn note_end(&mut self, content: ContentId) {
        if self.content == content {
            self.content = NIL;
        }
    }
}

/// Where a followed packet, and then its acknowledgement, went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {
    /// The packet's hops.
    pub there: Vec<Hop>,
    /// Those of its acknowledgement, if it was answered at once.
    pub back: Vec<Hop>,
}

impl Trail {
    /// As far as it has come by now: when a packet will leave may have been known before it does.
    pub fn until(mut self, now: Time) -> Trail {
        for hop in self.there.iter_mut().chain(&mut self.back) {
            hop.left = hop.left.filter(|left| *left <= now);
        }
        self
    }
}
