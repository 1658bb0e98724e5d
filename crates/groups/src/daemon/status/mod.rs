//! The daemon's state by HTTP: [`Status`](ratewire_groups_interface::status::Status) as JSON, and
//! metrics for Prometheus.
//!
//! | part | is |
//! |---|---|
//! | `gather` | reads the state off the running daemon |
//! | `metrics` | the state as metrics |
//! | `listen` | the address of the HTTP server |

mod gather;
mod listen;
mod metrics;
#[cfg(test)]
mod tests;

pub(super) use self::listen::Listener;
