//! Virtual time: the event engine, modelled hosts and traffic.
//!
//! [`run`] takes a [`setup::Setup`], reports to a [`record::Recorder`], and returns an
//! [`outcome::Outcome`]. Equal setups give equal calls and equal outcomes, to the bit, on any
//! machine.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod counters;
pub mod delays;
#[doc(hidden)]
pub mod dumbbell;
mod engine;
mod ensemble;
mod error;
mod flow;
mod jitter;
pub mod outcome;
pub mod overlay;
pub mod record;
pub mod routes;
pub mod setup;
mod small_queue;
mod speed;
pub mod traffic;
mod tuning;
mod wheel;

pub use engine::{FlowState, Route, Steps, run, run_with};
pub use error::RunError;
pub use setup::SetupError;
pub use speed::Speed;
pub use wheel::Wheel;
