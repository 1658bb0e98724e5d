//! What varies on a link: losses, order, jitter, token buckets, and changes during a run.

use ratewire_units::{Bytes, Duration, Rate};

use super::Limit;

/// Packets lost on a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// No losses.
    None,
    /// Each packet with this probability.
    Random(f64),
    /// Every n-th packet, as closed forms of TCP assume; zero for no losses.
    Every(u64),
    /// Bursts (Gilbert-Elliott model); each probability is per packet.
    Burst {
        /// Probability of a change from the good to the bad state.
        turn_bad: f64,
        /// Probability of a change from the bad to the good state.
        turn_good: f64,
        /// Probability of a loss in the bad state.
        loss_bad: f64,
        /// Probability of a loss in the good state.
        loss_good: f64,
    },
}

/// Packets that others overtake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability per packet.
    pub share: f64,
    /// Additional delay of such a packet.
    pub delay: Duration,
}

/// What varies on a link by itself. Few links have any of it, so all others have no room for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variation {
    /// Probability per packet of arriving twice. The copy takes no time of the link: it arrives
    /// with its original, right behind it.
    pub duplicate: f64,
    /// Random additional delay of each packet.
    pub jitter: Option<LinkJitter>,
    /// Policer before the queue: drops packets for which the bucket lacks tokens.
    pub policer: Option<TokenBucket>,
    /// Shaper behind the queue: the packet that leaves the queue waits for its tokens, as one in
    /// transmission does. It keeps a medium meanwhile.
    pub shaper: Option<TokenBucket>,
}

impl Variation {
    /// The variation for [`LinkSpec::variation`](super::LinkSpec::variation); `None` if nothing
    /// varies.
    pub fn boxed(self) -> Option<Box<Variation>> {
        (self != Variation::default()).then(|| Box::new(self))
    }
}

/// Random additional delay of each packet. Packets keep their order: one that would overtake others
/// arrives with the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkJitter {
    /// Uniform between zero and this delay.
    Uniform(Duration),
    /// Normal, and never below zero.
    Normal {
        /// Mean of the delay.
        mean: Duration,
        /// Its standard deviation.
        deviation: Duration,
    },
}

/// A token bucket, full at the start of the run. Packets count with the link's overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// Rate at which tokens arrive; zero counts as 1 bit/s.
    pub rate: Rate,
    /// Most tokens that the bucket holds.
    pub burst: Bytes,
}

/// A change of a link during a run.
#[derive(Clone, Debug)]
pub enum Change {
    /// New rate. The packet in transmission continues at this rate; at rate zero it stops and keeps
    /// its medium busy. A link with a trace ignores this change.
    Rate(Rate),
    /// New propagation delay, for packets that start from now on; they never overtake earlier
    /// packets.
    Delay(Duration),
    /// Up (`true`) or down (`false`). A link that goes down drops waiting and arriving packets; the
    /// packet in transmission still arrives.
    Up(bool),
    /// New losses, of packets that start from now on; bursts begin in the good state.
    Loss(Loss),
    /// New room in the queue. Waiting packets stay, even if they exceed it; a discipline that makes
    /// room for arrivals (`fq_codel`) drops them at the next one.
    Limit(Limit),
}
