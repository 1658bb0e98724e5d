//! The task that serves an endpoint's socket.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ratewire_timer::Timer;

use super::Shared;
use crate::socket::Socket;

pub(super) struct Driver {
    shared: Arc<Shared>,
    socket: Socket,
    timer: Timer,
}

impl Driver {
    pub(super) fn new(shared: Arc<Shared>, socket: std::net::UdpSocket) -> io::Result<Driver> {
        Ok(Driver { shared, socket: Socket::new(socket)?, timer: Timer::new()? })
    }

    /// Serves the socket until the endpoint is shut and its connections are over.
    pub(super) async fn run(mut self) {
        while let Ok(wait) = self.turn() {
            if wait == Some(Duration::ZERO) {
                tokio::task::yield_now().await;
                continue;
            }
            tokio::select! {
                ready = self.socket.ready() => if ready.is_err() { break },
                () = self.timer.wait(wait) => {}
                () = self.shared.wake.notified() => {}
            }
        }
        self.shared.end();
    }

    /// Takes what has arrived, does what is due and sends. Returns how long to wait; an error ends
    /// the endpoint.
    fn turn(&mut self) -> io::Result<Option<Duration>> {
        let shared = Arc::clone(&self.shared);
        let mut hub = shared.hub();
        if shared.is_shut() {
            hub.shut();
        }
        let now = shared.now();
        let mut is_more = self.socket.receive(|arrival| {
            hub.on_datagram(now, arrival.path, arrival.datagram, arrival.marked);
        })?;
        let now = shared.now();
        hub.on_timer(now);
        is_more |= self.socket.send(now, &mut *hub);
        shared.tell(&mut hub);
        if shared.is_shut() && hub.is_empty() {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let now = shared.now();
        let wait = hub.deadline().map(|at| at.saturating_sub(now));
        Ok(if is_more { Some(Duration::ZERO) } else { wait })
    }
}
