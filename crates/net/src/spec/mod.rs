//! Specification of a network: nodes, one-way links, and the media that links share.

mod varying;

use std::sync::Arc;

pub use ratewire_backpressure::frames::Quanta;
pub use ratewire_backpressure::queues::Arrangement;
use ratewire_laws::{Draw, LinkContext};
use ratewire_units::{Bytes, Duration, Rate};

pub use crate::queue::AnyDiscipline;
pub use varying::{Change, LinkJitter, Loss, Reorder, TokenBucket, Variation};

/// Index of a node in [`NetworkSpec::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Index of a link in [`NetworkSpec::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// Index of a shared medium in [`NetworkSpec::mediums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MediumId(pub u32);

impl NodeId {
    /// This id as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
impl LinkId {
    /// This id as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// Id of the port at the link's start ([`ratewire_laws::LinkContext::id`]): the link's index
    /// plus one.
    pub const fn port_id(self) -> u32 {
        self.0 + 1
    }
}
impl MediumId {
    /// This id as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Nodes and the one-way links between them.
#[derive(Clone, Debug, Default)]
pub struct NetworkSpec {
    /// Hosts and routers.
    pub nodes: Vec<NodeSpec>,
    /// One-way links; a cable is two of them.
    pub links: Vec<LinkSpec>,
    /// Half-duplex media shared by links.
    pub mediums: Vec<MediumSpec>,
    /// When the control intervals of ports begin.
    pub port_clocks: PortClocks,
}

/// When the control intervals of ports begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortClocks {
    /// All with the run.
    #[default]
    Equal,
    /// Each at a random time within its first interval, as those of routers that were switched on
    /// before the run.
    Random,
}

/// A host or router.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Unique name.
    pub name: String,
    /// Whether flows may start and end here.
    pub is_host: bool,
    /// Position in a drawing: x to the right, y upwards, in any unit; `None` for a computed layout.
    pub position: Option<(f64, f64)>,
}

/// A one-way link with the queue in front of it.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Unique name.
    pub name: String,
    /// Node at the link's start, which has the queue.
    pub from: NodeId,
    /// Node at the link's far end.
    pub to: NodeId,
    /// How fast the link sends.
    pub service: Service,
    /// Propagation delay.
    pub delay: Duration,
    /// Link-layer bytes added to each packet on this link (Ethernet: 38 with preamble and gap).
    pub overhead: Bytes,
    /// Room in the queue; the packet in transmission does not count.
    pub limit: Limit,
    /// Queue discipline, which decides about drops and marks.
    pub discipline: AnyDiscipline,
    /// Losses on the link, after the transmission.
    pub loss: Loss,
    /// Law of the port at the link's start, as an index into the run's laws; `None` for a router
    /// without a port.
    pub law: Option<usize>,
    /// Half-duplex medium that the link shares with others.
    pub medium: Option<MediumId>,
    /// Whether the link removes congestion headers, as middleboxes remove headers that they do not
    /// know.
    pub strips: bool,
    /// Packets that arrive late, so that others overtake them.
    pub reorder: Option<Reorder>,
    /// Policer that holds senders to their headers; it has no effect on a link without a port.
    pub police: Option<PoliceSpec>,
    /// What varies on the link by itself; `None` for nothing.
    pub variation: Option<Box<Variation>>,
    /// Buffer at the far end that pauses the link; `None` if the link is never paused.
    pub pause: Option<PauseSpec>,
    /// How the sending host hands packets to the link.
    pub driver: DriverSpec,
}

/// 100 Mbit/s without delay between nodes 0 and 1, with an unlimited drop-tail queue and no port.
impl Default for LinkSpec {
    fn default() -> LinkSpec {
        LinkSpec {
            name: String::new(),
            from: NodeId(0),
            to: NodeId(1),
            service: Service::Rate(Rate::from_mbps(100)),
            delay: Duration::ZERO,
            overhead: Bytes::ZERO,
            limit: Limit::Unlimited,
            discipline: AnyDiscipline::default(),
            loss: Loss::None,
            law: None,
            medium: None,
            strips: false,
            reorder: None,
            police: None,
            variation: None,
            pause: None,
            driver: DriverSpec::default(),
        }
    }
}

impl LinkSpec {
    /// The link with this id as a law's port sees it at the start.
    pub fn context<'a>(&self, id: LinkId, draw: Draw<'a>) -> LinkContext<'a> {
        LinkContext { rate: self.service.mean_rate(), delay: self.delay, id: id.port_id(), draw }
    }

    /// What the link carries for long at this rate: no more than its policer or shaper lets pass.
    pub fn lasting(&self, rate: Rate) -> Rate {
        let of = self.variation.iter().flat_map(|of| [of.policer, of.shaper]).flatten();
        of.map(|bucket| bucket.rate).fold(rate, Rate::min)
    }

    /// What the link carries for long at its rate; for a trace, at its mean rate.
    pub fn lasting_rate(&self) -> Rate {
        self.lasting(self.service.mean_rate())
    }

    /// Whether the link is like most: it has a constant rate and delay, and drops packets only from
    /// a full queue. No packet is lost, late, duplicated, policed, shaped, or stripped of its
    /// header, and no medium is shared.
    pub fn is_plain(&self) -> bool {
        let has_no_trace = match &self.service {
            Service::Rate(_) => true,
            Service::Opportunities(o) => o.is_empty(),
        };
        has_no_trace
            && self.medium.is_none()
            && self.loss == Loss::None
            && self.discipline.is_passive()
            && !self.strips
            && self.reorder.is_none()
            && self.police.is_none()
            && self.variation.is_none()
    }
}

