//! Purchases of a daemon for its clients.

use std::cmp::Reverse;
use std::slice::from_ref;
use std::sync::Arc;

use prefetch_index::prefetch_index;
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Duration, Time};

use super::prices::PriceTable;
use super::{Daemon, Payload};
use crate::benefit::Recent;
use crate::budget::{Budget, Decision};
use crate::burst::{Burst, BurstLimit};
use crate::ids::{ClientId, EdgeId, NodeSet};
use crate::membership::{Member, Outgoing, Target};
use crate::params::Params;
use crate::price::Dollars;

/// Longest delay that a daemon makes up for. Salaries and second thoughts are due at exact times,
/// but a program wakes later.
const LAG: Duration = Duration::from_millis(10);
/// Time within which a client reads again, if it can, while a message waits.
const PATIENCE: Duration = Duration::from_millis(20);
/// Time in which the socket's buffer may still take messages without the client's reading.
const BUFFERING: Duration = Duration::from_millis(5);
/// Part of the window after which a daemon asks others whether they have its messages.
const ASKING: u64 = 8;
/// Shortest time before a message that chance delayed is considered again, or one that was worth
/// too little.
const LEAST_THOUGHT: Duration = Duration::from_micros(10);

/// Longest time before that, with bursts: prices are looked at as often.
const MOST_THOUGHT: Duration = Duration::from_millis(2);

/// A message that a client wants to send.
#[derive(Clone, Debug)]
pub struct Offer<G, P> {
    /// The message.
    pub message: Outgoing<G, P>,
    /// Whether the queues to receivers cost nothing.
    pub ignores_receivers: bool,
    /// Whether the message waits for a receiver, if there is none.
    pub needs_receiver: bool,
    /// The line that the message comes over, if it is known.
    pub line: Option<Line>,
    /// The client's own data in the message. The layered benefit takes the client's rate from it.
    pub data: Bytes,
    /// Weight of the sender's benefit, above zero: a message costs its sender a part of one in so
    /// many.
    pub weight: f64,
}

/// A line between a client and its daemon, whose messages come at exact times.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Time of the message on the line. Chance considers a delayed message again after this time.
    pub time: Duration,
    /// When the message has come. It may be offered before.
    pub until: Time,
}

/// Destinations and links of a client's last message, kept for the next one.
#[derive(Debug)]
struct Aim<G> {
    /// [`Member::aims`] at that time.
    of: u64,
    targets: Arc<[Target<G>]>,
    to: NodeSet,
    /// The links that a message crosses.
    way: Arc<[EdgeId]>,
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
    /// Money that the client gets at a time.
    pub salary: Dollars,
    /// Money that the client holds.
    pub money: Dollars,
    /// Time between its salaries.
    pub period: Duration,
    /// Messages sent.
    pub sent: u64,
    /// Deliveries that these messages owe: one for each daemon that they are for.
    pub owed: u64,
    /// Whether a message waits.
    pub is_blocked: bool,
    /// Time for which messages waited.
    pub blocked: Duration,
}

/// A client's money, and the message that it waits to send.
#[derive(Debug)]
pub(super) struct Purse<G, P> {
    budget: Budget,
    /// What the client has sent for no fee.
    burst: Burst,
    recent: Recent,
    held: Option<Offer<G, P>>,
    aim: Option<Aim<G>>,
    /// When the last message was offered.
    since: Time,
    /// When the client last read, or offered a message.
    last_seen: Time,
    /// When a message that chance delayed is considered again.
    ready: Time,
    wake: Time,
    sent: u64,
    owed: u64,
    /// Time for which messages waited, the present one left out.
    blocked: Duration,
}

impl<G, P> Purse<G, P> {
    pub(super) fn new(now: Time, salary: Option<Dollars>, params: &Params) -> Purse<G, P> {
        Purse {
            budget: Budget::new(now, salary, params),
            burst: Burst::default(),
            recent: Recent::default(),
            held: None,
            aim: None,
            since: now,
            last_seen: now,
            ready: now,
            wake: Time::NEVER,
            sent: 0,
            owed: 0,
            blocked: Duration::ZERO,
        }
    }

    /// Prefetches what a purchase needs.
    pub(super) fn foresee(&self) {
        prefetch_index(from_ref(&self.budget), 0);
        prefetch_index(from_ref(&self.held), 0);
        prefetch_index(from_ref(&self.aim), 0);
        prefetch_index(from_ref(&self.wake), 0);
    }

