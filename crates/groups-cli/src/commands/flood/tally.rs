//! What is counted during a flood.

use std::cell::RefCell;

use hdrhistogram::Histogram;
use ratewire_units::{Duration, Time};
use tokio::sync::Notify;

use super::super::service::Service;
use super::order::Order;
use super::plan::{End, Plan};
use super::stamp::Stamp;

/// Longest time that a message may be under way and be told from longer ones: a day, in
/// nanoseconds.
const LONGEST_LATENCY: u64 = 86_400_000_000_000;

/// Counts that the clients of a flood share.
#[derive(Debug)]
pub(super) struct Shared {
    /// The counts.
    pub tally: RefCell<Tally>,
    /// Wakes senders whose messages have arrived.
    pub arrived: Vec<Notify>,
}

/// Counts of one sender.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    /// All messages.
    pub all: u64,
    /// Messages after the warm-up.
    pub counted: u64,
    /// Counted time in which the daemon did not read.
    pub held: Duration,
    /// Whether the sender waits for messages to arrive.
    pub is_waiting: bool,
}

/// What one receiver has got from one sender.
#[derive(Clone, Debug, Default)]
struct Got {
    messages: u64,
    /// One more than the largest number of a message.
    reached: u64,
}

/// All counts.
#[derive(Debug)]
pub(super) struct Tally {
    /// Start of the period that counts.
    pub from: Time,
    /// End of the period that counts; `None` if that is the last message.
    pub until: Option<Time>,
    is_fifo: bool,
    /// By sender.
    pub sent: Vec<Sent>,
    /// By receiver and sender.
    got: Vec<Vec<Got>>,
    /// Messages received after the warm-up and before the end.
    pub delivered: u64,
    /// When the last of the counted messages was sent.
    pub last_sent: Time,
    /// When the last of the counted messages was received.
    pub last_received: Time,
    /// Nanoseconds from sending to receiving.
    pub latency: Histogram<u64>,
    /// Comparison of the receivers; `None` where the service promises no common order.
    pub order: Option<Order>,
    /// Messages that came after a later one of their sender, or twice.
    pub misplaced: u64,
    /// Changes of the groups' members between the start and the end.
    pub changes: u64,
    /// Whether no more messages are on their way.
    pub is_drained: bool,
    /// Whether the clients are leaving.
    pub is_over: bool,
    /// Messages that the daemon has refused.
    pub refused: u64,
}

impl Shared {
    pub(super) fn new(plan: &Plan) -> Shared {
        let senders = plan.senders;
        let arrived = (0..senders).map(|_| Notify::new()).collect();
        Shared { tally: RefCell::new(Tally::new(plan)), arrived }
    }

    /// Takes note of messages that the kernel has taken from a sender. `held_from` is when the
    /// daemon has stopped reading, if it did.
    pub(super) fn send(&self, sender: usize, messages: u64, held_from: Option<Time>, now: Time) {
        self.tally.borrow_mut().send(sender, messages, held_from, now);
    }

    /// Takes note of a message that a receiver has got.
    pub(super) fn receive(&self, receiver: usize, stamp: &Stamp, now: Time) {
        let is_awaited = self.tally.borrow_mut().receive(receiver, stamp, now);
        if is_awaited {
            self.arrived[stamp.sender as usize].notify_one();
        }
    }
}

impl Tally {
    fn new(plan: &Plan) -> Tally {
        let has_order = plan.service >= Service::Agreed;
        Tally {
            from: Time::from_ps(plan.warmup.ps()),
            until: match plan.end {
                End::Count(_) => None,
                End::At(end) => Some(end),
            },
            is_fifo: plan.service >= Service::Fifo,
            sent: vec![Sent::default(); plan.senders],
            got: vec![vec![Got::default(); plan.senders]; plan.receiving()],
            delivered: 0,
            last_sent: Time::from_ps(0),
            last_received: Time::from_ps(0),
            latency: Histogram::new_with_bounds(1, LONGEST_LATENCY, 3).expect("valid bounds"),
            order: has_order.then(|| Order::new(plan.receiving())),
            misplaced: 0,
            changes: 0,
            is_drained: false,
            is_over: false,
            refused: 0,
        }
    }

    /// Whether a moment is in the period that counts.
    fn counts(&self, now: Time) -> bool {
        now >= self.from && self.until.is_none_or(|until| now < until)
    }

    /// Takes note of a change of a group's members.
    pub(super) fn change(&mut self) {
        self.changes += u64::from(!self.is_over);
    }

    /// Whether the end has come.
    pub(super) fn is_past(&self, now: Time) -> bool {
        self.until.is_some_and(|until| now >= until)
    }

    /// Moves the end to now, unless it has come.
    pub(super) fn stop(&mut self, now: Time) {
        self.until = Some(self.until.map_or(now, |until| until.min(now)));
    }

    fn send(&mut self, sender: usize, messages: u64, held_from: Option<Time>, now: Time) {
        let (counts, until) = (self.counts(now), self.until.unwrap_or(now).min(now));
        let sent = &mut self.sent[sender];
        sent.all += messages;
        if counts {
            sent.counted += messages;
            self.last_sent = now;
        }
        if let Some(from) = held_from.map(|from| from.max(self.from)).filter(|from| *from < until) {
            sent.held += until.since(from);
        }
    }

    /// Takes note of a message; true if its sender waits for messages to arrive.
    fn receive(&mut self, receiver: usize, stamp: &Stamp, now: Time) -> bool {
        let sender = stamp.sender as usize;
        let Some(got) = self.got[receiver].get_mut(sender) else { return false };
        got.messages += 1;
        if stamp.sequence >= got.reached {
            got.reached = stamp.sequence + 1;
        } else if self.is_fifo {
            self.misplaced += 1;
        }
        if let Some(order) = &mut self.order {
            order.note(receiver, (stamp.sender, stamp.sequence));
        }
        if self.counts(now) {
            self.delivered += 1;
            self.last_received = now;
        }
        if self.counts(stamp.sent) {
            self.latency.saturating_record(now.since(stamp.sent).ps() / 1_000);
        }
        std::mem::take(&mut self.sent[sender].is_waiting)
    }

    /// Messages of a sender that all receivers have got, or will not get.
    pub(super) fn arrived(&self, sender: usize) -> u64 {
        self.got.iter().map(|got| got[sender].reached).min().unwrap_or_default()
    }

    /// Grows with each message that is sent or received.
    pub(super) fn progress(&self) -> u64 {
        let sent: u64 = self.sent.iter().map(|sent| sent.all).sum();
        sent + self.got.iter().flatten().map(|got| got.messages).sum::<u64>()
    }

    /// Messages that receivers have not got. Each counts once for each receiver.
    pub(super) fn missing(&self) -> u64 {
        let of = |got: &Vec<Got>| {
            let pairs = self.sent.iter().zip(got);
            pairs.map(|(sent, got)| sent.all.saturating_sub(got.messages)).sum::<u64>()
        };
        self.got.iter().map(of).sum()
    }
}
