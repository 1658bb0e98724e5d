//! The daemon's state, for people and programs.
//!
//! The address `status` of the configuration answers by HTTP: [`Status`] as JSON at `/status.json`,
//! and metrics for Prometheus at `/metrics`. [`fetch_status`] reads the former.
//!
//! | part | is |
//! |---|---|
//! | `model` | the state, as JSON has it |
//! | `gather` | reads it off the running daemon |
//! | `metrics` | the state as metrics |
//! | `table` | the state as text for people |
//! | `listen` | the HTTP server |
//! | `fetch` | the HTTP client |

mod fetch;
mod gather;
mod listen;
mod metrics;
mod model;
mod table;
#[cfg(test)]
mod tests;

pub use self::fetch::{StatusError, fetch_status};
pub(super) use self::listen::Listener;
pub use self::model::{
    ClientStatus, GroupStatus, LatencyStatus, LimitStatus, LinkStatus, Status, ViewStatus,
};
