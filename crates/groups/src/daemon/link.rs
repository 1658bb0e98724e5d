//! Connections with other daemons.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::BytesMut;
use ratewire_daemon::log::reason;
use ratewire_overlay::OverlayNodeId;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::core::{Link, LinkMessage, Shared, microseconds};
use super::error::DaemonError;
use super::progress::{Progress, Watched};
use super::strangers::Strangers;
use crate::certificates::{Identity, explain};
use crate::config::{Config, Protection};
use crate::wire::{Agreement, Greeting, decode, decode_message, encode, encode_message};

/// Bytes that a connection takes off the priced queue at a time, and bytes that the kernel may keep
/// unsent. These bytes have left the queue, so prices cannot overtake them.
const UNSENT: usize = 8 << 10;
/// Bytes to read at a time.
const READ: usize = 64 << 10;
/// Time between signs of life.
const ALIVE: Duration = Duration::from_secs(1);
/// Time after which a connection on which no byte passes counts as dead.
const DEAD: Duration = Duration::from_secs(5);
/// Least time between two connections that are accepted: a handshake must be over before as many
/// others have come as there are places.
const PACE: Duration = Duration::from_millis(1);
/// Time between attempts to connect.
const RETRY: Duration = Duration::from_millis(500);

/// Reason for the end of a connection that the peer has ended.
const ENDED: &str = "the other end has ended the connection";

/// Reason for the end of the oldest connection of many that are silent.
const CROWD: &str = "too many connections have not introduced themselves";

/// Time after which a daemon connects with one of a lower number that has not connected with it:
/// the other one may not know this daemon.
const SILENCE: Duration = Duration::from_secs(2);
/// Time between two such connections.
const REMINDER: Duration = Duration::from_secs(30);
/// Number of a connection by which a daemon only says that it is there.
const NO_CONNECTION: u64 = 0;

/// What this daemon needs for its links.
pub(super) struct Links {
    listener: Option<TcpListener>,
    identity: Rc<Option<Identity>>,
    tasks: JoinSet<()>,
    /// Tasks that connect, by peer.
    connecting: BTreeMap<OverlayNodeId, AbortHandle>,
}

impl Links {
    pub(super) async fn open(config: &Config, me: OverlayNodeId) -> Result<Links, DaemonError> {
        let identity = match &config.protection {
            Protection::Certificates(folder) if config.daemon(me).address.is_some() => {
                let name = &config.daemon(me).name;
                Some(Identity::load(folder, name).map_err(DaemonError::Certificates)?)
            }
            _ => None,
        };
        let listener = match config.daemon(me).address {
            // Alone, it may come to know others.
            Some(address) => {
                let listener = TcpListener::bind(address).await;
                Some(listener.map_err(|error| DaemonError::Links(address, error))?)
            }
            None => None,
        };
        let (tasks, connecting) = Default::default();
        Ok(Links { listener, identity: Rc::new(identity), tasks, connecting })
    }

    /// Accepts connections, and connects with the peers.
    pub(super) fn start(&mut self, shared: &Rc<Shared>) {
        if let Some(listener) = self.listener.take() {
            let (shared, identity) = (Rc::clone(shared), Rc::clone(&self.identity));
            self.tasks.spawn_local(async move { accept(&shared, &identity, &listener).await });
        }
        self.connect(shared);
    }

    /// Connects with peers that are new, and not any more with those that are retired. The daemon
    /// with the lower number connects, so there is one connection a link.
    pub(super) fn connect(&mut self, shared: &Rc<Shared>) {
        for peer in shared.peers() {
            let runs = self.connecting.get(&peer).is_some_and(|task| !task.is_finished());
            if is_retired(shared, peer) {
                shared.end_link(peer);
            } else if !runs {
                let (shared, identity) = (Rc::clone(shared), Rc::clone(&self.identity));
                let task = async move {
                    match peer > shared.me {
                        true => connect(&shared, &identity, peer).await,
                        false => remind(&shared, &identity, peer).await,
                    }
                };
                self.connecting.insert(peer, self.tasks.spawn_local(task));
            }
        }
    }
}

fn is_retired(shared: &Shared, peer: OverlayNodeId) -> bool {
    shared.config().daemon(peer).is_retired
}

/// Connects with a daemon again and again.
async fn connect(shared: &Rc<Shared>, identity: &Option<Identity>, peer: OverlayNodeId) {
    while !is_retired(shared, peer) {
        try_to_connect(shared, identity, peer, true).await;
        sleep(RETRY).await;
    }
}

/// Says to a daemon now and then that this one is there, while it does not connect.
async fn remind(shared: &Rc<Shared>, identity: &Option<Identity>, peer: OverlayNodeId) {
    sleep(SILENCE).await;
    while !is_retired(shared, peer) {
        if !shared.is_up(peer) {
            try_to_connect(shared, identity, peer, false).await;
        }
        sleep(REMINDER).await;
    }
}

