//! A client of a gateway, and the order of its answers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use bytes::Bytes;
use ratewire_framing::{Expect, Framing, Reorder};
use tokio::sync::Notify;

use super::counts::{Cause, Counts, End};
use super::gather::Gathers;
use super::memory::Memory;

#[cfg(test)]
mod tests;

/// Requests of a client that wait for answers, and bytes of answers that wait for those before
/// them.
const MOST: usize = 1024;
const MOST_HELD: usize = 4 << 20;
/// Bytes of requests that no member has yet, from which on no more are read.
const MOST_UNSENT: usize = 1 << 20;
/// Bytes of answers that a client has not taken, from which on its requests wait.
const ENOUGH: usize = 1 << 20;
/// Bytes of answers that a client has not taken, from which on no more of a long one is asked for.
const FEW: usize = 128 << 10;
/// Bytes of answers from which on a client is ended that does not take them.
const LIMIT: usize = 64 << 20;
/// Bytes of answers of parts that are held until the others come.
const MOST_GATHERED: usize = 32 << 20;
const TOO_LONG: &str = "the answers of the parts have more than 32 MiB: ask for fewer keys";
/// Bytes of answers from which on no more are written at once.
const BATCH: usize = 1 << 20;
/// Bytes of an answer that a client is taken to ask for, at least.
const LEAST: u64 = 64;

/// Where an answer belongs: a request of a client, and a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Number of the request among those of its client.
    pub(super) order: u64,
    /// Number of the part; 0 for a request that has none.
    pub(super) part: u32,
}

impl Place {
    /// The place of a request that goes to one server.
    pub(super) fn whole(order: u64) -> Place {
        Place { order, part: 0 }
    }
}

/// What is known of a client.
pub(super) struct Client {
    /// Number of the client among all of the gateway.
    pub(super) id: u64,
    framing: Framing,
    memory: Rc<Memory>,
    pub(super) counts: Rc<Counts>,
    reorder: RefCell<Reorder>,
    /// Requests that have parts.
    pub(super) gathers: Gathers,
    /// The place after which the connection closes.
    closes_after: Cell<Option<u64>>,
    /// Bytes of requests that no member has.
    unsent: Cell<usize>,
    /// Bytes of requests that wait for the end of a transaction.
    queued: Cell<usize>,
    /// Bytes that an answer is expected to have.
    expected: Cell<u64>,
    /// Whether requests wait somewhere until the client takes answers.
    is_held: Cell<bool>,
    /// Bytes of a request that is not whole.
    arriving: Cell<usize>,
    /// Whether nobody takes answers any more.
    is_gone: Cell<bool>,
    /// Whether the client was ended.
    is_ended: Cell<bool>,
    /// Whether no more requests are taken.
    is_finishing: Cell<bool>,
    /// Woken when answers may leave, when there may be room for requests, and when the client is
    /// ended.
    pub(super) answered: Notify,
    pub(super) room: Notify,
    pub(super) ended: Notify,
}

impl Client {
    pub(super) fn new(
        id: u64,
        framing: Framing,
        (memory, counts): (Rc<Memory>, Rc<Counts>),
    ) -> Client {
        Client {
            id,
            framing,
            memory,
            counts,
            reorder: RefCell::new(Reorder::new(MOST, MOST_HELD)),
            gathers: Gathers::default(),
            closes_after: Cell::new(None),
            unsent: Cell::new(0),
            queued: Cell::new(0),
            expected: Cell::new(LEAST),
            is_held: Cell::new(false),
            is_gone: Cell::new(false),
            arriving: Cell::new(0),
            is_ended: Cell::new(false),
            is_finishing: Cell::new(false),
            answered: Notify::new(),
            room: Notify::new(),
            ended: Notify::new(),
        }
    }

