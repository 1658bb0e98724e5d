//! Requests that a member has, or that are on their way to it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use ratewire_framing::Framing;
use tokio::time::Instant;

use super::ask::Ask;
use super::client::Client;
use super::counts::Cause;
use super::upload::Upload;
use crate::frame::CREDIT;
use crate::latencies::Latencies;

/// Requests that a member has at a time, and bytes of them and of the answers that are expected.
/// More would only wait there, in front of those of other clients. Where each request has a
/// connection of its own with the server, one of each client waits in front of nobody, for as long
/// as it lasts: it does not count, and bytes do not.
const MOST: usize = 1024;
const WINDOW: u64 = 1 << 20;

/// A request that a member has.
pub(super) struct Exchange {
    /// The request without its content.
    ask: Ask,
    /// What it was expected to cost, and what has come of the answer.
    cost: u64,
    got: u64,
    /// Bytes of the answer that have come since a credit was given for more.
    owed: u64,
    /// Whether the client has been told that there is no answer, or is gone.
    is_settled: bool,
}

impl Exchange {
    pub(super) fn client(&self) -> &Rc<Client> {
        &self.ask.client
    }

    /// Tells the client that there is no answer, or no more of it.
    pub(super) fn fail(&mut self, cause: Cause, why: &str) {
        if !self.settle() {
            let Ask { client, place, expect, .. } = &self.ask;
            client.fail(*place, *expect, (cause, why), self.got > 0);
        }
    }

    /// Notes that nobody waits for the answer. Returns whether nobody did.
    fn settle(&mut self) -> bool {
        self.end_upload();
        core::mem::replace(&mut self.is_settled, true)
    }

    fn end_upload(&self) {
        if let Some(upload) = &self.ask.upload {
            upload.end();
        }
    }

    /// Whether the answer has not begun though it was asked for before this time.
    fn is_late(&self, before: Instant) -> bool {
        let sent = self.ask.upload.as_ref().and_then(|upload| upload.sent());
        sent.unwrap_or(self.ask.since) <= before && self.got == 0 && !self.is_settled
    }

    /// Bytes for which a credit is due: a good part of what may be sent, if the client takes it.
    fn credit(&mut self) -> Option<u64> {
        let is_due = self.owed >= CREDIT / 4 && self.ask.client.takes_more();
        is_due.then(|| core::mem::take(&mut self.owed))
    }

    /// Whether its frame has all of the request that a member may have.
    pub(super) fn is_whole(&self) -> bool {
        self.ask.upload.as_ref().is_none_or(|upload| !upload.has_begun())
    }

    /// The request as one that no member has, if its client waits and it was not sent, or may be
    /// done twice.
    ///
    /// # Errors
    /// The exchange, if it may not.
    pub(super) fn again(self, content: Bytes, was_sent: bool) -> Result<Ask, Exchange> {
        let may_repeat = (!was_sent || self.ask.may_repeat) && self.is_whole() && !self.is_settled;
        if may_repeat { Ok(Ask { content, ..self.ask }) } else { Err(self) }
    }
}

/// All requests that a member has, by the numbers of their frames.
pub(super) struct Exchanges {
    all: BTreeMap<u64, Exchange>,
    /// Number of the next frame.
    next: u64,
    /// What they are expected to cost.
    bytes: u64,
    /// How many each client has, where each has a connection of its own with the server.
    by_client: Option<BTreeMap<u64, usize>>,
    latencies: Latencies,
}

impl Exchanges {
    pub(super) fn new(framing: Framing) -> Exchanges {
        Exchanges {
            all: BTreeMap::new(),
            // Frames without a request have the number 0.
            next: 1,
            bytes: 0,
            by_client: framing.streams().then(BTreeMap::new),
            latencies: Latencies::default(),
        }
    }

