//! One member after the other.

use super::{Frame, Member, Routing};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testing::{NO_CONTENT, members, route};

    #[test]
    fn round_robin_skips_who_is_down() {
        let mut routing = RoundRobin::default();
        assert_eq!(route(&mut routing, &members(&[true; 3]), NO_CONTENT), [0, 1, 2, 0, 1, 2, 0, 1]);
        let one_down = members(&[true, false, true]);
        assert_eq!(route(&mut routing, &one_down, NO_CONTENT), [2, 0, 2, 0, 2, 0, 2, 0]);
        assert_eq!(routing.route(&Frame { number: 0, content: b"" }, &members(&[false; 3])), None);
    }
}