    /// Whether the next request has to wait: until others are answered or have gone to members, or
    /// until the client takes its answers.
    pub(super) fn is_full(&self) -> bool {
        // Requests of HTTP have connections of their own with servers, and the next one may build
        // on what this one does (RFC 9112, section 9.3.2).
        let follows = self.framing.streams() && self.waits();
        follows || self.reorder.borrow().is_full() || self.unsent.get() >= MOST_UNSENT
    }
    /// Whether requests have no answer.
    pub(super) fn waits(&self) -> bool {
        self.reorder.borrow().waiting() > 0
    }
    /// The place of the last request that has no answer.
    pub(super) fn last(&self) -> Option<u64> {
        let reorder = self.reorder.borrow();
        (reorder.waiting() > 0).then(|| reorder.first() + reorder.waiting() as u64 - 1)
    }
    /// Bytes that are held: answers, and requests that wait for the end of a transaction.
    pub(super) fn held(&self) -> usize {
        self.reorder.borrow().held() + self.gathers.held() + self.queued.get()
    }
    /// Bytes that are held for the client, with those of requests that no member has.
    pub(super) fn weight(&self) -> usize {
        self.held() + self.unsent.get() + self.arriving.get()
    }
    /// Whether the client is ended.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended.get()
    }
    /// Notes bytes of a request that is not whole, instead of those before.
    pub(super) fn arrive(&self, bytes: usize) {
        self.memory.give(self.arriving.replace(bytes));
        self.memory.take(bytes);
    }
    /// Notes bytes of requests that wait for the end of a transaction, instead of those before.
    pub(super) fn queue(&self, bytes: usize) {
        self.memory.give(self.queued.replace(bytes));
        self.memory.take(bytes);
    }

    /// The place of the next request; `None` if there is none.
    pub(super) fn reserve(&self) -> Option<u64> {
        if self.is_finishing.get() {
            return None;
        }
        self.reorder.borrow_mut().reserve()
    }

    /// Whether there are requests that no member has.
    pub(super) fn has_unsent(&self) -> bool {
        self.unsent.get() > 0
    }
    /// Notes bytes of a request that no member has yet.
    pub(super) fn hold_request(&self, bytes: usize) {
        self.unsent.set(self.unsent.get() + bytes);
        self.memory.take(bytes);
    }
    /// Notes that a member has them, or nobody will.
    pub(super) fn release_request(&self, bytes: usize) {
        self.unsent.set(self.unsent.get() - bytes);
        self.memory.give(bytes);
        self.room.notify_one();
    }
    /// Bytes that an answer is expected to have.
    pub(super) fn expected(&self) -> u64 {
        self.expected.get()
    }

    /// Whether a request has to wait until the client takes answers; it is then told when it has
    /// ([`Client::resumes`]). That whose answer is the next to leave does not wait.
    pub(super) fn holds(&self, place: Place) -> bool {
        let holds = self.untaken() >= ENOUGH && place.order > self.reorder.borrow().first();
        if holds {
            self.is_held.set(true);
        }
        holds
    }
    /// Whether more of a long answer may come; who asks is told later if it may not now.
    pub(super) fn takes_more(&self) -> bool {
        let takes = self.has_taken();
        if !takes {
            self.is_held.set(true);
        }
        takes
    }
    /// Whether requests, or more of an answer, have waited for the client to take answers, and need
    /// not any more.
    pub(super) fn resumes(&self) -> bool {
        self.has_taken() && self.is_held.replace(false)
    }
    /// Whether requests have waited, and the next answer to leave is not there: its request may be
    /// one of them.
    pub(super) fn lacks_next(&self) -> bool {
        self.waits() && self.is_held.replace(false)
    }
    fn has_taken(&self) -> bool {
        self.untaken() < if self.memory.is_scarce() { 1 } else { FEW }
    }
    /// Bytes of answers that do not wait for those of other parts.
    fn untaken(&self) -> usize {
        self.reorder.borrow().held()
    }

    /// Puts a piece of an answer in its place, of which more comes.
    pub(super) fn begin(&self, place: Place, piece: Bytes) {
        self.put(place, piece, false);
    }

    /// Puts an answer, or what is left of it, in its place, after which the connection may close;
    /// with all of it, the answer has `length` bytes.
    pub(super) fn finish(&self, place: Place, rest: Bytes, closes: bool, length: u64) {
        self.counts.answer();
        // A long answer counts for some time: the client may ask for such a one again.
        self.expected.set(length.max(self.expected.get() / 8 * 7).max(LEAST));
        if closes {
            self.close_after(place.order);
        }
        self.put(place, rest, true);
    }

    /// Puts an error in the place of an answer. If the framing has none, or a part of the answer is
    /// there, the connection closes.
    pub(super) fn fail(
        &self,
        place: Place,
        expect: Expect,
        (cause, why): (Cause, &str),
        has_begun: bool,
    ) {
        self.counts.fail(cause);
        // Nothing has left of an answer that has parts.
        let has_begun = has_begun && !self.gathers.has(place.order);
        self.gathers.fail(place.order, place.part, why);
        let answer = if has_begun { None } else { self.framing.failure(expect, why) };
        match answer {
            Some(answer) => self.put(place, answer, true),
            None => {
                self.close_after(place.order);
                self.put(place, Bytes::new(), true);
            }
        }
    }

    /// Notes the number of parts of a request, whose answers may have come before.
    pub(super) fn expect(&self, order: u64, parts: usize) {
        let before = self.gathers.held();
        let answer = self.gathers.expect(order, parts);
        self.memory.give(before - self.gathers.held());
        if let Some(answer) = answer {
            self.answer(order, answer);
        }
    }

    /// Puts an answer of the gateway's in a place.
    pub(super) fn answer(&self, order: u64, answer: Bytes) {
        self.put(Place::whole(order), answer, true);
    }

    fn put(&self, place: Place, bytes: Bytes, is_last: bool) {
        if self.is_gone.get() {
            return;
        }
        if self.gathers.has(place.order) {
            return self.put_part(place, &bytes, is_last);
        }
        let length = bytes.len();
        let put = {
            let mut reorder = self.reorder.borrow_mut();
            match is_last {
                true => reorder.fill(place.order, bytes),
                false => reorder.begin(place.order, bytes),
            }
        };
        // A second answer to a request is a member's error, and is dropped.
        if put.is_ok() {
            self.memory.take(length);
            self.answered.notify_one();
        }
        if self.held() > LIMIT {
            self.end(End::NotReading);
        }
    }

    /// Puts an answer of a part, or a piece of it, beside those of the others.
    fn put_part(&self, place: Place, bytes: &Bytes, is_last: bool) {
        let before = self.gathers.held();
        let is_long = before + bytes.len() > MOST_GATHERED;
        let failure = is_long.then(|| self.framing.failure(Expect::ORDINARY, TOO_LONG));
        let answer = match (failure.flatten(), is_last) {
            (Some(failure), _) => {
                self.gathers.fail(place.order, place.part, TOO_LONG);
                self.gathers.put(place.order, place.part, failure)
            }
            (None, true) => self.gathers.put(place.order, place.part, bytes.clone()),
            (None, false) => {
                self.gathers.add(place.order, place.part, bytes);
                None
            }
        };
        self.memory.give(before);
        self.memory.take(self.gathers.held());
        if let Some(answer) = answer {
            self.answer(place.order, answer);
        }
    }

    /// Ends the client.
    pub(super) fn end(&self, why: End) {
        if !self.is_ended.replace(true) {
            self.counts.end(why);
        }
        self.ended.notify_one();
    }

    /// Takes no more requests: the connection closes when those before have their answers.
    pub(super) fn finish_all(&self) {
        self.is_finishing.set(true);
        self.answered.notify_one();
    }

    /// Notes that nobody takes answers any more.
    pub(super) fn leave(&self) {
        if !self.is_gone.replace(true) {
            self.memory.give(self.held());
            self.arrive(0);
        }
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
        let may_leave = |first| self.closes_after.get().is_none_or(|last| first <= last);
        let mut taken = 0;
        while taken < BATCH
            && may_leave(reorder.first())
            && let Some(answer) = reorder.pop()
        {
            taken += answer.len();
            out.push(answer);
        }
        self.memory.give(taken);
        let has_all = self.is_finishing.get() && reorder.waiting() == 0;
        has_all || !may_leave(reorder.first())
    }
}
