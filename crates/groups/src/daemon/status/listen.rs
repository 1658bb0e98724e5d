//! The address of the HTTP server.

use std::fmt;
use std::io;
use std::rc::Rc;

use ratewire_daemon::log::reason;
use ratewire_daemon::metrics::Format;
use ratewire_daemon::status::{Served, Server};
use ratewire_groups_interface::status::{PROGRAM, Status};
use ratewire_overlay::OverlayNodeId;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::gather::gather;
use super::metrics::metrics;
use crate::config::Config;
use crate::daemon::core::Shared;
use crate::daemon::error::DaemonError;

/// The open socket; none if the configuration has no address for the status.
pub(in crate::daemon) struct Listener {
    server: Option<Server>,
}

impl Listener {
    /// Opens the address of the configuration. The built-in configuration asks for no status, so a
    /// daemon with it runs without one if the address is taken.
    pub(in crate::daemon) async fn open(
        config: &Config,
        me: OverlayNodeId,
    ) -> Result<Listener, DaemonError> {
        let Some(address) = config.daemon(me).status else { return Ok(Listener { server: None }) };
        match Server::bind(address).await {
            Ok(server) => {
                let address = server.address().to_string();
                info!(target: "ratewire_groups", address, "status served");
                Ok(Listener { server: Some(server) })
            }
            Err(error) if config.is_built_in() => {
                let (address, reason) = (address.to_string(), reason(&error));
                warn!(target: "ratewire_groups", address, reason, "daemon runs without a status");
                Ok(Listener { server: None })
            }
            Err(error) => Err(DaemonError::Status(address, error)),
        }
    }

    pub(in crate::daemon) fn start(self, shared: &Rc<Shared>, tasks: &mut JoinSet<()>) {
        if let Some(server) = self.server {
            tasks.spawn_local(server.serve(&PROGRAM, Rc::clone(shared)));
        }
    }
}

impl Served for Shared {
    type Status = Status;

    fn status(&self) -> Status {
        gather(self)
    }

    fn metrics(status: Status, format: Format) -> Result<String, fmt::Error> {
        metrics(status, format)
    }

    fn not_accepted(&self, error: &io::Error) {
        self.record.not_accepted("status", error);
    }
}
