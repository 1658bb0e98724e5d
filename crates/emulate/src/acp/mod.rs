//! Connections of ACP: ensembles, and flows whose receivers limit their senders by a rate. Peers,
//! switches and members are processes.
//!
//! | file | is |
//! |---|---|
//! | `plan` | which connections there are, and which processes are at their ends |
//! | `check` | what processes cannot do |
//! | `config` | the switches' configurations |
//! | `arguments` | arguments of the commands that run the other ends |
//! | `processes` | switches and ends that run |
//! | `figures` | a flow's figures, from the records of its ends |
//!
//! Processes start before the run; a peer connects when its ensemble starts. Each end keeps its
//! figures in a file, which the observer reads at each sample.

mod arguments;
mod check;
mod config;
mod figures;
mod plan;
mod processes;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration as Span;

use ratewire_net::spec::NodeId;
use ratewire_sim::setup::{MemberEvent, Setup};
use ratewire_units::Time;

use crate::Error;
use crate::clock::Clock;
use crate::commands::Launch;
use crate::host::Host;

pub(crate) use check::check;
pub(crate) use figures::AcpFlow;
use plan::End;
pub(crate) use plan::{Plan, flows};
use processes::Processes;

/// Longest wait before a look at whether the run is over.
const LOOK: Span = Span::from_millis(100);

/// Whether a setup has connections of ACP.
pub(crate) fn is_used(setup: &Setup) -> bool {
    flows(setup).next().is_some()
}

/// A flow at a port: the nodes that the connection leads from and to, and the flows of both
/// directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AtPort {
    pub(crate) nodes: [NodeId; 2],
    pub(crate) flows: [Option<u32>; 2],
}

/// Connections by the port at their far ends.
pub(crate) fn by_port(setup: &Setup) -> BTreeMap<u16, AtPort> {
    let number = |flow: Option<usize>| flow.map(|flow| flow as u32);
    let plan = Plan::of(setup);
    let at = |(port, edge): (u16, &plan::Edge)| {
        (port, AtPort { nodes: edge.nodes, flows: [number(edge.inbound), number(edge.outbound)] })
    };
    plan.by_port().into_iter().map(at).collect()
}

/// Connections of ACP in operation.
pub(crate) struct Acp<'a> {
    setup: &'a Setup,
    plan: Plan,
    processes: Mutex<Processes<'a>>,
}

impl<'a> Acp<'a> {
    /// Starts the switches and ends of a setup, and waits until they are ready.
    pub(crate) fn start(
        setup: &'a Setup,
        hosts: &'a [Host],
        launch: Launch<'a>,
    ) -> Result<Acp<'a>, Error> {
        let plan = Plan::of(setup);
        let mut processes = Processes::new(setup, hosts, launch, &plan)?;
        for switch in 0..setup.ensembles.junctions.len() {
            processes.start_switch(switch)?;
        }
        for end in 0..plan.hosts.len() {
            processes.start_end(end)?;
        }
        processes.wait_until_ready()?;
        Ok(Acp { setup, plan, processes: Mutex::new(processes) })
    }

    /// The figures of each flow.
    pub(crate) fn flows(&self) -> BTreeMap<usize, Arc<AcpFlow>> {
        let processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let flow = |(n, sources): (usize, plan::Sources)| {
            (n, Arc::new(AcpFlow::new(&sources, processes.records())))
        };
        self.plan.sources().into_iter().map(flow).collect()
    }

    /// Lets the ends begin: time zero is the clock's.
    pub(crate) fn begin(&self, clock: Clock) -> Result<(), Error> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).begin(clock)
    }

    /// Lets members fail and come back at their times, until the end or `over`. Returns the
    /// processes that ended although they should not, and why.
    pub(crate) fn follow(
        &self,
        clock: Clock,
        over: &AtomicBool,
    ) -> Result<Vec<(String, String)>, Error> {
        let mut events = self.setup.ensembles.events.clone();
        events.sort_by_key(|(at, _)| *at);
        let end = Time::ZERO + self.setup.duration;
        for (at, event) in events.into_iter().filter(|(at, _)| *at < end) {
            wait_until(at, clock, over);
            if over.load(Relaxed) {
                break;
            }
            let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                MemberEvent::Fail { junction, member } => {
                    if let Some(host) = self.member(junction, member) {
                        processes.stop_end(host);
                    }
                }
                MemberEvent::Recover { junction, member } => {
                    if let Some(host) = self.member(junction, member) {
                        processes.start_end(host)?;
                    }
                }
                // The ends know their idle times.
                MemberEvent::Hold(_) | MemberEvent::Resume(_) => {}
            }
        }
        wait_until(end, clock, over);
        Ok(self.processes.lock().unwrap_or_else(PoisonError::into_inner).finish())
    }

    /// The host end of a switch's member.
    fn member(&self, junction: u32, member: u32) -> Option<usize> {
        let edge = self.plan.of_members(junction as usize).nth(member as usize)?;
        match self.plan.edges[edge].far {
            End::Host(host) => Some(host),
            End::Switch(_) => None,
        }
    }
}

fn wait_until(at: Time, clock: Clock, over: &AtomicBool) {
    while clock.now() < at && !over.load(Relaxed) {
        thread::park_timeout(clock.until(at).min(LOOK));
    }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_sim::dumbbell::Dumbbell;
    use ratewire_sim::setup::{EnsembleEdge, FlowSpec, JunctionSpec};
    use ratewire_units::{Duration, Rate};

    use super::*;

    /// A peer, a switch, and two members that read.
    pub(super) fn setup() -> Setup {
        let law = AnyLaw::new("xcp", &[]).unwrap();
        let (rate, rtt) = (Rate::from_mbps(10), Duration::from_millis(40));
        Dumbbell::new(law, 2, rate, rtt, 10).through_a_switch(false)
    }

    /// The same with a second switch in place of the peer, and two members behind it.
    pub(super) fn facing() -> Setup {
        let mut setup = cascade();
        let junctions = &mut setup.ensembles.junctions;
        let EnsembleEdge { inbound, outbound } = junctions[0].peer;
        junctions[1].peer = EnsembleEdge { inbound: outbound, outbound: inbound };
        junctions[1].node = setup.flows[0].from;
        setup
    }

    /// The same with a second switch in place of the first member, and two members behind it.
    pub(super) fn cascade() -> Setup {
        let mut setup = setup();
        let first = setup.ensembles.junctions[0].members[0];
        let node = setup.flows[first.inbound.unwrap() as usize].to;
        let member = |setup: &mut Setup, to: NodeId| {
            let id = setup.flows.len() as u32;
            let name = format!("inner-{id}");
            setup.flows.push(FlowSpec { name, from: node, to, ..setup.flows[1].clone() });
            EnsembleEdge { inbound: Some(id), outbound: None }
        };
        // The sources of the dumbbell.
        let members = [2, 4].map(|to| member(&mut setup, NodeId(to))).to_vec();
        let outer = setup.ensembles.junctions[0].clone();
        setup.ensembles.junctions.push(JunctionSpec { node, peer: first, members, ..outer });
        setup
    }
}
