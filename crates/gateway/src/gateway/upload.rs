//! A request that is sent while it arrives.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::Bytes;
use ratewire_acp::{Connection, Frame};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::frame::{CREDIT, Message};

/// The part of a request that follows its beginning.
#[derive(Default)]
pub(super) struct Upload {
    /// The connection that has the beginning, and the number of its frame.
    begun: RefCell<Option<(Rc<Connection>, u64)>>,
    /// Bytes that may be sent.
    credit: Cell<u64>,
    /// When the last bytes were sent.
    sent: Cell<Option<Instant>>,
    /// Whether nobody takes any more of the request.
    is_over: Cell<bool>,
    /// Whether the server has changed the protocol, once it has answered.
    switched: Cell<Option<bool>>,
    changed: Notify,
}

impl Upload {
    /// Notes the connection that has the beginning, and the number of its frame.
    pub(super) fn begin(&self, connection: &Rc<Connection>, number: u64) {
        *self.begun.borrow_mut() = Some((Rc::clone(connection), number));
        self.add_credit(CREDIT);
    }

    /// Whether a connection has had the beginning.
    pub(super) fn has_begun(&self) -> bool {
        self.begun.borrow().is_some()
    }

    /// Notes that more bytes may be sent.
    pub(super) fn add_credit(&self, bytes: u64) {
        self.credit.set(self.credit.get().saturating_add(bytes));
        self.changed.notify_waiters();
    }

    /// Notes that the server has answered: whether it has changed the protocol.
    pub(super) fn answer(&self, has_switched: bool) {
        if self.switched.get().is_none() {
            self.switched.set(Some(has_switched));
            self.changed.notify_waiters();
        }
    }

    /// Notes that nobody takes any more of the request.
    pub(super) fn end(&self) {
        self.is_over.set(true);
        self.answer(false);
        self.changed.notify_waiters();
    }

    /// When the last bytes were sent.
    pub(super) fn sent(&self) -> Option<Instant> {
        self.sent.get()
    }

    /// Whether the server has changed the protocol; waits until it has answered.
    pub(super) async fn has_switched(&self) -> bool {
        loop {
            let changed = self.changed.notified();
            if let Some(switched) = self.switched.get() {
                return switched;
            }
            changed.await;
        }
    }

    /// Sends more of the request, as credit allows. What nobody takes is dropped.
    pub(super) async fn send(&self, mut bytes: Bytes, is_last: bool) {
        loop {
            let (connection, exchange) = match self.room(bytes.is_empty()).await {
                Some(begun) => begun,
                None => return,
            };
            let allowed = usize::try_from(self.credit.get()).unwrap_or(usize::MAX);
            let piece = bytes.split_to(allowed.min(bytes.len()));
            self.credit.set(self.credit.get() - piece.len() as u64);
            let is_last = is_last && bytes.is_empty();
            let message = Message::More { exchange, is_last, bytes: piece };
            // A connection that is over ends the upload.
            if connection.send(Frame::new(0, message.encode())).await.is_err() {
                return;
            }
            self.sent.set(Some(Instant::now()));
            if bytes.is_empty() {
                return;
            }
        }
    }

    /// Waits until more may be sent; `None` if nobody takes it.
    async fn room(&self, needs_no_credit: bool) -> Option<(Rc<Connection>, u64)> {
        loop {
            let changed = self.changed.notified();
            if self.is_over.get() {
                return None;
            }
            let begun = self.begun.borrow().clone();
            if let Some(begun) = begun
                && (needs_no_credit || self.credit.get() > 0)
            {
                return Some(begun);
            }
            changed.await;
        }
    }
}
