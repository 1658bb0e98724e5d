//! Flows that stay in step because nothing is random.

use std::collections::BTreeMap;

use ratewire_net::spec::{Limit, LinkId};
use ratewire_sim::setup::Setup;
use ratewire_units::Time;

use crate::diagnostic::{Diagnostic, and_more};

use super::requirements::waits_in_buffers;

/// Warns of flows that go by losses, start together and meet at a drop-tail queue, in a run in
/// which nothing is random: the order of their packets then decides who loses some (Floyd and
/// Jacobson 1991).
pub(super) fn check(file: &str, setup: &Setup) -> Option<Diagnostic> {
    if setup.has_chance() {
        return None;
    }
    let mut pathfinder = setup.pathfinder().ok()?;
    let mut met: BTreeMap<(LinkId, Time), Vec<&str>> = BTreeMap::new();
    for (id, flow) in setup.flows.iter().enumerate() {
        if !setup.laws[flow.law].properties().goes_by_losses {
            continue;
        }
        for link in pathfinder.path(flow.from, flow.to, id as u64).unwrap_or_default() {
            let spec = &setup.network.links[link.index()];
            // Packets of one host have an order of their own, and those that wait in paused inputs
            // are not dropped.
            let is_router = !setup.network.nodes[spec.from.index()].is_host;
            let drops = is_router && !waits_in_buffers(&setup.network, spec.from);
            if drops && spec.discipline.is_passive() && spec.limit != Limit::Unlimited {
                met.entry((link, flow.start)).or_default().push(&flow.name);
            }
        }
    }
    let in_step = met.into_iter().filter(|(_, flows)| flows.len() > 1);
    let ((link, _), flows) = in_step.max_by_key(|((link, _), flows)| (flows.len(), link.0))?;
    let link = &setup.network.links[link.index()].name;
    Some(Diagnostic::warning(
        file,
        format!(
            "{} start together, and nothing is random: at the drop-tail queue of {link:?} their order alone decides who loses packets",
            and_more(flows[0], flows.len() - 1)
        ),
        "jitter = \"packet-time\" in [transport] breaks such phase effects, and so does a range as `start`",
    ))
}
