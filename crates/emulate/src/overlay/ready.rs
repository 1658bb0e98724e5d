//! The daemons link up, and members join, before a run begins.

use std::thread;
use std::time::{Duration, Instant};

use ratewire_groups::daemon::Status;
use ratewire_sim::overlay::spec::OverlaySpec;

use super::Overlay;
use crate::Error;

/// Time for daemons and members to find each other.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between looks.
const LOOK: Duration = Duration::from_millis(100);

impl Overlay<'_> {
    /// Waits until all daemons form one view and know all members from the start, or until `over`.
    pub(crate) fn wait_until_ready(&self, over: impl Fn() -> bool) -> Result<(), Error> {
        let begun = Instant::now();
        while !over() {
            let states = self.ask();
            let missing = states.iter().zip(&self.hosts).find_map(|(state, host)| {
                let what = state.as_ref().map_or(Some(NOT_THERE.to_string()), |state| {
                    what_is_missing(self.spec, self.hosts.len(), state)
                });
                what.map(|what| format!("the group daemon {} {what}", host.spec.name))
            });
            let Some(missing) = missing else { break };
            if let Some((what, why)) = self.processes().lost() {
                let help = "the ratewire command runs as the daemons: it must be of this version";
                return Err(Error::new(format!("{what} cannot run: {why}"), help));
            }
            if begun.elapsed() > PATIENCE {
                let what = format!("{missing} after {} s", PATIENCE.as_secs());
                let help = "slower links than messages between daemons need? The daemons' outputs \
                            are in the folder that --out names";
                return Err(Error::new(what, help));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

const NOT_THERE: &str = "does not answer";

/// What a daemon does not know yet.
fn what_is_missing(spec: &OverlaySpec, daemons: usize, state: &Status) -> Option<String> {
    if state.view.members.len() < daemons || state.view.is_changing {
        return Some(format!("knows {} of {daemons} daemons", state.view.members.len()));
    }
    spec.groups.iter().find_map(|group| {
        let known = state.groups.iter().find(|known| known.name == group.name);
        let (known, all) = (known.map_or(0, |known| known.members), group.members.len() as u64);
        let what = format!("knows {known} of {all} members of {}", group.name);
        (known < all).then_some(what)
    })
}
