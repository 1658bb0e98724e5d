//! A connection of a switch, and the one with the server for it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use bytes::BytesMut;
use ratewire_acp::{Connection, Frame};
use ratewire_daemon::log::reason;
use ratewire_framing::{Answers, Expect};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tracing::warn;

use super::MemberConfig;
use super::gateways::{Gateways, Visit};
use super::sending::Answering;
use crate::frame::{Message, Reply};
use crate::stream::{Stream, connect};

/// Requests that the server has not answered, and their bytes.
const MOST: usize = 1024;
const MOST_BYTES: usize = 16 << 20;
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
    /// The server, with an answer that says so: it has not looked at the requests behind.
    Closed,
}

/// Requests that the server has not answered.
struct Asked {
    answers: Answers,
    /// Their frames, and the bytes of these.
    frames: VecDeque<Frame>,
    bytes: usize,
    /// Requests that it has answered.
    answered: u64,
    /// Numbers of requests whose answers have not left.
    leaving: Vec<u64>,
}

impl Asked {
    fn new(config: &MemberConfig, most: usize) -> Asked {
        Asked {
            answers: Answers::new(config.framing, config.longest, most),
            frames: VecDeque::new(),
            bytes: 0,
            answered: 0,
            leaving: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.leaving.is_empty()
    }

    /// Notes a request that is about to be written; returns what to write behind it, or the frame
    /// if the request has to wait.
    fn note(&mut self, frame: Frame, expect: Expect) -> Result<&'static [u8], Frame> {
        let has_room = self.frames.is_empty() || self.bytes + frame.data.len() <= MOST_BYTES;
        let Some(probe) = has_room.then(|| self.answers.expect(expect)).flatten() else {
            return Err(frame);
        };
        self.bytes += frame.data.len();
        self.frames.push_back(frame);
        Ok(probe)
    }

    /// Takes the request that has been answered.
    fn take(&mut self) -> Option<Frame> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.data.len();
        self.answered += 1;
        Some(frame)
    }
}

