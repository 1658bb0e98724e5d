//! Sockets for clients, and how many connections they take.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use ratewire_overlay::OverlayNodeId;
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::client;
use super::core::Shared;
use super::error::DaemonError;
use crate::config::{Config, Listen};

/// Pause after a connection that the system cannot accept: it has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);

/// Open sockets for clients.
pub(super) struct Listeners {
    tcp: Vec<TcpListener>,
    unix: Vec<UnixSocket>,
}

/// A Unix socket, whose file goes with it.
struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        fs::remove_file(&self.path).ok();
    }
}

impl Listeners {
    pub(super) async fn open(config: &Config, me: OverlayNodeId) -> Result<Listeners, DaemonError> {
        let mut open = Listeners { tcp: Vec::new(), unix: Vec::new() };
        for listen in &config.daemon(me).listen {
            let failed = |error| DaemonError::Listen(listen.clone(), error);
            match listen {
                Listen::Tcp(address) => {
                    open.tcp.push(TcpListener::bind(address).await.map_err(failed)?);
                }
                Listen::Unix(path) => open.unix.push(unix(path).await.map_err(failed)?),
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
                    |(stream, from), shared| async move {
                        stream.set_nodelay(true).ok();
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
                    || socket.listener.accept(),
                    |(stream, _), shared| async move {
                        let from = process(&stream);
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

/// Times of connections. After a quiet time, those of one second may come at once.
struct Pace {
    gap: Duration,
    due: Instant,
}

impl Pace {
    fn new(per_second: u32, now: Instant) -> Pace {
        Pace { gap: SECOND / per_second, due: now }
    }

    /// When to accept the next connection.
    fn next(&mut self, now: Instant) -> Instant {
        let earliest = now.checked_sub(SECOND).unwrap_or(now);
        let due = self.due.max(earliest);
        self.due = due + self.gap;
        due
    }
}

/// Accepts connections, not faster than is allowed.
async fn accept<S, A, F>(
    shared: &Rc<Shared>,
    next: impl Fn() -> A,
    serve: impl Fn(S, Rc<Shared>) -> F,
) where
    A: Future<Output = io::Result<S>>,
    F: Future<Output = ()> + 'static,
{
    let mut clients = JoinSet::new();
    // Clients that have not introduced themselves count, too.
    let most = shared.config.limits.clients as usize + 100;
    let mut pace = Pace::new(shared.config.limits.connections_per_second, Instant::now());
    loop {
        tokio::time::sleep_until(pace.next(Instant::now())).await;
        while clients.len() >= most || clients.try_join_next().is_some() {
            if clients.len() >= most {
                clients.join_next().await;
            }
        }
        match next().await {
            Ok(stream) => _ = clients.spawn_local(serve(stream, Rc::clone(shared))),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Listens on a Unix socket. A file of a daemon that has died is replaced.
async fn unix(path: &Path) -> io::Result<UnixSocket> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket {
        match UnixStream::connect(path).await {
            Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
            Err(_) => fs::remove_file(path)?,
        }
    }
    let listener = UnixListener::bind(path)?;
    let socket = UnixSocket { listener, path: path.to_path_buf() };
    // Any user of this host may connect, as to the TCP port.
    fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of connections that are accepted at once.
    fn burst(pace: &mut Pace, now: Instant) -> usize {
        (0..).take_while(|_| pace.next(now) <= now).count()
    }

    #[test]
    fn a_quiet_time_allows_the_connections_of_one_second_at_once() {
        let start = Instant::now();
        let mut pace = Pace::new(10, start);
        assert_eq!(pace.next(start), start);
        assert_eq!(pace.next(start), start + SECOND / 10);
        assert_eq!(pace.next(start + SECOND / 2), start + SECOND / 5);
        for quiet in [10, 1000, 100_000] {
            assert_eq!(burst(&mut pace, start + SECOND * quiet), 11, "after {quiet} s");
        }
    }
}
