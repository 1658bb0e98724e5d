//! `sockets` and `bursts` configure the sending host; on links of routers they have no effect.

use ratewire_net::spec::{DriverSpec, NetworkSpec, Sockets};

use super::unused::Given;
use crate::context::Context;
use crate::network::Net;
use crate::network::properties::pause::Wishes;

/// Removes drivers from links that no host sends on.
///
/// It is an error if a key is given for such links only. `senders` are further sending nodes, which
/// may be routers: ends of flows and places of programs.
pub(crate) fn keep_to_hosts(
    context: &Context<'_>,
    net: &Net,
    senders: impl Iterator<Item = usize>,
    network: &mut NetworkSpec,
) {
    let mut sends: Vec<bool> = net.nodes.iter().map(|node| node.is_host).collect();
    for node in senders {
        sends[node] = true;
    }
    let mut given = Given::default();
    for (link, spec) in net.links.iter().zip(&mut network.links) {
        let Wishes { sockets, bursts, .. } = link.properties.wishes;
        let sockets = sockets.filter(|at| at.value != Sockets::Drop).map(|at| at.span);
        let bursts = bursts.filter(|at| at.value.is_some()).map(|at| at.span);
        for (key, span) in [("sockets", sockets), ("bursts", bursts)] {
            if let Some(span) = span {
                given.note(key, span, &link.name, sends[link.from]);
            }
        }
        if !sends[link.from] {
            spec.driver = DriverSpec::default();
        }
    }
    if net.is_guess {
        return;
    }
    for vain in given.vain() {
        let (links, begin) = (vain.links(), if vain.is_one() { "begins" } else { "begin" });
        context
            .error(
                vain.span,
                format!("`{}` means nothing here: {links} {begin} at a router", vain.key),
            )
            .help("it is about the host that sends: give it to the link that leads from that host");
    }
}
