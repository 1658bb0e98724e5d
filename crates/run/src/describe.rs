//! What a setup is, in the report's words.

use ratewire_net::spec::LinkId;
use ratewire_report::{FlowInfo, LinkInfo, NodeInfo, NodeKind, OverlayInfo, RunInfo, Topology};
use ratewire_sim::overlay::optimum::trees;
use ratewire_sim::setup::Setup;
use ratewire_units::Duration;

/// Names that a setup does not carry.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// The scenario's name.
    pub scenario: String,
    /// The law the run is made for, as the user wrote it.
    pub law: String,
    /// The names of the setup's laws, by index; a law without one goes by its own.
    pub laws: Vec<String>,
    /// Links whose queue is expected to fill.
    pub bottlenecks: Vec<LinkId>,
}

impl Labels {
    /// How a law of the setup is called.
    pub(crate) fn law_name(&self, setup: &Setup, law: usize) -> String {
        let own = || setup.laws[law].info().name.to_string();
        self.laws.get(law).cloned().unwrap_or_else(own)
    }
}

pub(crate) fn describe(setup: &Setup, labels: &Labels) -> RunInfo {
    let nodes = setup.network.nodes.iter().map(|n| NodeInfo {
        name: n.name.clone(),
        kind: if n.is_host { NodeKind::Host } else { NodeKind::Router },
        at: n.position,
    });
    let links = setup.network.links.iter().enumerate().map(|(i, l)| LinkInfo {
        name: l.name.clone(),
        from: l.from.0,
        to: l.to.0,
        rate: l.service.mean_rate(),
        delay: l.delay,
        bottleneck: labels.bottlenecks.contains(&LinkId(i as u32)),
    });
    let flows = setup.flows.iter().map(|f| FlowInfo {
        name: f.name.clone(),
        from: f.from.0,
        to: f.to.0,
        law: labels.law_name(setup, f.law),
    });
    RunInfo {
        scenario: labels.scenario.clone(),
        law: labels.law.clone(),
        seed: setup.seed,
        world: "simulate".to_string(),
        duration: setup.duration,
        version: env!("CARGO_PKG_VERSION").to_string(),
        sampling: setup.sample_interval.unwrap_or(Duration::ZERO),
        topology: Topology { nodes: nodes.collect(), links: links.collect() },
        flows: flows.collect(),
        overlay: setup.overlay.as_ref().map(|overlay| OverlayInfo {
            groups: overlay.groups.iter().map(|group| group.name.clone()).collect(),
            connections: overlay.links.iter().map(|link| link.flow as u32).collect(),
            trees: trees(setup).unwrap_or_default(),
        }),
    }
}
