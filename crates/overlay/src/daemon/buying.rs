//! Purchases of a daemon for its clients.

use std::cmp::Reverse;
use std::sync::Arc;

use ratewire_units::Time;

use super::prices::PriceTable;
use super::purse::{Aim, Bill, Hindrance, Offer, Purse, PurseState};
use super::{Daemon, Payload};
use crate::burst::BurstLimit;
use crate::ids::ClientId;
use crate::membership::{Member, Target};
use crate::params::Params;
use crate::price::Dollars;

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// The message has been sent.
    Sent,
    /// The message waits; [`Daemon::poll_sent`] says when it has gone. Until then, the client may
    /// offer no other.
    Held,
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
        let has_come = purse.hold(now, offer);
        self.held += 1;
        match has_come.and_then(|()| self.try_to_send(now, client)) {
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
        let offer = self.purses.get_mut(client)?.withdraw()?;
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
        if purse.judged() <= now && self.prices.excuse(client, true) {
            self.tell_queue(now, client);
            self.reconsider(now);
        }
    }

    /// Notes that a client has read.
    pub(super) fn has_read(&mut self, now: Time, client: ClientId) {
        let Some(purse) = self.purses.get_mut(client).filter(|purse| purse.is_held()) else {
            return;
        };
        purse.note_read(now);
        let judged = purse.judged();
        if purse.wake_sooner(judged) {
            self.wakes.push(Reverse((judged, client)));
        }
        if purse.is_past_buffer(now) {
            self.prices.excuse(client, false);
        }
    }

    pub(super) fn wake(&mut self, now: Time, at: Time, client: ClientId) {
        if self.purses.get_mut(client).is_some_and(|purse| purse.wakes(at)) {
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
        // With bursts, a price may have fallen so far that chance has no say any more.
        let may_go = |purse: &Purse<G, P>| match spares_bursts {
            true => purse.is_held(),
            false => purse.is_ready(now),
        };
        let held = self.purses.iter().filter(|(_, purse)| may_go(purse));
        let mut held: Vec<ClientId> = held.map(|(client, _)| client).collect();
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
                    purse.note_waited(now);
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
        let judged = purse.judged();
        if judged > now && self.prices.is_waiting(client) {
            wake = wake.min(judged);
        }
        if purse.set_wake(wake) {
            self.wakes.push(Reverse((wake, client)));
        }
    }

    /// Sends the message that a client waits with, if it can pay.
    fn try_to_send(&mut self, now: Time, client: ClientId) -> Result<(), Hindrance> {
        let Some(purse) = self.purses.get_mut(client) else { return Err(Hindrance::Event) };
        let Some(offer) = &purse.held else { return Err(Hindrance::Event) };
        let size = offer.message.payload.size();
        let is_full = self.window.is_full(size);
        if self.member.is_changing() || is_full || self.member.is_joining(client) {
            self.is_waited_for = true;
            if is_full && self.window.asks() {
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
            if let (true, Hindrance::Until(_)) = (params.spares_bursts(), &hindrance) {
                self.await_look(is_beyond, is_unpriced);
            }
            return Err(hindrance);
        }
        let Some(mut offer) = purse.held.take() else { return Err(Hindrance::Event) };
        self.held -= 1;
        offer.message.payload.note_sent(now);
        self.member.send_to_these(client, offer.message, to);
        let stamp = self.member.stamp();
        self.served = client;
        if is_spared && receivers > 0 {
            let bursts = [&mut purse.burst, &mut self.burst];
            bursts.into_iter().for_each(|burst| burst.note(now, size, stamp));
        }
        let is_bounded = self.window.is_bounded() && is_for_others;
        if is_bounded && self.member.stable() < stamp && self.window.note(stamp, size) {
            self.member.ask_for_stability();
        }
        Ok(())
    }

    /// Notes that a client waits for a look at the queues: a price may fall then that a burst has
    /// caused, or more may go for no fee.
    fn await_look(&mut self, is_beyond: bool, is_unpriced: bool) {
        self.is_look_awaited = true;
        if is_beyond {
            self.member.ask_for_stability();
        }
        let has_left = || {
            !self.links.is_any_waiting()
                && !self.prices.is_any_waiting()
                && !self.prices.have_others_told()
        };
        // Nothing but the limit of bursts stops it, or the price of what has left since.
        if let (true, Some(apart)) = (is_unpriced || has_left(), self.settings.looks()) {
            self.next_look = self.next_look.min(self.last_look + apart / 4);
        }
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
