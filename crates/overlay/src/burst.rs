//! What clients may send for no fee.
//!
//! The paper's fee (section 4.2.3) bounds what a client sends between two prices: without it, an
//! idle network would cost nothing, and a client could fill every queue before any price rose. It
//! also makes a burst of an idle client wait for salaries, however idle the network is. A burst
//! needs no fee while it is too small to harm anybody: up to as many messages as the soft limit of
//! a queue, and a part of the window, until all daemons have it and this one has looked at its
//! queues since.

use ratewire_units::{Bytes, Duration, Time};

use crate::membership::OrderStamp;
use crate::price::Occupancy;

/// A client's burst may fill one part in so many of the window.
const WINDOW_SHARE: u64 = 16;
/// Most bytes of a burst.
const MAX_BURST: Bytes = Bytes::new(1_000_000);
/// Bursts of single clients that all clients of a daemon may send together.
const CLIENTS_AT_ONCE: u64 = 4;

/// Which messages cost the fee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BudgetRule {
    /// All, as in section 4.2.3.
    #[default]
    Paper,
    /// Those beyond a burst. With a [layered](crate::Benefit::Layered) benefit, which needs a cost
    /// to bound a client's rate, all do.
    Bursts,
}

impl BudgetRule {
    /// Names of the rules; the first is the default of scenarios.
    pub const NAMES: &[&str] = &["paper", "bursts"];

    /// The rule with this name.
    pub fn named(name: &str) -> Option<BudgetRule> {
        match name {
            "paper" => Some(BudgetRule::Paper),
            "bursts" => Some(BudgetRule::Bursts),
            _ => None,
        }
    }

    /// The rule's name.
    pub fn name(self) -> &'static str {
        match self {
            BudgetRule::Paper => "paper",
            BudgetRule::Bursts => "bursts",
        }
    }
}

/// Limit of what clients may send until prices show it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BurstLimit {
    messages: u64,
    bytes: Bytes,
}

impl BurstLimit {
    /// Limit of a client, by the soft limit of queues and the window of a daemon.
    pub(crate) fn of_client(soft_limit: Occupancy, window: Bytes) -> BurstLimit {
        let bytes = Bytes::new(window.get() / WINDOW_SHARE).min(MAX_BURST);
        BurstLimit { messages: libm::ceil(soft_limit.get()) as u64, bytes }
    }

    /// Limit of all clients of a daemon.
    pub(crate) fn of_all(self) -> BurstLimit {
        let bytes = Bytes::new(CLIENTS_AT_ONCE * self.bytes.get());
        BurstLimit { messages: CLIENTS_AT_ONCE * self.messages, bytes }
    }
}

/// Messages that prices may not show yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Burst {
    messages: u64,
    bytes: Bytes,
    /// Time and stamp of the last of them.
    last: (Time, OrderStamp),
}

impl Burst {
    /// Forgets what was sent, if queues as last looked at show what came until `shown`, and if all
    /// daemons have what is `stable`.
    pub(crate) fn renew(&mut self, shown: Time, stable: impl FnOnce() -> OrderStamp) {
        let (time, stamp) = self.last;
        if self.messages > 0 && time <= shown && stamp <= stable() {
            (self.messages, self.bytes) = (0, Bytes::ZERO);
        }
    }

    /// Whether another message costs no fee. The last one may end beyond the limit.
    pub(crate) fn fits(&self, limit: BurstLimit) -> bool {
        self.messages < limit.messages && self.bytes < limit.bytes
    }

    /// Notes a message that was sent for no fee.
    pub(crate) fn note(&mut self, now: Time, size: Bytes, stamp: OrderStamp) {
        self.messages += 1;
        self.bytes += size;
        self.last = (now, stamp);
    }

    /// Sets the clock back.
    pub(crate) fn set_back(&mut self, by: Duration) {
        self.last.0 = self.last.0 - by;
    }
}
