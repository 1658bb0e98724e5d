//! Members by a hash of a key.

use super::{Frame, Member, Routing};

/// By a key at an offset of the frame. A key stays with its member as long as that is up, and only
/// a failed member's keys move (rendezvous hashing: Thaler and Ravishankar 1998).
#[derive(Clone, Debug)]
pub struct KeyHash {
    /// Offset of the key.
    pub offset: usize,
    /// Length of the key.
    pub len: usize,
}

impl KeyHash {
    /// The member of a frame's key, where a place has a number that its keys follow.
    pub fn choose(
        &self,
        frame: &Frame<'_>,
        members: &[Member],
        number: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        let start = self.offset.min(frame.content.len());
        let end = self.offset.saturating_add(self.len).min(frame.content.len());
        let key = frame.content[start..end]
            .iter()
            .fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
        let up = (0..members.len()).filter(|k| members[*k].is_up);
        up.max_by_key(|k| mix(key ^ number(*k).wrapping_mul(GOLDEN)))
    }
}

impl Routing for KeyHash {
    fn route(&mut self, frame: &Frame<'_>, members: &[Member]) -> Option<usize> {
        self.choose(frame, members, |k| k as u64)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testing::{members, route};

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
}
