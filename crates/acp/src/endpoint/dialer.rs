//! Connections with servers whose addresses are not known before.

use std::net::SocketAddr;
use std::sync::Mutex;

use super::{Connection, Endpoint, local_for, lock};
use crate::config::Config;
use crate::error::Error;
use crate::wire::Target;

/// Connects with servers, from a socket for each kind of address: IPv4 or IPv6, of this host or of
/// any. A socket is opened when it is first needed.
pub struct Dialer {
    config: Config,
    sockets: Mutex<Vec<(SocketAddr, Endpoint)>>,
}

impl Dialer {
    /// A dialer without sockets.
    pub fn new(config: Config) -> Dialer {
        Dialer { config, sockets: Mutex::default() }
    }

    /// The socket for connections with a server.
    ///
    /// # Errors
    /// When it cannot be opened.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    pub fn socket(&self, server: SocketAddr) -> Result<Endpoint, Error> {
        let local = local_for(server);
        let mut sockets = lock(&self.sockets);
        if let Some((_, known)) = sockets.iter().find(|(address, _)| *address == local) {
            return Ok(known.clone());
        }
        let socket = Endpoint::client(local, self.config.clone())?;
        sockets.push((local, socket.clone()));
        Ok(socket)
    }

    /// Connects with a server.
    ///
    /// # Errors
    /// As [`Endpoint::connect_for`], and when the socket cannot be opened.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    pub async fn connect_for(
        &self,
        server: SocketAddr,
        target: Target,
    ) -> Result<Connection, Error> {
        self.socket(server)?.connect_for(server, target).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Credentials;

    #[tokio::test]
    async fn servers_of_a_kind_share_a_socket() {
        let dialer = Dialer::new(Config::new(Credentials::Shared([7; 32])));
        let from = |to: &str| dialer.socket(to.parse().expect("an address")).map(|s| s.address());
        let first = from("127.0.0.1:5").expect("a socket");
        assert_eq!(from("127.0.0.1:6").ok(), Some(first));
        assert_ne!(from("192.0.2.1:6").ok(), Some(first));
    }
}
