//! Endpoints: a UDP socket, and the connections over it.

mod dialer;
mod driver;
mod hub;

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use dialer::Dialer;
use driver::Driver;
use hub::Hub;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::channel::CloseReason;
use crate::config::Config;
use crate::connection::{Connection as Core, Metrics};
use crate::error::Error;
use crate::frame::Frame;
use crate::handshakes::Refusal;
use crate::wire::{ConnectionId, Target};

/// What the task of an endpoint and those who hold its connections share.
struct Shared {
    hub: Mutex<Hub>,
    start: Instant,
    /// Wakes the endpoint's task.
    wake: Notify,
    /// Wakes who waits for a connection to accept.
    accepted: Notify,
    /// By connection: wakes who waits for it.
    waiting: Mutex<BTreeMap<ConnectionId, Arc<Notify>>>,
    /// Wakes who waits for a client of another application.
    refused: Notify,
    /// Wakes who waits for a client without the keys.
    strange: Notify,
    connecting: Mutex<BTreeMap<ConnectionId, oneshot::Sender<Result<(), Error>>>>,
    is_shut: AtomicBool,
    has_ended: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind the locks is whole between any two calls.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn hub(&self) -> MutexGuard<'_, Hub> {
        lock(&self.hub)
    }
    fn now(&self) -> Duration {
        self.start.elapsed()
    }
    fn is_shut(&self) -> bool {
        self.is_shut.load(Ordering::Acquire)
    }

    /// Wakes those whose connections have changed.
    fn tell(&self, hub: &mut Hub) {
        let changed = hub.take_changed();
        if !changed.is_empty() {
            let waiting = lock(&self.waiting);
            let woken = changed.iter().filter_map(|id| waiting.get(id));
            woken.for_each(|notify| notify.notify_waiters());
        }
        for (id, result) in hub.take_connected() {
            if let Some(sender) = lock(&self.connecting).remove(&id) {
                _ = sender.send(result);
            }
        }
        if hub.has_accepted() {
            self.accepted.notify_one();
        }
        if hub.has_refusal() {
            self.refused.notify_one();
        }
        if hub.has_stranger() {
            self.strange.notify_one();
        }
    }

    /// Wakes all: the endpoint has ended.
    fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
        lock(&self.waiting).values().for_each(|notify| notify.notify_waiters());
        lock(&self.connecting).clear();
        self.accepted.notify_waiters();
    }
}

/// The address for a client of a server at this address: any of this host's, or loopback's.
pub fn local_for(server: SocketAddr) -> SocketAddr {
    match (server.ip().is_loopback(), server.is_ipv4()) {
        (true, _) => SocketAddr::new(server.ip(), 0),
        (false, true) => SocketAddr::from(([0, 0, 0, 0], 0)),
        (false, false) => SocketAddr::from(([0; 16], 0)),
    }
}

/// A UDP socket with connections. When the last copy of the value is dropped, the socket is closed
/// as soon as its connections are over.
#[derive(Clone)]
pub struct Endpoint {
    shared: Arc<Shared>,
    address: SocketAddr,
    _held: Arc<Held>,
}

/// Ends an endpoint that nobody holds.
struct Held(Arc<Shared>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.is_shut.store(true, Ordering::Release);
        self.0.wake.notify_one();
    }
}

