//! The Anypoint transport switch, sans-IO (Yocum and Chase, *Explicit rate control for Anypoint
//! communication*; Yocum and others, USITS 2003).
//!
//! A peer has one connection with an ensemble of `N` members and takes it for a single host. A
//! [`Switch`] stands between them. It ends no connection and keeps no payload, but changes the
//! packets that pass.
//!
//! - **Inbound**, from the peer: a frame goes whole to the member that a [`routing`] module
//!   chooses, and gets the next place in that member's stream. To the peer, everything is
//!   acknowledged below the first byte that some member still owes.
//! - **Outbound**, to the peer: a member's data gets the next place in the peer's stream, packet by
//!   packet as it comes. The peer's acknowledgements are translated and go to the members that they
//!   concern. If the [peer is a switch](SwitchConfig::peer_spreads), a frame gets its place as a
//!   whole.
//! - **Order** is kept for each member, not between members (*partial ordering*). Data that is lost
//!   on its way to the switch keeps its place in the order, unless the routing module must read it
//!   to choose the member: then it comes after the data that overtook it, unless that
//!   [waits](Switch::must_wait). Lost frames of sizes of their own that follow each other go to one
//!   member.
//! - **Failures.** Data that a failed member has not acknowledged loses its place and is routed
//!   anew when the peer's transport sends it again. Acknowledged data is never sent again. If the
//!   member has part of a frame of several packets, the rest goes to another member; of frames
//!   with sizes of their own, which the peer hears of for good when a member has all, the whole
//!   does. Data that the failed member sent and the peer did not get cannot be sent again: the
//!   switch has the peer skip it.
//! - **Unfinished frames.** Data that is routed anew may come into a member's stream behind a frame
//!   that the peer has not finished, and waits there for the rest. A peer that waits for an
//!   acknowledgement before it sends the rest would wait for ever. So if the peer sends again data
//!   that the member has, as after a timeout, the switch has the member skip the rest. It routes
//!   the rest anew when it arrives. Two cases still wait for ever. In one, the member has no room
//!   for the data behind the frame; frames should be smaller than receive windows. In the other,
//!   two switches stand in a row, and the outer one has put more data behind the frame of the inner
//!   one.
//! - **State** is a range for each unacknowledged frame or packet, and a few numbers a member. A
//!   member that is silent for four of its round trips does not count until it sends again. A
//!   connection that is silent for [`SwitchConfig::idle_expiry`] and owes nothing keeps two numbers
//!   a member, the positions of the streams. The next packet sets it up anew.
//!
//! # Headers
//!
//! The paper's transforms (sections III and IV). `beta_k` is the part of the peer's traffic that
//! goes to member `k`, by a histogram:
//!
//! - *Inbound data*, split: `cwnd_k = beta_k cwnd`, `fdbk_k = beta_k fdbk`, `rtt_k = rtt`.
//! - *Inbound acknowledgements*, merge: `fdbk = min_k(fdbk_k / beta_k)`.
//! - *Outbound data*, merge: `cwnd = sum cwnd_i`, `fdbk = sum fdbk_i`, `rtt = cwnd / sum(cwnd_i /
//!   rtt_i)`.
//! - *Outbound acknowledgements*, split: above 0 `fdbk/N` each, below `fdbk rate_i/rate`; no more
//!   than `i`'s own path allows.
//!
//! The transforms are written once here, in rates. They serve every law that reads and writes
//! declarations and feedback in its headers ([`Law::junction`](ratewire_laws::Law::junction)). Laws
//! without headers pass unchanged. A scenario with another law is refused. With `N = 1` every
//! header leaves as it came, to the bit.
//!
//! ## Feedback in changes: XCP, draft -03
//! The paper's `fdbk` is of a whole flow. Draft -03's feedback is a packet's part, and all parts of
//! a round trip together are the flow's. Sums must therefore be right over many packets:
//! - The switch remembers a packet's wish as the packet left. If a smaller change comes back, the
//!   path beyond the switch has *refused* the difference; the rest was decided before the switch.
//! - **merge**: `k`'s refusals, over `beta_k`, are the reduction that its path asks of the peer.
//!   The peer is given each packet's wish, less the largest of the members' sums of refusals. This
//!   is equation (1), because changes that were decided before the switch are the same for all
//!   members. A reduction for the strictest path relieves the other paths too, but only for one
//!   round trip.
//! - **split**: if nothing was refused, the feedback belongs to the packet's own member. Otherwise
//!   it is a change of the merged flow and is split by the paper's rule. A member gets its part
//!   with its next acknowledgement, capped by the wish that its own path last left.
//!
//! The paper splits all feedback and merges with the minimum of the last values. A member whose own
//! link is full then slows down the others, because its negative feedback is split among all; and
//! half of an increase goes to members that cannot use it. Refusals avoid both. Only members that
//! send count in `N`: an increase given to a silent member is lost to those that could use it.
//! [`Transforms::Paper`] is the paper's way to the letter. Feedback in draft -03 is a packet's part
//! of the change, so `fdbk_k / beta_k` of whole flows is `fdbk_k` of a packet, and factors of RTTs
//! cancel.
//!
//! ## Feedback in rates: RCP, PIQI-RCP
//! Section III's general form. Inbound, a member's header offers `beta_k` of the rate, and the peer
//! gets the minimum of `rate_k / beta_k`. Outbound, headers offer the sum of the rates that the
//! members' own paths allow. The rate that comes back is shared max-min among the members that
//! send.
//!
//! # Flow control
//! [`FlowControl`] lists the modes. Soft flow control holds senders back at the receiver (XCP's
//! option `flow_control = "soft"`); the switch then leaves windows whole.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod config;
mod connection;
pub mod fuzzing;
mod ground;
mod merge;
mod packets;
mod ranges;
mod ratios;
mod relay;
pub mod routing;
mod split;
mod switch;
#[cfg(test)]
mod tests;
mod windows;

pub use config::{SwitchConfig, Transforms};
pub use packets::{FrameOf, Output, Side};
pub use switch::Switch;
pub use windows::FlowControl;
