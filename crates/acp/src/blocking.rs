//! The same for programs without a runtime: calls wait until they are done.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use crate::{Config, Error, Frame, Metrics};

/// A UDP socket with connections, served by a thread of its own.
#[derive(Clone)]
pub struct Endpoint {
    runtime: Arc<Runtime>,
    inner: crate::Endpoint,
}

/// A connection. Frames may be sent and received at once, from several threads.
pub struct Connection {
    runtime: Arc<Runtime>,
    inner: crate::Connection,
}

fn runtime() -> Result<Runtime, Error> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.map_err(Error::Socket)
}

impl Endpoint {
    /// An endpoint that connects to others.
    ///
    /// # Errors
    /// When the address cannot be bound, or the kernel gives no thread.
    pub fn client(address: SocketAddr, config: Config) -> Result<Endpoint, Error> {
        let runtime = runtime()?;
        let inner = runtime.block_on(async { crate::Endpoint::client(address, config) })?;
        Ok(Endpoint { runtime: Arc::new(runtime), inner })
    }

    /// An endpoint that also accepts connections.
    ///
    /// # Errors
    /// When the address cannot be bound, or the kernel gives no thread.
    pub fn server(address: SocketAddr, config: Config) -> Result<Endpoint, Error> {
        let runtime = runtime()?;
        let inner = runtime.block_on(async { crate::Endpoint::server(address, config) })?;
        Ok(Endpoint { runtime: Arc::new(runtime), inner })
    }

    /// The address of the socket.
    pub fn address(&self) -> SocketAddr {
        self.inner.address()
    }

    /// Connects to a server.
    ///
    /// # Errors
    /// As [`crate::Endpoint::connect`].
    pub fn connect(&self, to: SocketAddr) -> Result<Connection, Error> {
        let inner = self.runtime.block_on(self.inner.connect(to))?;
        Ok(Connection { runtime: Arc::clone(&self.runtime), inner })
    }

    /// Waits for the next connection of a client.
    ///
    /// # Errors
    /// When the endpoint is closed.
    pub fn accept(&self) -> Result<Connection, Error> {
        let inner = self.runtime.block_on(self.inner.accept())?;
        Ok(Connection { runtime: Arc::clone(&self.runtime), inner })
    }

    /// Closes all connections; what was written still arrives.
    pub fn close(&self) {
        self.inner.close();
    }
}

impl Connection {
    /// Sends a frame, and waits until the send buffer has room for it.
    ///
    /// # Errors
    /// As [`crate::Connection::send`].
    pub fn send(&self, frame: Frame) -> Result<(), Error> {
        self.runtime.block_on(self.inner.send(frame))
    }

    /// The next frame; `None` when the other end has sent its last.
    ///
    /// # Errors
    /// When the connection ends otherwise.
    pub fn receive(&self) -> Result<Option<Frame>, Error> {
        self.runtime.block_on(self.inner.receive())
    }

    /// Sends no more frames, and waits until the other end has all and has sent its last.
    ///
    /// # Errors
    /// When the connection ends otherwise: frames may be lost.
    pub fn close(self) -> Result<(), Error> {
        self.runtime.block_on(self.inner.close())
    }

    /// Counters and state.
    ///
    /// # Errors
    /// When the endpoint has ended.
    pub fn metrics(&self) -> Result<Metrics, Error> {
        self.inner.metrics()
    }
}
