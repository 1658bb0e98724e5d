//! A client of a gateway, and the order of its answers.

use std::cell::{Cell, RefCell};

use bytes::Bytes;
use ratewire_framing::{Expect, Framing, Reorder};
use tokio::sync::Notify;

use crate::frame::AnswerFrame;

/// Requests of a client that wait for answers, and bytes of answers that wait for those before
/// them.
const MOST: usize = 1024;
const MOST_HELD: usize = 4 << 20;

/// What is known of a client.
pub(super) struct Client {
    framing: Framing,
    pub(super) reorder: RefCell<Reorder>,
    /// The place after which the connection closes.
    closes_after: Cell<Option<u64>>,
    /// Number of answers that have left the order.
    pub(super) left: Cell<u64>,
    /// Woken when answers may leave, and when there may be room for requests.
    pub(super) answered: Notify,
    pub(super) room: Notify,
}

impl Client {
    pub(super) fn new(framing: Framing) -> Client {
        Client {
            framing,
            reorder: RefCell::new(Reorder::new(MOST, MOST_HELD)),
            closes_after: Cell::new(None),
            left: Cell::new(0),
            answered: Notify::new(),
            room: Notify::new(),
        }
    }

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

    /// Puts bytes in a place, after which the connection may close.
    pub(super) fn fill(&self, place: u64, bytes: Bytes, closes: bool) {
        if closes {
            self.close_after(place);
        }
        // An answer to a request that has one already is a member's error, and is dropped.
        _ = self.reorder.borrow_mut().fill(place, bytes);
        self.answered.notify_one();
    }

    /// Closes the connection after the answer in a place.
    pub(super) fn close_after(&self, place: u64) {
        let first = self.closes_after.get().map_or(place, |known| known.min(place));
        self.closes_after.set(Some(first));
        self.answered.notify_one();
    }

    /// Answers that may be written now, and whether the connection closes after them.
    pub(super) fn take(&self, out: &mut Vec<Bytes>) -> bool {
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
