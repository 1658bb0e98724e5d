//! A connection of a switch: messages of gateways come in, and replies leave.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;
use ratewire_acp::{Connection, Error, Frame};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use super::counts::{Cause, Counts, Traffic};
use super::gateways::{Gateways, Visit};
use crate::frame::{Message, Replies, Reply};

/// Bytes of replies that wait to leave. Who adds more waits, in the order of coming.
const MOST_WAITING: usize = 1 << 20;
/// What a reply takes beside its bytes, in a frame and in memory.
const OVERHEAD: usize = 64;

pub(super) struct Link {
    connection: Connection,
    gateways: Rc<RefCell<Gateways>>,
    traffic: Traffic,
    /// The gateway, if it has said hello.
    visit: Cell<Option<Visit>>,
    is_at_end: Cell<bool>,
    /// Woken when no more messages are to be received.
    left: Notify,
    replies: RefCell<VecDeque<Waiting>>,
    room: Semaphore,
    added: Notify,
    is_last: Cell<bool>,
}

/// A reply that waits.
struct Waiting {
    exchange: u64,
    reply: Reply,
    /// Room that it takes.
    room: usize,
}

/// Room for a reply.
fn room_for(reply: &Reply) -> usize {
    (reply.len() + OVERHEAD).min(MOST_WAITING)
}

impl Link {
    pub(super) fn new(
        connection: Connection,
        gateways: Rc<RefCell<Gateways>>,
        counts: Rc<Counts>,
    ) -> Link {
        Link {
            connection,
            gateways,
            traffic: Traffic::new(counts),
            visit: Cell::new(None),
            is_at_end: Cell::new(false),
            left: Notify::new(),
            replies: RefCell::default(),
            room: Semaphore::new(MOST_WAITING),
            added: Notify::new(),
            is_last: Cell::new(false),
        }
    }

    /// Receives no more messages, as if the other end had sent its last.
    pub(super) fn leave(&self) {
        self.is_at_end.set(true);
        self.left.notify_one();
    }

    /// The next message and the number of its frame; `None` when the other end has sent its last.
    ///
    /// # Errors
    /// When the connection ends otherwise: there is nobody to answer any more.
    pub(super) async fn receive(&self) -> Result<Option<(u64, Message)>, Error> {
        loop {
            if self.is_at_end.get() {
                return Ok(None);
            }
            let next = tokio::select! {
                biased;
                next = self.connection.receive() => next?,
                () = self.left.notified() => None,
            };
            let Some(frame) = next else {
                self.is_at_end.set(true);
                return Ok(None);
            };
            match Message::decode(frame.data) {
                Some(Message::Hello { gateway }) => self.greet(frame.id, gateway),
                Some(Message::Request(_) | Message::Begin(_)) if !self.is_new(frame.id) => {}
                Some(message) => {
                    match message {
                        Message::Request(_) | Message::Begin(_) => {
                            self.traffic.begin(frame.id, Instant::now());
                        }
                        Message::Cancel { exchange } => self.traffic.cancel(exchange),
                        _ => {}
                    }
                    return Ok(Some((frame.id, message)));
                }
                None => {
                    let why = "the frame is not one of a gateway";
                    self.fail_at_once(frame.id, Cause::Gateway, why);
                }
            }
        }
    }

    /// Tells a gateway what has come from it.
    fn greet(&self, exchange: u64, gateway: u64) {
        let visit = self.gateways.borrow_mut().hello(gateway);
        self.visit.set(Some(visit));
        let (process, received) = (self.gateways.borrow().process(), visit.received);
        self.reply_at_once(exchange, Reply::Welcome { process, received });
    }

    /// Whether a request has not come before.
    fn is_new(&self, number: u64) -> bool {
        let visit = self.visit.get();
        visit.is_none_or(|visit| self.gateways.borrow_mut().take(visit, number))
    }

    /// Whether the last message was received.
    pub(super) fn is_at_end(&self) -> bool {
        self.is_at_end.get()
    }

    /// What the member counts.
    pub(super) fn counts(&self) -> &Rc<Counts> {
        self.traffic.counts()
    }

    /// Adds to the replies why a request has no answer, as soon as there is room.
    pub(super) async fn fail(&self, exchange: u64, cause: Cause, why: String) {
        self.traffic.fail(exchange, cause);
        self.reply(exchange, Reply::Failed(why.into())).await;
    }

