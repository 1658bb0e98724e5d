//! The connection of a client.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use bytes::BytesMut;
use ratewire_framing::{Framing, Request, Requests, Route};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout_at};

use super::client::{Client, Place};
use super::ensemble::Ensemble;
use super::memory::Memory;
use crate::stream::Stream;

/// Bytes to read at a time, and bytes of a request that is not whole from which on they wait for
/// memory that is free.
const READ: usize = 64 << 10;
/// Bytes to read of a client that has sent nothing: most that are connected are idle, and requests
/// are short.
const FIRST: usize = 2 << 10;
/// Bytes of memory for answers that a client keeps when it has them all.
const KEPT: usize = 4 << 10;

/// What clients may do.
pub(super) struct Rules {
    pub(super) framing: Framing,
    /// Longest request in bytes.
    pub(super) longest: usize,
    /// Time from the first byte of a request to its last.
    pub(super) patience: Duration,
}

/// Serves a client until its connection ends.
pub(super) async fn serve(
    rules: &Rules,
    ensemble: &Rc<Ensemble>,
    memory: &Rc<Memory>,
    client: Rc<Client>,
    stream: Stream,
) {
    let (read, write) = tokio::io::split(stream);
    // A client that goes away needs no answers; one that only sends no more does.
    tokio::select! {
        _ = write_all(&client, ensemble, write) => {}
        _ = read_all(rules, ensemble, memory, &client, read) => {}
        () = client.ended.notified() => {}
    }
    client.leave();
    if client.waits() {
        ensemble.forget(&client);
    }
}

/// Bytes of a request that is not whole, which are held for a client.
struct Part<'a> {
    memory: &'a Memory,
    bytes: usize,
}

impl Part<'_> {
    fn set(&mut self, bytes: usize) {
        self.memory.give(self.bytes);
        self.bytes = bytes;
        self.memory.take(bytes);
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.memory.give(self.bytes);
    }
}

/// Reads requests, and waits for the end of the connection after the last.
async fn read_all(
    rules: &Rules,
    ensemble: &Rc<Ensemble>,
    memory: &Memory,
    client: &Rc<Client>,
    mut read: ReadHalf<Stream>,
) -> io::Result<()> {
    let mut requests = Requests::new(rules.framing, rules.longest);
    let mut buffer = BytesMut::new();
    let mut part = Part { memory, bytes: 0 };
    let mut begun = None;
    loop {
        loop {
            while client.is_full() {
                client.room.notified().await;
            }
            match requests.next(&mut buffer) {
                Ok(None) => break,
                Ok(Some(request)) => {
                    begun = None;
                    let closes = request.closes;
                    let Some(place) = pass_on(ensemble, client, request) else { continue };
                    if closes {
                        // What comes after it is not read.
                        client.close_after(place);
                        return std::future::pending().await;
                    }
                }
                Err(violation) => {
                    if let Some(place) = client.reserve() {
                        client.answer(place, violation.answer);
                        client.close_after(place);
                    }
                    return std::future::pending().await;
                }
            }
        }
        part.set(buffer.len());
        if client.asks() {
            memory.wait_for_half().await;
        }
        let count = if buffer.is_empty() {
            let mut first = [0; FIRST];
            buffer = BytesMut::new();
            let count = read.read(&mut first).await?;
            buffer.extend_from_slice(&first[..count]);
            count
        } else {
            let until = *begun.get_or_insert_with(|| Instant::now() + rules.patience);
            let more = async {
                if buffer.len() >= READ {
                    memory.wait_for_half().await;
                }
                buffer.reserve(READ);
                read.read_buf(&mut buffer).await
            };
            // Who takes so long holds memory that others need.
            let Ok(count) = timeout_at(until, more).await else { return Ok(()) };
            count?
        };
        if count == 0 {
            // Answers may be on their way to a client that only sends no more.
            let Some(last) = client.last() else { return Ok(()) };
            client.close_after(last);
            return std::future::pending().await;
        }
    }
}

fn pass_on(ensemble: &Rc<Ensemble>, client: &Rc<Client>, request: Request) -> Option<u64> {
    let place = client.reserve()?;
    match request.route {
        Route::Local(bytes) => client.answer(place, bytes),
        Route::Server { key, expect } => {
            ensemble.ask(client, Place::whole(place), (key, expect), request.bytes);
        }
    }
    Some(place)
}

/// Writes answers in the order of the requests.
async fn write_all(
    client: &Client,
    ensemble: &Ensemble,
    mut write: WriteHalf<Stream>,
) -> io::Result<()> {
    let mut answers = Vec::new();
    let mut out = BytesMut::new();
    loop {
        let closes = client.take(&mut answers);
        if answers.is_empty() && !closes {
            if out.capacity() > KEPT {
                out = BytesMut::new();
            }
            client.answered.notified().await;
            continue;
        }
        out.clear();
        answers.drain(..).for_each(|answer| out.extend_from_slice(&answer));
        client.room.notify_one();
        write.write_all(&out).await?;
        if client.resumes() {
            ensemble.resume(client);
        }
        if closes {
            return write.shutdown().await;
        }
    }
}
