//! Parts that only few links have.

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Duration, Time};

use super::RareTally;
use super::bucket::{Bucket, Shaper};
use super::duplicate::Duplicates;
use super::jitter::Jitter;
use super::loss::LossState;
use crate::packet::Label;
use crate::policer::Policer;
use crate::queue::AnyDiscipline;
use crate::queue::sorted::Sorted;
use crate::random::stream;
use crate::service::TraceCursor;
use crate::spec::{MediumId, Reorder, Variation};

/// Parts that only few links have.
#[derive(Debug)]
pub(crate) struct RareParts {
    pub(crate) discipline: AnyDiscipline,
    /// Waiting packets, if the discipline sorts them.
    pub(crate) sorted: Option<Sorted>,
    pub(crate) loss: LossState,
    pub(crate) trace: Option<TraceCursor>,
    pub(crate) medium: Option<MediumId>,
    pub(crate) down: bool,
    /// Time at which the link last went down; the time before that is in the tally.
    pub(crate) down_since: Time,
    /// Whether packets that reach the far end are captured.
    pub(crate) watched: bool,
    /// Whether frames that the link carries or obeys are captured.
    pub(crate) tapped: bool,
    /// Bytes of the packet being sent that were left when the rate fell to zero.
    pub(crate) stalled: Option<f64>,
    pub(crate) random: Xoshiro256PlusPlus,
    /// Number of the link's last transmission or collision on its medium, from one.
    pub(crate) last_turn: u64,
    /// Time at which the medium is free again, while this link sends or is next to send on it.
    pub(crate) medium_free: Time,
    /// Consecutive collisions, for backoff.
    pub(crate) collisions: u32,
    /// End of the link's backoff.
    pub(crate) retry_at: Time,
    pub(crate) strips: bool,
    pub(crate) reorder: Option<Reorder>,
    /// Late packets and copies, in the order of their arrival.
    pub(crate) late: VecDeque<Label>,
    pub(crate) policer: Option<Box<Policer>>,
    pub(crate) token_policer: Option<Bucket>,
    pub(crate) shaper: Option<Shaper>,
    pub(crate) jitter: Option<Jitter>,
    pub(crate) duplicates: Option<Duplicates>,
    pub(crate) tally: RareTally,
}

impl RareParts {
    /// Gives the link what varies by itself.
    pub(super) fn vary(&mut self, variation: &Variation, index: u64, seed: u64) {
        self.token_policer = variation.policer.as_ref().map(Bucket::new);
        self.shaper = variation.shaper.as_ref().map(Shaper::new);
        self.duplicates = Duplicates::new(variation.duplicate, index, seed);
        self.jitter = variation.jitter.map(|jitter| Jitter::new(jitter, index, seed));
    }

    /// Takes the link down or up.
    pub(crate) fn set_up(&mut self, now: Time, up: bool) {
        if self.down == up {
            self.tally.outages += u64::from(!up);
            self.tally.down = self.down_until(now);
            (self.down, self.down_since) = (!up, now);
        }
    }

    /// Time for which the link has been down.
    pub(super) fn down_until(&self, now: Time) -> Duration {
        let current = if self.down { now.since(self.down_since) } else { Duration::ZERO };
        self.tally.down + current
    }

    /// Arrival of the next late packet.
    pub(crate) fn next_late(&self) -> Time {
        self.late.front().map_or(Time::NEVER, |label| label.time)
    }

    pub(super) fn plain(index: u64, seed: u64) -> RareParts {
        RareParts {
            discipline: AnyDiscipline::default(),
            sorted: None,
            loss: LossState::None,
            trace: None,
            medium: None,
            down: false,
            down_since: Time::ZERO,
            watched: false,
            tapped: false,
            stalled: None,
            random: stream(seed, "link", index),
            last_turn: 0,
            medium_free: Time::NEVER,
            collisions: 0,
            retry_at: Time::ZERO,
            strips: false,
            reorder: None,
            late: VecDeque::new(),
            policer: None,
            token_policer: None,
            shaper: None,
            jitter: None,
            duplicates: None,
            tally: RareTally::default(),
        }
    }
}
