//! A connection of a switch, and the one with the server for it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use bytes::BytesMut;
use ratewire_acp::{Connection, Frame};
use ratewire_daemon::log::reason;
use ratewire_framing::Answers;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tracing::warn;

use super::MemberConfig;
use super::sending::Answering;
use crate::frame::{Answer, RequestFrame};
use crate::stream::{Stream, connect};

/// Requests that the server has not answered.
const MOST: usize = 1024;
/// Bytes to read and to write at a time.
const BATCH: usize = 64 << 10;
/// Time between attempts to connect with the server.
const RETRY: Duration = Duration::from_millis(50);

/// What has ended a connection with the server.
enum Ended {
    /// The switch: there is nothing more to do.
    Switch,
    /// The server, and why.
    Server(String),
}

/// Requests that the server has not answered.
struct Asked {
    answers: Answers,
    /// Numbers of their frames.
    ids: VecDeque<u64>,
    /// Requests that it has answered.
    answered: u64,
    /// Numbers of requests whose answers have not left.
    leaving: Vec<u64>,
}

/// Serves a connection of a switch until it ends.
pub(super) async fn serve(config: &MemberConfig, connection: Connection) {
    // A request that has found the server gone.
    let mut left = None;
    let mut is_down = false;
    loop {
        let opened = open(config, is_down).await;
        let (ids, why) = match opened {
            Ok(stream) => {
                let answers = Answers::new(config.framing, config.longest, MOST);
                let asked = RefCell::new(Asked {
                    answers,
                    ids: VecDeque::new(),
                    answered: 0,
                    leaving: Vec::new(),
                });
                let why = match pass(&connection, stream, &asked, &mut left).await {
                    Ended::Switch => break,
                    Ended::Server(why) => why,
                };
                let asked = asked.into_inner();
                // A server that accepts and closes at once is as good as none.
                is_down = asked.answered == 0;
                let ids: Vec<u64> = asked.leaving.into_iter().chain(asked.ids).collect();
                (ids, why)
            }
            Err(error) => {
                is_down = true;
                let first = left.take().map(|frame| frame.id);
                match waiting(&connection).await {
                    Some(others) => (first.into_iter().chain(others).collect(), reason(&error)),
                    None => break,
                }
            }
        };
        if !ids.is_empty() {
            warn!(target: "ratewire_gateway", reason = why, failed = ids.len(), "the server is gone");
        }
        let mut failed = Answering::new(&connection);
        for id in ids {
            let why = format!("the server is gone: {why}");
            if failed.add(id, Answer::Failed(why.into())).await.is_err() {
                return;
            }
        }
        if failed.flush().await.is_err() {
            return;
        }
        if is_down {
            tokio::time::sleep(RETRY).await;
        }
    }
    _ = connection.close().await;
}

/// Numbers of the frames that have come; `None` if the switch has ended the connection.
async fn waiting(connection: &Connection) -> Option<Vec<u64>> {
    let mut ids = Vec::new();
    loop {
        tokio::select! {
            biased;
            next = connection.receive() => match next {
                Ok(Some(frame)) => ids.push(frame.id),
                Ok(None) | Err(_) => return None,
            },
            () = std::future::ready(()) => return Some(ids),
        }
    }
}

/// Connects with the server, for as long as it may take; a server that is down is asked once.
async fn open(config: &MemberConfig, is_down: bool) -> io::Result<Stream> {
    let mut last = io::Error::from(io::ErrorKind::TimedOut);
    let attempts = async {
        loop {
            match connect(&config.server).await {
                Err(error) if !is_down => last = error,
                tried => return tried,
            }
            tokio::time::sleep(RETRY).await;
        }
    };
    let tried = tokio::time::timeout(config.patience, attempts).await;
    tried.unwrap_or(Err(last))
}

/// Passes requests and answers on until one of the ends is gone.
async fn pass(
    connection: &Connection,
    stream: Stream,
    asked: &RefCell<Asked>,
    left: &mut Option<Frame>,
) -> Ended {
    let (read, write) = tokio::io::split(stream);
    let room = Notify::new();
    tokio::select! {
        ended = requests(connection, write, asked, &room, left) => ended,
        ended = answers(connection, read, asked, &room) => ended,
    }
}

