//! What became of each flow so far.

use ratewire_net::Network;
use ratewire_transport::TransportConfig;
use ratewire_units::{Bytes, Duration, Time};

use crate::flow::Flow;
use crate::outcome::FlowOutcome;
use crate::record::{FlowCompleted, FlowId};
use crate::routes::RouteTable;
use crate::setup::{FlowSpec, Setup};

/// The outcome of each flow, by number.
#[derive(Debug)]
pub(super) struct Outcomes<'a> {
    setup: &'a Setup,
    pub(super) list: Vec<FlowOutcome>,
}

impl<'a> Outcomes<'a> {
    /// The outcomes of listed flows, which have not started.
    pub(super) fn new(setup: &'a Setup) -> Outcomes<'a> {
        let listed = (0..).map(FlowId).zip(&setup.flows);
        Outcomes { setup, list: listed.map(|(id, flow)| outcome(id, flow, None)).collect() }
    }

    /// Adds a flow of a class of arriving traffic.
    pub(super) fn add(&mut self, flow: &FlowSpec, class: usize) -> FlowId {
        let id = FlowId(self.list.len() as u32);
        self.list.push(outcome(id, flow, Some(class)));
        id
    }

    /// Notes that all data of a flow had arrived at this time.
    pub(super) fn complete(
        &mut self,
        at: Time,
        flow: &Flow,
        (routes, network): (&mut RouteTable, &mut Network),
    ) -> FlowCompleted {
        let size = flow.receiver.delivered() + flow.passed;
        let transport = self.transport(flow.id);
        let outcome = &mut self.list[flow.id.0 as usize];
        outcome.completed = Some(at);
        let start = outcome.started.unwrap_or(at);
        let mut route = |from, to| routes.get(network, from, to, u64::from(flow.id.0));
        let way = (route(outcome.from, outcome.to), route(outcome.to, outcome.from));
        let ideal = match way {
            (Ok(route), Ok(back)) => {
                // Without a law's header, so that laws are measured against the same time.
                let headers = transport.headers;
                let sizes = (size, transport.packet.saturating_sub(headers), headers);
                route.ideal(&back, self.setup.ideal, transport.handshake, sizes)
            }
            _ => Duration::ZERO,
        };
        FlowCompleted {
            flow: flow.id,
            law: outcome.law,
            traffic: outcome.traffic,
            size,
            start,
            took: at.since(start),
            ideal,
            retransmitted: flow.sender.stats().retransmitted,
        }
    }

    fn transport(&self, flow: FlowId) -> &'a TransportConfig {
        let index = flow.0 as usize;
        match self.list[index].traffic {
            Some(class) => &self.setup.traffic[class].transport,
            None => &self.setup.flows[index].transport,
        }
    }

    /// Adds the results of a flow, or of one of its lives.
    pub(super) fn settle(&mut self, flow: &Flow) {
        let outcome = &mut self.list[flow.id.0 as usize];
        let stats = flow.sender.stats();
        outcome.delivered += flow.receiver.delivered() + flow.passed;
        outcome.refused += flow.receiver.refused();
        outcome.retransmitted += stats.retransmitted;
        outcome.retransmitted_packets += stats.retransmitted_packets;
        outcome.timeouts += stats.timeouts;
        let rtt = flow.sender.rtt();
        outcome.min_rtt = rtt.min().into_iter().chain(outcome.min_rtt).min();
        outcome.max_rtt = rtt.max().into_iter().chain(outcome.max_rtt).max();
        let mean = stats.rtt_sum_ns.checked_div(stats.rtt_samples).map(Duration::from_nanos);
        outcome.mean_rtt = mean.or(outcome.mean_rtt);
    }
}

fn outcome(flow: FlowId, spec: &FlowSpec, traffic: Option<usize>) -> FlowOutcome {
    FlowOutcome {
        flow,
        name: spec.name.clone(),
        from: spec.from,
        to: spec.to,
        law: spec.law,
        traffic,
        started: None,
        completed: None,
        delivered: Bytes::ZERO,
        retransmitted: Bytes::ZERO,
        retransmitted_packets: 0,
        timeouts: 0,
        refused: 0,
        min_rtt: None,
        max_rtt: None,
        mean_rtt: None,
        clamps: 0,
    }
}
