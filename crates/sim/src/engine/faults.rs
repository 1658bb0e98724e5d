//! Laws that break a rule of their traits.

use ratewire_units::{Throughput, Time};

use super::environment::Environment;
use crate::error::RunError;
use crate::flow::Flow;
use crate::outcome::FlowOutcome;
use crate::record::FlowId;
use crate::setup::Setup;

const TIMER: &str = "the timer of the sender does not advance\n  help: after \
                     `Source::on_timer(now)`, `Source::next_timer` must return a time later than `now`";

/// What a source has done that no law may do.
#[derive(Debug)]
enum Fault {
    /// The source's pace is negative, endless or not a number.
    Pace,
    /// What it told of itself.
    Told(String),
}

/// The first flow whose law has broken a rule, and the time at which that was noticed.
#[derive(Debug, Default)]
pub(super) struct Faults(Option<(FlowId, Time, Fault)>);

impl Faults {
    /// Looks at the law of a flow.
    pub(super) fn look_at(&mut self, flow: &Flow, now: Time) {
        let is_wrong = |pace: Throughput| !pace.get().is_finite() || pace < Throughput::ZERO;
        let sender = &flow.sender;
        let fault = match sender.source().fault() {
            Some(what) => Some(Fault::Told(what)),
            None if sender.law_timer_stands_still() => Some(Fault::Told(TIMER.to_string())),
            None => sender.pacing().is_some_and(is_wrong).then_some(Fault::Pace),
        };
        if let (None, Some(fault)) = (&self.0, fault) {
            self.0 = Some((flow.id, now, fault));
        }
    }

    /// Checks that no law has broken a rule of its traits.
    pub(super) fn check(
        &self,
        env: &Environment,
        setup: &Setup,
        outcomes: &[FlowOutcome],
    ) -> Result<(), RunError> {
        let name = |law: usize| setup.laws[law].info().name.to_string();
        if let Some((link, at)) = env.network.stalled_port()
            && let spec = &setup.network.links[link.index()]
            && let Some(law) = spec.law
        {
            return Err(RunError::TimerStalled { law: name(law), link: spec.name.clone(), at });
        }
        if let Some((link, what)) = env.network.port_fault()
            && let spec = &setup.network.links[link.index()]
            && let Some(law) = spec.law
        {
            let place = format!("link {:?}", spec.name);
            return Err(RunError::LawFault { law: name(law), place, at: env.clock.now, what });
        }
        let Some((flow, at, fault)) = &self.0 else { return Ok(()) };
        let (flow, at) = (&outcomes[flow.0 as usize], *at);
        let (law, flow) = (name(flow.law), flow.name.clone());
        Err(match fault {
            Fault::Pace => RunError::WrongPace { law, flow, at },
            Fault::Told(what) => {
                let (place, what) = (format!("flow {flow:?}"), what.clone());
                RunError::LawFault { law, place, at, what }
            }
        })
    }
}
