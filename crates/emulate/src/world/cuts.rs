//! Links of an overlay that are cut: packets between two daemons vanish.

use std::collections::BTreeSet;

use ratewire_net::spec::NodeId;
use ratewire_sim::overlay::spec::FaultKind;
use ratewire_sim::setup::Setup;
use ratewire_units::Time;

use crate::packet::Stream;
use crate::ports::GROUP_DAEMONS;

/// A cut of the link between two nodes, the lower one first, or its end.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: Time,
    ends: [NodeId; 2],
    is_cut: bool,
}

/// Cut links, now and later.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// Future changes, the next one last.
    changes: Vec<Change>,
    now: BTreeSet<[NodeId; 2]>,
}

impl Cuts {
    pub(super) fn new(setup: &Setup) -> Cuts {
        let mut changes: Vec<Change> = Vec::new();
        if let Some(overlay) = &setup.overlay {
            for fault in &overlay.faults {
                let (a, b, is_cut) = match fault.kind {
                    FaultKind::Cut(a, b) => (a, b, true),
                    FaultKind::Heal(a, b) => (a, b, false),
                    FaultKind::Crash(_) | FaultKind::Restart(_) => continue,
                };
                let mut ends = [a, b].map(|node| overlay.nodes[node.index()]);
                ends.sort();
                changes.push(Change { at: fault.at, ends, is_cut });
            }
        }
        changes.sort_by_key(|change| std::cmp::Reverse(change.at));
        Cuts { changes, now: BTreeSet::new() }
    }

    pub(super) fn next(&self) -> Time {
        self.changes.last().map_or(Time::NEVER, |change| change.at)
    }

    /// Makes the next change.
    pub(super) fn change(&mut self) {
        let Some(Change { ends, is_cut, .. }) = self.changes.pop() else { return };
        match is_cut {
            true => self.now.insert(ends),
            false => self.now.remove(&ends),
        };
    }

    /// Whether packets of a stream between these nodes vanish. Others than daemons' pass.
    pub(super) fn holds(&self, mut ends: [NodeId; 2], stream: &Stream) -> bool {
        ends.sort();
        !self.now.is_empty() && stream.ports.contains(&GROUP_DAEMONS) && self.now.contains(&ends)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn packets_of_daemons_vanish_while_their_link_is_cut() {
        let (a, b, c) = (NodeId(0), NodeId(1), NodeId(2));
        let at = Time::from_secs;
        let changes = [(9, false), (4, true)];
        let changes = changes.map(|(secs, is_cut)| Change { at: at(secs), ends: [a, b], is_cut });
        let mut cuts = Cuts { changes: changes.to_vec(), now: BTreeSet::new() };
        let (from, to) = (Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST);
        let stream = |port| Stream { from, to, protocol: 6, ports: [40_000, port] };
        assert_eq!((cuts.next(), cuts.holds([a, b], &stream(GROUP_DAEMONS))), (at(4), false));
        cuts.change();
        assert!(
            cuts.holds([a, b], &stream(GROUP_DAEMONS))
                && cuts.holds([b, a], &stream(GROUP_DAEMONS))
        );
        assert!(!cuts.holds([a, c], &stream(GROUP_DAEMONS)) && !cuts.holds([a, b], &stream(80)));
        assert_eq!(cuts.next(), at(9));
        cuts.change();
        assert_eq!((cuts.next(), cuts.holds([a, b], &stream(GROUP_DAEMONS))), (Time::NEVER, false));
    }
}
