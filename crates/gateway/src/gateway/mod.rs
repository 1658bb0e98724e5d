//! In front of clients: their requests become frames to a switch.
//!
//! | part | is |
//! |---|---|
//! | `serving` | the connection of a client: requests are read, answers written |
//! | `client` | the order of its answers, and what is held for it |
//! | `parts` | requests that go to several members |
//! | `gather` | the answers of their parts |
//! | `memory` | the bytes that are held for all clients |
//! | `counts` | clients and requests so far |
//! | `status` | the gateway's state, by HTTP |
//! | `ensemble` | the members, and requests that have none yet |
//! | `directory` | what the switch tells of its members |
//! | `choice` | the member of a request |
//! | `upstream` | the connection with a member |
//! | `fair` | requests that wait for a member, in shares by client |
//! | `exchanges` | requests that a member has |
//! | `ask` | a request on its way to a member |
//! | `upload` | a request that is sent while it arrives |

mod ask;
mod choice;
mod client;
mod counts;
mod directory;
mod ensemble;
mod exchanges;
mod fair;
mod gather;
mod memory;
mod parts;
mod serving;
mod status;
mod upload;
mod upstream;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use client::Client;
use counts::{Counts, End};
use ensemble::Ensemble;
use memory::Memory;
use ratewire_acp::Config;
use ratewire_config::{Host, Listen};
use ratewire_daemon::log::reason;
use ratewire_daemon::status::Server;
use ratewire_framing::{Expect, Framing};
use ratewire_switch_interface::status::GATEWAY;
use serving::{Rules, serve};
use status::Shown;
use tokio::io::AsyncWriteExt;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{info, warn};

use crate::started::Started;
use crate::stream::{Listener, OpenError, Stream};

/// Pause after a connection that the system cannot hand over: it has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);
/// Time for a client that is ended to give its memory back.
const BREATH: Duration = Duration::from_millis(5);
/// Clients that wait for a place among those that are served.
pub const MOST_QUEUED: usize = 1024;
/// What a client is told that has waited for a place in vain.
const NO_PLACE: &str = "the gateway has as many clients as it may have";

/// Why a gateway has no connection with the switch that has just begun.
const UNASKED: &str = "it has not answered yet";

/// What a gateway is to do.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// What a request is.
    pub framing: Framing,
    /// Where clients connect to.
    pub listen: Listen,
    /// Who may connect to a Unix socket: those who may write to a file of this mode.
    pub listen_mode: u32,
    /// The switch, which is looked for anew whenever there is no connection.
    pub switch: Host,
    /// Settings of the connections with the switch.
    pub acp: Config,
    /// Time for an answer, after which a client is told that there is none.
    pub timeout: Duration,
    /// Time for a request to arrive, after which its client is ended.
    pub patience: Duration,
    /// Clients at a time.
    pub clients: usize,
    /// Longest request in bytes.
    pub longest: usize,
    /// Bytes that are held for all clients.
    pub memory: usize,
}

/// A gateway with an open address.
pub struct Gateway {
    config: GatewayConfig,
    listener: Listener,
    ensemble: Rc<Ensemble>,
    clients: Rc<Clients>,
    started: Started,
    /// Where the state is served.
    status: Option<Server>,
}

/// The clients, and what they share.
struct Clients {
    memory: Rc<Memory>,
    counts: Rc<Counts>,
    rules: Rules,
    all: RefCell<BTreeMap<u64, Rc<Client>>>,
    next: Cell<u64>,
    places: Arc<Semaphore>,
    /// Time for a place, after which a client is told that there is none.
    timeout: Duration,
    /// Whether no more requests are taken.
    are_finished: Cell<bool>,
}

impl Gateway {
    /// Opens the address for clients. Call it in a tokio runtime.
    ///
    /// # Errors
    /// When the address is taken, or not of this host.
    pub async fn open(config: GatewayConfig) -> Result<Gateway, OpenError> {
        let listener = Listener::open(&config.listen, config.listen_mode).await?;
        let ensemble = Ensemble::open(config.framing, config.timeout, &config.acp);
        let clients = Clients {
            memory: Rc::new(Memory::new(config.memory)),
            counts: Rc::default(),
            rules: Rules {
                framing: config.framing,
                longest: config.longest,
                patience: config.patience,
            },
            all: RefCell::default(),
            next: Cell::new(0),
            places: Arc::new(Semaphore::new(config.clients.min(Semaphore::MAX_PERMITS))),
            timeout: config.timeout,
            are_finished: Cell::new(false),
        };
        let ensemble = Rc::new(ensemble.map_err(OpenError::Acp)?);
        if let Some(address) = config.switch.address() {
            ensemble.dialer().socket(address).map_err(OpenError::Acp)?;
        }
        let (clients, started) = (Rc::new(clients), Started::now());
        Ok(Gateway { config, listener, ensemble, clients, started, status: None })
    }

    /// Serves the gateway's state by HTTP at an address, too.
    ///
    /// # Errors
    /// When the address is taken, or not of this host.
    pub async fn with_status(self, address: SocketAddr) -> Result<Gateway, OpenError> {
        let server = Server::bind(address).await;
        let server = server.map_err(|error| OpenError::Status(address, error))?;
        Ok(Gateway { status: Some(server), ..self })
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
        self.run_until(std::future::pending(), Duration::ZERO).await;
    }

