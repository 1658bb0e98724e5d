//! Warns of runs whose longest queue is where none is meant to be.
//!
//! Senders queue at their host's own port if it is the slowest of their path, and at a port without
//! limit if nothing tells them to slow down. Both are seldom meant: the bottleneck of the scenario
//! then stays empty, and round trips grow to seconds.

use ratewire_net::spec::{Limit, LinkSpec};
use ratewire_report::{LinkSummary, Summary};
use ratewire_sim::setup::Setup;

use crate::listen::Warning;

/// Mean queue, in packets, below which a link is nobody's bottleneck.
const WORTH_A_WARNING: f64 = 1.0;

/// The warning about the longest queue of the run called `name`, if it is at a host's own port or
/// at one without limit. A host through which packets of others pass is a router here. The link
/// called bottleneck is meant to be one; where none is, those are that flows are expected to fill
/// first, unless nothing bounds their queue. Links that are paused fill the queues before them.
pub(crate) fn warning(name: &str, setup: &Setup, summary: &Summary) -> Option<Warning> {
    let by_mean =
        |a: &&LinkSummary, b: &&LinkSummary| a.queue_packets_mean.total_cmp(&b.queue_packets_mean);
    let longest = summary.links.iter().max_by(by_mean)?;
    let link = setup.network.links.get(longest.link as usize)?;
    let is_bounded = link.limit != Limit::Unlimited;
    let is_of_host = setup.pathfinder().is_ok_and(|paths| paths.is_leaf(link.from));
    let keeps_small = is_of_host && keeps_small_queues(setup, link);
    let is_meant = match summary.links.iter().any(|link| link.bottleneck) {
        true => longest.bottleneck,
        false => longest.expected_bottleneck && (is_bounded || keeps_small),
    };
    let is_worth_it = longest.queue_packets_mean >= WORTH_A_WARNING;
    if !is_worth_it || is_meant || link.pause.is_some() || !is_of_host && is_bounded {
        return None;
    }
    let packets = ratewire_report::count(longest.queue_packets_max);
    let held = format!("{} held {packets} packets: this is the bottleneck", longest.name);
    let message = format!("{name}: {held}");
    let link = &link.name;
    let faster = format!("give {link} a higher rate (`access` of the topology)");
    let help = match (is_of_host, is_bounded || keeps_small) {
        (false, _) => {
            format!("the queue has no limit: give {link} one, such as `queue = \"1 bdp\"`")
        }
        (true, false) => {
            format!("{faster}, a `queue` with a limit, or set `small_queues = true` in [transport]")
        }
        (true, true) => {
            format!("it is a host's own link: {faster} if another link is to be the bottleneck")
        }
    };
    Some(Warning { message, help: Some(help) })
}

/// Whether all flows of the host that a link leaves keep its queue small.
fn keeps_small_queues(setup: &Setup, link: &LinkSpec) -> bool {
    let listed = setup.flows.iter().map(|flow| (flow.from, &flow.transport, flow.law));
    let arriving = setup.traffic.iter().flat_map(|class| {
        class.pairs.iter().map(move |pair| (pair.0, &class.transport, class.law))
    });
    let mut own = listed.chain(arriving).filter(|(from, ..)| *from == link.from);
    own.all(|(_, config, law)| config.keeps_small_queues(&setup.laws[law]))
}
