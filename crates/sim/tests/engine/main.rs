//! Whole runs: their times, laws, traffic, determinism and conservation.

mod aqm;
mod closed_forms;
mod conservation;
mod determinism;
mod external;
mod follow;
mod hard;
mod laws;
mod net;
#[path = "../../examples/outside/mod.rs"]
mod outside;
mod overlay;
mod paths;
mod pausing;
mod small_queues;
mod steps;
mod traffic;