impl Endpoint {
    /// An endpoint that connects to others.
    ///
    /// # Errors
    /// When the address cannot be bound.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    pub fn client(address: SocketAddr, config: Config) -> Result<Endpoint, Error> {
        Endpoint::new(address, config, false)
    }

    /// An endpoint that also accepts connections.
    ///
    /// # Errors
    /// When the address cannot be bound.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    pub fn server(address: SocketAddr, config: Config) -> Result<Endpoint, Error> {
        Endpoint::new(address, config, true)
    }

    fn new(address: SocketAddr, config: Config, accepts: bool) -> Result<Endpoint, Error> {
        let socket = UdpSocket::bind(address).map_err(Error::Socket)?;
        let address = socket.local_addr().map_err(Error::Socket)?;
        let shared = Arc::new(Shared {
            hub: Mutex::new(Hub::new(config, address, accepts)?),
            start: Instant::now(),
            wake: Notify::new(),
            accepted: Notify::new(),
            refused: Notify::new(),
            strange: Notify::new(),
            waiting: Mutex::default(),
            connecting: Mutex::default(),
            is_shut: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        });
        let driver = Driver::new(Arc::clone(&shared), socket).map_err(Error::Socket)?;
        tokio::spawn(driver.run());
        let held = Arc::new(Held(Arc::clone(&shared)));
        Ok(Endpoint { shared, address, _held: held })
    }

    /// The address of the socket.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connects to a server, or to all members behind a switch.
    ///
    /// # Errors
    /// When the server does not answer within ten seconds or is for another application, or the
    /// endpoint has too many connections.
    pub async fn connect(&self, to: SocketAddr) -> Result<Connection, Error> {
        self.connect_for(to, Target::Ensemble).await
    }

    /// Connects to a switch, for all of its members or for one, or to hear what members there are.
    ///
    /// # Errors
    /// As [`Endpoint::connect`]. What the switch does not have ends the connection later.
    pub async fn connect_for(&self, to: SocketAddr, target: Target) -> Result<Connection, Error> {
        let (sender, connected) = oneshot::channel();
        let id = {
            let mut hub = self.shared.hub();
            let id = hub.connect(self.shared.now(), to, target)?;
            lock(&self.shared.connecting).insert(id, sender);
            id
        };
        self.shared.wake.notify_one();
        let abandoned = Abandoned { shared: &self.shared, id };
        let result = connected.await.map_err(|_| Error::Shut)?;
        core::mem::forget(abandoned);
        result?;
        Ok(Connection::new(&self.shared, id))
    }

    /// Connects anew in place of a connection that has ended, as when the other end was restarted,
    /// and sends its [unacknowledged](Connection::unacknowledged) frames again, in order.
    ///
    /// # Errors
    /// As [`Endpoint::connect`] and [`Connection::send`]. Frames that were sent before the error
    /// may arrive, and a second `resume` sends them again.
    pub async fn resume(&self, ended: &Connection, to: SocketAddr) -> Result<Connection, Error> {
        let frames = ended.unacknowledged()?;
        let connection = self.connect(to).await?;
        for frame in frames {
            connection.send(frame).await?;
        }
        Ok(connection)
    }

    /// The next connection of a client.
    ///
    /// # Errors
    /// When the endpoint is closed.
    pub async fn accept(&self) -> Result<Connection, Error> {
        loop {
            let accepted = self.shared.accepted.notified();
            if let Some(id) = self.shared.hub().poll_accepted() {
                return Ok(Connection::new(&self.shared, id));
            }
            if self.shared.is_shut() || self.shared.has_ended.load(Ordering::Acquire) {
                return Err(Error::Shut);
            }
            accepted.await;
        }
    }

    /// The next client of [another application](Config::application), which has no connection. Of
    /// those that come while nobody waits, only the last is known.
    pub async fn refused(&self) -> Refusal {
        loop {
            let refused = self.shared.refused.notified();
            if let Some(refusal) = self.shared.hub().take_refusal() {
                return refusal;
            }
            refused.await;
        }
    }

    /// Where the next first packet comes from that was not made with the keys: its client has other
    /// keys, or anybody has sent bytes in the name of this address. Of packets that come while
    /// nobody waits, only the last is known.
    pub async fn stranger(&self) -> SocketAddr {
        loop {
            let strange = self.shared.strange.notified();
            if let Some(stranger) = self.shared.hub().take_stranger() {
                return stranger;
            }
            strange.await;
        }
    }

    /// Number of first packets so far that were not made with the keys. A client that has other
    /// keys repeats its packet for ten seconds.
    pub fn strangers(&self) -> u64 {
        self.shared.hub().strangers()
    }

    /// Closes all connections; what was written still arrives. The socket is closed when all are
    /// over.
    pub fn close(&self) {
        self.shared.is_shut.store(true, Ordering::Release);
        self.shared.hub().close_all();
        self.shared.accepted.notify_waiters();
        self.shared.wake.notify_one();
    }
}

