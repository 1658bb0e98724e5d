//! Contenders of a setup, and the changes that it plans.

use std::collections::VecDeque;

use ratewire_net::pathfinder::Pathfinder;
use ratewire_net::spec::{Change, LinkId, Service};
use ratewire_sim::setup::{FlowSpec, Setup};
use ratewire_transport::{Reader, Writer};
use ratewire_units::{Bytes, Duration, Time};

use crate::observe::demand::{Demand, demand};

pub(super) struct Plan {
    pub(super) contenders: Vec<Contender>,
    /// Index among the contenders, by listed flow.
    places: Vec<Option<usize>>,
    /// Changes in order of time, one for each instant.
    pub(super) changes: VecDeque<Planned>,
}

/// A flow that has a part of the links on its path.
pub(super) struct Contender {
    pub(super) name: String,
    pub(super) path: Vec<usize>,
    /// The most that it takes, in bits per second with headers, of a flow of constant rate or with
    /// pauses: its own share is not judged.
    pub(super) most: Option<f64>,
    pub(super) weight: f64,
    /// Round-trip time without queues.
    pub(super) round_trip: Duration,
    pub(super) packet: Bytes,
}

/// Changes of one instant.
pub(super) struct Planned {
    pub(super) at: Time,
    /// The changes in words with the time; equal in every run of a scenario.
    pub(super) event: String,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Join(usize),
    Leave(usize),
    /// Index of a link, and its new rate in bits per second.
    Rate(usize, f64),
    Up(usize, bool),
}

impl Plan {
    pub(super) fn of(setup: &Setup) -> Plan {
        let mut contenders = Vec::new();
        let mut places = vec![None; setup.flows.len()];
        let mut steps: Vec<(Time, Step)> = Vec::new();
        // A setup with an invalid path cannot run, and the engine reports why.
        let mut pathfinder = setup.pathfinder().ok();
        let whole_run = (Time::ZERO, Time::ZERO + setup.duration);
        let whole = setup.flows.iter().enumerate();
        let whole = whole.filter(|(id, flow)| takes_part(flow) && !setup.ensembles.has_edge(*id));
        for (id, flow) in whole {
            let Some((out, back)) = pathfinder.as_mut().and_then(|r| ways(r, flow, id)) else {
                continue;
            };
            let delay = |link: &LinkId| setup.network.links[link.index()].delay;
            let place = contenders.len();
            let most = match demand(setup, flow, &out, whole_run) {
                Demand::UpTo(most) => Some(most),
                Demand::All | Demand::Amount(_) => None,
            };
            places[id] = Some(place).filter(|_| most.is_none());
            contenders.push(Contender {
                name: flow.name.clone(),
                most,
                path: out.iter().map(|link| link.index()).collect(),
                weight: setup.weight(id),
                round_trip: out.iter().chain(&back).map(delay).fold(Duration::ZERO, |a, b| a + b),
                packet: flow.transport.packet,
            });
            steps.push((flow.start, Step::Join(place)));
            steps.extend(flow.stop.map(|stop| (stop, Step::Leave(place))));
        }
        for (at, link, change) in &setup.changes {
            let link = link.index();
            let spec = &setup.network.links[link];
            match (change, &spec.service) {
                (Change::Rate(rate), Service::Rate(_)) => {
                    steps.push((*at, Step::Rate(link, spec.lasting(*rate).bps() as f64)));
                }
                (Change::Up(up), _) => steps.push((*at, Step::Up(link, *up))),
                _ => {}
            }
        }
        steps.sort_by_key(|(at, _)| *at);
        let changes = steps.chunk_by(|a, b| a.0 == b.0).map(|together| {
            let at = together[0].0;
            let steps: Vec<Step> = together.iter().map(|(_, step)| *step).collect();
            let event =
                format!("{} at {}", describe(&steps, &contenders, setup), at.since(Time::ZERO));
            Planned { at, event, steps }
        });
        let changes = changes.collect();
        Plan { contenders, places, changes }
    }

    /// Indices among the contenders, by listed flow.
    pub(super) fn places(&self) -> &[Option<usize>] {
        &self.places
    }

    /// Index of a flow among the contenders.
    pub(super) fn place(&self, flow: u32) -> Option<usize> {
        self.places.get(flow as usize).copied().flatten()
    }
}

/// Whether the flow takes the rate that it gets, all or up to one of its own, and starts.
fn takes_part(flow: &FlowSpec) -> bool {
    matches!(
        flow.app.writer,
        Writer::Unlimited | Writer::Sized(_) | Writer::Constant { .. } | Writer::OnOff { .. }
    ) && flow.app.reader == Reader::Immediate
        && flow.stop.is_none_or(|stop| stop > flow.start)
}

/// Links of the path there, and of the path back.
fn ways(
    pathfinder: &mut Pathfinder,
    flow: &FlowSpec,
    id: usize,
) -> Option<(Vec<LinkId>, Vec<LinkId>)> {
    let out = pathfinder.path(flow.from, flow.to, id as u64)?;
    Some((out, pathfinder.path(flow.to, flow.from, id as u64)?))
}

fn describe(steps: &[Step], contenders: &[Contender], setup: &Setup) -> String {
    let (mut joins, mut leaves, mut links) = (Vec::new(), Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Join(place) => joins.push(contenders[*place].name.as_str()),
            Step::Leave(place) => leaves.push(contenders[*place].name.as_str()),
            Step::Rate(link, _) | Step::Up(link, _) => {
                links.push(setup.network.links[*link].name.as_str());
            }
        }
    }
    let all = [(joins, "join"), (leaves, "leave"), (links, "change")];
    let said: Vec<String> = all.iter().filter_map(|(who, does)| clause(who, does)).collect();
    said.join(", ")
}

fn clause(who: &[&str], does: &str) -> Option<String> {
    match who {
        [] => None,
        [one] => Some(format!("{one} {does}s")),
        [one, other] => Some(format!("{one} and {other} {does}")),
        [one, others @ ..] => Some(format!("{one} and {} others {does}", others.len())),
    }
}
