//! The daemons link up, and members join, before a run begins.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use ratewire_groups_interface::status::Status;
use ratewire_sim::overlay::spec::OverlaySpec;
use ratewire_sim::record::{
    FlowCompleted, FlowSample, FlowStarted, LinkSample, Progress, Recorder,
};
use ratewire_sim::setup::{Ensembles, Setup};
use ratewire_units::Time;

use super::Overlay;
use crate::Error;
use crate::clock::{Clock, FOR_EVER};
use crate::dialect::Dialects;
use crate::flow::Flow;
use crate::handoff::Handoff;
use crate::host::Host;
use crate::parts::port_laws;
use crate::world::World;

/// Time for daemons and members to find each other.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between looks.
const LOOK: Duration = Duration::from_millis(100);

impl Overlay<'_> {
    /// Lets the daemons link up and members join over a setup's network, in which nothing changes
    /// yet and of which nothing is recorded.
    pub(crate) fn link_up(&self, setup: &Setup, hosts: &[Host]) -> Result<(), Error> {
        let quiet = Setup {
            sample_interval: None,
            changes: Vec::new(),
            overlay: None,
            ensembles: Ensembles::default(),
            duration: FOR_EVER,
            ..setup.clone()
        };
        let flows: Vec<Option<Flow>> = setup.flows.iter().map(|_| None).collect();
        let handoff = Handoff::new(&quiet);
        let dialects = Dialects::of(port_laws(&quiet).map(|law| &quiet.laws[law]));
        let (clock, reporter) = (Clock::start(), handoff.reporter());
        let world = World::new(&quiet, &[], hosts, &flows, dialects, clock, reporter)?;
        let (is_ready, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            let network = scope.spawn(|| {
                let ran = world.run(None, Time::ZERO + FOR_EVER);
                is_over.store(true, Relaxed);
                ran
            });
            let ready = scope.spawn(|| {
                let ready = self.wait_until_ready(|| is_over.load(Relaxed));
                is_ready.store(true, Relaxed);
                ready
            });
            handoff.listen(&mut UntilReady(&is_ready));
            let ran = network.join().unwrap_or_else(|panic| resume_unwind(panic));
            ready.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            ran.map(|_| ())
        })
    }

    /// Waits until all daemons form one view and know all members from the start, or until `over`.
    fn wait_until_ready(&self, over: impl Fn() -> bool) -> Result<(), Error> {
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
                let help = "ratewire-groups runs as the daemons: it must be of this version";
                return Err(Error::new(format!("{what} cannot run: {why}"), help));
            }
            if begun.elapsed() > PATIENCE {
                let what = format!("{missing} after {} s", PATIENCE.as_secs());
                let help = "widen links that are slower than what daemons tell each other; their \
                            outputs are in `programs` of the run's folder";
                return Err(Error::new(what, help));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// Stops the network once an overlay is ready.
struct UntilReady<'a>(&'a AtomicBool);

impl Recorder for UntilReady<'_> {
    fn flow_started(&mut self, _: &FlowStarted<'_>) {}
    fn flow_sample(&mut self, _: &FlowSample) {}
    fn link_sample(&mut self, _: &LinkSample) {}
    fn flow_completed(&mut self, _: &FlowCompleted) {}
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        match self.0.load(Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
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
