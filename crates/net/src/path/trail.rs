//! Following one packet on its way, to tell which port bound its flow's rate.

use ratewire_laws::{Header, PortQueue, Reason};
use ratewire_units::{Bytes, Duration, Time};

use crate::network::Network;
use crate::packet::{Body, ContentId, Ecn, Label, NIL};
use crate::spec::LinkId;

/// One link on a followed packet's way.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// Which.
    pub link: LinkId,
    /// When the packet came to its queue.
    pub arrived: Time,
    /// What waited there then.
    pub queue: PortQueue,
    /// When its transmission started; `None` if that did not happen.
    pub left: Option<Time>,
    /// Its congestion header as it came.
    pub came_with: Header,
    /// And as it left.
    pub left_with: Header,
    /// Whether it came with a congestion mark.
    pub came_marked: bool,
    /// And whether it left with one.
    pub left_marked: bool,
    /// What the port there said as the packet left; `None` where no port stands.
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
    /// What is in the buffer as the packet leaves.
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
pub(crate) struct Followed {
    pub(crate) content: ContentId,
    hops: Vec<Hop>,
    /// Hops before it was answered.
    answered: Option<usize>,
    /// For how long the link it is at had been paused when it came.
    paused_before: Duration,
}

impl Default for Followed {
    fn default() -> Followed {
        Followed { content: NIL, hops: Vec::new(), answered: None, paused_before: Duration::ZERO }
    }
}

impl Followed {
    /// Whether this is the packet.
    #[inline]
    pub(crate) fn is(&self, content: ContentId) -> bool {
        self.content == content
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

impl Network {
    /// Whether this is the packet that is followed.
    #[inline]
    pub fn is_followed(&self, label: &Label) -> bool {
        self.followed.is(label.content)
    }

    /// Whether a packet that is followed is on its way.
    pub fn follows(&self) -> bool {
        self.followed.content != NIL
    }

    /// Ends the following of a packet, if one is followed or was until it was dropped.
    pub fn take_trail(&mut self) -> Option<Trail> {
        let followed = core::mem::take(&mut self.followed);
        let mut there = followed.hops;
        let back = followed.answered.map_or_else(Vec::new, |n| there.split_off(n));
        (!there.is_empty()).then_some(Trail { there, back })
    }

    #[cold]
    pub(crate) fn follow(&mut self, content: ContentId) {
        self.followed = Followed { content, ..Followed::default() };
    }

    /// The followed packet has turned into its own acknowledgement.
    #[cold]
    pub(crate) fn note_answer(&mut self) {
        let hops = self.followed.hops.len();
        self.followed.answered.get_or_insert(hops);
    }

    /// What was followed has come to where others take its place: the next of them that is sent with
    /// [`Network::send_on`] or [`Network::acknowledge_on`] is followed.
    #[cold]
    pub fn hand_on(&mut self) {
        self.followed.content = NIL;
    }

    /// A packet takes the place of the one that was followed up to here.
    #[cold]
    pub(crate) fn take_place(&mut self, content: ContentId) {
        self.followed.content = content;
    }

    /// How long the link has been paused; `None` if nothing pauses it.
    fn paused_for(&mut self, now: Time, id: LinkId) -> Option<Duration> {
        self.buffer(id)?;
        self.links[id.index()].outlet_mut().map(|outlet| outlet.tally(now).paused)
    }

    fn held(&mut self, now: Time, id: LinkId) -> Option<Held> {
        let before = self.followed.paused_before;
        let paused = self.paused_for(now, id)?.saturating_sub(before);
        let (buffered, xoff) = self.buffer(id)?.level();
        (!paused.is_zero()).then_some(Held { paused, buffered, xoff })
    }

    #[cold]
    pub(crate) fn note_arrival(&mut self, now: Time, id: LinkId, label: Label) {
        let header = self.packets.content(label.content).header;
        self.followed.paused_before = self.paused_for(now, id).unwrap_or_default();
        self.followed.hops.push(Hop {
            link: id,
            arrived: now,
            queue: self.links[id.index()].port_queue(),
            left: None,
            came_with: header,
            left_with: header,
            came_marked: label.ecn == Ecn::Marked,
            left_marked: label.ecn == Ecn::Marked,
            reason: None,
            flow: label.generation,
            held: None,
        });
    }

    #[cold]
    pub(crate) fn note_departure(&mut self, now: Time, id: LinkId, label: &Label) {
        let header = self.packets.content(label.content).header;
        let port = self.links[id.index()].port;
        let reason = self.ports.get(port as usize).map(|port| port.reason());
        let held = self.held(now, id);
        if let Some(hop) = self.followed.hops.last_mut() {
            hop.held = held;
            hop.left = Some(now);
            hop.left_with = header;
            hop.left_marked = label.ecn == Ecn::Marked;
            hop.reason = reason;
        }
    }

    /// A packet is dropped or lost.
    pub(crate) fn discard(&mut self, content: ContentId) {
        if self.followed.is(content) {
            self.followed.content = NIL;
        }
        if let Body::Kept(number) = self.packets.content(content).body {
            self.dropped.push(number);
        }
        self.packets.remove(content);
    }
}
