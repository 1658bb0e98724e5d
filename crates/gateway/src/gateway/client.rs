//! A client of a gateway, and the order of its answers.

use std::cell::{Cell, RefCell};

use bytes::Bytes;
use ratewire_framing::{Expect, Framing, Reorder};
use tokio::sync::Notify;

use crate::frame::Reply;

/// Requests of a client that wait for answers, and bytes of answers that wait for those before
/// them.
const MOST: usize = 1024;
const MOST_HELD: usize = 4 << 20;
/// Bytes of answers that are held for a client, whatever it has asked for. Answers beyond are
/// replaced by errors.
const LIMIT: usize = 64 << 20;
/// Bytes of answers from which on no more are written at once.
const BATCH: usize = 1 << 20;

/// What is known of a client.
pub(super) struct Client {
    framing: Framing,
    pub(super) reorder: RefCell<Reorder>,
    /// The place after which the connection closes.
    closes_after: Cell<Option<u64>>,
    /// Length of the longest answer so far.
    longest: Cell<usize>,
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
            longest: Cell::new(1),
            left: Cell::new(0),
            answered: Notify::new(),
            room: Notify::new(),
        }
    }

    /// Whether the next request has to wait: until others are answered, or until the client takes
    /// its answers. As many requests are under way as have room for answers of the longest length
    /// so far.
    pub(super) fn is_full(&self) -> bool {
        let reorder = self.reorder.borrow();
        reorder.is_full() || reorder.waiting() >= (LIMIT / self.longest.get()).max(1)
    }

    /// The place of the next request; `None` if there is none.
    pub(super) fn reserve(&self) -> Option<u64> {
        self.reorder.borrow_mut().reserve()
    }

    /// Puts an answer in its place.
    pub(super) fn answer(&self, place: u64, expect: Expect, answer: Reply) {
        let (bytes, closes) = match answer {
            Reply::Answer { bytes, closes } => {
                self.longest.set(self.longest.get().max(bytes.len()));
                // The first answer leaves at once, and lets others leave.
                let waits = place > self.left.get();
                match waits && self.reorder.borrow().held() + bytes.len() > LIMIT {
                    true => self.failure(expect, "the client does not take its answers"),
                    false => (bytes, closes),
                }
            }
            Reply::More(_) | Reply::Credit(_) | Reply::Welcome { .. } => return,
            Reply::Failed(why) => self.failure(expect, &String::from_utf8_lossy(&why)),
        };
        self.fill(place, bytes, closes);
    }

    /// An answer that says why there is none, and whether the connection closes after it.
    fn failure(&self, expect: Expect, why: &str) -> (Bytes, bool) {
        match self.framing.failure(expect, why) {
            Some(bytes) => (bytes, false),
            None => (Bytes::new(), true),
        }
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

    /// Answers that may be written now, a batch of them, and whether the connection closes after
    /// them.
    pub(super) fn take(&self, out: &mut Vec<Bytes>) -> bool {
        let mut reorder = self.reorder.borrow_mut();
        let mut taken = 0;
        while taken < BATCH
            && self.closes_after.get().is_none_or(|last| self.left.get() <= last)
            && let Some(answer) = reorder.pop()
        {
            self.left.set(self.left.get() + 1);
            taken += answer.len();
            out.push(answer);
        }
        self.closes_after.get().is_some_and(|last| self.left.get() > last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client() -> Client {
        Client::new(Framing::named("resp").expect("a framing"))
    }

    fn answer(client: &Client, place: u64, bytes: &Bytes) {
        let answer = Reply::Answer { bytes: bytes.clone(), closes: false };
        client.answer(place, Expect::from_code(0), answer);
    }

    #[test]
    fn answers_that_a_client_does_not_take_are_bounded() {
        let client = client();
        let long = Bytes::from(vec![b'x'; 1 << 20]);
        let places: Vec<u64> = std::iter::from_fn(|| client.reserve()).collect();
        assert_eq!(places.len(), MOST);
        // The first answer is missing, so the others must wait.
        places[1..].iter().for_each(|place| answer(&client, *place, &long));
        let held = client.reorder.borrow().held();
        assert!(held < LIMIT + MOST * 100, "{held} bytes are held");
        answer(&client, 0, &Bytes::from_static(b"+OK\r\n"));
        let mut all = Vec::new();
        while !client.take(&mut all) && all.len() < MOST {}
        assert_eq!(all.iter().filter(|answer| **answer == long).count(), LIMIT >> 20);
        let refused = all.iter().filter(|answer| answer.starts_with(b"-ERR the client does not"));
        assert_eq!(refused.count(), MOST - 1 - (LIMIT >> 20));
        // Next time, fewer requests are under way at once.
        let next = std::iter::from_fn(|| match client.is_full() {
            true => None,
            false => client.reserve(),
        });
        assert_eq!(next.count(), LIMIT >> 20);
    }
}