    pub(super) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Pays one salary, if it is due.
    fn earn(&mut self, now: Time, params: &Params) -> bool {
        let due = self.budget.payday();
        if due <= now {
            self.budget.pay(params);
            // Chance counts from when there was money, not from when the message came.
            self.ready = self.ready.max(due);
        }
        due <= now
    }

    /// Forgets the stamps of a view that has ended.
    pub(super) fn enter(&mut self) {
        self.burst = Burst::default();
    }

    pub(super) fn set_back(&mut self, by: Duration) {
        self.budget.set_back(by);
        self.burst.set_back(by);
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
            salary: self.budget.salary(),
            money: self.budget.money(),
            period: self.budget.period(),
            sent: self.sent,
            owed: self.owed,
            is_blocked,
            blocked: if is_blocked { self.blocked + now.since(self.since) } else { self.blocked },
        }
    }
}

fn lagging(now: Time) -> Time {
    Time::from_ps(now.ps().saturating_sub(LAG.ps()))
}

/// Time until another message could have come: that of a message on the client's line, or else the
/// time in which the client earns the fee. With bursts that would be long beside the times in which
/// prices change.
fn second_thought(budget: &Budget, line: Option<Duration>, params: &Params) -> Duration {
    params.second_thought.or(line).unwrap_or_else(|| {
        let share = params.fee.get() / budget.salary().get();
        let earned = budget.period().scale(share).max(LEAST_THOUGHT);
        if params.spares_bursts() { earned.min(MOST_THOUGHT) } else { earned }
    })
}

/// Why a message is not sent now.
enum Hindrance {
    /// Money or chance may allow the message at this time, and lower prices earlier.
    Until(Time),
    /// The message waits for an event: a lower price, room in the window, a view or a receiver.
    Event,
}

impl<G: Clone + Ord, P: Payload> Daemon<G, P> {
    /// Money and counters of this daemon's clients.
    pub fn purses(&self, now: Time) -> impl Iterator<Item = (ClientId, PurseState)> {
        self.purses.iter().map(move |(client, purse)| (client, purse.state(now)))
    }
    /// Money and counters of a client of this daemon.
    pub fn purse(&self, now: Time, client: ClientId) -> Option<PurseState> {
        self.purses.get(client).map(|purse| purse.state(now))
    }

    /// A client wants to send a message.
    pub fn offer(&mut self, now: Time, client: ClientId, offer: Offer<G, P>) -> Offered {
        let Some(purse) = self.purses.get_mut(client) else { return Offered::Sent };
        debug_assert!(purse.held.is_none(), "a client offers one message at a time");
        (purse.since, purse.last_seen) = (now, now);
        purse.ready = purse.ready.max(offer.line.map_or(lagging(now), |line| line.until));
        let is_early = purse.ready > now;
        let ready = purse.ready;
        purse.held = Some(offer);
        self.held += 1;
        if is_early {
            self.wait(now, client, &Hindrance::Until(ready));
            return Offered::Held;
        }
        match self.try_to_send(now, client) {
            Ok(()) => {
                self.settle(now);
                Offered::Sent
            }
            Err(hindrance) => {
                self.wait(now, client, &hindrance);
                Offered::Held
            }
        }
    }

    /// Takes back the message that a client waits to send.
    pub fn withdraw(&mut self, client: ClientId) -> Option<Offer<G, P>> {
        let purse = self.purses.get_mut(client)?;
        let offer = purse.held.take()?;
        purse.wake = Time::NEVER;
        self.held -= 1;
        Some(offer)
    }

    /// Judges by its reading whether a client with a waiting message can read meanwhile. A program
    /// that is blocked in sending may not be able to, and others must not wait for it.
    fn judge(&mut self, now: Time, client: ClientId) {
        if !self.prices.is_waiting(client) {
            return;
        }
        let Some(purse) = self.purses.get(client).filter(|purse| purse.is_held()) else { return };
        if now.since(purse.last_seen) >= PATIENCE && self.prices.excuse(client, true) {
            self.tell_queue(now, client);
            self.reconsider(now);
        }
    }

    /// Notes that a client has read.
    pub(super) fn has_read(&mut self, now: Time, client: ClientId) {
        let Some(purse) = self.purses.get_mut(client).filter(|purse| purse.is_held()) else {
            return;
        };
        purse.last_seen = now;
        let judged = now + PATIENCE;
        if purse.wake > judged {
            purse.wake = judged;
            self.wakes.push(Reverse((judged, client)));
        }
        if now.since(purse.since) >= BUFFERING {
            self.prices.excuse(client, false);
        }
    }

