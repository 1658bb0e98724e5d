//! Follows one packet on its route, to explain which port limited its flow's rate.

use std::fmt;

use ratewire_laws::{Header, PortQueue, Reason};
use ratewire_units::{Bytes, Duration, Time};

use crate::packet::{ContentId, Label, NIL};
use crate::spec::LinkId;

/// One link on a followed packet's route.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// Id of the link.
    pub link: LinkId,
    /// Time at which the packet came to its queue.
    pub arrived: Time,
    /// The queue that the packet found.
    pub queue: PortQueue,
    /// Time at which its transmission started; `None` if it did not start.
    pub left: Option<Time>,
    /// Congestion header of the packet as it came.
    pub came_with: Header,
    /// Congestion header of the packet as it left.
    pub left_with: Header,
    /// Whether the packet came with a congestion mark.
    pub came_marked: bool,
    /// Whether the packet left with a congestion mark.
    pub left_marked: bool,
    /// The port's explanation as it acted on the packet last; `None` without a port.
    pub reason: Option<Reason>,
    /// Flow of the packet on this link; behind a switch of an ensemble, a different one.
    pub flow: u32,
    /// Pauses by the far end while the packet waited; `None` if there was none.
    pub held: Option<PauseWait>,
    /// Time for which the packet, as the next to be sent, waited for the tokens of a shaper.
    pub shaped: Duration,
    /// Random delay of the packet on the link, in addition to the link's own.
    pub late: Duration,
    /// Delay for which others could overtake the packet, which the link had chosen for that.
    pub overtaken: Duration,
    /// Whether the link let a copy arrive right behind the packet.
    pub copied: bool,
    /// Why the packet was dropped or lost here; `None` if it was not.
    pub dropped: Option<DropReason>,
}

/// Why a packet was dropped or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The queue, or the buffer of a switch, had no room.
    Full,
    /// The queue's discipline dropped it.
    Early,
    /// The link lost it.
    Lost,
    /// The link was down.
    Down,
    /// The policer of congestion headers dropped it.
    Policed,
    /// It exceeded the token bucket of the link's policer.
    Exceeding,
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DropReason::Full => "queue full",
            DropReason::Early => "early (queue discipline)",
            DropReason::Lost => "lost on the link",
            DropReason::Down => "link down",
            DropReason::Policed => "policed",
            DropReason::Exceeding => "over the policer's rate",
        })
    }
}

/// Pauses of a link while a packet waited for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PauseWait {
    /// Time for which the link was paused while the packet waited.
    pub paused: Duration,
    /// The bytes in the buffer as the packet leaves.
    pub buffered: Bytes,
    /// Threshold above which the buffer pauses the link.
    pub xoff: Bytes,
}

impl Hop {
    /// Waiting time of the packet; `None` if it never left.
    pub fn waited(&self) -> Option<Duration> {
        self.left.map(|left| left.since(self.arrived))
    }
    /// Whether the link changed the packet's header or mark.
    pub fn changed_it(&self) -> bool {
        self.came_marked != self.left_marked || self.came_with != self.left_with
    }
}

/// The followed packet, if there is one, and its hops.
#[derive(Debug)]
pub struct Tracer {
    content: ContentId,
    hops: Vec<Hop>,
    /// Number of hops before the packet was acknowledged.
    answered: Option<usize>,
    /// Time for which the packet's current link had been paused when the packet came.
    paused_before: Duration,
}

impl Default for Tracer {
    fn default() -> Tracer {
        Tracer { content: NIL, hops: Vec::new(), answered: None, paused_before: Duration::ZERO }
    }
}

impl Tracer {
    /// Whether this is the followed packet.
    #[inline]
    pub fn follows(&self, label: &Label) -> bool {
        self.content == label.content
    }

    /// Whether a followed packet is on its way.
    pub fn is_busy(&self) -> bool {
        self.content != NIL
    }

    /// Ends following, if a packet is followed or was until it was dropped.
    pub fn take_trail(&mut self) -> Option<Trail> {
        let followed = core::mem::take(self);
        let mut there = followed.hops;
        let back = followed.answered.map_or_else(Vec::new, |n| there.split_off(n));
        (!there.is_empty()).then_some(Trail { there, back })
    }

    /// Passes following on at a switch: the next packet sent with
    /// [`Network::send_followed`](crate::Network::send_followed) or
    /// [`Network::acknowledge_followed`](crate::Network::acknowledge_followed) is followed.
    #[cold]
    pub fn hand_on(&mut self) {
        self.content = NIL;
    }

    /// Lets a packet take the place of the followed one.
    #[cold]
    pub(crate) fn take_place(&mut self, content: ContentId) {
        self.content = content;
    }

    /// Notes that the followed packet has become its own acknowledgement.
    #[cold]
    pub(crate) fn note_answer(&mut self) {
        self.answered.get_or_insert(self.hops.len());
    }

    /// Notes that the followed packet has come to a link, and for how long the link had been paused
    /// before.
    #[cold]
    pub(crate) fn note_arrival(&mut self, paused_before: Duration, hop: Hop) {
        self.paused_before = paused_before;
        self.hops.push(hop);
    }

    /// Time for which the followed packet's link had been paused when the packet came.
    pub(crate) fn paused_before(&self) -> Duration {
        self.paused_before
    }

    /// Hop of the followed packet.
    #[cold]
    pub(crate) fn hop_mut(&mut self) -> Option<&mut Hop> {
        self.hops.last_mut()
    }

    /// Notes that a packet is dropped or lost.
    #[inline]
    pub(crate) fn note_end(&mut self, content: ContentId, reason: DropReason) {
        if self.content == content {
            self.content = NIL;
            if let Some(hop) = self.hops.last_mut() {
                hop.dropped = Some(reason);
            }
        }
    }
}

/// Hops of a followed packet, and of its acknowledgement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {
    /// The packet's hops.
    pub there: Vec<Hop>,
    /// Hops of its acknowledgement, if it was acknowledged at once.
    pub back: Vec<Hop>,
}

impl Trail {
    /// The trail up to now; a departure may have been computed before its time.
    pub fn until(mut self, now: Time) -> Trail {
        for hop in self.there.iter_mut().chain(&mut self.back) {
            hop.left = hop.left.filter(|left| *left <= now);
        }
        self
    }
}
