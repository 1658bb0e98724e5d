//! An end of a connection for measurements: a peer or a member that writes frames without meaning
//! and reads those that come, each at the speed of its configuration.
//!
//! | file | is |
//! |---|---|
//! | `writing` | when frames are written |
//! | `reading` | when frames are read |
//! | `clock` | time since the run began |

mod clock;
mod reading;
mod writing;

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration as Span;

use ratewire_acp::{Config, Connection, Endpoint as Socket, Error, local_for};
use ratewire_timer::Timer;
pub use ratewire_transport::{Reader, Writer};
use ratewire_units::{Bytes, Duration, Time};

use clock::Clock;
pub use ratewire_switch_interface::endpoint::{Figures, RecordFile};

/// Time between two notes of the figures.
const NOTE: Span = Span::from_millis(5);

/// Which end begins the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A peer, which connects to a switch or to another end.
    Connect(SocketAddr),
    /// A member, which waits at this address.
    Listen(SocketAddr),
}

/// What an end does.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Which end begins the connection.
    pub role: Role,
    /// Settings of the transport.
    pub acp: Config,
    /// Payload of a frame.
    pub frame: Bytes,
    /// What the end writes: unlimited data, so much of it, or frames at a constant rate. `None` for
    /// nothing.
    pub writer: Option<Writer>,
    /// How it reads.
    pub reader: Reader,
    /// First bytes of the written frames, in turn; none for zeros.
    pub contents: Vec<[u8; 8]>,
    /// When a peer connects, and writing begins.
    pub start: Time,
    /// When writing ends.
    pub stop: Option<Time>,
    /// Intervals without writing, in order.
    pub idle: Vec<(Time, Time)>,
    /// The file in which the end tells its figures, and reads when time zero is.
    pub record: Option<PathBuf>,
}

/// An end of a connection for measurements.
pub struct Endpoint {
    config: EndpointConfig,
    record: Option<RecordFile>,
    /// What ended connections have counted, in this process and those before it.
    past: RefCell<Figures>,
    current: RefCell<Option<Rc<Served>>>,
    /// Whether the end has written all that it has to write.
    is_done: Cell<bool>,
}

/// A connection in use.
struct Served {
    connection: Connection,
    clock: Clock,
    frame: Bytes,
    started: Cell<Option<Time>>,
    /// When the other end's last frame was read.
    ended: Cell<Option<Time>>,
    /// Payload that was read.
    read: Cell<Bytes>,
    written: Cell<Bytes>,
    has_finished: Cell<bool>,
    acknowledged: Cell<Option<Time>>,
}

