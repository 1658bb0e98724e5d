//! The start of a run.

use ratewire_net::Network;
use ratewire_overlay::Unreachable;
use ratewire_units::Time;

use super::Simulation;
use super::environment::{Clock, Environment};
use super::faults::Faults;
use super::hosts::Hosts;
use super::outcomes::Outcomes;
use super::records::Records;
use super::schedule::{OtherEvent, Schedule};
use super::turns::{Turns, are_many};
use crate::ensemble::Junctions;
use crate::jitter;
use crate::overlay::Daemons;
use crate::record::Recorder;
use crate::routes::RouteTable;
use crate::setup::{Setup, SetupError};
use crate::speed::Speed;
use crate::traffic::Traffic;
use crate::tuning::{FEW_LINKS, FEW_PACKETS};

impl<'a> Simulation<'a> {
    pub(super) fn new(
        setup: &'a Setup,
        recorder: Box<dyn Recorder + 'a>,
        speed: Speed,
    ) -> Result<Simulation<'a>, SetupError> {
        let mut network = Network::new(&setup.network, &setup.laws, setup.exact_wire, setup.seed);
        let mut routes = RouteTable::new(setup)?;
        jitter::begin(setup, speed, &mut network, &routes);
        if speed.delay_lines && setup.network.links.len() > FEW_LINKS {
            let changed = setup.changed_links();
            network.use_delay_lines(|link| changed.contains(&link));
        }
        let turns = Turns::new(setup, speed, &mut network, &routes);
        if setup.sample_interval.is_some() {
            network.time_packets();
        }
        let told = setup.captured_links.iter().chain(&setup.watched_links);
        told.for_each(|link| network.watch(*link));
        setup.captured_links.iter().for_each(|link| network.tap(*link));
        // Every flow must have a route there and back.
        for (from, to) in setup.pairs() {
            routes.get(&mut network, from, to, 0)?;
            routes.get(&mut network, to, from, 0)?;
        }
        if speed.merges_links {
            merge_links(setup, &mut network, &mut routes);
        }
        let overlay = overlay(setup, &mut network, &mut routes)?;
        let end = Time::ZERO + setup.duration;
        let classes = setup.traffic.iter().zip(0..);
        let mut simulation = Simulation {
            setup,
            env: Environment {
                clock: Clock::new(end),
                schedule: Schedule::new(end, turns.is_some()),
                network,
                overlay,
            },
            hosts: Hosts::new(setup, routes),
            junctions: Junctions::new(setup),
            traffic: classes.map(|(spec, i)| Traffic::new(spec, i, setup.seed)).collect(),
            outcomes: Outcomes::new(setup),
            records: Records::new(setup, recorder),
            faults: Faults::default(),
            turns,
            few_packets: few_packets(setup, speed),
        };
        simulation.schedule_all();
        Ok(simulation)
    }

    fn schedule_all(&mut self) {
        for (at, event) in listed(self.setup) {
            self.env.schedule.later(at, event);
        }
        for ((traffic, spec), class) in self.traffic.iter().zip(&self.setup.traffic).zip(0..) {
            self.env.schedule.later(traffic.next(spec), OtherEvent::Arrive(class));
        }
        if let Some((flow, at)) = self.setup.follow.asked
            && self.setup.flows.get(flow.0 as usize).is_some_and(|f| f.start < at)
        {
            self.env.schedule.later(at, OtherEvent::Follow);
        }
        self.schedule_sample();
        let Some(overlay) = &self.env.overlay else { return };
        for (at, event) in overlay.events() {
            self.env.schedule.later(at, OtherEvent::Overlay(event));
        }
        overlay.nodes().for_each(|node| self.stir(node));
    }
}

/// Packets that stay in the caches beside all else; [`usize::MAX`] if nothing is to be fetched.
fn few_packets(setup: &Setup, speed: Speed) -> usize {
    match speed.look_ahead {
        false => usize::MAX,
        true if are_many(setup) => 0,
        true => FEW_PACKETS,
    }
}

/// Lets packets enter links ahead of time, if all routes are known: each pair has one.
fn merge_links(setup: &Setup, network: &mut Network, routes: &mut RouteTable) {
    let has_lines = network.look_ahead().links_without_delay_line() < setup.network.links.len();
    let mut has_choice = |(from, to)| routes.has_choice(from, to) || routes.has_choice(to, from);
    if !has_lines && !setup.pairs().any(&mut has_choice) {
        network.merge_links();
    }
}

/// The events that a setup lists. Changes come before packets of the same instant.
fn listed(setup: &Setup) -> impl Iterator<Item = (Time, OtherEvent)> {
    let changes = setup.changes.iter().zip(0..);
    let members = setup.ensembles.events.iter().zip(0..);
    let flows = setup.flows.iter().zip(0..).flat_map(|(flow, i)| {
        let stop = flow.stop.unwrap_or(Time::NEVER);
        let both = [(flow.start, OtherEvent::Start(i)), (stop, OtherEvent::Stop(i))];
        both.into_iter().filter(move |_| stop > flow.start)
    });
    let changes = changes.map(|((at, ..), i)| (*at, OtherEvent::Change(i)));
    let members = members.map(|((at, _), i)| (*at, OtherEvent::Member(i)));
    changes.chain(members).chain(flows)
}

/// The overlay of a setup, with its nodes on their hosts.
fn overlay(
    setup: &Setup,
    network: &mut Network,
    routes: &mut RouteTable,
) -> Result<Option<Box<Daemons>>, SetupError> {
    let Some(spec) = &setup.overlay else { return Ok(None) };
    let mut delays = Vec::new();
    for (flow, id) in setup.flows.iter().zip(0..) {
        delays.push(routes.get(network, flow.from, flow.to, id)?.delay);
    }
    let daemons = Daemons::new(spec, |flow| delays[flow], setup.seed);
    let unreachable =
        |e: Unreachable| SetupError::NoRoute(spec.nodes[e.0.index()], spec.nodes[e.1.index()]);
    Ok(Some(Box::new(daemons.map_err(unreachable)?)))
}
