//! A run that stops where it is told to: between two steps its state can be seen and its links can
//! be changed.

use std::fmt;

use ratewire_laws::Reason;
use ratewire_net::Observation;
use ratewire_net::spec::{Change, LinkId, LinkSpec};
use ratewire_units::{Bytes, Duration, Throughput, Time};
use self_cell::self_cell;

use super::Simulation;
use crate::error::RunError;
use crate::outcome::Outcome;
use crate::record::{FlowId, Recorder};
use crate::setup::Setup;
use crate::speed::Speed;

self_cell!(
    struct Owned {
        owner: Setup,
        #[not_covariant]
        dependent: Simulation,
    }
);

/// A run in steps.
///
/// Steps change nothing: the results are those of [`run`](crate::run), but for the number of
/// events. Where hosts of `run` take turns with the network (arriving traffic, many links or
/// flows), the order of events at one instant may be another, too.
pub struct Steps(Owned);

/// A flow between two steps.
#[derive(Clone, Debug, Default)]
pub struct FlowState {
    /// Whether the flow has begun.
    pub has_begun: bool,
    /// Whether the flow is over.
    pub has_ended: bool,
    /// Payload that has arrived, in order or not, each byte once.
    pub delivered: Bytes,
    /// Payload sent again.
    pub retransmitted: Bytes,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Payload outstanding.
    pub in_flight: Bytes,
    /// Window of the law, in payload.
    pub window: Bytes,
    /// Pace of the law, if it sets one.
    pub pacing: Option<Throughput>,
    /// Smoothed RTT; zero while unknown.
    pub srtt: Duration,
    /// The latest RTT sample; zero while there is none.
    pub rtt: Duration,
    /// The law's explanation of its rate; `None` before the flow begins and after it has ended.
    pub reason: Option<Reason>,
}

/// Links from a flow's sender to its receiver, and back.
#[derive(Clone, Debug)]
pub struct Route {
    /// Links to the receiver.
    pub forward: Vec<LinkId>,
    /// Links to the sender.
    pub back: Vec<LinkId>,
}

impl Route {
    /// Time that a packet of this network-layer size and its acknowledgement take if nothing else
    /// is on the way. The acknowledgement's own size is left out.
    pub fn rtt(&self, links: &[LinkSpec], packet: Bytes) -> Duration {
        let of = |link: &LinkId| &links[link.index()];
        let sent = |link: &LinkSpec| {
            let serial = link.service.mean_rate().serial_time();
            serial.map_or(Duration::ZERO, |serial| serial.of(packet + link.overhead))
        };
        let there = self.forward.iter().map(|link| of(link).delay + sent(of(link)));
        let back = self.back.iter().map(|link| of(link).delay);
        there.chain(back).fold(Duration::ZERO, |sum, time| sum + time)
    }
}

impl Steps {
    /// A run of this setup at its start.
    ///
    /// # Errors
    /// As [`run`](crate::run).
    pub fn new(setup: Setup, recorder: Box<dyn Recorder>) -> Result<Steps, RunError> {
        // Any link may change between two steps.
        let run = Owned::try_new(setup, |setup| Simulation::new(setup, recorder, Speed::off()));
        Ok(Steps(run?))
    }

    /// The setup.
    pub fn setup(&self) -> &Setup {
        self.0.borrow_owner()
    }

    /// Time that the run has reached.
    pub fn now(&self) -> Time {
        self.0.with_dependent(|_, run| run.env.clock.now)
    }

    /// Runs up to a time, before everything that happens at that time; at most to the end of the
    /// setup. A time in the past changes nothing.
    ///
    /// # Errors
    /// As [`run`](crate::run), except for what is only known at the end.
    pub fn run_until(&mut self, at: Time) -> Result<(), RunError> {
        self.0.with_dependent_mut(|_, run| {
            let at = at.min(run.env.clock.end);
            if at > run.env.clock.now { run.run_until(at) } else { Ok(()) }
        })
    }

    /// A listed flow now; `None` if there is no flow of this number.
    pub fn flow(&mut self, flow: usize) -> Option<FlowState> {
        self.0.with_dependent_mut(|_, run| run.flow_state(flow))
    }

    /// Counters and backlog of a link now; `None` if there is no link of this number. Peaks are
    /// those since the last sample.
    pub fn link(&mut self, link: LinkId) -> Option<Observation> {
        self.0.with_dependent_mut(|setup, run| {
            setup.network.links.get(link.index())?;
            Some(run.env.network.glance(run.env.clock.now, link, &mut run.env.schedule))
        })
    }

    /// Changes a link from now on, as a listed change of this time would. Where senders keep the
    /// queue of their own host's link small, and the link changes for the first time, some packets
    /// leave earlier or later than with a listed change: a sender that waits already sleeps until
    /// the time that was foretold.
    ///
    /// # Panics
    /// When there is no link of this number.
    pub fn change(&mut self, link: LinkId, change: &Change) {
        self.0.with_dependent_mut(|_, run| {
            run.env.network.change(run.env.clock.now, link, change, &mut run.env.schedule);
        });
    }

    /// Links of a listed flow's route, which the setup decides; `None` if there is no flow of this
    /// number.
    pub fn route(&mut self, flow: usize) -> Option<Route> {
        self.0.with_dependent_mut(|setup, run| {
            let spec = setup.flows.get(flow)?;
            let forward = run.hosts.paths.routes.links(spec.from, spec.to, flow as u64)?;
            let back = run.hosts.paths.routes.links(spec.to, spec.from, flow as u64)?;
            Some(Route { forward, back })
        })
    }

    /// Lets a listed flow send what its law allows now, after a change of the law's window or pace
    /// that no packet caused. Has no effect on a flow that is not there.
    pub fn wake(&mut self, flow: usize) {
        self.0.with_dependent_mut(|setup, run| {
            if flow < setup.flows.len()
                && let Some(slot) = run.hosts.slot_of(flow as u32)
            {
                run.pump(slot);
            }
        });
    }

    /// Runs to the end of the setup.
    ///
    /// # Errors
    /// As [`run`](crate::run).
    pub fn finish(mut self) -> Result<Outcome, RunError> {
        let end = self.0.with_dependent_mut(|_, run| {
            let ran = run.run();
            ran.map(|()| run.outcome())
        });
        end?
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").field("now", &self.now()).finish_non_exhaustive()
    }
}

impl Simulation<'_> {
    fn flow_state(&mut self, index: usize) -> Option<FlowState> {
        let outcome = self.outcomes.list.get(index).filter(|_| index < self.setup.flows.len())?;
        let id = FlowId(index as u32);
        let passed = self.junctions.passed(id.0);
        let slot = self.hosts.slots[index];
        let Some(flow) = slot.and_then(|slot| self.hosts.flows.get(slot, id.0)) else {
            return Some(FlowState {
                has_begun: slot.is_some(),
                has_ended: slot.is_some(),
                delivered: outcome.delivered,
                retransmitted: outcome.retransmitted,
                timeouts: outcome.timeouts,
                ..FlowState::default()
            });
        };
        let stats = flow.sender.stats();
        Some(FlowState {
            has_begun: true,
            has_ended: false,
            delivered: flow.receiver.received() + passed,
            retransmitted: stats.retransmitted,
            timeouts: stats.timeouts,
            in_flight: flow.sender.in_flight(),
            window: flow.sender.source().window(),
            pacing: flow.sender.pacing(),
            srtt: flow.sender.rtt().srtt(),
            rtt: flow.sender.rtt().latest(),
            reason: Some(flow.sender.source().reason()),
        })
    }
}
