//! What a member counts.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use ratewire_switch_interface::status::{Latency, ServedCounts};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::latencies::Latencies;

/// Why a request has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The server takes no connection.
    Down,
    /// The server has ended a connection, or broken the protocol.
    Broken,
    /// Too many requests wait.
    Crowded,
    /// What the gateway has sent cannot be done.
    Gateway,
}

/// Requests so far, and what is under way.
#[derive(Debug, Default)]
pub(super) struct Counts {
    requests: Cell<ServedCounts>,
    /// Connections of switches, and with the server.
    links: Cell<u64>,
    in_use: Cell<u64>,
    /// Bytes of answers that wait to leave.
    replies: Cell<usize>,
    latencies: RefCell<Latencies>,
    /// Woken when no request is under way any more.
    idle: Notify,
}

impl Counts {
    pub(super) fn requests(&self) -> ServedCounts {
        self.requests.get()
    }
    pub(super) fn links(&self) -> u64 {
        self.links.get()
    }
    pub(super) fn in_use(&self) -> u64 {
        self.in_use.get()
    }
    pub(super) fn replies(&self) -> usize {
        self.replies.get()
    }
    /// Times from requests' coming to the ends of their answers.
    pub(super) fn latency(&self) -> Latency {
        self.latencies.borrow().told()
    }

    /// Waits until no request is under way.
    pub(super) async fn until_idle(&self) {
        while self.requests.get().under_way > 0 {
            self.idle.notified().await;
        }
    }

    fn change(&self, change: impl FnOnce(&mut ServedCounts)) {
        let mut requests = self.requests.get();
        change(&mut requests);
        self.requests.set(requests);
        if requests.under_way == 0 {
            self.idle.notify_waiters();
        }
    }

    /// Notes a connection with the server, which has requests until the value is dropped.
    pub(super) fn use_connection(self: &Rc<Self>) -> InUse {
        self.in_use.set(self.in_use.get() + 1);
        InUse(Rc::clone(self))
    }
}

/// A connection with the server that has requests.
pub(super) struct InUse(Rc<Counts>);

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.in_use.set(self.0.in_use.get() - 1);
    }
}

/// What is under way on a connection of a switch.
#[derive(Debug)]
pub(super) struct Traffic {
    counts: Rc<Counts>,
    /// When requests came, by the numbers of their frames.
    since: RefCell<BTreeMap<u64, Instant>>,
    /// Bytes of answers that wait to leave.
    replies: Cell<usize>,
}

impl Traffic {
    pub(super) fn new(counts: Rc<Counts>) -> Traffic {
        counts.links.set(counts.links.get() + 1);
        Traffic { counts, since: RefCell::default(), replies: Cell::new(0) }
    }

    pub(super) fn counts(&self) -> &Rc<Counts> {
        &self.counts
    }

    /// Notes a request. A second one of the same number takes the place of the first.
    pub(super) fn begin(&self, number: u64, now: Instant) {
        let before = self.since.borrow_mut().insert(number, now);
        self.counts.change(|requests| {
            requests.asked += 1;
            match before {
                Some(_) => requests.abandoned += 1,
                None => requests.under_way += 1,
            }
        });
    }

    /// Notes the end of an answer.
    pub(super) fn answer(&self, number: u64, now: Instant) {
        if let Some(since) = self.end(number) {
            self.counts.latencies.borrow_mut().measure(now - since);
            self.counts.change(|requests| requests.answered += 1);
        }
    }

    /// Notes that a request has failed.
    pub(super) fn fail(&self, number: u64, cause: Cause) {
        self.end(number);
        self.counts.change(|requests| match cause {
            Cause::Down => requests.failed.down += 1,
            Cause::Broken => requests.failed.broken += 1,
            Cause::Crowded => requests.failed.crowded += 1,
            Cause::Gateway => requests.failed.gateway += 1,
        });
    }

    /// Notes that nobody waits for an answer any more.
    pub(super) fn cancel(&self, number: u64) {
        if self.end(number).is_some() {
            self.counts.change(|requests| requests.abandoned += 1);
        }
    }

    fn end(&self, number: u64) -> Option<Instant> {
        let since = self.since.borrow_mut().remove(&number)?;
        self.counts.change(|requests| requests.under_way -= 1);
        Some(since)
    }

    /// Notes bytes of an answer that waits to leave, and that it has left.
    pub(super) fn hold(&self, bytes: usize) {
        self.replies.set(self.replies.get() + bytes);
        self.counts.replies.set(self.counts.replies.get() + bytes);
    }
    pub(super) fn release(&self, bytes: usize) {
        self.replies.set(self.replies.get() - bytes);
        self.counts.replies.set(self.counts.replies.get() - bytes);
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.release(self.replies.get());
        self.counts.links.set(self.counts.links.get() - 1);
        let left = self.since.borrow().len() as u64;
        self.counts.change(|requests| {
            requests.under_way -= left;
            requests.abandoned += left;
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_request_ends_in_one_way() {
        let counts = Rc::new(Counts::default());
        let traffic = Traffic::new(Rc::clone(&counts));
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        (1..=6).for_each(|number| traffic.begin(number, start));
        traffic.answer(1, at(8));
        traffic.answer(1, at(8));
        traffic.fail(2, Cause::Broken);
        traffic.cancel(3);
        traffic.answer(3, at(8));
        traffic.begin(4, at(8));
        traffic.answer(4, at(24));
        traffic.hold(100);
        let seen = counts.requests();
        assert_eq!((seen.asked, seen.under_way, seen.answered, seen.abandoned), (7, 2, 2, 2));
        assert_eq!((seen.failed.broken, seen.failed.all()), (1, 1));
        let latency = counts.latency();
        assert_eq!((latency.latency_s, latency.latency_sum_s), (0.009, 0.024));
        assert_eq!((counts.links(), counts.replies()), (1, 100));
        let in_use = counts.use_connection();
        assert_eq!(counts.in_use(), 1);
        drop((traffic, in_use));
        let seen = counts.requests();
        assert_eq!((seen.under_way, seen.abandoned), (0, 4));
        assert_eq!((counts.links(), counts.replies(), counts.in_use()), (0, 0, 0));
    }
}
