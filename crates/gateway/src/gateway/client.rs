//! A client of a gateway.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use ratewire_framing::{Expect, Framing, Reorder, Request, Requests, Route};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::Notify;

use super::GatewayConfig;
use super::uplink::Uplink;
use crate::frame::{AnswerFrame, RequestFrame};
use crate::stream::Stream;

/// Requests of a client that wait for answers, and bytes of answers that wait for those before
/// them.
const MOST: usize = 1024;
const MOST_HELD: usize = 4 << 20;
/// Bytes to read at a time.
const READ: usize = 64 << 10;

/// What is known of a client.
pub(super) struct Client {
    framing: Framing,
    reorder: RefCell<Reorder>,
    /// The place after which the connection closes.
    closes_after: Cell<Option<u64>>,
    /// Number of answers that have left the order.
    left: Cell<u64>,
    /// Woken when answers may leave, and when there may be room for requests.
    answered: Notify,
    room: Notify,
}

impl Client {
    /// Puts an answer in its place.
    pub(super) fn answer(&self, place: u64, expect: Expect, answer: AnswerFrame) {
        let (bytes, closes) = match answer {
            AnswerFrame::Answer { bytes, closes } => (bytes, closes),
            AnswerFrame::Failed(why) => {
                match self.framing.failure(expect, &String::from_utf8_lossy(&why)) {
                    Some(bytes) => (bytes, false),
                    None => (Bytes::new(), true),
                }
            }
        };
        self.fill(place, bytes, closes);
    }

    fn fill(&self, place: u64, bytes: Bytes, closes: bool) {
        if closes {
            self.close_after(place);
        }
        // An answer to a request that has one already is a member's error, and is dropped.
        _ = self.reorder.borrow_mut().fill(place, bytes);
        self.answered.notify_one();
    }

    fn close_after(&self, place: u64) {
        let first = self.closes_after.get().map_or(place, |known| known.min(place));
        self.closes_after.set(Some(first));
        self.answered.notify_one();
    }

    /// Answers that may be written now, and whether the connection closes after them.
    fn take(&self, out: &mut Vec<Bytes>) -> bool {
        let mut reorder = self.reorder.borrow_mut();
        while self.closes_after.get().is_none_or(|last| self.left.get() <= last)
            && let Some(answer) = reorder.pop()
        {
            self.left.set(self.left.get() + 1);
            out.push(answer);
        }
        self.closes_after.get().is_some_and(|last| self.left.get() > last)
    }
}

/// Serves a client until its connection ends.
pub(super) async fn serve(config: &GatewayConfig, uplink: Rc<Uplink>, stream: Stream) {
    let (read, write) = tokio::io::split(stream);
    let client = Rc::new(Client {
        framing: config.framing,
        reorder: RefCell::new(Reorder::new(MOST, MOST_HELD)),
        closes_after: Cell::new(None),
        left: Cell::new(0),
        answered: Notify::new(),
        room: Notify::new(),
    });
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
    let mut requests = Requests::new(config.framing, config.longest);
    let mut buffer = BytesMut::new();
    loop {
        loop {
            while client.reorder.borrow().is_full() {
                client.room.notified().await;
            }
            match requests.next(&mut buffer) {
                Ok(None) => break,
                Ok(Some(request)) => {
                    let closes = request.closes;
                    let Some(place) = pass_on(uplink, client, request).await else { continue };
                    if closes {
                        client.close_after(place);
                    }
                }
                Err(violation) => {
                    if let Some(place) = client.reorder.borrow_mut().reserve() {
                        client.fill(place, violation.answer, true);
                    }
                    return std::future::pending().await;
                }
            }
        }
        buffer.reserve(READ);
        if read.read_buf(&mut buffer).await? == 0 {
            let waiting = client.reorder.borrow().waiting() as u64;
            match (client.left.get() + waiting).checked_sub(1) {
                Some(last) if waiting > 0 => client.close_after(last),
                _ => return Ok(()),
            }
            return std::future::pending().await;
        }
    }
}

async fn pass_on(uplink: &Rc<Uplink>, client: &Rc<Client>, request: Request) -> Option<u64> {
    let place = client.reorder.borrow_mut().reserve()?;
    match request.route {
        Route::Local(bytes) => client.fill(place, bytes, false),
        Route::Server { key, expect } => {
            // Without a key, any member will do.
            let key = key.unwrap_or_else(|| uplink.any_key());
            let frame = RequestFrame { key, expect, bytes: request.bytes };
            uplink.ask(client, place, frame).await;
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
