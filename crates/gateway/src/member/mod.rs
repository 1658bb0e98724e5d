//! In front of a server: frames from a switch become requests to it.
//!
//! | part | what |
//! |---|---|
//! | `link.rs` | a connection of a switch |
//! | `gateways.rs` | which requests of each gateway have come |
//! | `server.rs` | connections with the server |
//! | `pipeline` | a connection with the server, on which requests follow each other |
//! | `exchanges` | a connection with the server for each request that is under way |

mod exchanges;
mod gateways;
mod link;
mod pipeline;
mod server;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use exchanges::Pool;
use gateways::Gateways;
use link::Link;
use ratewire_acp::handshakes::Refusal;
use ratewire_acp::{Config, Endpoint, Error};
use ratewire_config::Server;
use ratewire_framing::Framing;
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
    /// The server. If it is named, each connection looks for its addresses.
    pub server: Server,
    /// Settings of the connections with switches.
    pub acp: Config,
    /// Time for the server to accept a connection again, after which requests fail.
    pub patience: Duration,
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

    /// Serves switches until the future is dropped: each of their connections has connections of
    /// its own with the server, or shares those that wait for a request.
    ///
    /// # Panics
    /// Outside of a [`LocalSet`](tokio::task::LocalSet).
    pub async fn run(self) {
        let address = self.address().to_string();
        info!(target: "ratewire_gateway", address, "switches served");
        let pool = Rc::new(Pool::new(Rc::clone(&self.config)));
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
            let (config, pool) = (Rc::clone(&self.config), Rc::clone(&pool));
            let link = Link::new(connection, Rc::clone(&self.gateways));
            connections.spawn_local(async move { serve(&config, &pool, link).await });
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

/// Serves a connection of a switch until it ends.
async fn serve(config: &Rc<MemberConfig>, pool: &Rc<Pool>, link: Link) {
    let link = Rc::new(link);
    let serving = async {
        match config.framing.streams() {
            true => exchanges::serve(pool, &link).await,
            false => pipeline::serve(config, &link).await,
        }
        link.finish();
        std::future::pending::<()>().await
    };
    tokio::select! {
        _ = link.send() => {}
        () = serving => {}
    }
    if let Some(link) = Rc::into_inner(link) {
        link.close().await;
    }
}
