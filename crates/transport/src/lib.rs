//! A reliable, framed transport with selective acknowledgement, sans-IO.

mod app;
mod config;

pub use app::{App, PauseAfter, Reader, Writer};
pub use config::{ReceiveWindow, TransportConfig};
