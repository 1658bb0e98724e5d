//! Routing by what is known of members, while members come and go.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ratewire_anypoint::routing::{Frame, KeyHash, Member, Routing, Weighted};
use ring::digest::{SHA256, digest};

/// What routing modules must know of a place in the ensemble.
#[derive(Clone, Copy, Debug)]
struct Known {
    weight: f64,
    /// The number by which the place is hashed.
    number: u64,
}

/// The places of an ensemble, for routing modules.
#[derive(Debug)]
pub(crate) struct Roster {
    known: Mutex<Vec<Known>>,
    version: AtomicU64,
}

impl Roster {
    /// Places of members with these weights, and spare ones.
    pub(crate) fn new(weights: impl Iterator<Item = f64>, spare: usize) -> Arc<Roster> {
        let weights = weights.chain(core::iter::repeat_n(1.0, spare));
        let known = (0..).zip(weights).map(|(number, weight)| Known { weight, number });
        Arc::new(Roster { known: Mutex::new(known.collect()), version: AtomicU64::new(0) })
    }

    /// Gives a place to a registered member. Its keys follow from its name, so it has the same ones
    /// in any place, and after a restart of the switch. Returns the number by which it is hashed.
    pub(crate) fn enlist(&self, place: usize, name: &str, weight: f64) -> u64 {
        let hash = digest(&SHA256, name.as_bytes());
        let number = hash.as_ref()[..8].iter().fold(0, |n, byte| (n << 8) | u64::from(*byte));
        self.known()[place] = Known { weight, number };
        self.version.fetch_add(1, Ordering::Release);
        number
    }

    fn known(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A module that follows a roster.
#[derive(Debug)]
pub(crate) struct Following {
    roster: Arc<Roster>,
    version: u64,
    by: By,
}

#[derive(Debug)]
enum By {
    Weight(Weighted),
    Name(KeyHash, Vec<u64>),
}

impl Following {
    /// By the members' weights.
    pub(crate) fn weights(roster: Arc<Roster>) -> Following {
        Following::new(roster, By::Weight(Weighted::new(Vec::new())))
    }
    /// By a hash of a key, and of the members' names.
    pub(crate) fn names(roster: Arc<Roster>, hash: KeyHash) -> Following {
        Following::new(roster, By::Name(hash, Vec::new()))
    }

    fn new(roster: Arc<Roster>, by: By) -> Following {
        let mut following = Following { roster, version: 0, by };
        following.read();
        following
    }

    fn read(&mut self) {
        let known = self.roster.known();
        match &mut self.by {
            By::Weight(weighted) => {
                *weighted = Weighted::new(known.iter().map(|place| place.weight).collect());
            }
            By::Name(_, numbers) => *numbers = known.iter().map(|place| place.number).collect(),
        }
    }
}

impl Routing for Following {
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
        let version = self.roster.version.load(Ordering::Acquire);
        if core::mem::replace(&mut self.version, version) != version {
            self.read();
        }
        match &mut self.by {
            By::Weight(weighted) => weighted.route(frame, members),
            By::Name(hash, numbers) => hash.choose(frame, members, |k| numbers[k]),
        }
    }

    fn reads_content(&self) -> bool {
        matches!(self.by, By::Name(..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up(places: &[bool]) -> Vec<Member> {
        places.iter().map(|is_up| Member { is_up: *is_up, ..Member::default() }).collect()
    }

    #[test]
    fn keys_follow_names_and_not_places() {
        let roster = Roster::new([1.0].into_iter(), 3);
        let mut routing = Following::names(Arc::clone(&roster), KeyHash { offset: 0, len: 1 });
        let mut all = |members: &[Member]| -> Vec<Option<usize>> {
            let mut route = |key| routing.route(&Frame { number: 0, content: &[key] }, members);
            (0..=255u8).map(&mut route).collect()
        };
        roster.enlist(1, "b", 1.0);
        roster.enlist(2, "c", 1.0);
        let before = all(&up(&[true, true, true, false]));
        roster.enlist(3, "b", 1.0);
        roster.enlist(1, "c", 1.0);
        let moved = [0, 3, 1];
        let after = all(&up(&[true, true, false, true]));
        assert_eq!(after, before.iter().map(|k| k.map(|k| moved[k])).collect::<Vec<_>>());
        assert!((0..3).all(|k| before.contains(&Some(k))));
    }

    #[test]
    fn weights_are_those_of_the_members_there_now() {
        let roster = Roster::new([1.0].into_iter(), 1);
        let mut routing = Following::weights(Arc::clone(&roster));
        let members = up(&[true, true]);
        let mut count = || {
            let frame = Frame { number: 0, content: b"" };
            (0..8).filter(|_| routing.route(&frame, &members) == Some(1)).count()
        };
        assert_eq!(count(), 4);
        roster.enlist(1, "b", 3.0);
        assert_eq!(count(), 6);
    }
}
