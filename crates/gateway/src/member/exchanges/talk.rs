//! A request to the server and its answer.

use std::cell::Cell;

use bytes::BytesMut;
use ratewire_daemon::log::reason;
use ratewire_framing::{Answer, Answers};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};

use super::exchange::{Exchange, More};
use super::pool::Pool;
use crate::frame::{CREDIT, Reply, RequestFrame};
use crate::member::counts::Cause;
use crate::member::link::Link;
use crate::stream::Stream;

/// Bytes to read at a time.
const READ: usize = 32 << 10;
/// Bytes of a request that were written when credit for as many is given.
const CREDIT_STEP: u64 = CREDIT / 4;

/// How an exchange with the server has ended.
enum End {
    /// The answer is there. The connection may be kept if the server has said so.
    Answered { is_kept: bool },
    /// The server has failed, and why.
    Broken { why: String, has_answered: bool },
}

/// Has the server answer a request.
pub(super) async fn answer(pool: &Pool, link: &Link, exchange: &Exchange, request: RequestFrame) {
    let why = match pool.place(request.bytes.len()).await {
        Some(_place) => ask(pool, link, exchange, &request).await,
        None => Err((Cause::Crowded, "too many requests wait for the server".to_string())),
    };
    if let Err((cause, why)) = why {
        link.fail(exchange.number, cause, why).await;
    }
}

/// Sends a request to the server and its answer to the gateway.
///
/// # Errors
/// Why there is no answer, or not all of it.
async fn ask(
    pool: &Pool,
    link: &Link,
    exchange: &Exchange,
    request: &RequestFrame,
) -> Result<(), (Cause, String)> {
    let may_repeat = exchange.is_whole && pool.config().framing.may_repeat(&request.bytes);
    let mut may_be_kept = true;
    loop {
        let opened = pool.connect(may_be_kept).await;
        let mut opened = opened
            .map_err(|error| (Cause::Down, format!("the server is gone: {}", reason(&error))))?;
        let _in_use = link.counts().use_connection();
        match talk(pool, link, exchange, request, &mut opened.stream).await {
            End::Answered { is_kept } => {
                if is_kept {
                    pool.keep(opened.stream);
                }
                return Ok(());
            }
            // A server may close a connection that waits for a request at any time.
            End::Broken { has_answered: false, .. } if opened.is_reused && may_repeat => {
                may_be_kept = false;
            }
            End::Broken { why, .. } => {
                pool.note(&why);
                return Err((Cause::Broken, format!("the server has failed: {why}")));
            }
        }
    }
}

/// What both directions of an exchange have to know.
struct Talk<'a> {
    link: &'a Link,
    exchange: &'a Exchange,
    /// Whether the request is written to its end.
    is_written: Cell<bool>,
    has_switched: Cell<bool>,
}

async fn talk(
    pool: &Pool,
    link: &Link,
    exchange: &Exchange,
    request: &RequestFrame,
    stream: &mut Stream,
) -> End {
    let (is_written, has_switched) = (Cell::new(false), Cell::new(false));
    let talk = Talk { link, exchange, is_written, has_switched };
    let answers = Answers::new(pool.config().framing, READ, 1);
    let (read, write) = tokio::io::split(stream);
    tokio::select! {
        biased;
        end = talk.read(answers, request, read) => end,
        end = talk.write(request, write) => end,
    }
}

impl Talk<'_> {
    /// Writes the request. A server that takes no more may nevertheless have answered, so that ends
    /// nothing; a gateway that is gone does.
    async fn write(&self, request: &RequestFrame, mut write: WriteHalf<&mut Stream>) -> End {
        if write.write_all(&request.bytes).await.is_err() {
            return std::future::pending().await;
        }
        // The beginning of a request needs no credit.
        let mut taken = 0;
        loop {
            match self.exchange.more().await {
                More::Bytes(bytes) => {
                    if write.write_all(&bytes).await.is_err() {
                        return std::future::pending().await;
                    }
                    taken += bytes.len() as u64;
                }
                More::End => {
                    self.is_written.set(true);
                    if self.has_switched.get() {
                        _ = write.shutdown().await;
                    }
                    return std::future::pending().await;
                }
                More::CutOff => {
                    let why = "the gateway has not sent all of the request".to_string();
                    return End::Broken { why, has_answered: true };
                }
            }
            if taken >= CREDIT_STEP {
                self.link.reply(self.exchange.number, Reply::Credit(taken)).await;
                taken = 0;
            }
        }
    }

    /// Reads the answer and passes it on.
    async fn read(
        &self,
        mut answers: Answers,
        request: &RequestFrame,
        mut read: ReadHalf<&mut Stream>,
    ) -> End {
        // Exactly one answer is expected, and there is room for that.
        _ = answers.expect(request.expect);
        let mut buffer = BytesMut::new();
        let mut has_answered = false;
        // Why there are no more bytes.
        let mut end = None;
        loop {
            let next = match end {
                Some(_) => answers.end(&mut buffer),
                None => answers.next(&mut buffer),
            };
            match next {
                Ok(Some(answer)) => {
                    has_answered = true;
                    let (is_over, closes) = (!answer.has_more, answer.closes);
                    self.pass(answer).await;
                    if is_over {
                        let is_kept = !closes && self.is_written.get() && buffer.is_empty();
                        return End::Answered { is_kept };
                    }
                    continue;
                }
                Ok(None) => {}
                Err(violation) => {
                    return End::Broken { why: end.unwrap_or(violation.to_string()), has_answered };
                }
            }
            if let Some(why) = end {
                return End::Broken { why, has_answered };
            }
            buffer.reserve(READ);
            match read.read_buf(&mut buffer).await {
                Ok(0) => end = Some("it has ended the connection".to_string()),
                Ok(_) => has_answered = true,
                Err(error) if self.has_switched.get() => end = Some(reason(&error)),
                // A body that ends with the connection may not be whole.
                Err(error) => return End::Broken { why: reason(&error), has_answered },
            }
        }
    }

    /// Passes a piece of the answer on, as the gateway's credit allows.
    async fn pass(&self, answer: Answer) {
        let number = self.exchange.number;
        if answer.switches && !self.has_switched.replace(true) {
            self.link.reply(number, Reply::Switched).await;
        }
        let mut bytes = answer.bytes;
        loop {
            let piece = self.exchange.take(&mut bytes).await;
            let is_last = bytes.is_empty() && !answer.has_more;
            let reply = match is_last {
                true => Reply::Answer { bytes: piece, closes: answer.closes },
                false => Reply::More(piece),
            };
            self.link.reply(number, reply).await;
            if bytes.is_empty() {
                return;
            }
        }
    }
}
