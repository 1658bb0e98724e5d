//! Changes of the network, as plots mark them.

use ratewire_units::Time;

use crate::{ChangeInfo, Run};

/// The most changes that plots mark: more lines would hide the plot.
const CHANGES: usize = 24;

/// The changes that plots mark: those of all runs, unless there are too many.
pub(super) fn changes(runs: &[Run]) -> &[ChangeInfo] {
    let all = runs.first().map_or(&[][..], |run| &run.info.changes);
    if all.len() > CHANGES || !are_equal(runs) { &[] } else { all }
}

/// Whether links change alike in all runs. Random outages differ between seeds.
fn are_equal(runs: &[Run]) -> bool {
    runs.windows(2).all(|pair| pair[0].info.changes == pair[1].info.changes)
}

/// The legend of the lines that mark changes.
pub(super) fn legend_of_changes(runs: &[Run]) -> Option<String> {
    let at = |change: &ChangeInfo| format!("{} at {}", change.what, change.at.since(Time::ZERO));
    let listed: Vec<String> = changes(runs).iter().map(at).collect();
    if !listed.is_empty() {
        return Some(format!("Dashed lines: {}.", listed.join("; ")));
    }
    let counts = runs.iter().map(|run| run.info.changes.len());
    let (least, most) = (counts.clone().min()?, counts.max()?);
    let times = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let why = if most > CHANGES { "too often for lines" } else { "at other times in each run" };
    (most > 0).then(|| format!("Links change {times} times, {why}."))
}
