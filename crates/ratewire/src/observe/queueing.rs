//! Warns of runs whose longest queue is where none is meant to be.
//!
//! Senders queue at their host's own port if it is the slowest of their path, and at a port without
//! limit if nothing tells them to slow down. Both are seldom meant: the bottleneck of the scenario
//! then stays empty, and round trips grow to seconds.

use ratewire_net::spec::{Limit, LinkSpec, NodeId};
use ratewire_report::{LinkSummary, Summary};
use ratewire_sim::setup::Setup;

use crate::listen::Warning;

/// Mean queue, in packets, below which a link is nobody's bottleneck.
const WORTH_A_WARNING: f64 = 1.0;

/// The warning about the longest queue of the run called `name`, if it is at a host's own port that
/// is the slowest on its flows' ways, or at one without limit. A host through which packets of
/// others pass is a router here. The link called bottleneck is meant to be one, and links that are
/// paused fill the queues before them.
pub(crate) fn warning(name: &str, setup: &Setup, summary: &Summary) -> Option<Warning> {
    let by_mean =
        |a: &&LinkSummary, b: &&LinkSummary| a.queue_packets_mean.total_cmp(&b.queue_packets_mean);
    let longest = summary.links.iter().max_by(by_mean)?;
    let link = setup.network.links.get(longest.link as usize)?;
    let is_bounded = link.limit != Limit::Unlimited;
    let is_of_host = setup.pathfinder().is_ok_and(|paths| paths.is_leaf(link.from));
    let keeps_small = is_of_host && senders(setup, link).all(|sender| sender.keeps_small_queues);
    let is_surprise = match is_of_host {
        true => !(is_bounded || keeps_small) || is_slowest(setup, link),
        false => !is_bounded,
    };
    let is_meant = longest.bottleneck || link.pause.is_some();
    if longest.queue_packets_mean < WORTH_A_WARNING || is_meant || !is_surprise {
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

/// A flow, or a pair of a class of traffic, that sends from the host that a link leaves.
struct Sender {
    to: NodeId,
    /// Number of the flow, by which paths are chosen.
    flow: u64,
    keeps_small_queues: bool,
}

fn senders<'a>(setup: &'a Setup, link: &LinkSpec) -> impl Iterator<Item = Sender> + 'a {
    let from = link.from;
    let listed = (0..).zip(&setup.flows).map(|(id, flow)| {
        (
            flow.from,
            Sender {
                to: flow.to,
                flow: id,
                keeps_small_queues: flow.transport.keeps_small_queues(&setup.laws[flow.law]),
            },
        )
    });
    let arriving = setup.traffic.iter().flat_map(|class| {
        let keeps_small_queues = class.transport.keeps_small_queues(&setup.laws[class.law]);
        class
            .pairs
            .iter()
            .map(move |pair| (pair.0, Sender { to: pair.1, flow: 0, keeps_small_queues }))
    });
    listed.chain(arriving).filter(move |(node, _)| *node == from).map(|(_, sender)| sender)
}

/// Whether no other link on the paths of a host's flows is slower than its own, and some are
/// faster.
fn is_slowest(setup: &Setup, own: &LinkSpec) -> bool {
    let Ok(mut paths) = setup.pathfinder() else { return false };
    let rate = |link: &LinkSpec| link.lasting_rate();
    let mut some_are_faster = false;
    let none_is_slower = senders(setup, own).all(|sender| {
        let path = paths.path(own.from, sender.to, sender.flow).unwrap_or_default();
        let mut others = path.iter().map(|link| &setup.network.links[link.index()]);
        some_are_faster |= others.clone().any(|other| rate(other) > rate(own));
        others.all(|other| rate(other) >= rate(own))
    });
    none_is_slower && some_are_faster
}
