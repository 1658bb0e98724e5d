//! Requests that a member has, or that are on their way to it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use ratewire_framing::Expect;
use tokio::time::Instant;

use super::ask::Ask;
use super::client::{Client, Place};

/// Requests that a member has at a time, and bytes of them and of the answers that are expected.
/// More would only wait there, in front of those of other clients.
const MOST: usize = 1024;
const WINDOW: u64 = 1 << 20;

/// A request that a member has.
pub(super) struct Exchange {
    pub(super) client: Rc<Client>,
    place: Place,
    expect: Expect,
    since: Instant,
    /// What it was expected to cost, and what has come of the answer.
    cost: u64,
    pub(super) got: u64,
    pub(super) may_repeat: bool,
    /// Whether the client has been told that there is no answer.
    is_settled: bool,
}

impl Exchange {
    /// Tells the client that there is no answer, or no more of it.
    pub(super) fn fail(&mut self, why: &str) {
        if !core::mem::replace(&mut self.is_settled, true) {
            self.client.fail(self.place, self.expect, why, self.got > 0);
        }
    }

    /// The request as one that no member has.
    pub(super) fn again(self, content: Bytes) -> Option<Ask> {
        let Exchange { client, place, expect, since, may_repeat, is_settled, .. } = self;
        let is_for_any = false;
        (!is_settled).then_some(Ask {
            client,
            place,
            expect,
            since,
            content,
            is_for_any,
            may_repeat,
        })
    }
}

/// All requests that a member has, by the numbers of their frames.
pub(super) struct Exchanges {
    all: BTreeMap<u64, Exchange>,
    /// Number of the next frame.
    next: u64,
    /// What they are expected to cost.
    bytes: u64,
    latency: Duration,
}

impl Default for Exchanges {
    fn default() -> Exchanges {
        // Frames without a request have the number 0.
        Exchanges { all: BTreeMap::new(), next: 1, bytes: 0, latency: Duration::ZERO }
    }
}

impl Exchanges {
    /// Whether there is room for another.
    pub(super) fn has_room(&self) -> bool {
        self.all.len() < MOST && self.bytes < WINDOW
    }
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    /// Number of the next frame.
    pub(super) fn next(&self) -> u64 {
        self.next
    }
    /// What they are expected to cost, bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Smoothed time from a request's coming to its answer.
    pub(super) fn latency(&self) -> Duration {
        self.latency
    }
    /// Whether the client waits for the answer.
    pub(super) fn is_awaited(&self, number: u64) -> bool {
        self.all.get(&number).is_some_and(|exchange| !exchange.is_settled)
    }
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.all.keys().copied().collect()
    }

    /// Notes a request that is sent now; returns the number of its frame.
    pub(super) fn begin(&mut self, ask: Ask) -> u64 {
        let (number, cost) = (self.next, ask.cost());
        let Ask { client, place, expect, since, may_repeat, .. } = ask;
        let (got, is_settled) = (0, false);
        let exchange = Exchange { client, place, expect, since, cost, got, may_repeat, is_settled };
        self.next += 1;
        self.bytes += cost;
        self.all.insert(number, exchange);
        number
    }

    /// Takes a piece of an answer, of which more comes. Returns the client, if it waits for it.
    pub(super) fn more(&mut self, number: u64, piece: Bytes) -> Option<&Rc<Client>> {
        let exchange = self.all.get_mut(&number)?;
        exchange.got += piece.len() as u64;
        if exchange.is_settled {
            return None;
        }
        exchange.client.begin(exchange.place, piece);
        Some(&exchange.client)
    }

    /// Takes an answer, or what is left of it. Returns the client's number, and by how much the
    /// exchange has cost more than was expected.
    pub(super) fn finish(
        &mut self,
        number: u64,
        rest: Bytes,
        closes: bool,
        now: Instant,
    ) -> Option<(u64, u64)> {
        let mut exchange = self.remove(number)?;
        self.measure(now - exchange.since);
        exchange.got += rest.len() as u64;
        let Exchange { client, place, cost, got, is_settled, .. } = exchange;
        if !is_settled {
            client.finish(place, rest, closes, got);
        }
        Some((client.id, got.saturating_sub(cost)))
    }

    /// Forgets a request.
    pub(super) fn remove(&mut self, number: u64) -> Option<Exchange> {
        let exchange = self.all.remove(&number)?;
        self.bytes -= exchange.cost;
        Some(exchange)
    }

    /// Tells clients whose answers have not begun in time. Returns the numbers of their frames.
    pub(super) fn expire(&mut self, before: Instant, why: &str) -> Vec<u64> {
        let is_late = |x: &Exchange| x.since <= before && x.got == 0 && !x.is_settled;
        let late = self.all.iter_mut().filter(|(_, exchange)| is_late(exchange));
        late.map(|(number, exchange)| {
            exchange.fail(why);
            *number
        })
        .collect()
    }

    /// Gives up the requests of a client that is gone. Returns the numbers of their frames.
    pub(super) fn abandon(&mut self, client: u64) -> Vec<u64> {
        let of_client = self.all.iter_mut().filter(|(_, exchange)| exchange.client.id == client);
        of_client
            .map(|(number, exchange)| {
                exchange.is_settled = true;
                *number
            })
            .collect()
    }

    /// Takes a measurement of the latency into the mean, as routing modules have it: the first one
    /// is the mean, a later one counts 1/8.
    fn measure(&mut self, latency: Duration) {
        self.latency = match self.latency {
            Duration::ZERO => latency,
            mean => mean - mean / 8 + latency / 8,
        };
    }
}
