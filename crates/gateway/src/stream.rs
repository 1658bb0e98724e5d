//! Streams of clients and servers, over TCP or Unix sockets.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use ratewire_acp as acp;
use ratewire_config::{Host, Listen, Server};
use ratewire_daemon::resolve::resolve;
use ratewire_daemon::socket::UnixSocket;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixStream};
use tokio::time::timeout;

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: u32 = 1024;
/// Time for an address of a server that has others, too.
const ATTEMPT: Duration = Duration::from_millis(300);

pub(crate) trait Duplex: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Duplex for S {}

pub(crate) type Stream = Box<dyn Duplex>;

/// What keeps a gateway or a member from running.
///
/// Displayed without its cause: see [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address for clients cannot be used.
    #[error("cannot serve clients at {0}")]
    Listen(Listen, #[source] io::Error),
    /// The address for the status cannot be used.
    #[error("cannot serve the status at {0}")]
    Status(SocketAddr, #[source] io::Error),
    /// The ACP socket cannot be used.
    #[error("cannot use ACP")]
    Acp(#[source] acp::Error),
}

/// Listens at an address. Clients whose hosts have died do not keep their places.
fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.set_keepalive(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// An open address for clients.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixSocket),
}

impl Listener {
    /// Opens an address. A Unix socket is for those who may write to a file of this mode.
    pub(crate) async fn open(listen: &Listen, mode: u32) -> Result<Listener, OpenError> {
        let opened = match listen {
            Listen::Tcp(address) => listen_tcp(*address).map(Listener::Tcp),
            Listen::Unix(path) => UnixSocket::bind_for(path, mode).await.map(Listener::Unix),
        };
        opened.map_err(|error| OpenError::Listen(listen.clone(), error))
    }

    /// The address, with the port that the kernel has chosen.
    pub(crate) fn address(&self, asked: &Listen) -> Listen {
        match self {
            Listener::Tcp(listener) => listener.local_addr().map_or(asked.clone(), Listen::Tcp),
            Listener::Unix(_) => asked.clone(),
        }
    }

    pub(crate) async fn accept(&self) -> io::Result<Stream> {
        Ok(match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            Listener::Unix(socket) => Box::new(socket.accept().await?),
        })
    }
}

/// Connects with a host, at the first of its addresses that accepts.
async fn connect_tcp(host: &Host) -> io::Result<TcpStream> {
    let addresses = resolve(host).await.map_err(io::Error::other)?;
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let count = addresses.len();
    for (k, address) in addresses.into_iter().enumerate() {
        let connecting = TcpStream::connect(address);
        let connected = match k + 1 == count {
            true => connecting.await,
            // Another address is better than one that does not answer.
            false => timeout(ATTEMPT, connecting).await.unwrap_or_else(|late| Err(late.into())),
        };
        match connected {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Connects with a server.
pub(crate) async fn connect(server: &Server) -> io::Result<Stream> {
    Ok(match server {
        Server::Tcp(host) => {
            let stream = connect_tcp(host).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
        Server::Unix(path) => Box::new(UnixStream::connect(path).await?),
    })
}
