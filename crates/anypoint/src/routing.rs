//! Application-layer routing modules: they choose the member that a frame goes to.
//!
//! A service brings a module of its own by implementing [`Routing`].

use core::fmt;

use ratewire_units::Bytes;

/// A frame from the peer.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Number of the frame in the peer's stream, from 0.
    pub number: u64,
    /// First bytes of the frame; empty for a frame that is only known to exist.
    pub content: &'a [u8],
}

/// A member, as routing modules see it.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Whether frames may go to the member.
    pub is_up: bool,
    /// Payload sent to the member that is not acknowledged.
    pub outstanding: Bytes,
}

/// Chooses members for frames.
pub trait Routing: fmt::Debug {
    /// The member that a frame goes to, among those that are up; `None` if there is none.
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize>;
    /// Whether the module reads frames. A frame that was lost on its way to the switch then gets
    /// its place only when it comes.
    fn reads_content(&self) -> bool {
        false
    }
}

/// Round robin.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    next: usize,
}

impl Routing for RoundRobin {
    fn route(&mut self, _: &Frame<'_>, members: &[Member]) -> Option<usize> {
        let count = members.len();
        let mut turns = (0..count).map(|i| (self.next + i) % count);
        let chosen = turns.find(|k| members[*k].is_up)?;
        self.next = chosen + 1;
        Some(chosen)
    }
}

/// Each member gets its share, spread as evenly in time as possible: a frame goes to the member
/// that is furthest behind its share.
#[derive(Clone, Debug)]
pub struct Weighted {
    weights: Vec<f64>,
    behind: Vec<f64>,
}

impl Weighted {
    /// Weights above zero with a finite sum, one a member; missing weights are 1.
    pub fn new(weights: Vec<f64>) -> Weighted {
        Weighted { behind: vec![0.0; weights.len()], weights }
    }
}

impl Routing for Weighted {
    fn route(&mut self, _: &Frame<'_>, members: &[Member]) -> Option<usize> {
        self.weights.resize(members.len(), 1.0);
        self.behind.resize(members.len(), 0.0);
        let mut total = 0.0;
        let mut chosen: Option<usize> = None;
        for k in (0..members.len()).filter(|k| members[*k].is_up) {
            total += self.weights[k];
            self.behind[k] += self.weights[k];
            if chosen.is_none_or(|best| self.behind[k] > self.behind[best]) {
                chosen = Some(k);
            }
        }
        self.behind[chosen?] -= total;
        chosen
    }
}

/// The member with the least outstanding payload; among equals, the next in turn.
#[derive(Clone, Debug, Default)]
pub struct LeastOutstanding {
    next: usize,
}

impl Routing for LeastOutstanding {
    fn route(&mut self, _: &Frame<'_>, members: &[Member]) -> Option<usize> {
        let count = members.len();
        let up = (0..count).filter(|k| members[*k].is_up);
        let wait = |k: usize| (k + count - self.next % count) % count;
        let chosen = up.min_by_key(|k| (members[*k].outstanding, wait(*k)))?;
        self.next = chosen + 1;
        Some(chosen)
    }
}

/// By a key at an offset of the frame. A key stays with its member as long as that is up, and only
/// a failed member's keys move (rendezvous hashing: Thaler and Ravishankar 1998).
#[derive(Clone, Debug)]
pub struct KeyHash {
    /// Offset of the key.
    pub offset: usize,
    /// Length of the key.
    pub len: usize,
}

impl Routing for KeyHash {
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
        let start = self.offset.min(frame.content.len());
        let end = self.offset.saturating_add(self.len).min(frame.content.len());
        let key = frame.content[start..end]
            .iter()
            .fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
        let up = (0..members.len()).filter(|k| members[*k].is_up);
        up.max_by_key(|k| mix(key ^ (*k as u64).wrapping_mul(GOLDEN)))
    }
    fn reads_content(&self) -> bool {
        true
    }
}

/// FNV-1a, 64 bits.
const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
/// 2^64 over the golden ratio: it spreads neighbouring numbers.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64: every bit depends on every bit.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// By the first bytes of a frame: the longest prefix in a table; frames without one go round robin.
#[derive(Clone, Debug)]
pub struct Prefix {
    table: Vec<(Vec<u8>, usize)>,
    others: RoundRobin,
}

