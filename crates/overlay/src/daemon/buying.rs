//! Purchases of a daemon for its clients.

use std::cmp::Reverse;

use rand_core::Rng;
use ratewire_units::{Bytes, Duration, Time};

use super::{Daemon, Payload};
use crate::benefit::Recent;
use crate::budget::{Budget, Decision};
use crate::ids::{ClientId, NodeSet};
use crate::membership::{Client, Outgoing, Target};
use crate::params::Params;
use crate::price::Dollars;

/// How far a client's salaries and second thoughts may lag behind the clock. They have exact times,
/// but a program is woken later: it makes up for so much.
const LAG: Duration = Duration::from_millis(10);
/// Time within which a client reads, if it can, while a message waits.
const PATIENCE: Duration = Duration::from_millis(20);
/// Time in which the socket's buffer may still take messages without the client's reading.
const BUFFERING: Duration = Duration::from_millis(5);
/// Part of the window after which a daemon asks others whether they have its messages.
const ASKING: u64 = 8;
/// Shortest time before a message that chance delayed is considered again.
const LEAST_THOUGHT: Duration = Duration::from_micros(10);

/// A message that a client wants to send.
#[derive(Clone, Debug)]
pub struct Offer<G, P> {
    /// The message.
    pub message: Outgoing<G, P>,
    /// Whether the queues to receivers cost nothing.
    pub ignores_receivers: bool,
}

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// The message has been sent.
    Sent,
    /// The message waits; [`Daemon::poll_sent`] says when it has gone. Until then, the client may
    /// offer no other.
    Held,
}

/// A client's money and counters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PurseState {
    /// Money that the client holds.
    pub money: Dollars,
    /// Time between its salaries.
    pub period: Duration,
    /// Messages sent.
    pub sent: u64,
    /// Whether a message waits.
    pub is_blocked: bool,
    /// Time for which messages waited.
    pub blocked: Duration,
}

/// A client's money, and the message that it waits to send.
#[derive(Debug)]
pub(super) struct Purse<G, P> {
    budget: Budget,
    recent: Recent,
    held: Option<Offer<G, P>>,
    /// When the last message was offered.
    since: Time,
    /// Whether the client has read while a message waited.
    has_read: bool,
    /// When a message that chance delayed is considered again.
    ready: Time,
    wake: Time,
    sent: u64,
    /// Time for which messages waited, the present one left out.
    blocked: Duration,
}

impl<G, P> Purse<G, P> {
    pub(super) fn new(now: Time, params: &Params) -> Purse<G, P> {
        Purse {
            budget: Budget::new(now, params),
            recent: Recent::default(),
            held: None,
            since: now,
            has_read: false,
            ready: now,
            wake: Time::NEVER,
            sent: 0,
            blocked: Duration::ZERO,
        }
    }

    /// Pays one salary, if it is due.
    fn pay(&mut self, now: Time, params: &Params) -> bool {
        self.budget.skip_to(lagging(now));
        let is_due = self.budget.payday() <= now;
        if is_due {
            self.budget.pay(params);
        }
        is_due
    }

    pub(super) fn set_back(&mut self, by: Duration) {
        self.budget.set_back(by);
        self.recent.set_back(by);
        self.since = self.since - by;
        self.ready = self.ready - by;
        if self.wake != Time::NEVER {
            self.wake = self.wake - by;
        }
    }

    fn state(&self, now: Time) -> PurseState {
        let is_blocked = self.held.is_some();
        PurseState {
            money: self.budget.money(),
            period: self.budget.period(),
            sent: self.sent,
            is_blocked,
            blocked: if is_blocked { self.blocked + now.since(self.since) } else { self.blocked },
        }
    }
}

fn lagging(now: Time) -> Time {
    Time::from_ps(now.ps().saturating_sub(LAG.ps()))
}

/// Time in which a client earns the fee of a message: as if another message had come.
fn second_thought(budget: &Budget, params: &Params) -> Duration {
    params.second_thought.unwrap_or_else(|| {
        let share = params.fee.get() / params.salary.get();
        budget.period().scale(share).max(LEAST_THOUGHT)
    })
}

/// Why a message is not sent now.
enum Refusal {
    /// Money or chance may allow it then; lower prices may do so earlier.
    Until(Time),
    /// Only an event allows it.
    Event,
}

impl<G: Clone + Ord, P: Payload> Daemon<G, P> {
    /// Money and counters of this daemon's clients.
    pub fn purses(&self, now: Time) -> impl Iterator<Item = (ClientId, PurseState)> {
        self.purses.iter().map(move |(client, purse)| (*client, purse.state(now)))
    }

    /// A client wants to send a message.
    pub fn offer(&mut self, now: Time, client: ClientId, offer: Offer<G, P>) -> Offered {
        let Some(purse) = self.purses.get_mut(&client) else { return Offered::Sent };
        debug_assert!(purse.held.is_none(), "a client offers one message at a time");
        (purse.since, purse.has_read) = (now, false);
        purse.ready = purse.ready.max(lagging(now));
        match self.try_to_send(now, client, offer) {
            Ok(()) => {
                self.settle(now);
                Offered::Sent
            }
            Err((offer, refusal)) => {
                self.hold(now, client, offer, &refusal);
                Offered::Held
            }
        }
    }

    /// Judges by its reading whether a client with a waiting message can read meanwhile. A program
    /// that is blocked in sending may not be able to, and others must not wait for it.
    fn judge(&mut self, now: Time, client: ClientId) {
        let Some(purse) = self.purses.get(&client).filter(|purse| purse.held.is_some()) else {
            return;
        };
        if now.since(purse.since) >= PATIENCE
            && !purse.has_read
            && self.prices.is_waiting(client)
            && self.prices.excuse(client, true)
        {
            self.tell_queue(now, client);
            self.reconsider(now);
        }
    }

