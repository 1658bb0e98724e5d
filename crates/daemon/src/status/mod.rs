//! A daemon's state by HTTP: JSON at `/status.json`, and metrics for Prometheus at `/metrics`.
//!
//! | part | is |
//! |---|---|
//! | `server` | [`Server`], which answers for a [`Served`] daemon |
//! | `fetch` | [`fetch`], the client |
//! | `error` | what keeps the client from the state |

mod error;
mod fetch;
mod server;
#[cfg(test)]
mod tests;

pub use error::{Asked, StatusError};
pub use fetch::fetch;
pub use server::{Served, Server};
