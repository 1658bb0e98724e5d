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
/// Collisions of one packet after which the count starts over (attemptLimit of IEEE 802.3, where an
/// adapter gives the packet up; ours keeps it).
const ATTEMPT_LIMIT: u32 = 16;

/// Whose turn it is on a free medium.
enum Turn {
    /// Nobody wants to send.
    Nobody,
    /// This link sends now.
    Send(LinkId),
    /// The medium is taken up by a collision until then.
    Collision(Time),
    /// All who want to send are backing off; this one is the first to try again, then.
    Wait(LinkId, Time),
}

/// A medium in operation.
#[derive(Debug)]
pub(crate) struct Medium {
    contention: Contention,
    links: Vec<LinkId>,
    busy_until: Time,
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
            match self.turn(now, id) {
                Turn::Nobody => return,
                Turn::Wait(link, until) => return self.wake(link, until, scheduler),
                Turn::Collision(until) => {
                    let first = self.mediums[id.index()].links[0];
                    self.occupy(id, first, until, scheduler);
                }
                Turn::Send(winner) => {
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
        }
    }

    /// An event of the link's at that time, at which the medium is contended for again.
    fn wake(&mut self, id: LinkId, at: Time, scheduler: &mut impl Scheduler) {
        let link = &mut self.links[id.index()];
        if let Some(extra) = link.extra.as_deref_mut() {
            extra.medium_free = extra.medium_free.min(at);
        }
        if at < link.next_event {
            link.next_event = at;
            scheduler.schedule(at, id);
        }
    }

    /// Notes that the medium is busy, with an event of a link's when it is free again: then whoever
    /// waits is served.
    fn occupy(&mut self, id: MediumId, link: LinkId, free: Time, scheduler: &mut impl Scheduler) {
        let medium = &mut self.mediums[id.index()];
        medium.busy_until = free;
        medium.turns += 1;
        if let Some(extra) = self.links[link.index()].extra.as_deref_mut() {
            extra.last_turn = medium.turns;
        }
        self.wake(link, free, scheduler);
    }

    /// Whose turn it is.
    fn turn(&mut self, now: Time, id: MediumId) -> Turn {
        let medium = &mut self.mediums[id.index()];
        let mut ready = core::mem::take(&mut medium.ready);
        ready.clear();
        ready.extend(medium.links.iter().filter(|l| {
            let link = &self.links[l.index()];
            link.waiting() > 0 && link.can_send()
        }));
        let turn = match (medium.contention, &ready[..]) {
            (_, []) => Turn::Nobody,
            (Contention::Backoff, all) => self.back_off(now, id, all),
            (_, [only]) => Turn::Send(*only),
            (Contention::Alternate, all) => {
                let last =
                    |l: &&LinkId| self.links[l.index()].extra.as_ref().map_or(0, |e| e.last_turn);
                Turn::Send(*all.iter().min_by_key(last).unwrap_or(&all[0]))
            }
            (Contention::Random, all) => {
                let at = (unit(medium.random.next_u64()) * all.len() as f64) as usize;
                Turn::Send(all[at.min(all.len() - 1)])
            }
        };
        self.mediums[id.index()].ready = ready;
        turn
    }

    /// Binary exponential backoff: those whose backoff has run out try; if several do they collide,
    /// and each waits a number of slots drawn from a range that doubles with its collisions. A
    /// backoff runs on while others send. Who has sent starts its next packet without a history and
    /// draws from a smaller range than the loser: that is what lets a winner win again (the capture
    /// effect).
    fn back_off(&mut self, now: Time, id: MediumId, ready: &[LinkId]) -> Turn {
        let retry = |network: &Network, l: LinkId| {
            network.links[l.index()].extra.as_ref().map_or(Time::ZERO, |e| e.retry_at)
        };
        let first = ready.iter().copied().min_by_key(|l| retry(self, *l)).unwrap_or(ready[0]);
        if retry(self, first) > now {
            return Turn::Wait(first, retry(self, first));
        }
        let trying = ready.iter().filter(|l| retry(self, **l) <= now).count();
        for l in ready {
            if retry(self, *l) > now {
                continue;
            }
            let Some(extra) = self.links[l.index()].extra.as_deref_mut() else { continue };
            if trying == 1 {
                extra.collisions = 0;
                return Turn::Send(*l);
            }
            extra.collisions = (extra.collisions + 1) % ATTEMPT_LIMIT;
            let range = 1u64 << extra.collisions.min(BACKOFF_LIMIT);
            let slots = self.mediums[id.index()].random.next_u64() % range;
            extra.retry_at = now + SLOT + SLOT * slots;
        }
        Turn::Collision(now + SLOT)
    }
}