async fn requests(
    connection: &Connection,
    mut write: WriteHalf<Stream>,
    asked: &RefCell<Asked>,
    room: &Notify,
    left: &mut Option<Frame>,
) -> Ended {
    let mut out = BytesMut::new();
    loop {
        // What can be had without waiting is written at once.
        let next = match left.take() {
            Some(frame) => Some(Ok(Some(frame))),
            None => tokio::select! {
                biased;
                next = connection.receive() => Some(next),
                () = std::future::ready(()), if !out.is_empty() => None,
            },
        };
        let next = match next {
            Some(next) => next,
            None => {
                if let Err(error) = write.write_all(&out.split()).await {
                    return Ended::Server(reason(&error));
                }
                continue;
            }
        };
        let Ok(Some(frame)) = next else {
            if let Err(error) = write.write_all(&out.split()).await {
                return Ended::Server(reason(&error));
            }
            // Answers to what was asked still go back.
            let is_busy = || {
                let asked = asked.borrow();
                !asked.ids.is_empty() || !asked.leaving.is_empty()
            };
            while is_busy() {
                room.notified().await;
            }
            return Ended::Switch;
        };
        let Some(request) = RequestFrame::decode(&frame.data) else {
            let mut failed = Answering::new(connection);
            let why = "the frame is not one of a gateway";
            let added = failed.add(frame.id, Answer::Failed(why.into())).await;
            if added.is_err() || failed.flush().await.is_err() {
                return Ended::Switch;
            }
            continue;
        };
        let noted = {
            let mut asked = asked.borrow_mut();
            let probe = asked.answers.expect(request.expect);
            if probe.is_some() {
                asked.ids.push_back(frame.id);
            }
            probe
        };
        let Some(probe) = noted else {
            *left = Some(frame);
            if let Err(error) = write.write_all(&out.split()).await {
                return Ended::Server(reason(&error));
            }
            room.notified().await;
            continue;
        };
        out.extend_from_slice(&request.bytes);
        out.extend_from_slice(probe);
        if out.len() >= BATCH
            && let Err(error) = write.write_all(&out.split()).await
        {
            return Ended::Server(reason(&error));
        }
    }
}

async fn answers(
    connection: &Connection,
    mut read: ReadHalf<Stream>,
    asked: &RefCell<Asked>,
    room: &Notify,
) -> Ended {
    let mut buffer = BytesMut::new();
    let mut is_over = false;
    let mut answering = Answering::new(connection);
    loop {
        let ended = loop {
            let next = {
                let mut asked = asked.borrow_mut();
                let next = match is_over {
                    true => asked.answers.end(&mut buffer),
                    false => asked.answers.next(&mut buffer),
                };
                let next = next.map(|answer| answer.map(|answer| (asked.ids.pop_front(), answer)));
                asked.answered += u64::from(matches!(next, Ok(Some(_))));
                next
            };
            let (id, answer) = match next {
                Ok(Some(next)) => next,
                Ok(None) if is_over => break Some("it has ended the connection".to_string()),
                Ok(None) => break None,
                Err(violation) => break Some(violation.to_string()),
            };
            let Some(id) = id else { continue };
            asked.borrow_mut().leaving.push(id);
            let (bytes, closes) = (answer.bytes, answer.closes);
            if answering.add(id, Answer::Bytes { bytes, closes }).await.is_err() {
                return Ended::Switch;
            }
            room.notify_one();
            if closes {
                break Some("it has ended the connection after an answer".to_string());
            }
        };
        if answering.flush().await.is_err() {
            return Ended::Switch;
        }
        asked.borrow_mut().leaving.clear();
        room.notify_one();
        if let Some(why) = ended {
            return Ended::Server(why);
        }
        buffer.reserve(BATCH);
        match read.read_buf(&mut buffer).await {
            Ok(0) => is_over = true,
            Ok(_) => {}
            Err(error) => return Ended::Server(reason(&error)),
        }
    }
}
