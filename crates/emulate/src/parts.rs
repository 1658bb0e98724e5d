//! Parts of a setup without arriving traffic, as the emulated world needs them.

use std::collections::BTreeSet;

use ratewire_net::spec::NodeId;
use ratewire_sim::setup::Setup;

use crate::acp;
use crate::shell::Shell;

/// Hosts of a setup: ends of flows, hosts with programs, and with a shell all.
pub(crate) fn hosts(setup: &Setup, shell: Option<Shell>) -> BTreeSet<NodeId> {
    let mut nodes: BTreeSet<NodeId> = setup.flows.iter().flat_map(|f| [f.from, f.to]).collect();
    nodes.extend(setup.programs.iter().map(|program| program.host));
    nodes.extend(setup.overlay.iter().flat_map(|overlay| &overlay.nodes));
    if let Some(shell) = shell {
        let all = setup.network.nodes.iter().enumerate();
        nodes.extend(all.filter(|(_, n)| n.is_host).map(|(i, _)| NodeId(i as u32)));
        nodes.insert(shell.host);
    }
    nodes
}

/// Flows that programs make, links of an overlay, which daemons make, and flows of ACP.
pub(crate) fn flows_of_programs(setup: &Setup) -> BTreeSet<usize> {
    let of_programs = setup.programs.iter().filter_map(|program| program.flow);
    let links = setup.overlay.iter().flat_map(|overlay| &overlay.links);
    of_programs.chain(links.map(|link| link.flow)).chain(acp::flows(setup)).collect()
}

/// Laws of ports, by number, one for each link that has one.
pub(crate) fn port_laws(setup: &Setup) -> impl Iterator<Item = usize> {
    setup.network.links.iter().filter_map(|link| link.law)
}