/// Forgets a handshake that nobody waits for any more.
struct Abandoned<'a> {
    shared: &'a Shared,
    id: ConnectionId,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        lock(&self.shared.connecting).remove(&self.id);
        let mut hub = self.shared.hub();
        hub.give_up(self.id);
        // The handshake may have ended since the last look.
        hub.let_go(self.id);
        drop(hub);
        self.shared.wake.notify_one();
    }
}

/// A connection. Frames may be sent and received at once, from several tasks.
///
/// When the value is dropped, the connection is closed: frames that were sent still arrive.
pub struct Connection {
    shared: Arc<Shared>,
    id: ConnectionId,
    changed: Arc<Notify>,
}

impl Connection {
    fn new(shared: &Arc<Shared>, id: ConnectionId) -> Connection {
        let changed = Arc::new(Notify::new());
        lock(&shared.waiting).insert(id, Arc::clone(&changed));
        Connection { shared: Arc::clone(shared), id, changed }
    }

    /// Does something with the connection, and lets its packets be sent.
    fn with<T>(&self, act: impl FnOnce(&mut Core) -> T) -> Result<T, Error> {
        let mut hub = self.shared.hub();
        let slot = hub.slot(self.id).ok_or(Error::Shut)?;
        let result = act(&mut slot.connection);
        self.touch(hub);
        Ok(result)
    }

    /// Lets the connection's packets be sent.
    fn touch(&self, mut hub: MutexGuard<'_, Hub>) {
        hub.touch(self.id);
        drop(hub);
        self.shared.wake.notify_one();
    }

    /// Reads something of the connection.
    fn look<T>(&self, look: impl FnOnce(&Core) -> T) -> Result<T, Error> {
        let mut hub = self.shared.hub();
        hub.slot(self.id).map(|slot| look(&slot.connection)).ok_or(Error::Shut)
    }

    /// Waits until `try_it` gives a result.
    async fn until<T>(
        &self,
        mut try_it: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        loop {
            let mut changed = core::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(result) = try_it()? {
                return Ok(result);
            }
            if self.shared.has_ended.load(Ordering::Acquire) {
                return Err(Error::Shut);
            }
            changed.await;
        }
    }

    /// Sends a frame, and waits until the send buffer has room for it.
    ///
    /// # Errors
    /// When the connection is over, or the frame is longer than the other end takes.
    pub async fn send(&self, frame: Frame) -> Result<(), Error> {
        let mut left = self.try_send(frame)?;
        if left.is_none() {
            return Ok(());
        }
        self.until(|| {
            left = left.take().map_or(Ok(None), |frame| self.try_send(frame))?;
            Ok(left.is_none().then_some(()))
        })
        .await
    }

    /// Sends a frame if the send buffer has room for it. Returns the frame if there is none.
    ///
    /// # Errors
    /// As [`Connection::send`].
    pub fn try_send(&self, frame: Frame) -> Result<Option<Frame>, Error> {
        let mut hub = self.shared.hub();
        let core = &mut hub.slot(self.id).ok_or(Error::Shut)?.connection;
        let longest = core.longest_frame().get();
        if frame.data.len() as u64 > longest {
            return Err(Error::TooLong { longest });
        }
        if let Some(reason) = core.closed() {
            return Err(Error::Closed(reason.clone()));
        }
        if core.is_finished() {
            return Err(Error::Finished);
        }
        if let Err(frame) = core.write(frame) {
            return Ok(Some(frame));
        }
        self.touch(hub);
        Ok(None)
    }

