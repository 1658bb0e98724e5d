//! Half-duplex media: their links send one at a time.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Duration, Time};

use crate::network::{Network, Scheduler};
use crate::random::{stream, unit};
use crate::spec::{Contention, LinkId, MediumId, MediumSpec};

/// Slot of the backoff: 512 bit times of 10 Mbit/s Ethernet (IEEE 802.3, 4.4.2).
const SLOT: Duration = Duration::from_nanos(51_200);
/// Doublings after which the backoff grows no more (IEEE 802.3, 4.2.3.2.5).
const BACKOFF_LIMIT: u32 = 10;

/// A medium in operation.
#[derive(Debug)]
pub(crate) struct Medium {
    contention: Contention,
    links: Vec<LinkId>,
    busy_until: Time,
    /// Who sends when the collisions that keep the medium busy are over.
    reserved: Option<LinkId>,
    /// Turns so far.
    turns: u64,
    /// Those that want to send, kept for its memory.
    ready: Vec<LinkId>,
    random: Xoshiro256PlusPlus,
}

impl Medium {
    pub(crate) fn new(spec: &MediumSpec, index: u64, seed: u64) -> Medium {
        Medium {
            contention: spec.contention,
            links: Vec::new(),
            busy_until: Time::ZERO,
            reserved: None,
            turns: 0,
            ready: Vec::new(),
            random: stream(seed, "medium", index),
        }
    }
    pub(crate) fn join(&mut self, link: LinkId) {
        self.links.push(link);
    }
    pub(crate) fn is_free(&self, now: Time) -> bool {
        self.busy_until <= now
    }
    /// The packet being sent takes longer or less long than it looked.
    pub(crate) fn stays_busy_until(&mut self, free: Time) {
        self.busy_until = free;
    }
}

impl Network {
    /// Lets the next link send, if the medium is free and one wants to.
    pub(crate) fn contend(&mut self, now: Time, id: MediumId, scheduler: &mut impl Scheduler) {
        while self.mediums[id.index()].is_free(now) {
            let Some((winner, collided)) = self.winner(id) else { return };
            if !collided.is_zero() {
                self.mediums[id.index()].reserved = Some(winner);
                return self.occupy(id, winner, now + collided, scheduler);
            }
            // The port's timers up to now come before the departure.
            self.catch_up(now, winner, scheduler);
            // Where the discipline drops all that waits, it is the next one's turn.
            if self.dequeue(now, winner) {
                self.start_waiting(now, winner, scheduler);
                let free = self.links[winner.index()].busy_until;
                self.occupy(id, winner, free, scheduler);
            }
        }
    }

    /// Notes that the medium is busy, with an event of the winner's when it is free again: then
    /// whoever waits is served.
    fn occupy(&mut self, id: MediumId, winner: LinkId, free: Time, scheduler: &mut impl Scheduler) {
        let medium = &mut self.mediums[id.index()];
        medium.busy_until = free;
        medium.turns += 1;
        let link = &mut self.links[winner.index()];
        if let Some(extra) = link.extra.as_deref_mut() {
            extra.last_turn = medium.turns;
            extra.medium_free = free;
        }
        if free < link.next_event {
            link.next_event = free;
            scheduler.schedule(free, winner);
        }
    }

    /// Who sends, and the time lost to collisions before it does; `None` if nobody wants to.
    fn winner(&mut self, id: MediumId) -> Option<(LinkId, Duration)> {
        let medium = &mut self.mediums[id.index()];
        let reserved = medium.reserved.take();
        let mut ready = core::mem::take(&mut medium.ready);
        ready.clear();
        ready.extend(medium.links.iter().filter(|l| {
            let link = &self.links[l.index()];
            link.waiting() > 0 && link.can_send()
        }));
        let winner = match (reserved, &ready[..]) {
            (_, []) => None,
            (Some(winner), all) if all.contains(&winner) => Some((winner, Duration::ZERO)),
            (_, [only]) => {
                if let Some(extra) = self.links[only.index()].extra.as_deref_mut() {
                    extra.collisions = 0;
                }
                Some((*only, Duration::ZERO))
            }
            (_, all) => Some(self.choose(id, all)),
        };
        self.mediums[id.index()].ready = ready;
        winner
    }

    /// Who of several sends, and the time lost to collisions before it does.
    fn choose(&mut self, id: MediumId, ready: &[LinkId]) -> (LinkId, Duration) {
        let medium = &mut self.mediums[id.index()];
        match medium.contention {
            Contention::Alternate => {
                let turn =
                    |l: &&LinkId| self.links[l.index()].extra.as_ref().map_or(0, |e| e.last_turn);
                (*ready.iter().min_by_key(turn).unwrap_or(&ready[0]), Duration::ZERO)
            }
            Contention::Random => {
                let at = (unit(medium.random.next_u64()) * ready.len() as f64) as usize;
                (ready[at.min(ready.len() - 1)], Duration::ZERO)
            }
            Contention::Backoff => self.back_off(id, ready),
        }
    }

    /// Each draws a number of slots from a range that doubles with its collisions; a tie is one more
    /// collision. The winner's count is cleared, the losers' is not: that is what lets a winner win
    /// again (the capture effect).
    fn back_off(&mut self, id: MediumId, ready: &[LinkId]) -> (LinkId, Duration) {
        let mut lost = SLOT;
        loop {
            let mut best: Vec<LinkId> = Vec::new();
            let mut least = u64::MAX;
            for l in ready {
                let Some(extra) = self.links[l.index()].extra.as_deref_mut() else { continue };
                extra.collisions = (extra.collisions + 1).min(BACKOFF_LIMIT);
                let range = 1u64 << extra.collisions;
                let slots = self.mediums[id.index()].random.next_u64() % range;
                if slots < least {
                    least = slots;
                    best.clear();
                }
                if slots == least {
                    best.push(*l);
                }
            }
            lost += SLOT * least;
            if let [winner] = best[..] {
                if let Some(extra) = self.links[winner.index()].extra.as_deref_mut() {
                    extra.collisions = 0;
                }
                return (winner, lost);
            }
            lost += SLOT;
        }
    }
}