    /// Adds to the replies why a request has no answer, whether there is room or not.
    pub(super) fn fail_at_once(&self, exchange: u64, cause: Cause, why: &'static str) {
        self.traffic.fail(exchange, cause);
        self.reply_at_once(exchange, Reply::Failed(why.into()));
    }

    /// Adds a reply behind those that wait, as soon as there is room.
    pub(super) async fn reply(&self, exchange: u64, reply: Reply) {
        let room = room_for(&reply);
        // The semaphore is never closed, and a reply's room fits into it.
        if let Ok(taken) = self.room.acquire_many(room as u32).await {
            taken.forget();
        }
        self.add(exchange, reply, room);
    }

    /// Adds a short reply, whether there is room or not.
    pub(super) fn reply_at_once(&self, exchange: u64, reply: Reply) {
        let room = self.room.forget_permits(room_for(&reply));
        self.add(exchange, reply, room);
    }

    fn add(&self, exchange: u64, reply: Reply, room: usize) {
        if matches!(reply, Reply::Answer { .. }) {
            self.traffic.answer(exchange, Instant::now());
        }
        self.traffic.hold(room);
        self.replies.borrow_mut().push_back(Waiting { exchange, reply, room });
        self.added.notify_one();
    }

    /// No more replies are added: [`Link::send`] ends when all have left.
    pub(super) fn finish(&self) {
        self.is_last.set(true);
        self.added.notify_one();
    }

    /// Sends replies as they come, those together that wait at the same time, until all have left.
    ///
    /// # Errors
    /// When the connection ends before.
    pub(super) async fn send(&self) -> Result<(), Error> {
        let mut frame = Replies::default();
        let mut first = 0;
        loop {
            let next = self.replies.borrow_mut().pop_front();
            let fits = next.as_ref().is_some_and(|next| frame.has_room(&next.reply));
            if !frame.is_empty() && !fits {
                self.connection.send(Frame::new(first, frame.take())).await?;
            }
            match next {
                Some(Waiting { exchange, reply, room }) => {
                    self.room.add_permits(room);
                    self.traffic.release(room);
                    if frame.is_empty() {
                        first = exchange;
                    }
                    if frame.has_room(&reply) {
                        frame.push(exchange, &reply);
                    } else {
                        self.send_long(exchange, reply).await?;
                    }
                }
                None if self.is_last.get() => return Ok(()),
                None => self.added.notified().await,
            }
        }
    }

    /// Sends a reply in a frame of its own, or in several if the switch takes no frame that long.
    async fn send_long(&self, exchange: u64, reply: Reply) -> Result<(), Error> {
        let mut left = reply;
        loop {
            let mut frame = Replies::default();
            frame.push(exchange, &left);
            let frame = frame.take();
            let beside = frame.len() - left.len();
            let longest = match self.connection.send(Frame::new(exchange, frame)).await {
                Err(Error::TooLong { longest }) => longest,
                sent => return sent,
            };
            let longest = usize::try_from(longest).unwrap_or(usize::MAX).saturating_sub(beside);
            let (piece, rest) = match left {
                Reply::Answer { bytes, closes } => {
                    let (piece, bytes) = halves(bytes, longest);
                    (piece, Reply::Answer { bytes, closes })
                }
                Reply::More(bytes) => {
                    let (piece, bytes) = halves(bytes, longest);
                    (piece, Reply::More(bytes))
                }
                Reply::Failed(why) => {
                    left = Reply::Failed(halves(why, longest).0);
                    continue;
                }
                // Nothing of these can be shorter.
                Reply::Credit(_) | Reply::Welcome { .. } | Reply::Switched => return Ok(()),
            };
            let mut frame = Replies::default();
            frame.push(exchange, &Reply::More(piece));
            self.connection.send(Frame::new(exchange, frame.take())).await?;
            left = rest;
        }
    }

    /// Ends the connection, and waits until the other end has all.
    pub(super) async fn close(self) {
        _ = self.connection.close().await;
    }
}

/// The first bytes, as many as allowed and at least one, and the others.
fn halves(mut bytes: Bytes, longest: usize) -> (Bytes, Bytes) {
    let first = bytes.split_to(longest.clamp(1, bytes.len()));
    (first, bytes)
}