    pub(super) fn wake(&mut self, now: Time, at: Time, client: ClientId) {
        if let Some(purse) = self.purses.get_mut(client).filter(|purse| purse.wake == at) {
            purse.wake = Time::NEVER;
            self.judge(now, client);
            self.try_held(now, client);
        }
    }

    /// Lets clients with waiting messages try again.
    pub(super) fn reconsider(&mut self, now: Time) {
        self.is_waited_for = false;
        if self.held == 0 {
            return;
        }
        let spares_bursts = self.settings.params.spares_bursts();
        let held = |(client, purse): (ClientId, &Purse<G, P>)| {
            (purse.held.is_some() && (spares_bursts || purse.ready <= now)).then_some(client)
        };
        let mut held: Vec<ClientId> = self.purses.iter().filter_map(held).collect();
        if spares_bursts {
            // All share the limit of bursts, so they take turns.
            let after = held.partition_point(|client| *client <= self.served);
            held.rotate_left(after);
        }
        for client in held {
            self.try_held(now, client);
        }
        self.collect(now);
    }

    fn try_held(&mut self, now: Time, client: ClientId) {
        match self.try_to_send(now, client) {
            Ok(()) => {
                if let Some(purse) = self.purses.get_mut(client) {
                    purse.blocked += now.since(purse.since);
                    purse.wake = Time::NEVER;
                }
                self.sent.push_back(client);
            }
            Err(hindrance) => self.wait(now, client, &hindrance),
        }
    }

    fn wait(&mut self, now: Time, client: ClientId, hindrance: &Hindrance) {
        let Some(purse) = self.purses.get_mut(client) else { return };
        let mut wake = match hindrance {
            Hindrance::Until(at) => *at,
            Hindrance::Event => Time::NEVER,
        };
        let judged = purse.last_seen + PATIENCE;
        if judged > now && self.prices.is_waiting(client) {
            wake = wake.min(judged);
        }
        if wake != purse.wake && wake != Time::NEVER {
            self.wakes.push(Reverse((wake, client)));
        }
        purse.wake = wake;
    }

