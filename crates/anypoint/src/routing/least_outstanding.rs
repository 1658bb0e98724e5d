//! The member that owes the least.

use super::{Frame, Member, Routing};

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

#[cfg(test)]
mod tests {
    use ratewire_units::Bytes;

    use super::*;
    use crate::routing::testing::{NO_CONTENT, members, route};

    #[test]
    fn the_least_loaded_gets_it() {
        let mut loaded = members(&[true; 3]);
        loaded[0].outstanding = Bytes::new(5);
        loaded[1].outstanding = Bytes::new(2);
        loaded[2].outstanding = Bytes::new(2);
        let mut routing = LeastOutstanding::default();
        assert_eq!(route(&mut routing, &loaded, &NO_CONTENT[..4]), [1, 2, 1, 2]);
    }
}
