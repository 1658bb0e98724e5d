//! Changes of the network, as plots mark them.

use ratewire_units::Time;

use crate::{ChangeInfo, Run};

/// The most changes that plots mark: more lines would hide the plot.
const CHANGES: usize = 24;

/// The changes that plots mark; none if there are too many. All runs of a page have the same
/// network.
pub(super) fn changes(runs: &[Run]) -> &[ChangeInfo] {
    let all = runs.first().map_or(&[][..], |run| &run.info.changes);
    if all.len() > CHANGES { &[] } else { all }
}

/// The legend of the lines that mark changes.
pub(super) fn legend_of_changes(runs: &[Run]) -> Option<String> {
    let at = |change: &ChangeInfo| format!("{} at {}", change.what, change.at.since(Time::ZERO));
    let listed: Vec<String> = changes(runs).iter().map(at).collect();
    (!listed.is_empty()).then(|| format!("Dashed lines: {}.", listed.join("; ")))
}