/// Serves a connection of a switch until it ends.
pub(super) async fn serve(
    config: &MemberConfig,
    gateways: &RefCell<Gateways>,
    connection: Connection,
) {
    let visit = Cell::new(None);
    // Requests that have found the server gone.
    let mut left = VecDeque::new();
    let (mut is_down, mut most) = (false, MOST);
    loop {
        let opened = open(config, is_down).await;
        let (ids, why) = match opened {
            Ok(stream) => {
                let asked = RefCell::new(Asked::new(config, most));
                let ended = pass(&connection, stream, &asked, &mut left, (gateways, &visit)).await;
                let asked = asked.into_inner();
                // A server that accepts and closes at once is as good as none.
                is_down = asked.answered == 0;
                // One that closes after each answer gets one request at a time.
                most = if matches!(ended, Ended::Closed) && asked.answered == 1 { 1 } else { MOST };
                let why = match ended {
                    Ended::Switch => break,
                    Ended::Closed => {
                        asked.frames.into_iter().rev().for_each(|frame| left.push_front(frame));
                        continue;
                    }
                    Ended::Server(why) => why,
                };
                let unanswered = asked.frames.iter().map(|frame| frame.id);
                (asked.leaving.iter().copied().chain(unanswered).collect::<Vec<_>>(), why)
            }
            Err(error) => {
                is_down = true;
                let first = left.drain(..).map(|frame| frame.id).collect::<Vec<_>>();
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
            if failed.add(id, Reply::Failed(why.into())).await.is_err() {
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
    left: &mut VecDeque<Frame>,
    known: (&RefCell<Gateways>, &Cell<Option<Visit>>),
) -> Ended {
    let (read, write) = tokio::io::split(stream);
    let room = Notify::new();
    tokio::select! {
        ended = requests(connection, write, asked, &room, left, known) => ended,
        ended = answers(connection, read, asked, &room) => ended,
    }
}

async fn requests(
    connection: &Connection,
    mut write: WriteHalf<Stream>,
    asked: &RefCell<Asked>,
    room: &Notify,
    left: &mut VecDeque<Frame>,
    (gateways, visit): (&RefCell<Gateways>, &Cell<Option<Visit>>),
) -> Ended {
    let mut out = BytesMut::new();
    loop {
        // What can be had without waiting is written at once.
        let next = match left.pop_front() {
            Some(frame) => Some((Ok(Some(frame)), true)),
            None => tokio::select! {
                biased;
                next = connection.receive() => Some((next, false)),
                () = std::future::ready(()), if !out.is_empty() => None,
            },
        };
        let (next, is_known) = match next {
            Some(next) => next,
            None => {
                if let Err(error) = write.write_all(&out.split()).await {
                    return Ended::Server(reason(&error));
                }
                continue;
            }
        };
        let frame = match next {
            Ok(Some(frame)) => frame,
            Ok(None) => {
                if let Err(error) = write.write_all(&out.split()).await {
                    return Ended::Server(reason(&error));
                }
                // Answers to what was asked still go back.
                while !asked.borrow().is_empty() {
                    room.notified().await;
                }
                return Ended::Switch;
            }
            // There is nobody to answer any more.
            Err(_) => return Ended::Switch,
        };
        match Message::decode(frame.data.clone()) {
            Some(Message::Hello { gateway }) => {
                let told = gateways.borrow_mut().hello(gateway);
                visit.set(Some(told));
                let process = gateways.borrow().process();
                let mut welcome = Answering::new(connection);
                let reply = Reply::Welcome { process, received: told.received };
                if welcome.add(frame.id, reply).await.is_err() || welcome.flush().await.is_err() {
                    return Ended::Switch;
                }
                continue;
            }
            Some(Message::Cancel { .. } | Message::Credit { .. }) => continue,
            _ => {}
        }
        if !is_known && visit.get().is_some_and(|v| !gateways.borrow_mut().take(v, frame.id)) {
            continue;
        }
        let Some(Message::Request(request)) = Message::decode(frame.data.clone()) else {
            let mut failed = Answering::new(connection);
            let why = "the frame is not one of a gateway";
            let added = failed.add(frame.id, Reply::Failed(why.into())).await;
            if added.is_err() || failed.flush().await.is_err() {
                return Ended::Switch;
            }
            continue;
        };
        let noted = asked.borrow_mut().note(frame, request.expect);
        let probe = match noted {
            Ok(probe) => probe,
            Err(frame) => {
                left.push_front(frame);
                if let Err(error) = write.write_all(&out.split()).await {
                    return Ended::Server(reason(&error));
                }
                room.notified().await;
                continue;
            }
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
                next.map(|answer| answer.map(|answer| (asked.take(), answer)))
            };
            let (frame, answer) = match next {
                Ok(Some(next)) => next,
                Ok(None) if is_over => {
                    break Some(Ended::Server("it has ended the connection".to_string()));
                }
                Ok(None) => break None,
                Err(violation) => break Some(Ended::Server(violation.to_string())),
            };
            let Some(id) = frame.map(|frame| frame.id) else { continue };
            asked.borrow_mut().leaving.push(id);
            let (bytes, closes) = (answer.bytes, answer.closes);
            if answering.add(id, Reply::Answer { bytes, closes }).await.is_err() {
                return Ended::Switch;
            }
            room.notify_one();
            if closes {
                break Some(Ended::Closed);
            }
        };
        if answering.flush().await.is_err() {
            return Ended::Switch;
        }
        asked.borrow_mut().leaving.clear();
        room.notify_one();
        if let Some(ended) = ended {
            return ended;
        }
        buffer.reserve(BATCH);
        match read.read_buf(&mut buffer).await {
            Ok(0) => is_over = true,
            Ok(_) => {}
            Err(error) => return Ended::Server(reason(&error)),
        }
    }
}