/// Why an end cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The connection.
    #[error("the connection failed")]
    Acp(#[from] Error),
    /// The timer or the record.
    #[error("the record or the timer failed")]
    Io(#[from] std::io::Error),
}

impl Endpoint {
    /// An end that has not begun.
    ///
    /// # Errors
    /// When the record cannot be opened.
    pub fn new(config: EndpointConfig) -> Result<Rc<Endpoint>, EndpointError> {
        let record = config.record.as_deref().map(RecordFile::open).transpose()?;
        let past = record.as_ref().and_then(RecordFile::figures).unwrap_or_default();
        let past = Figures { is_ready: false, ..past };
        Ok(Rc::new(Endpoint {
            config,
            record,
            past: RefCell::new(past),
            current: RefCell::new(None),
            is_done: Cell::new(false),
        }))
    }

    /// What the end has counted so far.
    pub fn figures(&self) -> Figures {
        let current = self.current.borrow();
        let past = *self.past.borrow();
        current.as_ref().map_or(past, |served| past.plus(&served.figures()))
    }

    /// Does what the configuration says: a peer until its connection is over, a member for ever.
    /// `ready` is called when the address is bound. Call it in a `LocalSet` of tokio.
    ///
    /// # Errors
    /// When an address cannot be bound, or a peer's connection fails.
    pub async fn run(self: &Rc<Self>, ready: impl FnOnce()) -> Result<(), EndpointError> {
        let acp = self.config.acp.clone();
        let socket = match self.config.role {
            Role::Listen(address) => Socket::server(address, acp)?,
            Role::Connect(to) => Socket::client(local_for(to), acp)?,
        };
        ready();
        self.past.borrow_mut().is_ready = true;
        let noting = Rc::clone(self);
        let timer = Timer::new()?;
        tokio::task::spawn_local(async move {
            loop {
                timer.wait(Some(NOTE)).await;
                noting.note();
            }
        });
        self.note();
        let clock = self.clock().await?;
        let done = match self.config.role {
            Role::Listen(_) => self.accept(&socket, clock).await,
            Role::Connect(to) => self.connect(&socket, to, clock).await,
        };
        self.note();
        done
    }

    /// The clock, once its time zero is known.
    async fn clock(&self) -> Result<Clock, EndpointError> {
        let Some(record) = &self.record else { return Ok(Clock::start()) };
        let timer = Timer::new()?;
        loop {
            if let Some(zero) = record.zero() {
                return Ok(Clock::since(zero));
            }
            timer.wait(Some(Span::from_millis(1))).await;
        }
    }

    async fn connect(
        &self,
        socket: &Socket,
        to: SocketAddr,
        clock: Clock,
    ) -> Result<(), EndpointError> {
        clock.wait_until(&Timer::new()?, self.config.start).await;
        let connection = socket.connect(to).await?;
        let served = self.begin(connection, clock);
        served.run(&self.config).await
    }

    async fn accept(self: &Rc<Self>, socket: &Socket, clock: Clock) -> Result<(), EndpointError> {
        // A switch may connect again with an end that has written all.
        let mut idle = None;
        loop {
            let connection = socket.accept().await?;
            if self.is_done.get() {
                drop(idle.replace(connection));
                continue;
            }
            let served = self.begin(connection, clock);
            let own = Rc::clone(self);
            tokio::task::spawn_local(async move {
                // A switch that gives a connection up makes another.
                let done = served.run(&own.config).await;
                own.is_done.set(done.is_ok() && own.config.writer.is_some());
            });
        }
    }

    /// Makes a connection the current one.
    fn begin(&self, connection: Connection, clock: Clock) -> Rc<Served> {
        let served = Rc::new(Served {
            connection,
            clock,
            frame: self.config.frame,
            started: Cell::new(None),
            ended: Cell::new(None),
            read: Cell::new(Bytes::ZERO),
            written: Cell::new(Bytes::ZERO),
            has_finished: Cell::new(false),
            acknowledged: Cell::new(None),
        });
        let all = self.figures();
        *self.past.borrow_mut() = all;
        *self.current.borrow_mut() = Some(Rc::clone(&served));
        served
    }

    fn note(&self) {
        if let Some(record) = &self.record {
            record.write(&self.figures());
        }
    }
}

impl Served {
    async fn run(&self, config: &EndpointConfig) -> Result<(), EndpointError> {
        let writes = async {
            if let Some(writer) = &config.writer {
                self.write(config, writer).await?;
            }
            Ok(())
        };
        let reads = async {
            self.read(config.reader).await?;
            if config.writer.is_none() {
                self.connection.finish()?;
            }
            Ok(())
        };
        let both = tokio::try_join!(writes, reads);
        both.map(|_: ((), ())| ())
    }

    fn figures(&self) -> Figures {
        let Ok(metrics) = self.connection.metrics() else {
            return Figures { received: self.read.get(), ..Figures::default() };
        };
        let of_frames = |frames: u64| Bytes::new(frames * self.frame.get());
        let is_whole = metrics.frames_acknowledged == metrics.frames_sent;
        if self.has_finished.get() && is_whole && self.acknowledged.get().is_none() {
            self.acknowledged.set(Some(self.clock.now()));
        }
        let since = |at: Option<Time>| at.map(|at| at.since(Time::ZERO));
        let (read, written) = (self.read.get(), self.written.get());
        let arrived = of_frames(metrics.frames_received);
        Figures {
            is_ready: true,
            started: since(self.started.get()),
            // The last frame may be short.
            received: if self.ended.get().is_some() { read } else { read.max(arrived) },
            ended: since(self.ended.get()),
            acknowledged: of_frames(metrics.frames_acknowledged).min(written),
            acknowledged_at: since(self.acknowledged.get()),
            without_room: metrics.packets_without_room,
            retransmitted: metrics.retransmitted,
            retransmitted_packets: metrics.packets_retransmitted,
            timeouts: metrics.timeouts,
            srtt: metrics.srtt,
            window: metrics.window,
            in_flight: metrics.in_flight,
        }
    }
}

/// Time for a frame that begins to be read now.
fn per_frame(reader: Reader, now: Time) -> Duration {
    match reader {
        Reader::Immediate | Reader::Asked => Duration::ZERO,
        Reader::Slow(per_frame) => per_frame,
        Reader::Alternating { per_frame, every } => {
            let turn = now.ps() / every.ps().max(1);
            per_frame[(turn % 2) as usize]
        }
    }
}
