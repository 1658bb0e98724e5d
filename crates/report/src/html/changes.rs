//! What the network does at given times, as plots mark it.

use ratewire_units::Time;

use crate::{ChangeInfo, Run};

/// The most instants that are marked in plots: lines of more would hide what they are to explain.
const CHANGES: usize = 24;

/// What the network does at given times, if that is marked in plots. Runs of a page are of one network.
pub(super) fn changes(runs: &[Run]) -> &[ChangeInfo] {
    let all = runs.first().map_or(&[][..], |run| &run.info.changes);
    if all.len() > CHANGES { &[] } else { all }
}

/// What the lines mean that mark changes.
pub(super) fn changes_told(runs: &[Run]) -> Option<String> {
    let at = |change: &ChangeInfo| format!("{} at {}", change.what, change.at.since(Time::ZERO));
    let told: Vec<String> = changes(runs).iter().map(at).collect();
    (!told.is_empty()).then(|| format!("Dashed lines: {}.", told.join("; ")))
}
