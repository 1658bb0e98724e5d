//! Sockets for clients, and how many connections they take.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use ratewire_daemon::socket::UnixSocket;
use ratewire_overlay::OverlayNodeId;
use tokio::net::{TcpListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tracing::info;

use super::client;
use super::core::Shared;
use super::error::DaemonError;
use super::socket::{prepare_tcp, prepare_unix};
use super::source::source;
use super::waiting::Waiting;
use crate::config::{Config, Listen};

/// Pause after a connection that the system cannot accept: it has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// Connections that are accepted for each one that may be served: so many that one source which
/// connects again and again does not fill the kernel's queue of connections.
const ACCEPTED: u32 = 10;
/// Connections that wait to be served at one address. Each has a descriptor, which clients and
/// links need, too.
const MOST_WAITING: usize = 256;

/// Open sockets for clients.
pub(super) struct Listeners {
    tcp: Vec<TcpListener>,
    unix: Vec<UnixSocket>,
}

impl Listeners {
    pub(super) async fn open(config: &Config, me: OverlayNodeId) -> Result<Listeners, DaemonError> {
        let mut open = Listeners { tcp: Vec::new(), unix: Vec::new() };
        for listen in &config.daemon(me).listen {
            let failed = |error| DaemonError::Listen(listen.clone(), error);
            match listen {
                Listen::Tcp(address) => {
                    let listener = TcpListener::bind(address).await.map_err(failed)?;
                    // Port 0 of the configuration takes a free port.
                    let address = listener.local_addr().unwrap_or(*address).to_string();
                    info!(target: "ratewire_groups", address, "clients served");
                    open.tcp.push(listener);
                }
                Listen::Unix(path) => {
                    open.unix.push(UnixSocket::bind(path).await.map_err(failed)?);
                    let address = path.display().to_string();
                    info!(target: "ratewire_groups", address, "clients served");
                }
            }
        }
        Ok(open)
    }

    pub(super) fn start(self, shared: &Rc<Shared>, tasks: &mut JoinSet<()>) {
        for listener in self.tcp {
            let shared = Rc::clone(shared);
            tasks.spawn_local(async move {
                accept(
                    &shared,
                    || listener.accept(),
                    |(_, from)| source(from.ip()),
                    |(stream, from), shared| async move {
                        // A connection that refuses has ended, which reading shows.
                        prepare_tcp(&stream).ok();
                        let (read, write) = stream.into_split();
                        client::serve(shared, from.to_string(), read, write).await;
                    },
                )
                .await;
            });
        }
        for socket in self.unix {
            let shared = Rc::clone(shared);
            tasks.spawn_local(async move {
                accept(
                    &shared,
                    || socket.accept(),
                    |stream| stream.peer_cred().ok().map(|peer| (peer.uid(), peer.pid())),
                    |stream, shared| async move {
                        let from = process(&stream);
                        prepare_unix(&stream).ok();
                        let (read, write) = stream.into_split();
                        client::serve(shared, from, read, write).await;
                    },
                )
                .await;
            });
        }
    }
}

/// The process at the other end of a Unix socket, in words.
fn process(stream: &UnixStream) -> String {
    match stream.peer_cred().ok().and_then(|peer| Some((peer.pid()?, peer.uid()))) {
        Some((process, user)) => format!("process {process} of user {user}"),
        None => "a process of this host".to_string(),
    }
}

/// Accepts connections, and serves them not faster than is allowed: those of each source in turn.
async fn accept<S, K, A, F>(
    shared: &Rc<Shared>,
    next: impl Fn() -> A,
    source: impl Fn(&S) -> K,
    serve: impl Fn(S, Rc<Shared>) -> F,
) where
    K: Ord + Clone,
    A: Future<Output = io::Result<S>>,
    F: Future<Output = ()> + 'static,
{
    let (mut clients, mut waiting) = (JoinSet::new(), Waiting::new());
    // Clients that have not introduced themselves count, too.
    let most = shared.config().limits.clients as usize + 100;
    let served = shared.config().limits.connections_per_second;
    let (mut accepting, mut serving) = (pace(served.saturating_mul(ACCEPTED)), pace(served));
    loop {
        while clients.try_join_next().is_some() {}
        let is_full = clients.len() >= most;
        tokio::select! {
            _ = clients.join_next(), if is_full => {}
            _ = serving.tick(), if !is_full && waiting.len() > 0 => {
                if let Some(stream) = waiting.pop() {
                    clients.spawn_local(serve(stream, Rc::clone(shared)));
                }
            }
            accepted = async { accepting.tick().await; next().await } => match accepted {
                Ok(stream) => {
                    waiting.push(source(&stream), stream);
                    if waiting.len() > MOST_WAITING {
                        waiting.pop_from_longest();
                    }
                }
                Err(error) => {
                    shared.record.not_accepted("clients", &error);
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

/// Ticks so many times a second, and not faster after a delay.
fn pace(per_second: u32) -> Interval {
    let mut pace = interval(Duration::from_secs(1) / per_second);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pace
}
