//! In front of a server: frames from a switch become requests to it.

mod gateways;
mod sending;
mod server;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use gateways::Gateways;
use ratewire_acp::handshakes::Refusal;
use ratewire_acp::{Config, Endpoint, Error};
use ratewire_config::Listen;
use ratewire_framing::Framing;
use server::serve;
use tokio::task::JoinSet;
use tracing::{info, warn};

use crate::stream::OpenError;

/// What a member is to do.
#[derive(Clone, Debug)]
pub struct MemberConfig {
    /// What a request is.
    pub framing: Framing,
    /// Where switches connect to.
    pub listen: SocketAddr,
    /// The server.
    pub server: Listen,
    /// Settings of the connections with switches.
    pub acp: Config,
    /// Time for the server to accept a connection again, after which requests fail.
    pub patience: Duration,
    /// Longest answer in bytes.
    pub longest: usize,
}

/// A member with an open address.
pub struct Member {
    config: Rc<MemberConfig>,
    endpoint: Endpoint,
    gateways: Rc<RefCell<Gateways>>,
}

impl Member {
    /// Opens the address for switches. Call it in a tokio runtime.
    ///
    /// # Errors
    /// When the address is taken, or not of this host.
    pub fn open(config: MemberConfig) -> Result<Member, OpenError> {
        let application = config.framing.name().to_string();
        let endpoint =
            Endpoint::server(config.listen, Config { application, ..config.acp.clone() });
        let endpoint = endpoint.map_err(OpenError::Acp)?;
        let gateways = Gateways::new().ok_or(OpenError::Acp(Error::Random))?;
        let gateways = Rc::new(RefCell::new(gateways));
        Ok(Member { endpoint, gateways, config: Rc::new(config) })
    }

    /// The address for switches.
    pub fn address(&self) -> SocketAddr {
        self.endpoint.address()
    }

    /// Serves switches until the future is dropped: each connection has one of its own with the
    /// server.
    ///
    /// # Panics
    /// Outside of a [`LocalSet`](tokio::task::LocalSet).
    pub async fn run(self) {
        let address = self.address().to_string();
        info!(target: "ratewire_gateway", address, "switches served");
        let mut connections = JoinSet::new();
        let mut last = None;
        loop {
            let accepted = tokio::select! {
                accepted = self.endpoint.accept() => accepted,
                refusal = self.endpoint.refused() => {
                    // A switch asks again and again.
                    if last.as_ref() != Some(&refusal) {
                        self.note_refusal(&refusal);
                        last = Some(refusal);
                    }
                    continue;
                }
            };
            let Ok(connection) = accepted else { break };
            while connections.try_join_next().is_some() {}
            let (config, gateways) = (Rc::clone(&self.config), Rc::clone(&self.gateways));
            connections.spawn_local(async move { serve(&config, &gateways, connection).await });
        }
    }

    fn note_refusal(&self, refusal: &Refusal) {
        let switch = refusal.peer.to_string();
        let reason = format!(
            "its gateway has --framing {}, and this member {}",
            refusal.application,
            self.config.framing.name()
        );
        warn!(target: "ratewire_gateway", switch, reason, "a switch is refused");
    }
}
