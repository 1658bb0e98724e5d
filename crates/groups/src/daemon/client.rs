//! A client's connection.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use bytes::BytesMut;
use ratewire_daemon::log::reason;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

use super::core::{Session, Shared};
use super::socket::{ReadHalf, WriteHalf};
use super::writing::write_all;
use crate::spread::{
    Acceptance, ClientName, Hello, Refusal, Request, Version, offer, parse_choice,
};

/// Bytes to read at a time.
const READ: usize = 64 << 10;
/// Time for a client that is cut off to read its last messages.
const FAREWELL: Duration = Duration::from_secs(5);
/// Time in which a connection that cannot be written ends for reading, too, if it ends.
const END: Duration = Duration::from_secs(1);

/// Serves a client until its connection ends.
pub(super) async fn serve<R, W>(shared: Rc<Shared>, from: String, mut read: R, mut write: W)
where
    R: ReadHalf,
    W: WriteHalf,
{
    let mut buffer = BytesMut::new();
    let limit = shared.config().limits.handshake_timeout.to_std();
    let greeted = greet(&shared, &from, &mut read, &mut write, &mut buffer);
    let session = match tokio::time::timeout(limit, greeted).await {
        Ok(Ok(session)) => session,
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            return shared.record.refused(&from, &reason(&error));
        }
        Ok(Err(_)) => return,
        Err(_) => {
            let reason = "the client has not introduced itself in time";
            return shared.record.refused(&from, reason);
        }
    };
    let end = {
        let reading = read_all(&shared, &session, &mut read, &mut buffer);
        let writing = write_all(&shared, &session, write);
        tokio::pin!(reading, writing);
        tokio::select! {
            end = &mut reading => end,
            written = &mut writing => match written {
                Ok(()) => Ok(End::Done),
                // A client that has ended may have sent messages before. One that only takes no
                // more is gone.
                Err(_) => {
                    session.close([]);
                    shared.written(&session);
                    tokio::time::timeout(END, reading).await.unwrap_or(Ok(End::Done))
                }
            },
            () = session.cut.notified() => {
                tokio::time::timeout(FAREWELL, writing).await.ok();
                Ok(End::Done)
            }
        }
    };
    if let Ok(End::Blocked) = end {
        finish(&shared, &session, read, buffer).await;
    }
    shared.disconnect(&session);
}

/// How the requests of a client have ended.
enum End {
    /// All are done.
    Done,
    /// The connection has ended, and a message waits.
    Blocked,
}

/// Does the daemon's part of the handshake.
async fn greet<R, W>(
    shared: &Shared,
    from: &str,
    read: &mut R,
    write: &mut W,
    buffer: &mut BytesMut,
) -> io::Result<Rc<Session>>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let hello = refusing(write, next(read, buffer, Hello::parse).await?).await?;
    let name = hello.name.as_ref().map(ClientName::as_str);
    if hello.version.authenticates() {
        // As Spread's daemon, which refuses a name before it offers anything.
        refusing(write, shared.admit(name)).await?;
        write.write_all(offer()).await?;
        refusing(write, next(read, buffer, parse_choice).await?).await?;
    }
    let session = shared.connect(name, from, hello.membership);
    let session = refusing(write, session).await?;
    let acceptance = Acceptance { version: Version::NEWEST, name: session.name };
    match write.write_all(&acceptance.encode(hello.version)).await {
        Ok(()) => Ok(session),
        Err(error) => {
            shared.disconnect(&session);
            Err(error)
        }
    }
}

/// Tells a client that it is refused, if it is.
async fn refusing<T, W>(write: &mut W, result: Result<T, Refusal>) -> io::Result<T>
where
    W: AsyncWrite + Unpin,
{
    match result {
        Ok(value) => Ok(value),
        Err(refusal) => {
            write.write_all(&refusal.encode()).await?;
            write.shutdown().await?;
            Err(io::Error::new(io::ErrorKind::ConnectionRefused, refusal))
        }
    }
}

/// Reads until a message is complete.
async fn next<T, E, R>(
    read: &mut R,
    buffer: &mut BytesMut,
    parse: impl Fn(&mut BytesMut) -> Result<Option<T>, E>,
) -> io::Result<Result<T, E>>
where
    R: AsyncRead + Unpin,
{
    loop {
        match parse(buffer) {
            Ok(None) => {}
            Ok(Some(value)) => return Ok(Ok(value)),
            Err(error) => return Ok(Err(error)),
        }
        if read.read_buf(buffer).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Reads what the client asks. While a message cannot be paid for, nothing more is read.
async fn read_all<R>(
    shared: &Shared,
    session: &Session,
    read: &mut R,
    buffer: &mut BytesMut,
) -> io::Result<End>
where
    R: ReadHalf,
{
    loop {
        loop {
            match Request::parse(buffer, &session.name) {
                Ok(None) => break,
                Ok(Some(Request::Disconnect)) => return Ok(End::Done),
                Err(violation) => {
                    let name = session.name.as_str();
                    shared.record.violated(name, &session.from, &violation);
                    return Ok(End::Done);
                }
                Ok(Some(request)) => {
                    let is_change = !matches!(request, Request::Multicast(_));
                    if !shared.act(session, request) {
                        shared.pass_on();
                        let since = Instant::now();
                        tokio::select! {
                            () = session.reader.notified() => {}
                            () = read.ended() => return Ok(End::Blocked),
                        }
                        let blocked = since.elapsed().as_secs_f64();
                        shared.record.count(|totals| totals.blocked_s += blocked);
                    }
                    if is_change {
                        shared.pass_on_change(session).await;
                    }
                }
            }
        }
        shared.pass_on();
        buffer.reserve(READ);
        if read.read_buf(buffer).await? == 0 {
            return Ok(End::Done);
        }
    }
}

/// Sends what a client has sent before its connection ended. A client that has said goodbye leaves
/// after its messages. Any other has failed, and others must not wait to see it go.
async fn finish<R>(shared: &Shared, session: &Rc<Session>, mut read: R, mut buffer: BytesMut)
where
    R: ReadHalf,
{
    while read.read_buf(&mut buffer).await.is_ok_and(|size| size > 0) {}
    let mut messages = Vec::new();
    let mut says_goodbye = false;
    while let Ok(Some(request)) = Request::parse(&mut buffer, &session.name) {
        match request {
            Request::Multicast(_) => messages.push(request),
            Request::Disconnect => says_goodbye = true,
            Request::Join(_) | Request::Leave(_) => {}
        }
    }
    session.close([]);
    let session = if says_goodbye { Rc::clone(session) } else { shared.outlive(session) };
    shared.written(&session);
    session.reader.notified().await;
    for message in messages {
        if !shared.act(&session, message) {
            shared.pass_on();
            session.reader.notified().await;
        }
    }
    shared.disconnect(&session);
}
