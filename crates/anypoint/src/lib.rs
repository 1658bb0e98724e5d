//! The Anypoint transport switch, sans-IO (Yocum and Chase, *Explicit rate control for Anypoint
//! communication*; Yocum and others, USITS 2003).
//!
//! A peer has one connection with an ensemble of `N` members and takes it for a single host. Between
//! them stands a [`Switch`]: it ends no connection and keeps no payload, but changes the packets that pass.
//!
//! - **Inbound**, from the peer: a frame goes whole to the member that a [`routing`] module chooses, where
//!   it gets the next place in that member's stream. To the peer all below is acknowledged that no member
//!   still owes.
//! - **Outbound**, to the peer: what a member sends gets the next place in the peer's stream, packet by
//!   packet as it comes. The peer's acknowledgements are translated and go to whoever they concern.
//! - **Order** is kept for each member, not between members (*partial ordering*). What is lost on its way
//!   to the switch keeps its place in the order, unless the routing module must read it to know the
//!   member: then it comes after those that have overtaken it.
//! - **Failures.** What a failed member has not acknowledged has no place any more and is routed anew when
//!   the peer's transport sends it again; what it has is never sent again. Of a frame of several packets
//!   it may have been given some: the rest goes to another. What it had sent and the peer did not get,
//!   nobody can send again: the peer is told to skip it.
//! - **Unfinished frames.** What is routed anew may come into a member's stream behind a frame of which the
//!   peer has not sent all, and waits there for the rest. A peer that waits in turn for its acknowledgement
//!   before it sends the rest would wait for ever: once it sends again what the member has, as after a
//!   timeout, the member is told to skip the rest, which is routed anew when it comes. It may still wait for ever
//!   where the member has no room for what is behind (frames should be smaller than receive windows), and in
//!   the inner one of two switches in a row, if the outer one has put more behind the frame there.
//! - **State** is a range for each frame or packet that is not acknowledged, and a few numbers a member.
//!   A member that is silent for four of its round trips counts for nothing until it sends again. Of a
//!   connection that is silent for [`SwitchConfig::idle_expiry`] and owes nothing two numbers a member stay:
//!   where the streams are. With the next packet it is set up anew.
//!
//! # Headers
//!
//! The paper's transforms (sections III and IV), with `beta_k` the part of the peer's traffic that goes
//! to member `k`, by a histogram:
//!
//! | | data | acknowledgements |
//! |---|---|---|
//! | inbound | split: `cwnd_k = beta_k cwnd`, `fdbk_k = beta_k fdbk`, `rtt_k = rtt` | merge: `fdbk = min_k(fdbk_k / beta_k)` |
//! | outbound | merge: `cwnd = sum cwnd_i`, `fdbk = sum fdbk_i`, `rtt = cwnd / sum(cwnd_i / rtt_i)` | split: above 0 `fdbk/N` each, below `fdbk rate_i/rate`; no more than `i`'s own way allows |
//!
//! They are written once here, in rates, and serve every law that says what its headers declare and feed
//! back ([`Law::junction`](ratewire_laws::Law::junction)). Laws without headers pass untouched; of others the
//! scenario is refused. With `N = 1` every header leaves as it came, to the bit.
//!
//! ## Feedback in changes: XCP, draft -03
//! The paper's `fdbk` is that of a whole flow, draft -03's is a packet's part, and all parts of a round
//! trip together are the flow's. So sums have to come out right over many packets:
//! - a packet's wish is remembered as it left the switch. What comes back less than that, the way from the
//!   switch on has *refused*; the rest was decided before the switch.
//! - **merge**: `k`'s refusals, over `beta_k`, are what its path asks of the peer. The peer is given
//!   each packet's wish, less the largest of the members' sums of refusals: this is equation (1), as the
//!   deltas that were decided before the switch are the same for all members. What others' strictness
//!   spares a path counts for a round trip.
//! - **split**: where nothing was refused, the feedback is the packet's own member's. Otherwise it is a
//!   change of the merged flow and is split by the paper's rule; a member is told its part on its next
//!   acknowledgement, capped by the wish that its own way last left it.
//!
//! The paper splits all feedback and merges with the minimum of the last values. Its way a member whose
//! own link is full slows down the others (its negative feedback is split among all), and half of an
//! increase goes to those who cannot use it; told apart by what was refused, neither happens. Only members
//! that send count for `N`: an increase given to the silent is lost to those who could use it.
//! [`Transforms::Paper`] is the paper's way to the letter. Feedback in draft -03 is a packet's part
//! of the change, so `fdbk_k / beta_k` of whole flows is `fdbk_k` of a packet, and the factors of
//! RTTs are gone.
//!
//! ## Feedback in rates: RCP, PIQI-RCP
//! Section III's general form. Inbound, a member's header offers `beta_k` of the rate, and the peer is told
//! the least of `rate_k / beta_k`. Outbound, headers offer the sum of what the members' own ways allow, and
//! the rate that comes back is shared max-min among those who send.
//!
//! # Flow control
//! See [`FlowControl`]. Soft flow control holds senders back at the receiver (XCP's option
//! `flow_control = "soft"`); the switch then leaves windows whole.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod connection;
pub mod fuzzing;
mod merge;
mod ranges;
mod ratios;
mod relay;
pub mod routing;
mod settled;
mod split;
mod switch;
#[cfg(test)]
mod tests;
mod windows;

pub use switch::{Output, Side, Switch, SwitchConfig, Transforms};
pub use windows::FlowControl;