    /// Serves clients until `stop` completes. Then neither clients nor requests are taken, and the
    /// future completes when clients have their answers, or after `drain`.
    ///
    /// # Panics
    /// Outside of a [`LocalSet`](tokio::task::LocalSet).
    pub async fn run_until(mut self, stop: impl Future<Output = ()>, drain: Duration) {
        let mut tasks = JoinSet::new();
        let (ensemble, switch) = (Rc::clone(&self.ensemble), self.config.switch.clone());
        let lack = Rc::new(RefCell::new(Some(UNASKED.to_string())));
        if let Some(server) = self.status.take() {
            let address = server.address().to_string();
            info!(target: "ratewire_gateway", address, "status served");
            let shown = Rc::new(self.shown(&lack));
            tasks.spawn_local(server.serve(&GATEWAY, shown));
        }
        tasks.spawn_local(async move {
            let apply = |address, table| ensemble.apply(address, table);
            let doubts = async || ensemble.doubts().await;
            directory::follow(ensemble.dialer(), &switch, &lack, apply, doubts).await;
        });
        let ensemble = Rc::clone(&self.ensemble);
        tasks.spawn_local(async move { ensemble.keep_time().await });
        let clients = Rc::clone(&self.clients);
        tasks.spawn_local(async move { clients.keep_memory().await });
        info!(target: "ratewire_gateway", address = self.address().to_string(), "clients served");
        let mut connections = JoinSet::new();
        tokio::select! {
            () = self.accept(&mut connections) => {}
            () = stop => {}
        }
        drop(self.listener);
        self.clients.finish();
        let all = async { while connections.join_next().await.is_some() {} };
        if timeout(drain, all).await.is_err() {
            warn!(target: "ratewire_gateway", "clients are ended that do not have their answers");
        }
    }

    /// Takes clients.
    async fn accept(&self, connections: &mut JoinSet<()>) {
        loop {
            while connections.try_join_next().is_some() {}
            match self.listener.accept().await {
                Ok(stream) => {
                    let (clients, ensemble) = (Rc::clone(&self.clients), Rc::clone(&self.ensemble));
                    let is_crowded = connections.len() >= self.config.clients + MOST_QUEUED;
                    connections.spawn_local(async move {
                        match is_crowded {
                            true => clients.refuse(stream).await,
                            false => clients.serve(&ensemble, stream).await,
                        }
                    });
                }
                Err(error) => {
                    let reason = reason(&error);
                    warn!(target: "ratewire_gateway", reason, "a client cannot be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    fn shown(&self, lack: &Rc<RefCell<Option<String>>>) -> Shown {
        Shown {
            address: self.address(),
            framing: self.config.framing,
            switch: self.config.switch.clone(),
            lack: Rc::clone(lack),
            ensemble: Rc::clone(&self.ensemble),
            memory: Rc::clone(&self.clients.memory),
            counts: Rc::clone(&self.clients.counts),
            started: self.started,
        }
    }
}

impl Clients {
    /// Serves a client once there is a place for it.
    async fn serve(&self, ensemble: &Rc<Ensemble>, stream: Stream) {
        self.counts.wait();
        let place = timeout(self.timeout, self.places.acquire()).await;
        self.counts.has_waited();
        let Ok(Ok(_place)) = place else {
            return self.refuse(stream).await;
        };
        if self.are_finished.get() {
            return;
        }
        let id = self.next.get();
        self.next.set(id + 1);
        let shared = (Rc::clone(&self.memory), Rc::clone(&self.counts));
        let client = Rc::new(Client::new(id, self.rules.framing, shared));
        self.all.borrow_mut().insert(id, Rc::clone(&client));
        self.counts.serve();
        serve(&self.rules, ensemble, &self.memory, client, stream).await;
        self.counts.has_served();
        self.all.borrow_mut().remove(&id);
    }

    /// Has each client get its answers, and nothing more.
    fn finish(&self) {
        self.are_finished.set(true);
        self.all.borrow().values().for_each(|client| client.finish_all());
    }

    /// Tells a client that there is no place for it.
    async fn refuse(&self, mut stream: Stream) {
        self.counts.refuse();
        if let Some(answer) = self.rules.framing.failure(Expect::ORDINARY, NO_PLACE) {
            _ = timeout(self.timeout, stream.write_all(&answer)).await;
        }
        _ = timeout(self.timeout, stream.shutdown()).await;
    }

    /// Ends the clients for whom the most is held when more is held than may be.
    async fn keep_memory(&self) {
        loop {
            self.memory.exceeded.notified().await;
            while self.memory.is_over() {
                let stays = |client: &&Rc<Client>| !client.is_ended() && client.weight() > 0;
                let most = {
                    let all = self.all.borrow();
                    all.values().filter(stays).max_by_key(|client| client.weight()).cloned()
                };
                let Some(client) = most else { break };
                warn!(target: "ratewire_gateway", bytes = client.weight(),
                      "a client is ended: for it the most is held");
                client.end(End::Memory);
                // Its task gives the memory back.
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}
