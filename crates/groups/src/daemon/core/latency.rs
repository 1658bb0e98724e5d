//! How long messages took from their purchase to this daemon.

use std::collections::BTreeMap;

use ratewire_overlay::membership::Target;

use crate::spread::GroupName;

/// Most groups that are measured: the first that get messages.
const MOST_GROUPS: usize = 1000;

/// Latencies of messages that came to clients of this daemon.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::daemon) struct Latency {
    pub(in crate::daemon) messages: u64,
    pub(in crate::daemon) sum_us: u64,
    pub(in crate::daemon) longest_us: u64,
}

/// Latencies by group.
#[derive(Debug, Default)]
pub(in crate::daemon) struct Latencies(BTreeMap<GroupName, Latency>);

impl Latencies {
    /// Notes a message that took this many microseconds.
    pub(super) fn note(&mut self, target: &Target<GroupName>, us: u64) {
        let Target::Group(group) = target else { return };
        let is_full = self.0.len() == MOST_GROUPS;
        if !is_full || self.0.contains_key(group) {
            let latency = self.0.entry(*group).or_default();
            latency.messages += 1;
            latency.sum_us = latency.sum_us.saturating_add(us);
            latency.longest_us = latency.longest_us.max(us);
        }
    }

    pub(in crate::daemon) fn of(&self, group: &GroupName) -> Option<Latency> {
        self.0.get(group).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_of_groups_of_which_there_are_not_too_many() {
        let mut latencies = Latencies::default();
        let name = |n: usize| -> GroupName { format!("g{n}").parse().unwrap() };
        for n in 0..MOST_GROUPS + 5 {
            latencies.note(&Target::Group(name(n)), 10);
        }
        latencies.note(&Target::Group(name(0)), 30);
        let latency = latencies.of(&name(0)).unwrap();
        assert_eq!((latency.messages, latency.sum_us, latency.longest_us), (2, 40, 30));
        assert!(latencies.of(&name(MOST_GROUPS)).is_none());
    }
}
