//! Present-day TCPs: they are window-based, and routers take no part, or (DCTCP) only mark.
//!
//! Shared parts are in these modules:
//!
//! - `window`: the congestion window and slow-start threshold; slow start (RFC 5681, 3.1; RFC
//!   3465), reaction at most once a window (RFC 3168, 6.1.2), timeouts, restart after idling (RFC
//!   5681, 4.1; RFC 2861), pacing;
//! - `hystart`: HyStart++ (RFC 9406) and the HyStart of Linux, which end slow start before packets
//!   are lost;
//! - `common`: the options of both.
//!
//! The transport repairs losses, by the pipe of RFC 6675: it sends whenever less than the window is
//! outstanding, without counting lost and selectively acknowledged data. The window is therefore
//! set to its new value at once. Duplicate acknowledgements do not inflate or deflate it, as RFC
//! 5681 (3.2) and RFC 6582 (3.2) specify for senders without selective acknowledgements.

pub(crate) mod common;
pub mod cubic;
pub mod dctcp;
mod hystart;
pub mod newreno;
mod window;
