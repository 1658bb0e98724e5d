//! A daemon's state by HTTP: JSON at `/status.json`, and metrics for Prometheus at `/metrics`.
//!
//! [`Server`] answers for a [`Served`] daemon; its client is [`ratewire_status::fetch()`].

mod server;
#[cfg(test)]
mod tests;

pub use server::{Served, Server};
