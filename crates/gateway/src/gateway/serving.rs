//! The connection of a client.

use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::BytesMut;
use ratewire_framing::{Request, Requests, Route};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};

use super::client::{Client, Place};
use super::uplink::Uplink;
use super::{GatewayConfig, parts};
use crate::frame::RequestFrame;
use crate::stream::Stream;

/// Number of the next client of this process.
static CLIENTS: AtomicU64 = AtomicU64::new(1);
/// Bytes to read at a time.
const READ: usize = 64 << 10;

/// Serves a client until its connection ends.
pub(super) async fn serve(config: &GatewayConfig, uplink: Rc<Uplink>, stream: Stream) {
    let (read, write) = tokio::io::split(stream);
    let client = Rc::new(Client::new(config.framing));
    // A client that goes away needs no answers; one that only sends no more does.
    tokio::select! {
        _ = write_all(&client, write) => {}
        _ = read_all(config, &uplink, &client, read) => {}
    }
}

/// Reads requests, and waits for the end of the connection after the last.
async fn read_all(
    config: &GatewayConfig,
    uplink: &Rc<Uplink>,
    client: &Rc<Client>,
    mut read: ReadHalf<Stream>,
) -> io::Result<()> {
    let number = CLIENTS.fetch_add(1, Ordering::Relaxed);
    let mut requests = Requests::new(config.framing, config.longest).of_client(number);
    let mut buffer = BytesMut::new();
    loop {
        loop {
            while client.is_full() {
                client.room.notified().await;
            }
            match requests.next(&mut buffer) {
                Ok(None) => break,
                Ok(Some(request)) => {
                    let closes = request.closes;
                    let Some(place) = pass_on(uplink, client, request).await else { continue };
                    if closes {
                        // What comes after it is not read.
                        client.close_after(place);
                        return std::future::pending().await;
                    }
                }
                Err(violation) => {
                    if let Some(place) = client.reserve() {
                        client.fill(place, violation.answer, true);
                    }
                    return std::future::pending().await;
                }
            }
        }
        buffer.reserve(READ);
        if read.read_buf(&mut buffer).await? == 0 {
            let waiting = client.reorder.borrow().waiting() as u64;
            // Answers may be on their way to a client that only sends no more.
            match (client.left.get() + waiting).checked_sub(1) {
                Some(last) => client.close_after(last),
                None => return Ok(()),
            }
            return std::future::pending().await;
        }
    }
}

async fn pass_on(uplink: &Rc<Uplink>, client: &Rc<Client>, request: Request) -> Option<u64> {
    let place = client.reserve()?;
    match request.route {
        Route::Local(bytes) => client.fill(place, bytes, false),
        Route::Split(parts, gather) => parts::split(uplink, client, place, parts, gather).await,
        Route::All(expect, gather) => {
            parts::all(uplink, client, place, (expect, request.bytes), gather).await;
        }
        Route::Server { key, expect } => {
            // Without a key, any member will do.
            let key = key.unwrap_or_else(|| uplink.any_key());
            let frame = RequestFrame { key, expect, bytes: request.bytes };
            uplink.ask(client, Place::whole(place), frame).await;
        }
    }
    Some(place)
}

/// Writes answers in the order of the requests.
async fn write_all(client: &Client, mut write: WriteHalf<Stream>) -> io::Result<()> {
    let mut answers = Vec::new();
    let mut out = BytesMut::new();
    loop {
        let closes = client.take(&mut answers);
        if answers.is_empty() && !closes {
            client.answered.notified().await;
            continue;
        }
        out.clear();
        answers.drain(..).for_each(|answer| out.extend_from_slice(&answer));
        client.room.notify_one();
        write.write_all(&out).await?;
        if closes {
            return write.shutdown().await;
        }
    }
}