impl Prefix {
    /// Prefixes, and the members that their frames go to.
    pub fn new(mut table: Vec<(Vec<u8>, usize)>) -> Prefix {
        table.sort_by_key(|(prefix, _)| core::cmp::Reverse(prefix.len()));
        Prefix { table, others: RoundRobin::default() }
    }
}

impl Routing for Prefix {
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
        let fits = |(prefix, k): &&(Vec<u8>, usize)| {
            frame.content.starts_with(prefix) && members.get(*k).is_some_and(|m| m.is_up)
        };
        let found = self.table.iter().find(fits).map(|(_, k)| *k);
        found.or_else(|| self.others.route(frame, members))
    }
    fn reads_content(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(up: &[bool]) -> Vec<Member> {
        up.iter().map(|is_up| Member { is_up: *is_up, outstanding: Bytes::ZERO }).collect()
    }

    fn route(routing: &mut impl Routing, members: &[Member], contents: &[&[u8]]) -> Vec<usize> {
        let frames = (0..).zip(contents).map(|(number, content)| Frame { number, content });
        frames.map(|frame| routing.route(&frame, members).unwrap()).collect()
    }

    const NO_CONTENT: &[&[u8]] = &[b"" as &[u8]; 8];

    #[test]
    fn round_robin_skips_who_is_down() {
        let mut routing = RoundRobin::default();
        assert_eq!(route(&mut routing, &members(&[true; 3]), NO_CONTENT), [0, 1, 2, 0, 1, 2, 0, 1]);
        let one_down = members(&[true, false, true]);
        assert_eq!(route(&mut routing, &one_down, NO_CONTENT), [2, 0, 2, 0, 2, 0, 2, 0]);
        assert_eq!(routing.route(&Frame { number: 0, content: b"" }, &members(&[false; 3])), None);
    }

    #[test]
    fn weights_are_kept_and_spread() {
        let mut routing = Weighted::new(vec![5.0, 1.0, 2.0]);
        assert_eq!(route(&mut routing, &members(&[true; 3]), NO_CONTENT), [0, 2, 0, 0, 1, 0, 2, 0]);
    }

    #[test]
    fn the_least_loaded_gets_it() {
        let mut loaded = members(&[true; 3]);
        loaded[0].outstanding = Bytes::new(5);
        loaded[1].outstanding = Bytes::new(2);
        loaded[2].outstanding = Bytes::new(2);
        let mut routing = LeastOutstanding::default();
        assert_eq!(route(&mut routing, &loaded, &NO_CONTENT[..4]), [1, 2, 1, 2]);
    }

    #[test]
    fn a_key_stays_with_its_member_and_only_those_of_a_failed_one_move() {
        let keys: Vec<[u8; 3]> = (0..=255).map(|i| [i, 7, i / 2]).collect();
        let contents: Vec<&[u8]> = keys.iter().map(|k| k.as_slice()).collect();
        let mut routing = KeyHash { offset: 0, len: 3 };
        let before = route(&mut routing, &members(&[true; 4]), &contents);
        let after = route(&mut routing, &members(&[true, true, false, true]), &contents);
        for (b, a) in before.iter().zip(&after) {
            assert!(b == a || *b == 2);
            assert_ne!(*a, 2);
        }
        for k in 0..4 {
            let count = before.iter().filter(|m| **m == k).count();
            assert!((40..90).contains(&count), "member {k} has {count} of 256 keys");
        }
        // Only the bytes at the offset count; a frame too short has the empty key.
        let mut middle = KeyHash { offset: 1, len: 1 };
        assert!(
            route(&mut middle, &members(&[true; 4]), &contents).windows(2).all(|w| w[0] == w[1])
        );
        assert_eq!(route(&mut middle, &members(&[true; 4]), &[b"", b"x"]).len(), 2);
    }

    #[test]
    fn the_longest_prefix_wins() {
        let table = vec![(b"ab".to_vec(), 0), (b"abc".to_vec(), 1), (b"x".to_vec(), 2)];
        let mut routing = Prefix::new(table);
        let contents: &[&[u8]] = &[b"abd", b"abcd", b"xyz", b"q", b"q"];
        assert_eq!(route(&mut routing, &members(&[true; 3]), contents), [0, 1, 2, 0, 1]);
        let down = members(&[true, true, false]);
        assert_eq!(route(&mut routing, &down, &[b"xyz"]), [0], "goes round like the others");
    }
}
