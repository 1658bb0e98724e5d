//! Requests to the server and answers from it, until one of the ends is gone.

use std::cell::RefCell;
use std::collections::VecDeque;

use bytes::BytesMut;
use ratewire_acp::Error;
use ratewire_daemon::log::reason;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::Notify;

use super::asked::{Asked, Asking, take_back};
use super::source::Source;
use crate::frame::{Message, Reply};
use crate::member::counts::Cause;
use crate::member::link::Link;
use crate::stream::Stream;

/// Bytes to read and to write at a time.
const BATCH: usize = 64 << 10;
/// Requests that wait until the server has answered others. Messages about requests are behind
/// them, so more are not left in the connection of the switch at once.
const MOST_WAITING: usize = 1024;

/// What has ended a connection with the server.
pub(super) enum Ended {
    /// The switch: there is nothing more to do.
    Switch,
    /// The server, and why.
    Server(String),
    /// The server, with an answer that says so: it has not looked at the requests behind.
    Closed,
}

/// Passes requests and answers on until one of the ends is gone.
pub(super) async fn pass(
    source: &Source,
    stream: Stream,
    asked: &RefCell<Asked>,
    waiting: &mut VecDeque<Asking>,
) -> Ended {
    let (read, write) = tokio::io::split(stream);
    let room = Notify::new();
    tokio::select! {
        ended = requests(source, write, asked, &room, waiting) => ended,
        ended = answers(source.link(), read, asked, &room) => ended,
    }
}

/// What is to be done next with requests.
enum Next {
    Message(Result<Option<(u64, Message)>, Error>),
    Write,
    Room,
}

/// Writes requests. Only the switch ends this: what a server that takes no more has said is read.
async fn requests(
    source: &Source,
    mut write: WriteHalf<Stream>,
    asked: &RefCell<Asked>,
    room: &Notify,
    waiting: &mut VecDeque<Asking>,
) -> Ended {
    let mut out = asked.borrow_mut().begin(source.opening());
    let mut is_last = false;
    loop {
        while out.len() < BATCH && asked.borrow_mut().take_from(waiting, &mut out) {}
        let is_idle = waiting.is_empty() && out.is_empty();
        if is_last && is_idle && asked.borrow().is_empty() {
            return Ended::Switch;
        }
        let may_receive = !is_last && out.len() < BATCH && waiting.len() < MOST_WAITING;
        // What can be had without waiting is written at once.
        let next = tokio::select! {
            biased;
            message = source.receive(), if may_receive => Next::Message(message),
            () = std::future::ready(()), if !out.is_empty() => Next::Write,
            () = room.notified() => Next::Room,
        };
        match next {
            Next::Message(Ok(Some((exchange, message)))) => match message {
                Message::Request(request) => {
                    waiting.push_back(Asking { exchange, request, is_cancelled: false });
                }
                Message::Cancel { exchange } => match take_back(waiting, exchange) {
                    true => source.link().reply_at_once(exchange, Reply::cancelled()),
                    false => asked.borrow_mut().cancel(exchange),
                },
                Message::Begin(_) => {
                    let why = "requests of this framing are not sent in pieces";
                    source.link().fail_at_once(exchange, Cause::Gateway, why);
                }
                Message::More { .. } | Message::Credit { .. } | Message::Hello { .. } => {}
            },
            Next::Message(Ok(None)) => is_last = true,
            // There is nobody to answer any more.
            Next::Message(Err(_)) => return Ended::Switch,
            Next::Write => {
                if write.write_all(&out).await.is_err() {
                    return std::future::pending().await;
                }
                out.clear();
            }
            Next::Room => {}
        }
    }
}

/// Reads answers until the server is gone.
async fn answers(
    link: &Link,
    mut read: ReadHalf<Stream>,
    asked: &RefCell<Asked>,
    room: &Notify,
) -> Ended {
    let mut buffer = BytesMut::new();
    // Why there are no more bytes.
    let mut end = None;
    loop {
        let next = asked.borrow_mut().next(&mut buffer, end.is_some());
        match next {
            Ok(Some((exchange, answer))) => {
                let closes = answer.closes;
                if let Some(exchange) = exchange {
                    link.reply(exchange, reply(answer)).await;
                }
                room.notify_one();
                if closes {
                    return Ended::Closed;
                }
                continue;
            }
            Ok(None) => {}
            Err(violation) => return Ended::Server(end.unwrap_or(violation.to_string())),
        }
        if let Some(why) = end {
            return Ended::Server(why);
        }
        buffer.reserve(BATCH);
        match read.read_buf(&mut buffer).await {
            Ok(0) => end = Some("it has ended the connection".to_string()),
            Ok(_) => {}
            Err(error) => end = Some(reason(&error)),
        }
    }
}

fn reply(answer: ratewire_framing::Answer) -> Reply {
    match answer.has_more {
        true => Reply::More(answer.bytes),
        false => Reply::Answer { bytes: answer.bytes, closes: answer.closes },
    }
}