    /// Sends the message that a client waits with, if it can pay.
    fn try_to_send(&mut self, now: Time, client: ClientId) -> Result<(), Hindrance> {
        let Some(purse) = self.purses.get_mut(client) else { return Err(Hindrance::Event) };
        let Some(offer) = &purse.held else { return Err(Hindrance::Event) };
        let size = offer.message.payload.size();
        let is_full = self.in_window + size > self.settings.window && !self.unstable.is_empty();
        if self.member.is_changing() || is_full || self.member.is_joining(client) {
            self.is_waited_for = true;
            if is_full && core::mem::take(&mut self.unasked) > Bytes::ZERO {
                self.member.ask_for_stability();
            }
            return Err(Hindrance::Event);
        }
        let aims = self.member.aims();
        let is_known =
            |aim: &Aim<G>| aim.of == aims && Arc::ptr_eq(&aim.targets, &offer.message.targets);
        let aim = match &purse.aim {
            Some(aim) if is_known(aim) => aim,
            _ => {
                let to = self.member.destinations(&offer.message.targets);
                let member = &self.member;
                let way = self.ways.entry(to).or_insert_with(|| member.crossed(&to).into());
                let (targets, way) = (Arc::clone(&offer.message.targets), Arc::clone(way));
                purse.aim.insert(Aim { of: aims, targets, to, way })
            }
        };
        let receivers = aim.to.len();
        if receivers == 0 && offer.needs_receiver {
            return Err(Hindrance::Event);
        }
        let params = &self.settings.params;
        let links: Dollars = aim.way.iter().map(|link| self.prices.link(*link)).sum();
        let (member, shown) = (&self.member, self.shown);
        // Without a price of receivers' queues, nothing would bound what follows a burst.
        let is_spared = params.spares_bursts() && !offer.ignores_receivers && {
            let bursts = [&mut purse.burst, &mut self.burst];
            bursts.into_iter().for_each(|burst| burst.renew(shown, || member.stable()));
            let limit = BurstLimit::of_client(params.soft_limit, self.settings.window);
            receivers == 0 || (purse.burst.fits(limit) && self.burst.fits(limit.of_all()))
        };
        let mut cost = if is_spared { links } else { params.fee + links };
        if !offer.ignores_receivers && self.prices.has_clients() {
            let targets = &offer.message.targets;
            cost = cost + clients(&self.member, &self.prices, params, client, targets);
        }
        let is_unpriced = cost == params.fee;
        cost = cost.over(offer.weight);
        let (counted, line) = (offer.message.payload.counted(), offer.line.map(|line| line.time));
        let to = aim.to;
        let is_for_others = !to.without(self.member.id()).is_empty();
        // Beyond a burst, nobody buys on credit: the next look comes sooner than salaries.
        let is_beyond = params.spares_bursts() && !is_spared;
        let at_once = if is_beyond { counted } else { 1 };
        let bill = Bill { cost, counted, at_once, receivers, data: offer.data };
        if let Err(hindrance) = purse.pay(now, &bill, line, params, &mut self.random) {
            // With it, a price may fall that a burst has caused, or more may go for no fee.
            let may_pass = matches!(hindrance, Hindrance::Until(_));
            self.is_look_awaited |= params.spares_bursts() && may_pass;
            if is_beyond && may_pass {
                self.member.ask_for_stability();
                // Nothing but the limit of bursts stops it.
                if let (true, Some(apart)) = (is_unpriced, self.settings.looks()) {
                    self.next_look = self.next_look.min(self.last_look + apart / 2);
                }
            }
            return Err(hindrance);
        }
        purse.owed += receivers as u64;
        let Some(mut offer) = purse.held.take() else { return Err(Hindrance::Event) };
        self.held -= 1;
        offer.message.payload.note_sent(now);
        self.member.send_to_these(client, offer.message, to);
        let is_bounded = self.settings.window < Bytes::MAX;
        let stamp = self.member.stamp();
        self.served = client;
        if is_spared && receivers > 0 {
            let bursts = [&mut purse.burst, &mut self.burst];
            bursts.into_iter().for_each(|burst| burst.note(now, size, stamp));
        }
        if is_bounded && is_for_others && self.member.stable() < stamp {
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
}

/// Sum of the costs of clients' queues that a message is for.
fn clients<G: Clone + Ord, P: Clone>(
    member: &Member<G, P>,
    prices: &PriceTable,
    params: &Params,
    sender: ClientId,
    targets: &[Target<G>],
) -> Dollars {
    prices.clients(params, sender, |client, label| {
        let label = label.or_else(|| member.label(client.id));
        targets.iter().any(|target| match target {
            Target::Group(group) => member.is_member(group, client),
            Target::Private(node, name) => client.node == *node && label == Some(name),
        })
    })
}

/// What a message costs.
struct Bill {
    /// Cost of a message that counts as one.
    cost: Dollars,
    /// Number of messages that this one counts as.
    counted: u32,
    /// Number of them that the client must be able to pay for now.
    at_once: u32,
    /// Number of daemons that it is for.
    receivers: usize,
    data: Bytes,
}

impl<G, P> Purse<G, P> {
    /// Pays for a message.
    fn pay(
        &mut self,
        now: Time,
        bill: &Bill,
        line: Option<Duration>,
        params: &Params,
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<(), Hindrance> {
        let benefit = params.benefit;
        let paid = bill.cost.over(benefit.of(now, &self.recent, bill.receivers));
        match line {
            // The client comes at exact times: what is due has come, and chance counts from now.
            Some(_) => {
                self.budget.catch_up(now, params);
                self.ready = self.ready.max(now);
            }
            None => {
                self.budget.skip_to(lagging(now));
                // Chance has no say in what costs a dollar or less, as when a price has fallen.
                if params.spares_bursts() && paid.get() <= 1.0 {
                    self.ready = self.ready.min(now);
                }
            }
        }
        // No salary buys a message that is worth so little: it waits until the client's rate is
        // lower.
        if paid > params.cap {
            let least = bill.cost.get() / params.cap.get();
            if let Some(at) = benefit.rises_to(least, now, &self.recent) {
                return Err(Hindrance::Until(at.max(now + LEAST_THOUGHT)));
            }
        }
        loop {
            if self.ready > now {
                return Err(Hindrance::Until(self.ready));
            }
            let draw = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            match self.budget.decide(paid, (bill.counted, bill.at_once), draw, params) {
                Decision::Buy => {
                    benefit.note(now, &mut self.recent, bill.data);
                    self.sent += 1;
                    return Ok(());
                }
                Decision::Wait => self.ready += second_thought(&self.budget, line, params),
                Decision::Blocked if paid.get().is_infinite() => return Err(Hindrance::Event),
                Decision::Blocked if !self.earn(now, params) => {
                    return Err(Hindrance::Until(self.budget.payday()));
                }
                Decision::Blocked => {}
            }
        }
    }
}
