//! Routing modules of a running switch.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ratewire_anypoint::routing::{KeyHash, RoundRobin, Routing};
use ratewire_daemon::log::reason;
use ratewire_files::MODULE;
use ratewire_wasm::{Module, WasmRouting};
use tracing::{info, warn};

use super::error::DaemonError;
use crate::config::{Config, RoutingConfig};
use crate::hub::NewRouting;
use crate::routing::{Following, Roster};
use ratewire_switch_interface::status::ModuleStatus;

/// The routing modules: one of its own for each peer, or one in WebAssembly for all of them.
pub(super) struct Modules {
    pub(super) roster: Arc<Roster>,
    wasm: Option<Wasm>,
}

/// A module in WebAssembly, and its file.
struct Wasm {
    file: PathBuf,
    routing: Arc<Mutex<WasmRouting>>,
    reloads: Cell<u64>,
    refused_reloads: Cell<u64>,
}

impl Wasm {
    fn routing(&self) -> MutexGuard<'_, WasmRouting> {
        self.routing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks that the routing module of a configuration can be loaded.
///
/// # Errors
/// What keeps a module in a file from being used.
pub fn check_module(config: &Config) -> Result<(), DaemonError> {
    Modules::load(config, 0).map(drop)
}

impl Modules {
    /// Loads what is in files. The ensemble has so many spare places.
    pub(super) fn load(config: &Config, spare: usize) -> Result<Modules, DaemonError> {
        let weights = config.members.iter().map(|member| member.weight);
        let roster = Roster::new(weights, spare);
        let wasm = match &config.routing {
            RoutingConfig::Wasm(file) => {
                let routing = WasmRouting::new(module(file)?, Box::new(RoundRobin::default()));
                Some(Wasm {
                    file: file.clone(),
                    routing: Arc::new(Mutex::new(routing)),
                    reloads: Cell::new(0),
                    refused_reloads: Cell::new(0),
                })
            }
            _ => None,
        };
        Ok(Modules { roster, wasm })
    }

    /// Makes the module of each new peer.
    pub(super) fn maker(&self, config: &Config) -> NewRouting {
        if let Some(wasm) = &self.wasm {
            let routing = Arc::clone(&wasm.routing);
            return Box::new(move || Box::new(Arc::clone(&routing)));
        }
        let roster = Arc::clone(&self.roster);
        let (routing, members, seed) =
            (config.routing.clone(), config.members.clone(), Cell::new(0));
        Box::new(move || {
            let roster = Arc::clone(&roster);
            seed.set(seed.get() + 1);
            match routing {
                RoutingConfig::Weighted => Box::new(Following::weights(roster)),
                RoutingConfig::Hash { offset, length } => {
                    Box::new(Following::names(roster, KeyHash { offset, len: length }))
                }
                _ => {
                    let built = routing.build(&members, seed.get());
                    built.unwrap_or_else(|| Box::new(RoundRobin::default()) as Box<dyn Routing>)
                }
            }
        })
    }

    /// Reads the module's file again. A file that cannot be used leaves the module as it is.
    pub(super) async fn reload(&self) -> Result<String, String> {
        let Some(wasm) = &self.wasm else {
            return Err("the switch has no module to reload: its routing is not \"wasm\"".into());
        };
        let file = wasm.file.clone();
        let loaded = tokio::task::spawn_blocking(move || module(&file)).await;
        let loaded = match loaded {
            Ok(loaded) => loaded.map_err(|error| reason(&error)),
            Err(error) => Err(error.to_string()),
        };
        let file = wasm.file.display().to_string();
        match loaded {
            Ok(module) => {
                wasm.routing().replace(module);
                wasm.reloads.set(wasm.reloads.get() + 1);
                info!(target: "ratewire_switch", file, "module reloaded");
                Ok(format!("{file} routes frames from now on"))
            }
            Err(reason) => {
                wasm.refused_reloads.set(wasm.refused_reloads.get() + 1);
                warn!(target: "ratewire_switch", file, reason, "module not reloaded");
                Err(format!("{reason}; the module before goes on"))
            }
        }
    }

    /// State of the module in WebAssembly.
    pub(super) fn status(&self) -> Option<ModuleStatus> {
        let wasm = self.wasm.as_ref()?;
        let routing = wasm.routing();
        let faults = routing.faults();
        Some(ModuleStatus {
            traps: faults.traps,
            overruns: faults.overruns,
            invalid: faults.invalid,
            restarts: routing.restarts(),
            is_given_up: routing.is_given_up(),
            reloads: wasm.reloads.get(),
            refused_reloads: wasm.refused_reloads.get(),
        })
    }
}

fn module(path: &Path) -> Result<Module, DaemonError> {
    let bytes = ratewire_files::read(path, MODULE);
    let bytes = bytes.map_err(|error| DaemonError::ModuleFile(path.to_path_buf(), error.into()))?;
    Module::load(&bytes).map_err(|error| DaemonError::Module(path.to_path_buf(), error))
}
