//! A client's money, and the message that it waits to send.

use std::slice::from_ref;
use std::sync::Arc;

use prefetch_index::prefetch_index;
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Bytes, Duration, Time};

use crate::benefit::Recent;
use crate::budget::{Budget, Decision};
use crate::burst::Burst;
use crate::ids::{EdgeId, NodeSet};
use crate::membership::{Outgoing, Target};
use crate::params::Params;
use crate::price::Dollars;

/// Longest delay that a daemon makes up for. Salaries and second thoughts are due at exact times,
/// but a program wakes later.
const LAG: Duration = Duration::from_millis(10);
/// Time within which a client reads again, if it can, while a message waits.
const PATIENCE: Duration = Duration::from_millis(20);
/// Time in which the socket's buffer may still take messages without the client's reading.
const BUFFERING: Duration = Duration::from_millis(5);
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
pub(super) struct Aim<G> {
    /// [`Member::aims`](crate::membership::Member::aims) at that time.
    pub(super) of: u64,
    pub(super) targets: Arc<[Target<G>]>,
    pub(super) to: NodeSet,
    /// The links that a message crosses.
    pub(super) way: Arc<[EdgeId]>,
}

/// Why a message is not sent now.
pub(super) enum Hindrance {
    /// Money or chance may allow the message at this time, and lower prices earlier.
    Until(Time),
    /// The message waits for an event: a lower price, room in the window, a view or a receiver.
    Event,
}

/// What a message costs.
pub(super) struct Bill {
    /// Cost of a message that counts as one.
    pub(super) cost: Dollars,
    /// Number of messages that this one counts as.
    pub(super) counted: u32,
    /// Number of them that the client must be able to pay for now.
    pub(super) at_once: u32,
    /// Number of daemons that it is for.
    pub(super) receivers: usize,
    pub(super) data: Bytes,
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
    pub(super) burst: Burst,
    recent: Recent,
    pub(super) held: Option<Offer<G, P>>,
    pub(super) aim: Option<Aim<G>>,
    /// When the last message was offered.
    since: Time,
    /// When the client last read, or offered a message.
    last_seen: Time,
    /// When a message that chance delayed is considered again.
    ready: Time,
    /// When the client's message is considered next, or its reading judged.
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

    /// Whether a message waits that chance does not delay.
    pub(super) fn is_ready(&self, now: Time) -> bool {
        self.is_held() && self.ready <= now
    }

    /// Holds a message until it is sent. `Err` if it has not come yet.
    pub(super) fn hold(&mut self, now: Time, offer: Offer<G, P>) -> Result<(), Hindrance> {
        debug_assert!(self.held.is_none(), "a client offers one message at a time");
        (self.since, self.last_seen) = (now, now);
        self.ready = self.ready.max(offer.line.map_or(lagging(now), |line| line.until));
        self.held = Some(offer);
        if self.ready > now { Err(Hindrance::Until(self.ready)) } else { Ok(()) }
    }

    /// Gives back the message that waits.
    pub(super) fn withdraw(&mut self) -> Option<Offer<G, P>> {
        let offer = self.held.take()?;
        self.wake = Time::NEVER;
        Some(offer)
    }

    /// Notes that a message which waited has been sent.
    pub(super) fn note_waited(&mut self, now: Time) {
        self.blocked += now.since(self.since);
        self.wake = Time::NEVER;
    }

    /// Notes that the client has read.
    pub(super) fn note_read(&mut self, now: Time) {
        self.last_seen = now;
    }

    /// From when on a client that waits to send, and has read nothing since, cannot read.
    pub(super) fn judged(&self) -> Time {
        self.last_seen + PATIENCE
    }

    /// Whether the message has waited for longer than the client's socket hides its reading.
    pub(super) fn is_past_buffer(&self, now: Time) -> bool {
        now.since(self.since) >= BUFFERING
    }

    /// Sets when to wake. Returns whether that must be noted.
    pub(super) fn set_wake(&mut self, wake: Time) -> bool {
        let before = core::mem::replace(&mut self.wake, wake);
        wake != before && wake != Time::NEVER
    }

    /// As [`Purse::set_wake`], if this is sooner.
    pub(super) fn wake_sooner(&mut self, wake: Time) -> bool {
        wake < self.wake && self.set_wake(wake)
    }

    /// Whether the client is to wake at this time, once.
    pub(super) fn wakes(&mut self, at: Time) -> bool {
        let wakes = self.wake == at;
        if wakes {
            self.wake = Time::NEVER;
        }
        wakes
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
        self.last_seen = self.last_seen - by;
        self.ready = self.ready - by;
        if self.wake != Time::NEVER {
            self.wake = self.wake - by;
        }
    }

    pub(super) fn state(&self, now: Time) -> PurseState {
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

    /// Pays for a message, which may be taken then.
    pub(super) fn pay(
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
                    self.owed += bill.receivers as u64;
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