/// How fast a link sends.
#[derive(Clone, Debug)]
pub enum Service {
    /// At a constant rate; at rate zero it sends nothing.
    Rate(Rate),
    /// At the delivery opportunities of a trace, as in Mahimahi.
    Opportunities(Arc<Opportunities>),
}

impl Service {
    /// The rate; for a trace, its mean.
    pub fn mean_rate(&self) -> Rate {
        match self {
            Service::Rate(rate) => *rate,
            Service::Opportunities(o) if o.is_empty() => Rate::ZERO,
            Service::Opportunities(o) => {
                let bytes = (o.bytes * o.at.len() as u64).as_f64();
                Rate::from_bps((bytes * 8.0 / o.period.secs()) as u64)
            }
        }
    }
}

/// A trace of delivery opportunities, repeated for ever. Without opportunities, or if nothing may
/// pass at them, the link sends nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// Times within the period, in ascending order; each at most `period`.
    pub at: Vec<Duration>,
    /// Time after which the trace repeats; above zero.
    pub period: Duration,
    /// Bytes that may pass at each opportunity.
    pub bytes: Bytes,
}

impl Opportunities {
    pub(crate) fn is_empty(&self) -> bool {
        self.at.is_empty() || self.period.is_zero() || self.bytes == Bytes::ZERO
    }
}

/// Room in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// No limit.
    Unlimited,
    /// Limit in network-layer bytes.
    Bytes(Bytes),
    /// Limit in packets of any size.
    Packets(u32),
}

/// Parameters of a policer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoliceSpec {
    /// Largest number of flows watched at once.
    pub suspects: u32,
    /// Share by which a flow may exceed its grants.
    pub tolerance: f64,
}

/// A buffer that pauses the link that fills it.
///
/// A packet that arrived over such a link occupies this buffer until it leaves the node. It takes
/// no room in the queue of its next link.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseSpec {
    /// Link that carries the pause frames, from the far end back to the near end of the paused
    /// link.
    pub back: LinkId,
    /// How the nodes at both ends queue packets; the same for all pausable links of a node.
    pub arrangement: Arrangement,
    /// Whether each priority class has its own buffer and is paused separately (PFC).
    pub by_class: bool,
    /// Size of the buffer; with `by_class`, of each class's buffer.
    pub buffer: Bytes,
    /// Backlog above which the link is paused.
    pub xoff: Bytes,
    /// Backlog at or below which the link resumes.
    pub xon: Bytes,
    /// Pause time of a frame; the frame is repeated after half of it.
    pub quanta: Quanta,
    /// Time from a frame's arrival until the transmitter obeys.
    pub reaction: Duration,
    /// With queues by flow: time from a packet's departure until a pause that the packet causes
    /// takes effect at the transmitter.
    pub hop_round_trip: Duration,
    /// Time that the far end needs to take in each packet; zero for none.
    pub intake: Duration,
}

/// How a host hands packets to its own link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverSpec {
    /// What sockets do when the link's queue is full.
    pub sockets: Sockets,
    /// Release of packets in bursts, as by a network card with interrupt coalescing; `None` for
    /// none.
    pub bursts: Option<Bursts>,
}

/// What the sockets of a host do when its own queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sockets {
    /// Sockets do not wait: the packet is dropped.
    #[default]
    Drop,
    /// Sockets wait, and send one packet each in turn as room appears.
    InTurn,
    /// Sockets wait, and a random one sends each packet for which room appears.
    AtRandom,
    /// Sockets wait for their own next acknowledgement, and then try again.
    OnAck,
}

/// When a host releases its waiting packets as a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Number of waiting packets that triggers a release.
    pub packets: u32,
    /// Time from the first packet until a release of all packets, however few.
    pub every: Duration,
}

/// A half-duplex medium: its links send one at a time.
#[derive(Clone, Debug)]
pub struct MediumSpec {
    /// Unique name.
    pub name: String,
    /// How the next sender is chosen when several links want to send.
    pub contention: Contention,
}

/// How the next sender on a half-duplex medium is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contention {
    /// The link that sent least recently.
    Alternate,
    /// Each link with equal probability: an idealised contention.
    Random,
    /// Binary exponential backoff of Ethernet (IEEE 802.3): a winner tends to win again.
    Backoff,
}
