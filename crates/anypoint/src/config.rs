//! Settings of a switch.

use ratewire_laws::AnyLaw;
use ratewire_units::{Bytes, Duration};

use crate::windows::FlowControl;

/// Configuration of a switch.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// The law of the connection: its headers are split and merged.
    pub law: AnyLaw,
    /// Number of members of the ensemble.
    pub members: usize,
    /// Payload of a frame, the unit of routing, where packets do not
    /// [say](crate::FrameOf::bounds) it.
    pub frame: Bytes,
    /// Payload of a full packet.
    pub payload: Bytes,
    /// Network-layer size of a full packet.
    pub packet: Bytes,
    /// Treatment of receivers' windows.
    pub flow_control: FlowControl,
    /// How feedback in changes of rate is split and merged.
    pub transforms: Transforms,
    /// Silence after which the switch forgets a connection that owes nothing, except for the
    /// positions of its streams.
    pub idle_expiry: Duration,
    /// Whether the peer is a switch that spreads what members send over members of its own. Frames
    /// whose [bounds](crate::FrameOf::bounds) are known then get their places as a whole.
    pub peer_spreads: bool,
}

/// How a switch splits and merges feedback in changes of rate (XCP's).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transforms {
    /// By the part of a packet's wish that each path has refused; the rest belongs to the packet's
    /// own sender.
    Refusals {
        /// Share of the members' traffic, 0 to 1, that the switch moves between them in a round
        /// trip, towards equal rates. XCP's routers move 0.1 between flows (SIGCOMM 2002, gamma).
        shuffle: f64,
    },
    /// All feedback, as in the paper (section III-C, equation 1, and section IV): the peer's is
    /// split among all members, and the members' last values are merged by their minimum.
    Paper,
}
