//! Connections with the server.

use std::io;
use std::time::Duration;

use ratewire_config::Server;

use crate::stream::{Stream, connect};

/// Time between attempts to connect with the server.
pub(super) const RETRY: Duration = Duration::from_millis(50);

/// Connects with the server, for as long as it may take; a server that is down is asked once.
pub(super) async fn open(server: &Server, patience: Duration, is_down: bool) -> io::Result<Stream> {
    let mut last = io::Error::from(io::ErrorKind::TimedOut);
    let attempts = async {
        loop {
            match connect(server).await {
                Err(error) if !is_down => last = error,
                tried => return tried,
            }
            tokio::time::sleep(RETRY).await;
        }
    };
    let tried = tokio::time::timeout(patience, attempts).await;
    tried.unwrap_or(Err(last))
}
