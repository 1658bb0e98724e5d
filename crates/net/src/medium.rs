//! Half-duplex media: their links send one at a time.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ratewire_units::{Duration, Time};

use crate::link::{Link, Links};
use crate::random::{stream, unit};
use crate::scheduler::Scheduler;
use crate::spec::{Contention, LinkId, MediumId, MediumSpec};

/// Slot of the backoff: 512 bit times of 10 Mbit/s Ethernet (IEEE 802.3, 4.4.2).
const SLOT: Duration = Duration::from_nanos(51_200);
/// Largest number of doublings of the backoff's range (IEEE 802.3, 4.2.3.2.5).
const BACKOFF_LIMIT: u32 = 10;
/// Collisions of one packet after which the count starts over (attemptLimit of IEEE 802.3). An
/// Ethernet adapter then drops the packet; this model keeps it.
const ATTEMPT_LIMIT: u32 = 16;

/// Who may send next on a medium.
pub(crate) enum Access {
    /// No link wants to send, or the medium is busy.
    Nobody,
    /// This link sends now.
    Send(LinkId),
    /// A collision occupies the medium until this time.
    Collision(Time),
    /// All links that want to send are backing off; this link tries first, at this time.
    Wait(LinkId, Time),
}

/// An active medium.
#[derive(Debug)]
struct Medium {
    contention: Contention,
    links: Vec<LinkId>,
    busy_until: Time,
    /// Number of transmissions and collisions so far.
    turns: u64,
    /// Links that want to send; kept between calls to reuse the memory.
    ready: Vec<LinkId>,
    random: Xoshiro256PlusPlus,
}

impl Medium {
    fn new(spec: &MediumSpec, index: u64, seed: u64) -> Medium {
        Medium {
            contention: spec.contention,
            links: Vec::new(),
            busy_until: Time::ZERO,
            turns: 0,
            ready: Vec::new(),
            random: stream(seed, "medium", index),
        }
    }

    /// Chooses the next sender among the links that want to send.
    fn access(&mut self, now: Time, links: &mut [Link], ready: &[LinkId]) -> Access {
        match (self.contention, ready) {
            (_, []) => Access::Nobody,
            (Contention::Backoff, all) => self.back_off(now, links, all),
            (_, [only]) => Access::Send(*only),
            (Contention::Alternate, all) => {
                let last = |l: &&LinkId| links[l.index()].extra.as_ref().map_or(0, |e| e.last_turn);
                Access::Send(*all.iter().min_by_key(last).unwrap_or(&all[0]))
            }
            (Contention::Random, all) => {
                let at = (unit(self.random.next_u64()) * all.len() as f64) as usize;
                Access::Send(all[at.min(all.len() - 1)])
            }
        }
    }

    /// Binary exponential backoff: links whose backoff has ended try to send. If several do, they
    /// collide, and each waits a number of slots drawn from a range that doubles with its
    /// collisions. Backoff continues while others send. A winner starts its next packet without
    /// collisions, and so draws from a smaller range than the loser: this lets a winner win again
    /// (the capture effect).
    fn back_off(&mut self, now: Time, links: &mut [Link], ready: &[LinkId]) -> Access {
        let retry = |links: &[Link], l: LinkId| {
            links[l.index()].extra.as_ref().map_or(Time::ZERO, |e| e.retry_at)
        };
        let first = ready.iter().copied().min_by_key(|l| retry(links, *l)).unwrap_or(ready[0]);
        if retry(links, first) > now {
            return Access::Wait(first, retry(links, first));
        }
        let trying = ready.iter().filter(|l| retry(links, **l) <= now).count();
        for l in ready {
            if retry(links, *l) > now {
                continue;
            }
            let Some(extra) = links[l.index()].extra.as_deref_mut() else { continue };
            if trying == 1 {
                extra.collisions = 0;
                return Access::Send(*l);
            }
            extra.collisions = (extra.collisions + 1) % ATTEMPT_LIMIT;
            let range = 1u64 << extra.collisions.min(BACKOFF_LIMIT);
            let slots = self.random.next_u64() % range;
            extra.retry_at = now + SLOT + SLOT * slots;
        }
        Access::Collision(now + SLOT)
    }
}

/// All media of a network.
#[derive(Debug)]
pub(crate) struct Mediums {
    all: Vec<Medium>,
}

impl Mediums {
    pub(crate) fn new(specs: &[MediumSpec], seed: u64) -> Mediums {
        let specs = specs.iter().enumerate();
        Mediums { all: specs.map(|(i, spec)| Medium::new(spec, i as u64, seed)).collect() }
    }
    /// Adds a link to a medium.
    pub(crate) fn join(&mut self, id: MediumId, link: LinkId) {
        self.all[id.index()].links.push(link);
    }
    pub(crate) fn is_free(&self, id: MediumId, now: Time) -> bool {
        self.all[id.index()].busy_until <= now
    }
    /// Changes the end of the transmission on a medium.
    pub(crate) fn stays_busy_until(&mut self, id: MediumId, free: Time) {
        self.all[id.index()].busy_until = free;
    }

    /// Who sends next on a medium.
    pub(crate) fn access(&mut self, now: Time, id: MediumId, links: &mut Links) -> Access {
        if !self.is_free(id, now) {
            return Access::Nobody;
        }
        let medium = &mut self.all[id.index()];
        let mut ready = core::mem::take(&mut medium.ready);
        ready.clear();
        ready.extend(medium.links.iter().filter(|l| {
            let link = &links[l.index()];
            link.waiting() > 0 && link.can_send()
        }));
        let access = medium.access(now, links, &ready);
        medium.ready = ready;
        access
    }

    /// Occupies a medium with a collision until this time.
    pub(crate) fn collide(
        &mut self,
        id: MediumId,
        until: Time,
        links: &mut Links,
        scheduler: &mut impl Scheduler,
    ) {
        let first = self.all[id.index()].links[0];
        self.occupy(id, first, until, links, scheduler);
    }

    /// Marks the medium as busy until `free`. Schedules an event of the link for that time, which
    /// serves the waiting links.
    pub(crate) fn occupy(
        &mut self,
        id: MediumId,
        link: LinkId,
        free: Time,
        links: &mut Links,
        scheduler: &mut impl Scheduler,
    ) {
        let medium = &mut self.all[id.index()];
        medium.busy_until = free;
        medium.turns += 1;
        if let Some(extra) = links[link.index()].extra.as_deref_mut() {
            extra.last_turn = medium.turns;
        }
        contend_again(free, link, links, scheduler);
    }
}

/// Schedules an event of the link at that time, at which it contends for its medium again.
pub(crate) fn contend_again(
    at: Time,
    id: LinkId,
    links: &mut Links,
    scheduler: &mut impl Scheduler,
) {
    let link = &mut links[id.index()];
    if let Some(extra) = link.extra.as_deref_mut() {
        extra.medium_free = extra.medium_free.min(at);
    }
    link.call_at(at, id, scheduler);
}
