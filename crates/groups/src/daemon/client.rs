//! A client's connection.

use std::io::{self, IoSlice};
use std::rc::Rc;
use std::time::Duration;

use bytes::BytesMut;
use ratewire_daemon::log::reason;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;

use super::core::{Session, Shared};
use super::outbox::Item;
use crate::spread::{
    Acceptance, ClientName, Hello, Refusal, Request, Version, offer, parse_choice,
};

/// Bytes to read at a time.
const READ: usize = 64 << 10;
/// Messages to write at a time.
const WRITE: usize = 64;
/// Time for a client that is cut off to read its last messages.
const FAREWELL: Duration = Duration::from_secs(5);

/// Serves a client until its connection ends.
pub(super) async fn serve<R, W>(shared: Rc<Shared>, from: String, mut read: R, mut write: W)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = BytesMut::new();
    let limit = shared.config.limits.handshake_timeout.to_std();
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
    let written = write_all(&shared, &session, write);
    tokio::pin!(written);
    tokio::select! {
        _ = read_all(&shared, &session, read, buffer) => {}
        _ = &mut written => {}
        () = session.cut.notified() => {
            tokio::time::timeout(FAREWELL, written).await.ok();
        }
    }
    shared.disconnect(&session);
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
    mut read: R,
    mut buffer: BytesMut,
) -> io::Result<()>
where
    R: AsyncRead + Unpin,
{
    loop {
        loop {
            match Request::parse(&mut buffer, &session.name) {
                Ok(None) => break,
                Ok(Some(Request::Disconnect)) => return Ok(()),
                Err(violation) => {
                    let name = session.name.as_str();
                    shared.record.violated(name, &session.from, &violation);
                    return Ok(());
                }
                Ok(Some(request)) => {
                    let is_change = !matches!(request, Request::Multicast(_));
                    if !shared.act(session, request) {
                        shared.pass_on();
                        let since = Instant::now();
                        session.reader.notified().await;
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
        if read.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
    }
}

/// Writes what waits for the client.
async fn write_all<W>(shared: &Shared, session: &Session, mut write: W) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    loop {
        let items = session.outbox.borrow_mut().take(WRITE);
        if !items.is_empty() {
            write_items(&mut write, &items).await?;
            session.outbox.borrow_mut().written(&items, shared.queue_limit());
            shared.record.count(|totals| {
                totals.messages_out += items.len() as u64;
                totals.bytes_out += items.iter().map(Item::size).sum::<usize>() as u64;
            });
            shared.written(session);
        } else if session.outbox.borrow().is_closing() {
            return write.shutdown().await;
        } else {
            session.writer.notified().await;
        }
    }
}

async fn write_items<W>(write: &mut W, items: &[Item]) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    let parts = items.iter().flat_map(|item| [&item.head, &item.data]);
    let mut slices: Vec<IoSlice<'_>> =
        parts.filter(|part| !part.is_empty()).map(|part| IoSlice::new(part)).collect();
    let mut rest = &mut slices[..];
    while !rest.is_empty() {
        match write.write_vectored(rest).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => IoSlice::advance_slices(&mut rest, written),
        }
    }
    Ok(())
}