/// Connects with a daemon, to stay or only to say that this one is there.
async fn try_to_connect(
    shared: &Rc<Shared>,
    identity: &Option<Identity>,
    peer: OverlayNodeId,
    stays: bool,
) {
    let Some(address) = shared.config().daemon(peer).address else { return };
    let ended = match timeout(DEAD, TcpStream::connect(address)).await {
        Ok(Ok(stream)) => introduce(shared, identity, peer, stays, stream).await,
        Ok(Err(error)) => Err(error),
        Err(late) => Err(late.into()),
    };
    // A link that ends is tried again; the status shows why it is down. The peer may have connected
    // meanwhile.
    if let Err(error) = ended
        && !shared.is_up(peer)
    {
        shared.record.link_failed(peer, why(&error));
    }
}

async fn introduce(
    shared: &Rc<Shared>,
    identity: &Option<Identity>,
    peer: OverlayNodeId,
    stays: bool,
    stream: TcpStream,
) -> io::Result<()> {
    let (stream, progress) = prepare(stream)?;
    let number = if stays { microseconds() } else { NO_CONNECTION };
    let peering = Peering { of: Known::As(peer), number: Some(number), is_known: Rc::default() };
    match identity {
        None => run(shared, &peering, progress, stream).await,
        Some(identity) => {
            let name = shared.config().daemon(peer).name.clone();
            let stream = within(shared, identity.connect(stream, &name)).await?;
            run(shared, &peering, progress, stream).await
        }
    }
}

async fn accept(shared: &Rc<Shared>, identity: &Rc<Option<Identity>>, listener: &TcpListener) {
    let (mut peers, mut strangers) = (JoinSet::new(), Strangers::default());
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        pace.tick().await;
        while peers.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, from)) => {
                let (shared_too, identity) = (Rc::clone(shared), Rc::clone(identity));
                let is_known = Rc::new(Cell::new(false));
                let known = Rc::clone(&is_known);
                let task = peers.spawn_local(async move {
                    answer(&shared_too, &identity, from, is_known, stream).await;
                });
                if let Some(oldest) = strangers.add(from, task, known) {
                    shared.record.stranger(&oldest.to_string(), CROWD);
                }
            }
            Err(error) => {
                shared.record.not_accepted("daemons", &error);
                sleep(RETRY).await;
            }
        }
    }
}

async fn answer(
    shared: &Rc<Shared>,
    identity: &Option<Identity>,
    from: SocketAddr,
    is_known: Rc<Cell<bool>>,
    stream: TcpStream,
) {
    let mut peer = None;
    if let Err(error) = answer_to(shared, identity, &mut peer, is_known, stream).await {
        match peer {
            Some(peer) if shared.record.link(peer).is_some() => {
                shared.record.link_failed(peer, why(&error));
            }
            _ => shared.record.stranger(&from.to_string(), &why(&error)),
        }
    }
}

/// Answers a connection; `peer` is set when a certificate tells which daemon it is.
async fn answer_to(
    shared: &Rc<Shared>,
    identity: &Option<Identity>,
    peer: &mut Option<OverlayNodeId>,
    is_known: Rc<Cell<bool>>,
    stream: TcpStream,
) -> io::Result<()> {
    let (stream, progress) = prepare(stream)?;
    match identity {
        None => {
            let peering = Peering { of: Known::AsItSays, number: None, is_known };
            run(shared, &peering, progress, stream).await
        }
        Some(identity) => {
            let config = shared.config();
            let names = config.daemons.iter().map(|daemon| daemon.name.as_str());
            let (stream, name) = within(shared, identity.accept(stream, names)).await?;
            *peer = name.and_then(|name| config.node(name));
            let of = peer.map_or(Known::AsNone, Known::As);
            let peering = Peering { of, number: None, is_known };
            run(shared, &peering, progress, stream).await
        }
    }
}

fn prepare(stream: TcpStream) -> io::Result<(Watched<TcpStream>, [Progress; 2])> {
    stream.set_nodelay(true)?;
    socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT as u32)?;
    Ok(Watched::new(stream))
}

async fn within<T>(shared: &Shared, step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(shared.config().limits.handshake_timeout.to_std(), step).await?
}

/// The two ends of a connection.
struct Peering {
    of: Known,
    /// The connection's number, if this daemon has connected.
    number: Option<u64>,
    /// Set when the other end has introduced itself.
    is_known: Rc<Cell<bool>>,
}

/// What is known of the other end before it says anything.
#[derive(Clone, Copy)]
enum Known {
    /// It is this daemon, because this one has connected with it, or by its certificate.
    As(OverlayNodeId),
    /// By its certificate it is no daemon of the configuration.
    AsNone,
    /// Without certificates, it is the daemon that it says.
    AsItSays,
}

