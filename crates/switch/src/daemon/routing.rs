//! Routing modules of a running switch.

use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ratewire_anypoint::routing::{RoundRobin, Routing};
use ratewire_wasm::{Module, WasmRouting};

use super::error::DaemonError;
use super::model::ModuleStatus;
use crate::config::{Config, RoutingConfig};
use crate::hub::NewRouting;

/// The routing modules: one of its own for each peer, or one in WebAssembly for all of them.
#[derive(Clone, Default)]
pub(super) struct Modules {
    wasm: Option<Arc<Mutex<WasmRouting>>>,
}

impl Modules {
    /// Loads what is in files.
    pub(super) fn load(config: &Config) -> Result<Modules, DaemonError> {
        let RoutingConfig::Wasm(path) = &config.routing else { return Ok(Modules::default()) };
        let routing = WasmRouting::new(module(path)?, Box::new(RoundRobin::default()));
        Ok(Modules { wasm: Some(Arc::new(Mutex::new(routing))) })
    }

    /// Makes the module of each new peer.
    pub(super) fn maker(&self, config: &Config) -> NewRouting {
        if let Some(wasm) = self.wasm.clone() {
            return Box::new(move || Box::new(Arc::clone(&wasm)));
        }
        let (routing, members, seed) =
            (config.routing.clone(), config.members.clone(), Cell::new(0));
        Box::new(move || {
            seed.set(seed.get() + 1);
            let built = routing.build(&members, seed.get());
            built.unwrap_or_else(|| Box::new(RoundRobin::default()) as Box<dyn Routing>)
        })
    }

    /// State of the module in WebAssembly.
    pub(super) fn status(&self) -> Option<ModuleStatus> {
        let routing = self.wasm.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let faults = routing.faults();
        Some(ModuleStatus {
            traps: faults.traps,
            overruns: faults.overruns,
            invalid: faults.invalid,
            restarts: routing.restarts(),
            is_given_up: routing.is_given_up(),
        })
    }
}

fn module(path: &Path) -> Result<Module, DaemonError> {
    let bytes = std::fs::read(path);
    let bytes = bytes.map_err(|error| DaemonError::ModuleFile(path.to_path_buf(), error))?;
    Module::load(&bytes).map_err(|error| DaemonError::Module(path.to_path_buf(), error))
}
