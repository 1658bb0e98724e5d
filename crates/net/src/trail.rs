//! Following one packet on its way, to tell which port bound its flow's rate.

use ratewire_laws::{Header, PortQueue, Reason};
use ratewire_units::Time;

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
}

impl Hop {
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
}

impl Default for Followed {
    fn default() -> Followed {
        Followed { content: NIL, hops: Vec::new(), answered: None }
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

impl Network {
    /// Whether this is the packet that is followed.
    #[inline]
    pub fn is_followed(&self, label: &Label) -> bool {
        label.content == self.followed.content
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
        self.followed.answered = Some(self.followed.hops.len());
    }

    #[cold]
    pub(crate) fn note_arrival(&mut self, now: Time, id: LinkId, label: &Label) {
        let header = self.packets.content(label.content).header;
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
        });
    }

    #[cold]
    pub(crate) fn note_departure(&mut self, now: Time, id: LinkId, label: &Label) {
        let header = self.packets.content(label.content).header;
        let port = self.links[id.index()].port;
        let reason = self.ports.get(port as usize).map(|port| port.reason());
        if let Some(hop) = self.followed.hops.last_mut() {
            hop.left = Some(now);
            hop.left_with = header;
            hop.left_marked = label.ecn == Ecn::Marked;
            hop.reason = reason;
        }
    }

    /// A packet is dropped or lost.
    pub(crate) fn discard(&mut self, content: ContentId) {
        if content == self.followed.content {
            self.followed.content = NIL;
        }
        if let Body::Kept(number) = self.packets.content(content).body {
            self.dropped.push(number);
        }
        self.packets.remove(content);
    }
}