/// Runs a connection until it ends. `progress` is that of its reading and writing.
async fn run<S>(
    shared: &Rc<Shared>,
    peering: &Peering,
    [has_read, has_written]: [Progress; 2],
    mut stream: S,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut buffer = BytesMut::new();
    let greeted = greet(shared, peering, &mut stream, &mut buffer);
    let (peer, connection) = within(shared, greeted).await?;
    peering.is_known.set(true);
    if connection == NO_CONNECTION {
        return Ok(());
    }
    let (read, write) = tokio::io::split(stream);
    let Some(link) = shared.link_up(peer, connection) else {
        return Err(invalid("the configuration has no link with this daemon"));
    };
    let ended = tokio::select! {
        ended = read_all(shared, peer, &link, &has_read, read, buffer) => ended,
        ended = write_all(shared, peer, &link, &has_written, write) => ended,
        () = link.replaced.notified() => Ok(()),
    };
    let ending = match &ended {
        Ok(()) if is_retired(shared, peer) => "the daemon is retired".to_string(),
        Ok(()) => ENDED.to_string(),
        Err(error) => why(error),
    };
    if ended.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
        shared.record.count(|totals| totals.violations += 1);
    }
    shared.link_down(peer, &link, ending);
    // The end is noted; only a connection that never was a link fails.
    Ok(())
}

/// Greets the peer. Returns which daemon it is, and the connection's number.
async fn greet<S>(
    shared: &Shared,
    peering: &Peering,
    stream: &mut S,
    buffer: &mut BytesMut,
) -> io::Result<(OverlayNodeId, u64)>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (config, mut out) = (shared.config(), BytesMut::new());
    Greeting::new(&config, shared.me, shared.incarnation).encode(&mut out).map_err(invalid)?;
    if let Some(number) = peering.number {
        encode(&number, &mut out).map_err(invalid)?;
    }
    stream.write_all(&out).await?;
    let theirs = next(stream, buffer, Greeting::decode).await?;
    let number = match peering.number {
        Some(number) => number,
        None => next(stream, buffer, decode).await?,
    };
    let peer = match peering.of {
        Known::As(peer) => theirs.check(&config, shared.me, Some(peer)),
        Known::AsItSays => theirs.check(&config, shared.me, None),
        Known::AsNone => Err(theirs.check_unknown(&config)),
    };
    if !theirs.has_configuration(&config) {
        // Also to a daemon that this one does not know, which learns of that.
        let ours = Agreement::new(&config);
        out.clear();
        ours.encode(&mut out).map_err(invalid)?;
        stream.write_all(&out).await?;
        let agreement = next(stream, buffer, Agreement::decode).await;
        if peer.is_ok() {
            ours.check(&agreement?, shared.me, &theirs.daemon).map_err(invalid)?;
        }
    }
    let peer = peer.map_err(invalid)?;
    if is_retired(shared, peer) {
        return Err(invalid(format!("daemon `{}` is retired", theirs.daemon)));
    }
    if number != NO_CONNECTION && !theirs.has_configuration(&config) {
        shared.record.differs(peer);
    }
    Ok((peer, number))
}

/// Reads until a frame is complete.
async fn next<T, S>(
    stream: &mut S,
    buffer: &mut BytesMut,
    parse: impl Fn(&mut BytesMut) -> Result<Option<T>, crate::wire::WireError>,
) -> io::Result<T>
where
    S: AsyncRead + Unpin,
{
    loop {
        if let Some(value) = parse(buffer).map_err(invalid)? {
            return Ok(value);
        }
        if stream.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Why a connection has failed, in words.
fn why(error: &io::Error) -> String {
    if let Some(why) = explain(error) {
        return why.to_string();
    }
    match error.kind() {
        io::ErrorKind::TimedOut => "the other end has not answered in time".to_string(),
        io::ErrorKind::UnexpectedEof => ENDED.to_string(),
        _ => reason(error),
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

async fn read_all<R>(
    shared: &Shared,
    peer: OverlayNodeId,
    link: &Rc<Link>,
    progress: &Progress,
    mut read: R,
    mut buffer: BytesMut,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
{
    let Some(record) = shared.record.link(peer) else { return Ok(()) };
    loop {
        let mut before = buffer.len();
        while let Some(message) = decode_message(&mut buffer).map_err(invalid)? {
            record.received(message.as_ref(), before - buffer.len());
            before = buffer.len();
            if let Some(message) = message
                && !shared.receive(peer, link, message)
            {
                return Err(invalid("the message is not one of this overlay"));
            }
        }
        shared.pass_on();
        buffer.reserve(READ);
        if progress.within(DEAD, read.read_buf(&mut buffer)).await? == 0 {
            return Ok(());
        }
    }
}

async fn write_all<W>(
    shared: &Shared,
    peer: OverlayNodeId,
    link: &Rc<Link>,
    progress: &Progress,
    mut write: W,
) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    let Some(record) = shared.record.link(peer) else { return Ok(()) };
    let mut out = BytesMut::with_capacity(2 * UNSENT);
    loop {
        out.clear();
        while out.len() < UNSENT
            && let Some(message) = shared.take(peer, link)
        {
            let before = out.len();
            encode_message(Some(&message), &mut out).map_err(invalid)?;
            record.sent(Some(&message), out.len() - before);
        }
        if out.is_empty() {
            if timeout(ALIVE, link.writer.notified()).await.is_ok() {
                continue;
            }
            encode_message(None::<&LinkMessage>, &mut out).map_err(invalid)?;
            record.sent(None::<&LinkMessage>, out.len());
        }
        let written = async {
            write.write_all(&out).await?;
            write.flush().await
        };
        progress.within(DEAD, written).await?;
    }
}
