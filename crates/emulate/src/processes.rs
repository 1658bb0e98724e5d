//! Processes that a run starts beside a scenario's programs.

use ratewire_sim::setup::Setup;

use crate::acp::{self, Plan};

/// Whether an emulated run of a setup starts processes, whose outputs are kept.
pub fn has_processes(setup: &Setup) -> bool {
    !setup.programs.is_empty() || setup.overlay.is_some() || acp::is_used(setup)
}

/// Numbers of switches, and of ends of connections of ACP, that an emulated run starts.
pub fn switches_and_ends(setup: &Setup) -> (usize, usize) {
    (setup.ensembles.junctions.len(), Plan::of(setup).hosts.len())
}
