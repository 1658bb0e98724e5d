//! The TCPs people use today: window-based; routers take no part, or (DCTCP) only mark.
//!
//! What they have in common is here, so that each law's folder holds only what is its own:
//!
//! - `window`: the congestion window and slow-start threshold; slow start (RFC 5681, 3.1; RFC
//!   3465), reaction at most once a window (RFC 3168, 6.1.2), timeouts, restart after idling (RFC
//!   5681, 4.1; RFC 2861), pacing;
//! - `hystart`: HyStart++ (RFC 9406), which ends slow start when the RTT rises;
//! - `common`: the options of both.
//!
//! Repairing losses is the transport's part, by the pipe of RFC 6675: it sends whenever less than
//! the window is outstanding, lost and selectively acknowledged data not counted. The window is
//! therefore set to its new value at once and never inflated or deflated by duplicate
//! acknowledgements, as RFC 5681 (3.2) and RFC 6582 (3.2) have it do for senders without selective
//! acknowledgements.

pub(crate) mod common;
pub mod cubic;
pub mod dctcp;
mod hystart;
pub mod newreno;
mod window;
