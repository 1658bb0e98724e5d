//! A switch that runs: sockets around the sans-IO [`Hub`].

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use ratewire_acp::Error;
use ratewire_acp::socket::Socket;
use ratewire_timer::Timer;
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::hub::{Hub, HubConfig, HubEvent, Port};

/// Time for the last packets of sessions that are ended.
const FAREWELL: Duration = Duration::from_millis(100);

/// What keeps a switch from opening its sockets.
///
/// Displayed without its cause: see [`source`](std::error::Error::source).
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address of a port cannot be bound.
    #[error("cannot {} {}", purpose(*.0), .1)]
    Bind(Port, SocketAddr, #[source] Error),
    /// The kernel gives no random numbers, or no timer.
    #[error("cannot start the switch")]
    Start(#[source] Error),
}

/// What the address of a port is for.
fn purpose(port: Port) -> &'static str {
    match port {
        Port::Peers => "serve peers at",
        Port::Members => "send to members from",
    }
}

/// A switch with open sockets.
pub struct Running {
    hub: RefCell<Hub>,
    clock: Clock,
    address: SocketAddr,
    sockets: RefCell<[Socket; 2]>,
    timer: Timer,
    /// Wakes the switch when its hub was changed from outside.
    changed: Notify,
}

impl Running {
    /// Opens the sockets: peers connect to `listen`, and packets to members leave from `outside`.
    /// Call it in a tokio runtime with I/O and time.
    ///
    /// # Errors
    /// When an address cannot be bound, or the kernel gives no random numbers.
    pub fn open(
        listen: SocketAddr,
        outside: SocketAddr,
        config: HubConfig,
    ) -> Result<Running, OpenError> {
        let bind = |port, address| {
            let bound = UdpSocket::bind(address)
                .and_then(|socket| Ok((socket.local_addr()?, Socket::new(socket)?)));
            bound.map_err(|error| OpenError::Bind(port, address, Error::Socket(error)))
        };
        let (address, peers) = bind(Port::Peers, listen)?;
        let (outside, members) = bind(Port::Members, outside)?;
        let timer = Timer::new().map_err(|error| OpenError::Start(Error::Socket(error)))?;
        Ok(Running {
            hub: RefCell::new(Hub::new(config, [address, outside]).map_err(OpenError::Start)?),
            clock: Clock::new(),
            address,
            sockets: RefCell::new([peers, members]),
            timer,
            changed: Notify::new(),
        })
    }

    /// The address for peers.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Time since the start, without that in which the process was stopped.
    pub fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Reads something of the switch.
    pub fn look<T>(&self, look: impl FnOnce(&Hub) -> T) -> T {
        look(&self.hub.borrow())
    }

    /// Changes something of the switch, at its present time.
    pub fn change<T>(&self, change: impl FnOnce(&mut Hub, Duration) -> T) -> T {
        let result = change(&mut self.hub.borrow_mut(), self.now());
        self.changed.notify_one();
        result
    }

    /// Passes packets on until `stop` completes; `note` gets what happens. Then no new peers are
    /// taken, and members get no new frames. When they have answered what they have, or after
    /// `drain`, peers are reset: frames without a member are for the next switch.
    ///
    /// # Errors
    /// When a socket fails.
    pub async fn run(
        &self,
        stop: impl Future<Output = ()>,
        drain: Duration,
        mut note: impl FnMut(HubEvent),
    ) -> io::Result<()> {
        tokio::select! {
            failed = self.serve(&mut note, |_| false) => return failed,
            () = stop => {}
        }
        self.hub.borrow_mut().refuse_peers();
        self.change(Hub::drain_all);
        let drained = self.serve(&mut note, Hub::is_drained);
        if let Ok(Err(failed)) = tokio::time::timeout(drain, drained).await {
            return Err(failed);
        }
        self.hub.borrow_mut().reset_all(self.now(), "the switch ends");
        let gone = self.serve(&mut note, |hub| hub.sessions() == 0);
        tokio::time::timeout(FAREWELL, gone).await.unwrap_or(Ok(()))
    }

    /// Passes packets on until `is_done`.
    async fn serve(
        &self,
        note: &mut impl FnMut(HubEvent),
        is_done: impl Fn(&Hub) -> bool,
    ) -> io::Result<()> {
        loop {
            let wait = self.turn()?;
            let events = self.hub.borrow_mut().take_events();
            events.into_iter().for_each(&mut *note);
            if is_done(&self.hub.borrow()) {
                return Ok(());
            }
            if wait == Some(Duration::ZERO) {
                tokio::task::yield_now().await;
                continue;
            }
            self.clock.rest(wait);
            self.ready(wait).await?;
            self.clock.wake();
        }
    }

    /// Waits until there is something to do.
    #[expect(clippy::await_holding_refcell_ref, reason = "no other task uses the sockets")]
    async fn ready(&self, wait: Option<Duration>) -> io::Result<()> {
        let sockets = self.sockets.borrow();
        tokio::select! {
            ready = sockets[0].ready() => ready,
            ready = sockets[1].ready() => ready,
            () = self.changed.notified() => Ok(()),
            () = self.timer.wait(wait) => Ok(()),
        }
    }

    /// Takes what has arrived, does what is due and sends. Returns how long to wait.
    fn turn(&self) -> io::Result<Option<Duration>> {
        let mut sockets = self.sockets.borrow_mut();
        let mut hub = self.hub.borrow_mut();
        let mut is_more = false;
        for (socket, port) in sockets.iter_mut().zip([Port::Peers, Port::Members]) {
            let now = self.now();
            is_more |= socket.receive(|arrival| {
                hub.on_datagram(now, port, arrival.path, arrival.datagram, arrival.marked);
            })?;
        }
        let now = self.now();
        hub.on_timer(now);
        for (socket, port) in sockets.iter_mut().zip([Port::Peers, Port::Members]) {
            is_more |= socket.send(now, &mut hub.port(port));
        }
        let wait = hub.deadline().map(|at| at.saturating_sub(self.now()));
        Ok(if is_more { Some(Duration::ZERO) } else { wait })
    }
}
