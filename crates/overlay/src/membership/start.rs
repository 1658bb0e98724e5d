//! Numbers of a daemon's starts: others take the largest for the newest.
//!
//! A start is given a number by the clock, which may be set back. If others know a larger one, the
//! start takes a number above that. All numbers that a start takes end in the given one, so no other
//! start of the daemon takes the same, in whatever part of the network.

use super::message::ViewId;

/// The part of a number that was given. The rest counts starts with an earlier clock.
const GIVEN: u64 = (1 << 52) - 1;

/// A number above that of an earlier start, for the start that was given this one.
pub(super) fn above(earlier: u64, given: u64) -> u64 {
    let given = given & GIVEN;
    let same = (earlier & !GIVEN) | given;
    let larger = if same > earlier { Some(same) } else { same.checked_add(GIVEN + 1) };
    // After 4,095 such starts, better a number that is used twice than none.
    larger.unwrap_or(earlier.saturating_add(1))
}

impl ViewId {
    /// The number that the coordinator's start was given: by programs, microseconds since 1970.
    pub fn started(&self) -> u64 {
        self.incarnation & GIVEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_take_larger_numbers_which_differ() {
        let earlier = 1_700_000_000_000_000;
        let mut last = earlier;
        for given in [earlier - 1, earlier - 2, earlier - 1, 7, earlier + 1] {
            let taken = above(last, given);
            assert!(taken > last);
            assert_eq!(taken & GIVEN, given);
            last = taken;
        }
        assert_eq!(above(earlier, earlier + 1), earlier + 1, "a later clock needs nothing else");
        assert_ne!(above(earlier, 5), above(earlier, 6));
    }

    #[test]
    fn numbers_grow_when_the_count_is_at_its_end() {
        let last = !GIVEN | 9;
        assert_eq!(above(last, 10), !GIVEN | 10);
        assert_eq!(above(last, 9), last + 1);
        assert_eq!(above(u64::MAX, 9), u64::MAX);
    }
}
