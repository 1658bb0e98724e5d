//! Describes a setup for the report.

use ratewire_net::spec::{Limit, LinkId, NodeId, NodeSpec};
use ratewire_report::compare::FigureName;
use ratewire_report::{
    FlowInfo, LinkInfo, LoadInfo, NodeInfo, NodeKind, OverlayInfo, QueueLimit, RunInfo, Topology,
    TrafficInfo, World,
};
use ratewire_sim::overlay::optimum::trees;
use ratewire_sim::overlay::spec::{OverlaySender, OverlaySpec};
use ratewire_sim::setup::{Arrivals, Setup};
use ratewire_units::{Duration, Time};

use super::changes::changes;
use super::{bottleneck, estimate};

/// Names and choices that a setup does not contain.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// The scenario's name.
    pub scenario: String,
    /// Law of the run, as the user wrote it.
    pub law: String,
    /// Names of the setup's laws, by index; a law without one has its own name.
    pub laws: Vec<String>,
    /// The link that figures are about.
    pub bottleneck: Option<LinkId>,
    /// Links to show where not all can be shown.
    pub slowest: Vec<LinkId>,
    /// The link at which the rates of flows are sampled.
    pub rates_at: Option<LinkId>,
    /// Values set in place of the scenario's own.
    pub values: Vec<(String, String)>,
    /// The experiment, for the metadata of tables; empty if no table is kept.
    pub made_by: String,
    /// Figures that are asked for.
    pub figures: Vec<FigureName>,
    /// Requested load of each class of arriving traffic, if it has one.
    pub loads: Vec<Option<LoadInfo>>,
}

impl Labels {
    /// Name of a law of the setup.
    pub(crate) fn law_name(&self, setup: &Setup, law: usize) -> String {
        let own = || setup.laws[law].info().name.to_string();
        self.laws.get(law).cloned().unwrap_or_else(own)
    }
}

pub(crate) fn describe(world: World, setup: &Setup, labels: &Labels) -> RunInfo {
    let mut nodes: Vec<NodeInfo> = setup.network.nodes.iter().map(node).collect();
    describe_ensembles(setup, &mut nodes);
    let expected = bottleneck::expected(setup);
    let links = setup.network.links.iter().enumerate().map(|(i, l)| LinkInfo {
        name: l.name.clone(),
        from: l.from.0,
        to: l.to.0,
        rate: l.service.mean_rate(),
        delay: l.delay,
        room: match l.limit {
            Limit::Unlimited => QueueLimit::Unlimited,
            Limit::Bytes(bytes) => QueueLimit::Bytes(bytes),
            Limit::Packets(packets) => QueueLimit::Packets(packets),
        },
        bottleneck: labels.bottleneck == Some(LinkId(i as u32)),
        expected_bottleneck: expected.contains(&LinkId(i as u32)),
        slowest: labels.slowest.contains(&LinkId(i as u32)),
    });
    let flows = setup.flows.iter().enumerate().map(|(id, f)| FlowInfo {
        name: f.name.clone(),
        from: f.from.0,
        to: f.to.0,
        law: labels.law_name(setup, f.law),
        goes_on: setup.ensembles.ends_at_switch(id),
    });
    let traffic = setup.traffic.iter().enumerate().map(|(id, class)| {
        let fan_in = f64::from(class.fan_in);
        let (from, to) = estimate::measured(setup);
        let arriving = estimate::overlap(class.start, class.stop, (from, to));
        let (per_second, expected) = match class.arrivals {
            Arrivals::Poisson(per_second) => {
                let flows = per_second * fan_in;
                (Some(flows), Some(flows * arriving.secs()))
            }
            Arrivals::Periodic(interval) => {
                // Arrivals at the start and each interval after it, before a time.
                let before = |time: Time| {
                    let time = time.min(class.stop).since(class.start);
                    time.ps().div_ceil(interval.ps().max(1)) as f64
                };
                let times = before(to) - before(from);
                (Some(fan_in / interval.secs()), Some(times * fan_in))
            }
            Arrivals::Listed(_) => (None, None),
        };
        TrafficInfo {
            name: class.name.clone(),
            law: labels.law_name(setup, class.law),
            per_second,
            expected,
            load: labels.loads.get(id).cloned().flatten(),
            fan_in: class.fan_in,
            mean_size: estimate::mean_size(class),
            arriving,
        }
    });
    RunInfo {
        scenario: labels.scenario.clone(),
        law: labels.law.clone(),
        seed: setup.seed,
        world,
        duration: setup.duration,
        measured: setup.measured,
        version: env!("CARGO_PKG_VERSION").to_string(),
        values: labels.values.clone(),
        made_by: labels.made_by.clone(),
        figures: labels.figures.clone(),
        sampling: setup.sample_interval.unwrap_or(Duration::ZERO),
        topology: Topology { nodes, links: links.collect() },
        rates_at: labels.rates_at.map(|link| link.0),
        flows: flows.collect(),
        traffic: traffic.collect(),
        overlay: setup.overlay.as_ref().map(|overlay| OverlayInfo {
            groups: overlay.groups.iter().map(|group| group.name.clone()).collect(),
            connections: overlay.links.iter().map(|link| link.flow as u32).collect(),
            trees: trees(setup).unwrap_or_default(),
            senders: overlay.senders.iter().map(|sender| at(overlay, sender)).collect(),
        }),
        changes: changes(setup),
    }
}

/// Group of a sender, and node of its host.
fn at(overlay: &OverlaySpec, sender: &OverlaySender) -> (u32, u32) {
    (sender.spec.group.index() as u32, overlay.nodes[sender.at.index()].0)
}

fn node(spec: &NodeSpec) -> NodeInfo {
    NodeInfo {
        name: spec.name.clone(),
        kind: if spec.is_host { NodeKind::Host } else { NodeKind::Router },
        part: String::new(),
        at: spec.position,
    }
}

/// Describes the roles of nodes in ensembles.
fn describe_ensembles(setup: &Setup, nodes: &mut [NodeInfo]) {
    let ensembles = &setup.ensembles;
    let is_switch = |node: NodeId| ensembles.junctions.iter().any(|j| j.node == node);
    let mut describe = |node: NodeId, kind: NodeKind, part: String| {
        if let Some(info) = nodes.get_mut(node.index()) {
            info.kind = kind;
            if !info.part.split(", ").any(|known| known == part) {
                info.part += if info.part.is_empty() { "" } else { ", " };
                info.part += &part;
            }
        }
    };
    for junction in &ensembles.junctions {
        describe(junction.node, NodeKind::Switch, format!("switch of {}", junction.name));
        for edge in &junction.members {
            // One end of the flow is the switch itself.
            let flow = edge.inbound.or(edge.outbound).and_then(|id| setup.flows.get(id as usize));
            let ends = flow.into_iter().flat_map(|flow| [flow.from, flow.to]);
            for member in ends.filter(|node| !is_switch(*node)) {
                describe(member, NodeKind::Member, format!("member of {}", junction.name));
            }
        }
    }
}