    /// Whether there is room for another.
    pub(super) fn has_room(&self) -> bool {
        match &self.by_client {
            Some(clients) => self.all.len() - clients.len() < MOST,
            None => self.all.len() < MOST && self.bytes < WINDOW,
        }
    }
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
    /// Latencies of the answers so far.
    pub(super) fn latencies(&self) -> &Latencies {
        &self.latencies
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
        self.latencies.smoothed()
    }
    /// The request, if its client waits for the answer.
    pub(super) fn awaited(&self, number: u64) -> Option<&Exchange> {
        self.all.get(&number).filter(|exchange| !exchange.is_settled)
    }
    /// The rest of a request that is sent while it arrives.
    pub(super) fn upload(&self, number: u64) -> Option<&Rc<Upload>> {
        self.all.get(&number)?.ask.upload.as_ref()
    }
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.all.keys().copied().collect()
    }

    /// Notes a request that is sent now; returns the number of its frame.
    pub(super) fn begin(&mut self, ask: Ask) -> u64 {
        let (number, cost) = (self.next, ask.cost());
        let ask = Ask { content: Bytes::new(), ..ask };
        let (got, owed, is_settled) = (0, 0, false);
        if let Some(clients) = &mut self.by_client {
            *clients.entry(ask.client.id).or_default() += 1;
        }
        self.all.insert(number, Exchange { ask, cost, got, owed, is_settled });
        self.next += 1;
        self.bytes += cost;
        number
    }

    /// Takes a piece of an answer, of which more comes. Returns bytes for which a credit is due.
    pub(super) fn more(&mut self, number: u64, piece: Bytes) -> Option<u64> {
        let exchange = self.all.get_mut(&number)?;
        let length = piece.len() as u64;
        (exchange.got, exchange.owed) = (exchange.got + length, exchange.owed + length);
        if exchange.is_settled {
            return None;
        }
        if let Some(upload) = &exchange.ask.upload {
            upload.answer(false);
        }
        exchange.ask.client.begin(exchange.ask.place, piece);
        exchange.credit()
    }

    /// Credits that are due for answers of a client, now that it has taken pieces: the numbers of
    /// their frames, and bytes.
    pub(super) fn credits(&mut self, client: u64) -> Vec<(u64, u64)> {
        let of_client = self.all.iter_mut().filter(|(_, exchange)| exchange.client().id == client);
        of_client.filter_map(|(number, exchange)| Some((*number, exchange.credit()?))).collect()
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
        self.latencies.measure(now - exchange.ask.since);
        exchange.got += rest.len() as u64;
        exchange.end_upload();
        let Exchange { ask, cost, got, is_settled, .. } = exchange;
        if !is_settled {
            ask.client.finish(ask.place, rest, closes, got);
        }
        Some((ask.client.id, got.saturating_sub(cost)))
    }

    /// Forgets a request.
    pub(super) fn remove(&mut self, number: u64) -> Option<Exchange> {
        let exchange = self.all.remove(&number)?;
        self.bytes -= exchange.cost;
        if let Some(clients) = &mut self.by_client
            && let Entry::Occupied(mut known) = clients.entry(exchange.client().id)
        {
            *known.get_mut() -= 1;
            if *known.get() == 0 {
                known.remove();
            }
        }
        Some(exchange)
    }

    /// Tells clients whose answers have not begun in time. Returns the numbers of their frames.
    pub(super) fn expire(&mut self, before: Instant, why: &str) -> Vec<u64> {
        let late = self.all.iter_mut().filter(|(_, exchange)| exchange.is_late(before));
        late.map(|(number, exchange)| {
            exchange.fail(Cause::Late, why);
            *number
        })
        .collect()
    }

    /// Gives up the requests of a client that is gone. Returns the numbers of their frames.
    pub(super) fn abandon(&mut self, client: u64) -> Vec<u64> {
        let of_client = self.all.iter_mut().filter(|(_, exchange)| exchange.client().id == client);
        of_client.filter_map(|(number, exchange)| (!exchange.settle()).then_some(*number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use ratewire_framing::Expect;

    use super::*;
    use crate::gateway::client::Place;
    use crate::gateway::memory::Memory;

    fn framing(name: &str) -> Framing {
        Framing::named(name).expect("a framing")
    }

    /// Has the member get this many requests of a client, or as many as there is room for.
    fn fill(
        exchanges: &mut Exchanges,
        framing: Framing,
        id: u64,
        each: usize,
        most: usize,
    ) -> usize {
        let shared = (Rc::new(Memory::new(1 << 30)), Rc::default());
        let client = Rc::new(Client::new(id, framing, shared));
        let mut begun = 0;
        while exchanges.has_room() && begun < most {
            exchanges.begin(Ask {
                client: Rc::clone(&client),
                place: Place::whole(begun as u64),
                expect: Expect::ORDINARY,
                since: Instant::now(),
                content: vec![0; each].into(),
                is_for_any: true,
                may_repeat: false,
                upload: None,
            });
            begun += 1;
        }
        begun
    }

    #[test]
    fn requests_that_would_wait_in_front_of_others_stay_at_the_gateway() {
        let resp = framing("resp");
        assert_eq!(fill(&mut Exchanges::new(resp), resp, 1, 10, 5000), MOST);
        assert_eq!(fill(&mut Exchanges::new(resp), resp, 1, 1 << 19, 5000), 2);
    }

    #[test]
    fn clients_have_room_for_one_that_lasts_where_each_has_a_connection() {
        let http1 = framing("http1");
        let mut exchanges = Exchanges::new(http1);
        for id in 0..3000 {
            assert_eq!(fill(&mut exchanges, http1, id, 1000, 1), 1, "client {id}");
        }
        // More of one client would wait in front of those of others.
        assert_eq!(fill(&mut exchanges, http1, 7, 1000, 5000), MOST);
        assert_eq!(fill(&mut exchanges, http1, 3000, 1000, 1), 0);
        let numbers = exchanges.numbers();
        numbers.into_iter().for_each(|number| assert!(exchanges.remove(number).is_some()));
        assert_eq!(fill(&mut exchanges, http1, 7, 1000, 5000), MOST + 1);
    }
}