    /// Notes that a client has read.
    pub(super) fn has_read(&mut self, now: Time, client: ClientId) {
        let Some(purse) = self.purses.get_mut(&client).filter(|purse| purse.held.is_some()) else {
            return;
        };
        if now.since(purse.since) >= BUFFERING {
            purse.has_read = true;
            self.prices.excuse(client, false);
        }
    }

    pub(super) fn wake(&mut self, now: Time, at: Time, client: ClientId) {
        if let Some(purse) = self.purses.get_mut(&client).filter(|purse| purse.wake == at) {
            purse.wake = Time::NEVER;
            self.judge(now, client);
            self.try_held(now, client);
        }
    }

    /// Lets clients with waiting messages try again.
    pub(super) fn reconsider(&mut self, now: Time) {
        let held: Vec<ClientId> = self.held.iter().copied().collect();
        held.into_iter().for_each(|client| self.try_held(now, client));
        self.collect(now);
    }

    fn try_held(&mut self, now: Time, client: ClientId) {
        let Some(purse) = self.purses.get_mut(&client) else { return };
        let Some(offer) = purse.held.take() else { return };
        let waited = now.since(purse.since);
        match self.try_to_send(now, client, offer) {
            Ok(()) => {
                self.held.remove(&client);
                if let Some(purse) = self.purses.get_mut(&client) {
                    purse.blocked += waited;
                    purse.wake = Time::NEVER;
                }
                self.sent.push_back(client);
            }
            Err((offer, refusal)) => self.hold(now, client, offer, &refusal),
        }
    }

    fn hold(&mut self, now: Time, client: ClientId, offer: Offer<G, P>, refusal: &Refusal) {
        self.held.insert(client);
        let Some(purse) = self.purses.get_mut(&client) else { return };
        purse.held = Some(offer);
        let mut wake = match refusal {
            Refusal::Until(at) => *at,
            Refusal::Event => Time::NEVER,
        };
        let judged = purse.since + PATIENCE;
        if judged > now && self.prices.is_waiting(client) {
            wake = wake.min(judged);
        }
        if wake != purse.wake && wake != Time::NEVER {
            self.wakes.push(Reverse((wake, client)));
        }
        purse.wake = wake;
    }

    fn try_to_send(
        &mut self,
        now: Time,
        client: ClientId,
        offer: Offer<G, P>,
    ) -> Result<(), (Offer<G, P>, Refusal)> {
        let size = offer.message.payload.size();
        let is_full = self.in_window + size > self.settings.window && !self.unstable.is_empty();
        if self.member.is_changing() || is_full {
            return Err((offer, Refusal::Event));
        }
        let to = self.member.destinations(&offer.message.targets);
        let cost = self.cost(client, &to, &offer);
        let counted = offer.message.payload.counted();
        if let Err(refusal) = self.pay(now, client, cost, counted, to.len()) {
            return Err((offer, refusal));
        }
        let before = self.member.stamp();
        self.member.multicast(client, offer.message);
        let stamp = self.member.stamp();
        let is_for_others = !to.without(self.member.id()).is_empty();
        if stamp > before && is_for_others && self.member.stable() < stamp {
            self.unstable.push_back((stamp, size));
            self.in_window += size;
            self.unasked += size;
            if self.unasked.get() >= self.settings.window.get() / ASKING {
                self.unasked = Bytes::ZERO;
                self.member.ask_for_stability();
            }
        }
        Ok(())
    }

    /// Cost of a message that counts as one.
    fn cost(&mut self, sender: ClientId, to: &NodeSet, offer: &Offer<G, P>) -> Dollars {
        let (params, member) = (&self.settings.params, &self.member);
        let way = self.ways.entry(*to).or_insert_with(|| member.crossed(to));
        let links: Dollars = way.iter().map(|link| self.prices.link(*link, params)).sum();
        if offer.ignores_receivers {
            return params.fee + links;
        }
        let is_target = |client: Client, target: &Target<G>| match target {
            Target::Group(group) => member.is_member(group, client),
            Target::Private(node, label) => {
                client.node == *node && member.is_labelled(client, label)
            }
        };
        let targets = &offer.message.targets;
        let is_addressed = |client| targets.iter().any(|target| is_target(client, target));
        params.fee + links + self.prices.clients(params, sender, is_addressed)
    }

    fn pay(
        &mut self,
        now: Time,
        client: ClientId,
        cost: Dollars,
        counted: u32,
        receivers: usize,
    ) -> Result<(), Refusal> {
        let params = &self.settings.params;
        let Some(purse) = self.purses.get_mut(&client) else { return Err(Refusal::Event) };
        let cost = cost.times(1.0 / params.benefit.of(now, &purse.recent, receivers));
        loop {
            if purse.ready > now {
                return Err(Refusal::Until(purse.ready));
            }
            let draw = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            match purse.budget.decide(cost, counted, draw, params) {
                Decision::Buy => {
                    params.benefit.note(now, &mut purse.recent);
                    purse.sent += 1;
                    return Ok(());
                }
                Decision::Wait => purse.ready += second_thought(&purse.budget, params),
                Decision::Blocked if cost.get().is_infinite() => return Err(Refusal::Event),
                Decision::Blocked if !purse.pay(now, params) => {
                    return Err(Refusal::Until(purse.budget.payday()));
                }
                Decision::Blocked => {}
            }
        }
    }
}
