//! Bounds on what peers can make a daemon log.

mod reason;
mod throttle;

pub use reason::reason;
pub use throttle::Throttle;
