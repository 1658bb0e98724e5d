//! Members by the first bytes of a frame.

use super::{Frame, Member, RoundRobin, Routing};

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
    use crate::routing::testing::{members, route};

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
