//! Numbers of packets: each is taken in once.

/// Packets below the highest that may still come: reordering beyond this is loss.
const WINDOW: u64 = 4096;
const WORDS: usize = (WINDOW / 64) as usize;

/// Numbers of received packets.
#[derive(Clone, Debug)]
pub struct Replay {
    /// One more than the highest.
    next: u64,
    /// One bit for each of the last [`WINDOW`] numbers.
    seen: [u64; WORDS],
}

impl Default for Replay {
    fn default() -> Replay {
        Replay { next: 0, seen: [0; WORDS] }
    }
}

impl Replay {
    /// The number with these low bits that is nearest to the highest so far.
    pub fn expand(&self, low: u32) -> u64 {
        const TURN: u64 = 1 << 32;
        let number = (self.next & !(TURN - 1)) | u64::from(low);
        if number + TURN / 2 < self.next {
            number + TURN
        } else if number > self.next + TURN / 2 && number >= TURN {
            number - TURN
        } else {
            number
        }
    }

    /// Whether a packet with this number may be new. To be asked before the packet is opened.
    pub fn may_be_new(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        number >= self.next || (number + WINDOW >= self.next && self.seen[word] & bit == 0)
    }

    /// Notes the number of an authentic packet that may be new.
    pub fn note(&mut self, number: u64) {
        if number >= self.next {
            if number - self.next >= WINDOW {
                self.seen = [0; WORDS];
            } else {
                for skipped in self.next..=number {
                    let (word, bit) = place(skipped);
                    self.seen[word] &= !bit;
                }
            }
            self.next = number + 1;
        }
        let (word, bit) = place(number);
        self.seen[word] |= bit;
    }

    /// Whether this is the highest number so far.
    pub fn is_highest(&self, number: u64) -> bool {
        number + 1 == self.next
    }
}

fn place(number: u64) -> (usize, u64) {
    ((number / 64) as usize % WORDS, 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn low_bits_stand_for_the_nearest_number() {
        let at = |next| Replay { next, ..Replay::default() };
        assert_eq!(at(0).expand(5), 5);
        assert_eq!(at(0).expand(u32::MAX), u64::from(u32::MAX));
        assert_eq!(at(1 << 32).expand(5), (1 << 32) + 5);
        assert_eq!(at(1 << 32).expand(u32::MAX), u64::from(u32::MAX));
        assert_eq!(at((1 << 33) - 2).expand(1), (1 << 33) + 1);
    }

    proptest! {
        #[test]
        fn a_number_is_new_once(steps in proptest::collection::vec((0u64..9000, any::<bool>()), 0..200)) {
            let (mut replay, mut seen, mut top) = (Replay::default(), BTreeSet::new(), 0u64);
            for (step, is_forward) in steps {
                let number = if is_forward { top + step / 2 } else { top.saturating_sub(step) };
                let is_in_window = number + WINDOW > top || seen.is_empty();
                let is_new = replay.may_be_new(number);
                prop_assert!(!is_new || !seen.contains(&number), "{number} came twice");
                prop_assert!(is_new || seen.contains(&number) || !is_in_window, "{number} is new");
                if is_new {
                    replay.note(number);
                    seen.insert(number);
                    top = top.max(number);
                }
            }
        }
    }
}