    /// Waits until the send buffer has room for a frame.
    ///
    /// # Errors
    /// As [`Connection::send`].
    pub async fn until_writable(&self) -> Result<(), Error> {
        self.until(|| {
            let mut hub = self.shared.hub();
            let core = &hub.slot(self.id).ok_or(Error::Shut)?.connection;
            match core.closed() {
                Some(reason) => Err(Error::Closed(reason.clone())),
                None if core.is_finished() => Err(Error::Finished),
                None => Ok(core.is_writable().then_some(())),
            }
        })
        .await
    }

    /// The next frame; `None` when the other end has sent its last.
    ///
    /// # Errors
    /// When the connection ends otherwise.
    pub async fn receive(&self) -> Result<Option<Frame>, Error> {
        match self.try_receive()? {
            Some(next) => Ok(next),
            None => self.until(|| self.try_receive()).await,
        }
    }

    /// What [`Connection::receive`] returns, if it need not wait.
    fn try_receive(&self) -> Result<Option<Option<Frame>>, Error> {
        let mut hub = self.shared.hub();
        let core = &mut hub.slot(self.id).ok_or(Error::Shut)?.connection;
        if let Some(frame) = core.read() {
            self.touch(hub);
            return Ok(Some(Some(frame)));
        }
        if !core.is_at_end() {
            return Ok(None);
        }
        match core.closed() {
            None | Some(CloseReason::Done) => Ok(Some(None)),
            Some(reason) => Err(Error::Closed(reason.clone())),
        }
    }

    /// Sends no more frames, and waits until the other end has all and has sent its last. Frames
    /// that come by then are not read; a switch sends them to other members.
    ///
    /// # Errors
    /// When the connection ends otherwise: frames may be lost.
    pub async fn close(self) -> Result<(), Error> {
        self.with(Core::leave)?;
        self.until(|| match self.look(|core| core.closed().cloned())? {
            None => {
                // Frames that nobody reads must not hold the other end back.
                while self.look(Core::is_readable)? {
                    self.with(Core::read)?;
                }
                Ok(None)
            }
            Some(CloseReason::Done) => Ok(Some(())),
            Some(reason) => Err(Error::Closed(reason)),
        })
        .await
    }

    /// Sends no more frames; those of the other end can still be received.
    ///
    /// # Errors
    /// When the endpoint has ended.
    pub fn finish(&self) -> Result<(), Error> {
        self.with(Core::finish)
    }

    /// Ends the connection at once: frames under way are lost.
    ///
    /// # Errors
    /// When the endpoint has ended.
    pub fn reset(&self, code: u64, text: &str) -> Result<(), Error> {
        self.with(|core| core.reset(code, text))
    }

    /// Frames that were sent and of which the other end has not acknowledged all, in order. After
    /// the end of the connection, the other end may nevertheless have some of them.
    ///
    /// # Errors
    /// When the endpoint has ended.
    pub fn unacknowledged(&self) -> Result<Vec<Frame>, Error> {
        self.look(Core::unacknowledged)
    }

    /// How many of the [unacknowledged](Connection::unacknowledged) frames, the last ones, were
    /// never sent: the other end has no byte of them.
    ///
    /// # Errors
    /// When the endpoint has ended.
    pub fn unsent(&self) -> Result<usize, Error> {
        self.look(Core::unsent)
    }

    /// Counters and state.
    ///
    /// # Errors
    /// When the endpoint has ended.
    pub fn metrics(&self) -> Result<Metrics, Error> {
        self.look(Core::metrics)
    }

    /// Address of the other end.
    ///
    /// # Errors
    /// When the endpoint has ended.
    pub fn peer(&self) -> Result<SocketAddr, Error> {
        self.look(Core::peer)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        lock(&self.shared.waiting).remove(&self.id);
        self.shared.hub().let_go(self.id);
        self.shared.wake.notify_one();
    }
}
