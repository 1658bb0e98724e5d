//! The switch between real transport ends, and its arithmetic on headers made by hand.

mod failures;
mod headers;
mod identity;
mod idle;
mod latency;
mod rig;
mod streams;
