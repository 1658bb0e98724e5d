//! What a network is made of, before it runs.

use std::sync::Arc;

pub use ratewire_backpressure::frames::Quanta;
pub use ratewire_backpressure::queues::Arrangement;
use ratewire_units::{Bytes, Duration, Rate};

pub use crate::queue::AnyDiscipline;

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
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
impl LinkId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// What the port there is called: [`ratewire_laws::LinkContext::id`].
    pub const fn port_id(self) -> u32 {
        self.0 + 1
    }
}
impl MediumId {
    /// As an index.
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
}

/// A host or router.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Unique name.
    pub name: String,
    /// Whether flows may start and end here.
    pub is_host: bool,
    /// Where to draw it, x to the right and y upwards, in any unit; `None` to lay it out.
    pub position: Option<(f64, f64)>,
}

/// A one-way link with the queue in front of it.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Unique name.
    pub name: String,
    /// The node whose output queue this is.
    pub from: NodeId,
    /// The node it leads to.
    pub to: NodeId,
    /// How fast it sends.
    pub service: Service,
    /// Propagation delay.
    pub delay: Duration,
    /// Link-layer bytes added to each packet on this link (Ethernet: 38 with preamble and gap).
    pub overhead: Bytes,
    /// Room for waiting packets, the one being sent not counted.
    pub limit: Limit,
    /// Which packets are dropped or marked.
    pub discipline: AnyDiscipline,
    /// Packets lost on the way, after they were sent.
    pub loss: Loss,
    /// The law whose port stands here, by index into the run's laws; `None` for a router that takes
    /// no part.
    pub law: Option<usize>,
    /// The half-duplex medium it shares.
    pub medium: Option<MediumId>,
    /// Takes the congestion headers off packets, as middleboxes do with what they do not know.
    pub strips: bool,
    /// Packets that arrive late.
    pub reorder: Option<Reorder>,
    /// Whether senders are held to their headers here; where no port stands they are not.
    pub police: Option<PoliceSpec>,
    /// The buffer at its far end that pauses it; `None` for one that drops what finds no room.
    pub pause: Option<PauseSpec>,
    /// How the host that sends on it hands it packets.
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
            pause: None,
            driver: DriverSpec::default(),
        }
    }
}

impl LinkSpec {
    /// Whether it is as most links are: packets wait for a constant rate, and none is dropped but
    /// for lack of room, lost, late, or changed.
    pub(crate) fn is_plain(&self) -> bool {
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
    }
}

/// How fast a link sends.
#[derive(Clone, Debug)]
pub enum Service {
    /// At a constant rate; at rate zero it sends nothing.
    Rate(Rate),
    /// At delivery opportunities, as Mahimahi's traces have them.
    Opportunities(Arc<Opportunities>),
}

impl Service {
    /// The rate, of opportunities the mean.
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

/// Delivery opportunities, repeated for ever. Without any, or with nothing passing at them, the
/// link sends nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opportunities {
    /// When in the period, in order, each below or at the period.
    pub at: Vec<Duration>,
    /// After which it starts again; above zero.
    pub period: Duration,
    /// Bytes that may pass at each.
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
    /// Network-layer bytes.
    Bytes(Bytes),
    /// Packets of any size.
    Packets(u32),
}

/// Packets lost on a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// None.
    None,
    /// Each with this probability.
    Random(f64),
    /// Every so many-th, as closed forms of TCP assume; zero for none.
    Every(u64),
    /// In bursts (Gilbert-Elliott): per packet, the probability of turning bad, of turning good
    /// again, and of loss in the bad and good states.
    Burst {
        /// Good to bad.
        turn_bad: f64,
        /// Bad to good.
        turn_good: f64,
        /// Loss while bad.
        loss_bad: f64,
        /// Loss while good.
        loss_good: f64,
    },
}

/// Packets that others overtake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability per packet.
    pub share: f64,
    /// How much later than it would a packet arrives.
    pub delay: Duration,
}

/// A policer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoliceSpec {
    /// Most flows that are watched at once.
    pub suspects: u32,
    /// How much faster than it was granted a flow may send, as a share.
    pub tolerance: f64,
}

/// A buffer that pauses the link that fills it.
///
/// What came by such a link waits in this buffer, whichever link it is to leave by, and takes no
/// room in the queue of that link.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseSpec {
    /// The link on which the far end tells the near end, between the same two nodes.
    pub back: LinkId,
    /// How the nodes at both ends sort what waits; all such links of a node have the same.
    pub arrangement: Arrangement,
    /// Whether each class has a buffer of its own and is paused by itself (PFC).
    pub by_class: bool,
    /// Room, for each class if `by_class`.
    pub buffer: Bytes,
    /// Above this the link is paused.
    pub xoff: Bytes,
    /// At this or below it goes on.
    pub xon: Bytes,
    /// For how long a frame pauses; said again after half of it.
    pub quanta: Quanta,
    /// How long the transmitter takes to obey.
    pub reaction: Duration,
    /// With queues by flow: from a packet's leaving the transmitter until a pause, for what it met,
    /// is felt there.
    pub hop_round_trip: Duration,
    /// How long the far end takes to take each packet in; zero for at once.
    pub intake: Duration,
}

/// How a host hands packets to its own link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverSpec {
    /// What sockets do when the queue is full.
    pub sockets: Sockets,
    /// Packets are released in bursts, as a network card's coalescing of interrupts makes them.
    pub bursts: Option<Bursts>,
}

/// What the sockets of a host do when its own queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sockets {
    /// They do not look: the packet is dropped.
    #[default]
    Drop,
    /// They wait, and are let go on one after the other, a packet each.
    InTurn,
    /// They wait, and when there is room any one of them gets it, a packet at a time.
    AtRandom,
    /// They wait for their own next acknowledgement, and try again then.
    OnAck,
}

/// Bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Released when so many wait ...
    pub packets: u32,
    /// ... or when the first has waited for so long.
    pub every: Duration,
}

/// A half-duplex medium: its links send one at a time.
#[derive(Clone, Debug)]
pub struct MediumSpec {
    /// Unique name.
    pub name: String,
    /// Who sends when several want to.
    pub contention: Contention,
}

/// Who sends next on a half-duplex medium when several links want to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contention {
    /// The one that has sent least recently.
    Alternate,
    /// Any, equally likely: an idealised contention.
    Random,
    /// Binary exponential backoff as in Ethernet (802.3), where the winner tends to win again.
    Backoff,
}

/// Something about a link that changes at a time.
#[derive(Clone, Debug)]
pub enum Change {
    /// Its rate; a packet that is being sent goes on at the new one, and stands still at rate zero
    /// (on a medium: without letting others send). Changes nothing on a link that follows a trace.
    Rate(Rate),
    /// Its propagation delay, for packets that start from now on; they never overtake those before.
    Delay(Duration),
    /// It goes down (waiting and arriving packets are dropped, the one being sent still arrives) or
    /// comes up.
    Up(bool),
}
