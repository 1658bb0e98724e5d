//! Describes a setup for the report.

use ratewire_net::spec::{Change, Limit, LinkId, NodeId, NodeSpec};
use ratewire_report::compare::FigureName;
use ratewire_report::{
    ChangeInfo, FlowInfo, LinkInfo, LoadInfo, NodeInfo, NodeKind, OverlayInfo, QueueLimit, RunInfo,
    Topology, TrafficInfo, World,
};
use ratewire_sim::overlay::optimum::trees;
use ratewire_sim::overlay::spec::{OverlaySender, OverlaySpec};
use ratewire_sim::setup::{Arrivals, Setup};
use ratewire_units::{Duration, Time};

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

/// Most links that are named for changes of one instant; others are counted.
const NAMED: usize = 3;

/// Changes of links, one entry for each instant.
fn changes(setup: &Setup) -> Vec<ChangeInfo> {
    let end = Time::ZERO + setup.duration;
    let mut all: Vec<&(Time, LinkId, Change)> =
        setup.changes.iter().filter(|change| change.0 <= end).collect();
    all.sort_by_key(|change| change.0);
    let instants = all.chunk_by(|a, b| a.0 == b.0).map(|together| {
        let texts = together.iter().take(NAMED).map(|(_, link, change)| {
            let name = &setup.network.links[link.index()].name;
            match change {
                Change::Rate(rate) => format!("{name} sends at {rate}"),
                Change::Delay(delay) => format!("{name} has a delay of {delay}"),
                Change::Up(false) => format!("{name} goes down"),
                Change::Up(true) => format!("{name} comes up"),
            }
        });
        let mut texts: Vec<String> = texts.collect();
        if together.len() > NAMED {
            texts.push(format!("and {} more", together.len() - NAMED));
        }
        ChangeInfo { at: together[0].0, what: texts.join(", ") }
    });
    instants.collect()
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

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_sim::dumbbell::{BOTTLENECK, Dumbbell};
    use ratewire_units::Rate;

    use super::*;

    #[test]
    fn changes_of_an_instant_are_one_entry() {
        let law = AnyLaw::new("newreno", &[]).expect("newreno");
        let rtt = Duration::from_millis(100);
        let mut setup = Dumbbell::new(law, 2, Rate::from_mbps(8), rtt, 100).setup();
        let name = setup.network.links[BOTTLENECK.index()].name.clone();
        let at = |s| Time::ZERO + Duration::from_secs(s);
        setup.duration = Duration::from_secs(3);
        setup.changes = vec![
            (at(4), BOTTLENECK, Change::Up(false)),
            (at(3), BOTTLENECK, Change::Up(true)),
            (at(2), BOTTLENECK, Change::Rate(Rate::from_mbps(2))),
            (at(2), BOTTLENECK, Change::Delay(Duration::from_millis(7))),
            (at(2), BOTTLENECK, Change::Up(false)),
            (at(2), LinkId(0), Change::Up(false)),
            (at(2), LinkId(1), Change::Up(false)),
        ];
        let found = changes(&setup);
        let found: Vec<(Time, &str)> = found.iter().map(|c| (c.at, c.what.as_str())).collect();
        let both = format!(
            "{name} sends at 2 Mbit/s, {name} has a delay of 7 ms, {name} goes down, and 2 more"
        );
        assert_eq!(found, [(at(2), &both[..]), (at(3), &format!("{name} comes up"))]);
    }
}
