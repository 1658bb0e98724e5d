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
    random: Xoshiro256PlusPlus,
}

impl Medium {
    pub(crate) fn new(spec: &MediumSpec, index: u64, seed: u64) -> Medium {
        Medium {
            contention: spec.contention,
            links: Vec::new(),
            busy_until: Time::ZERO,
            random: stream(seed, "medium", index),
        }
    }
    pub(crate) fn join(&mut self, link: LinkId) {
        self.links.push(link);
    }
}

impl Network {
    /// Lets the next link send, if the medium is free and one wants to.
    pub(crate) fn contend(&mut self, now: Time, id: MediumId, scheduler: &mut impl Scheduler) {
        let medium = &self.mediums[id.index()];
        if medium.busy_until > now {
            return;
        }
        let mut ready = medium.links.clone();
        ready.retain(|l| {
            let link = &self.links[l.index()];
            link.waiting() > 0 && link.can_send()
        });
        if ready.is_empty() {
            return;
        }
        let (winner, collided) = self.choose(id, &ready);
        let start = now + collided;
        // The port's timers up to now come before the departure.
        self.catch_up(now, winner, scheduler);
        if !self.dequeue(start, winner) {
            return;
        }
        self.start_waiting(start, winner, scheduler);
        let link = &mut self.links[winner.index()];
        let free = link.busy_until;
        // Whoever waits is served when the medium is free: an event of the winner's at that time.
        if let Some(extra) = link.extra.as_deref_mut() {
            extra.last_turn = start;
            extra.medium_free = free;
        }
        self.mediums[id.index()].busy_until = free;
        if free < link.next_event {
            link.next_event = free;
            scheduler.schedule(free, winner);
        }
    }

    /// Who sends, and the time lost to collisions before it does.
    fn choose(&mut self, id: MediumId, ready: &[LinkId]) -> (LinkId, Duration) {
        let medium = &mut self.mediums[id.index()];
        if ready.len() == 1 {
            return (ready[0], Duration::ZERO);
        }
        match medium.contention {
            Contention::Alternate => {
                let turn = |l: &&LinkId| {
                    self.links[l.index()].extra.as_ref().map_or(Time::ZERO, |e| e.last_turn)
                };
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
