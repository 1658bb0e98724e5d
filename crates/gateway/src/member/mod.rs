//! In front of a server: frames from a switch become requests to it.
//!
//! | part | what |
//! |---|---|
//! | `link.rs` | a connection of a switch |
//! | `gateways.rs` | which requests of each gateway have come |
//! | `server.rs` | connections with the server |
//! | `pipeline` | a connection with the server, on which requests follow each other |
//! | `exchanges` | a connection with the server for each request that is under way |
//! | `counts.rs` | requests so far, and what is under way |
//! | `status.rs` | the member's state, by HTTP |

mod counts;
mod exchanges;
mod gateways;
mod link;
mod pipeline;
mod server;
mod status;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use counts::Counts;
use exchanges::Pool;
use gateways::Gateways;
use link::Link;
use ratewire_acp::handshakes::Refusal;
use ratewire_acp::{Config, Endpoint, Error};
use ratewire_config::Server;
use ratewire_daemon::log::Throttle;
use ratewire_daemon::status::Server as StatusServer;
use ratewire_framing::Framing;
use ratewire_switch_interface::status::MEMBER;
use status::Shown;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tracing::{info, warn};

use crate::started::Started;
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
    /// Connections with the server at a time, where each request has one of its own. Further
    /// requests wait.
    pub connections: usize,
}

/// A member with an open address.
pub struct Member {
    config: Rc<MemberConfig>,
    endpoint: Endpoint,
    gateways: Rc<RefCell<Gateways>>,
    counts: Rc<Counts>,
    started: Started,
    /// Where the state is served.
    status: Option<StatusServer>,
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
        let (config, counts, started) = (Rc::new(config), Rc::default(), Started::now());
        Ok(Member { config, endpoint, gateways, counts, started, status: None })
    }

    /// Serves the member's state by HTTP at an address, too.
    ///
    /// # Errors
    /// When the address is taken, or not of this host.
    pub async fn with_status(self, address: SocketAddr) -> Result<Member, OpenError> {
        let server = StatusServer::bind(address).await;
        let server = server.map_err(|error| OpenError::Status(address, error))?;
        Ok(Member { status: Some(server), ..self })
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
        self.run_until(std::future::pending()).await;
    }

    /// Serves switches until `stop` completes. Then it goes on until no request is under way, at
    /// most for the time that `stop` gives, and takes leave of the switches.
    ///
    /// # Panics
    /// Outside of a [`LocalSet`](tokio::task::LocalSet).
    pub async fn run_until(mut self, stop: impl Future<Output = Duration>) {
        let address = self.address().to_string();
        info!(target: "ratewire_gateway", address, "switches served");
        let pool = Rc::new(Pool::new(Rc::clone(&self.config)));
        let refused = Rc::new(Cell::new(0));
        let mut tasks = JoinSet::new();
        if let Some(server) = self.status.take() {
            let address = server.address().to_string();
            info!(target: "ratewire_gateway", address, "status served");
            let shown = Rc::new(self.shown(&pool, &refused));
            tasks.spawn_local(server.serve(&MEMBER, shown));
        }
        let (leave, _) = watch::channel(());
        let mut connections = JoinSet::new();
        let end = tokio::select! {
            () = self.accept(&mut connections, &pool, &refused, &leave) => return,
            end = self.until_idle(stop) => end,
        };
        drop(leave);
        let all = async { while connections.join_next().await.is_some() {} };
        if timeout_at(end, all).await.is_err() {
            warn!(target: "ratewire_gateway", "the member ends with requests under way");
        }
    }

    /// Waits until the member is to end, and no request is under way or the time for that is over:
    /// when that is.
    async fn until_idle(&self, stop: impl Future<Output = Duration>) -> Instant {
        let left = stop.await;
        let end = Instant::now() + left;
        let requests = self.counts.requests().under_way;
        info!(target: "ratewire_gateway", requests, "the member ends when requests have answers");
        // Who waits in vain is logged at the end.
        _ = timeout_at(end, self.counts.until_idle()).await;
        end
    }

    /// Takes connections of switches, which end when `leave` is dropped.
    async fn accept(
        &self,
        connections: &mut JoinSet<()>,
        pool: &Rc<Pool>,
        refused: &Cell<u64>,
        leave: &watch::Sender<()>,
    ) {
        let strangers = Throttle::slow();
        let mut last = None;
        loop {
            let accepted = tokio::select! {
                accepted = self.endpoint.accept() => accepted,
                refusal = self.endpoint.refused() => {
                    refused.set(refused.get() + 1);
                    // A switch asks again and again.
                    if last.as_ref() != Some(&refusal) {
                        self.note_refusal(&refusal);
                        last = Some(refusal);
                    }
                    continue;
                }
                from = self.endpoint.stranger() => {
                    if let Some(left_out) = strangers.admit(self.started.uptime()) {
                        let switch = from.to_string();
                        warn!(target: "ratewire_gateway", switch, left_out,
                              "a switch has another key");
                    }
                    continue;
                }
            };
            let Ok(connection) = accepted else { break };
            while connections.try_join_next().is_some() {}
            let (config, pool) = (Rc::clone(&self.config), Rc::clone(pool));
            let left = leave.subscribe();
            let link = Link::new(connection, Rc::clone(&self.gateways), Rc::clone(&self.counts));
            connections.spawn_local(async move { serve(&config, &pool, link, left).await });
        }
    }

    fn shown(&self, pool: &Rc<Pool>, refused: &Rc<Cell<u64>>) -> Shown {
        Shown {
            config: Rc::clone(&self.config),
            endpoint: self.endpoint.clone(),
            gateways: Rc::clone(&self.gateways),
            pool: Rc::clone(pool),
            counts: Rc::clone(&self.counts),
            refused: Rc::clone(refused),
            started: self.started,
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

/// Serves a connection of a switch until it ends, or the member leaves.
async fn serve(
    config: &Rc<MemberConfig>,
    pool: &Rc<Pool>,
    link: Link,
    mut left: watch::Receiver<()>,
) {
    let link = Rc::new(link);
    let serving = async {
        match config.framing.streams() {
            true => exchanges::serve(pool, &link).await,
            false => pipeline::serve(config, &link).await,
        }
        link.finish();
        std::future::pending::<()>().await
    };
    let leaving = async {
        _ = left.changed().await;
        link.leave();
        std::future::pending::<()>().await
    };
    tokio::select! {
        _ = link.send() => {}
        () = serving => {}
        () = leaving => {}
    }
    if let Some(link) = Rc::into_inner(link) {
        link.close().await;
    }
}
