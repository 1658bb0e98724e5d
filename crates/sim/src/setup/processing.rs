//! Hosts that take time to process the packets of senders.

use std::collections::BTreeSet;

use ratewire_net::spec::{DriverSpec, LinkId, LinkSpec, NodeId};
use ratewire_transport::{Jitter, TransportConfig};

use super::{Arrivals, Setup};

/// Whether the node at a link's start takes time to process packets: a host whose driver sends a
/// packet as soon as the link can take it.
pub(crate) fn takes_time(setup: &Setup, first: &LinkSpec) -> bool {
    setup.network.nodes[first.from.index()].is_host && first.driver == DriverSpec::default()
}

/// The links of hosts that take time to process the packets of some flow.
pub(crate) fn links(setup: &Setup) -> impl Iterator<Item = LinkId> {
    links_of(setup, |config, _| config.jitter != Jitter::NONE)
}

/// The links of hosts that send flows of this transport and law, and take time to process packets
/// if flows have jitter.
pub(crate) fn links_of(
    setup: &Setup,
    is_meant: impl Fn(&TransportConfig, usize) -> bool,
) -> impl Iterator<Item = LinkId> {
    let senders = senders_of(setup, is_meant);
    let links = setup.network.links.iter().zip((0..).map(LinkId));
    links
        .filter(move |(link, _)| senders.contains(&link.from) && takes_time(setup, link))
        .map(|(_, id)| id)
}

/// Nodes that send flows of this transport and law.
pub(crate) fn senders_of(
    setup: &Setup,
    is_meant: impl Fn(&TransportConfig, usize) -> bool,
) -> BTreeSet<NodeId> {
    let mut senders: BTreeSet<NodeId> = BTreeSet::new();
    senders.extend(setup.flows.iter().filter(|f| is_meant(&f.transport, f.law)).map(|f| f.from));
    for class in setup.traffic.iter().filter(|class| is_meant(&class.transport, class.law)) {
        match &class.arrivals {
            Arrivals::Listed(list) => senders.extend(list.iter().map(|arrival| arrival.from)),
            Arrivals::Poisson(_) | Arrivals::Periodic(_) => {
                senders.extend(class.pairs.iter().map(|pair| pair.0));
            }
        }
    }
    senders
}
