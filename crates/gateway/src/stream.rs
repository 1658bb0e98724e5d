//! Streams of clients and servers, over TCP or Unix sockets.

use std::io;
use std::net::SocketAddr;

use ratewire_acp as acp;
use ratewire_config::Listen;
use ratewire_daemon::socket::UnixSocket;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixStream};

/// Connections that the kernel keeps until they are accepted.
const BACKLOG: u32 = 1024;

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

/// Connects with a server.
pub(crate) async fn connect(server: &Listen) -> io::Result<Stream> {
    Ok(match server {
        Listen::Tcp(address) => {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
        Listen::Unix(path) => Box::new(UnixStream::connect(path).await?),
    })
}
