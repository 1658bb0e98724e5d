//! In front of clients: their requests become frames to a switch.

mod client;
mod gather;
mod parts;
mod serving;
mod uplink;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use ratewire_acp::Config;
use ratewire_config::Listen;
use ratewire_daemon::log::reason;
use ratewire_framing::Framing;
use serving::serve;
use tokio::task::JoinSet;
use tracing::{info, warn};
use uplink::Uplink;

use crate::stream::{Listener, OpenError};

/// Pause after a connection that the system cannot hand over: it has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// What a gateway is to do.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// What a request is.
    pub framing: Framing,
    /// Where clients connect to.
    pub listen: Listen,
    /// Who may connect to a Unix socket: those who may write to a file of this mode.
    pub listen_mode: u32,
    /// The switch.
    pub switch: SocketAddr,
    /// Settings of the connection with the switch.
    pub acp: Config,
    /// Time for an answer, after which a client is told that there is none.
    pub timeout: Duration,
    /// Clients at a time.
    pub clients: usize,
    /// Longest request in bytes.
    pub longest: usize,
}

/// A gateway with an open address.
pub struct Gateway {
    config: Rc<GatewayConfig>,
    listener: Listener,
    uplink: Rc<Uplink>,
}

impl Gateway {
    /// Opens the address for clients. Call it in a tokio runtime.
    ///
    /// # Errors
    /// When the address is taken, or not of this host.
    pub async fn open(config: GatewayConfig) -> Result<Gateway, OpenError> {
        let listener = Listener::open(&config.listen, config.listen_mode).await?;
        let uplink = Uplink::open(&config)?;
        Ok(Gateway { config: Rc::new(config), listener, uplink: Rc::new(uplink) })
    }

    /// The address for clients.
    pub fn address(&self) -> Listen {
        self.listener.address(&self.config.listen)
    }

    /// Serves clients until the future is dropped.
    ///
    /// # Panics
    /// Outside of a [`LocalSet`](tokio::task::LocalSet).
    pub async fn run(self) {
        let mut tasks = JoinSet::new();
        let uplink = Rc::clone(&self.uplink);
        tasks.spawn_local(async move { uplink.keep_connected().await });
        let uplink = Rc::clone(&self.uplink);
        tasks.spawn_local(async move { uplink.keep_time().await });
        info!(target: "ratewire_gateway", address = self.address().to_string(), "clients served");
        let mut clients = JoinSet::new();
        loop {
            while clients.try_join_next().is_some() {}
            if clients.len() >= self.config.clients {
                clients.join_next().await;
                continue;
            }
            match self.listener.accept().await {
                Ok(stream) => {
                    let (config, uplink) = (Rc::clone(&self.config), Rc::clone(&self.uplink));
                    clients.spawn_local(async move { serve(&config, uplink, stream).await });
                }
                Err(error) => {
                    let reason = reason(&error);
                    warn!(target: "ratewire_gateway", reason, "a client cannot be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}
