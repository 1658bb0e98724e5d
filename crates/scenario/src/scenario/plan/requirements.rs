//! Senders whose network lacks something they rely on: marks, a queue longer than the marking
//! threshold, or sockets that wait.

use ratewire_laws::options::Size;
use ratewire_net::spec::{Limit, LinkId, LinkSpec, NetworkSpec, NodeId, Sockets};
use ratewire_sim::setup::{Setup, TrafficSpec};
use ratewire_transport::TransportConfig;

use crate::diagnostic::{Diagnostic, and_more};
use crate::laws::Made;

use super::missing_ports::{is_of, pairs};

/// A flow, or a class of traffic.
struct Sender<'a> {
    name: &'a str,
    law: usize,
    transport: &'a TransportConfig,
    between: Between<'a>,
}

enum Between<'a> {
    /// Ends of the flow, and the key that selects one of its paths.
    Ends(NodeId, NodeId, u64),
    Class(&'a TrafficSpec),
}

impl Between<'_> {
    /// Pairs of nodes, which may be many.
    fn pairs(&self) -> Vec<(NodeId, NodeId, u64)> {
        match self {
            Between::Ends(from, to, key) => vec![(*from, *to, *key)],
            Between::Class(class) => {
                pairs(class).into_iter().map(|(from, to)| (from, to, 0)).collect()
            }
        }
    }
}

/// Warns of senders with ECN in a network where no queue marks.
pub(super) fn unmarked(file: &str, setup: &Setup, made: &[Made]) -> Option<Diagnostic> {
    if setup.network.links.iter().any(|link| may_mark(link, made)) {
        return None;
    }
    let names = listed(&senders(setup), |sender| sender.transport.ecn || sender.transport.l4s)?;
    Some(Diagnostic::warning(
        file,
        format!("`ecn` allows marks on packets of {names}, but no queue marks"),
        "queues with discipline = { codel = { ecn = true } } mark, and so do ports of dctcp",
    ))
}

/// Warns of the slowest used links whose queue overflows before their port marks.
pub(super) fn unreached(
    file: &str,
    setup: &Setup,
    made: &[Made],
    slowest: &[LinkId],
) -> Option<Diagnostic> {
    let listed = setup.flows.iter().map(|flow| &flow.transport);
    let all = listed.chain(setup.traffic.iter().map(|class| &class.transport));
    let packet = all.map(|transport| transport.packet).max()?;
    let mut found = slowest.iter().filter_map(|id| {
        let link = &setup.network.links[id.index()];
        let law = made.get(link.law?)?;
        let threshold = law.law.properties().marks_above?;
        // An arriving packet finds all the others, but not itself, in the queue.
        let is_full = match (link.limit, threshold) {
            (Limit::Unlimited, _) => false,
            (Limit::Packets(room), Size::Packets(most)) => f64::from(room) <= most + 1.0,
            (Limit::Packets(room), Size::Bytes(most)) => packet * u64::from(room) <= most + packet,
            (Limit::Bytes(room), threshold) => room <= threshold.bytes(packet) + packet,
        };
        let is_full =
            is_full && link.discipline.is_passive() && !waits_in_buffers(&setup.network, link.from);
        is_full.then_some((&link.name, link.limit, &law.name, threshold))
    });
    let (link, room, law, threshold) = found.next()?;
    let room = match room {
        Limit::Packets(room) => format!("{room} packets"),
        Limit::Bytes(room) => room.to_string(),
        Limit::Unlimited => return None,
    };
    let links = and_more(link, found.count());
    Some(Diagnostic::warning(
        file,
        format!(
            "the queue of {links} is full before {law} marks: it has room for {room}, and `threshold` is {threshold}"
        ),
        "a longer `queue` of the link, or a smaller `threshold` of the law: without marks senders go by losses",
    ))
}

/// Warns of senders that only queues slow down, if the queue at their host drops packets while the
/// link is paused. In an emulated run the socket always waits.
pub(super) fn unhindered(file: &str, setup: &Setup) -> Option<Diagnostic> {
    let links = &setup.network.links;
    if !links.iter().any(drops_what_is_paused) {
        return None;
    }
    let mut pathfinder = setup.pathfinder().ok()?;
    let mut drops = |(from, to, key)| {
        let path = pathfinder.path(from, to, key).unwrap_or_default();
        path.first().is_some_and(|link| drops_what_is_paused(&links[link.index()]))
    };
    let names = listed(&senders(setup), |sender| {
        setup.laws[sender.law].properties().leaves_it_to_queues
            && sender.between.pairs().into_iter().any(&mut drops)
    })?;
    Some(Diagnostic::warning(
        file,
        format!(
            "only queues slow down {names}, and in a simulated run the queue at their host drops packets when full"
        ),
        "sockets = \"in-turn\" on the link from the host makes its sockets wait",
    ))
}

/// Warns of the first sender whose path has more routers' ports than headers of its law hold.
pub(super) fn unstamped(file: &str, setup: &Setup, made: &[Made]) -> Option<Diagnostic> {
    let limits = made.iter().map(|made| made.law.properties().most_ports);
    let limits: Vec<Option<usize>> = limits.collect();
    if limits.iter().all(Option::is_none) {
        return None;
    }
    let links = &setup.network.links;
    let mut pathfinder = setup.pathfinder().ok()?;
    let senders = senders(setup);
    let (sender, link, ports, most) = senders.iter().find_map(|sender| {
        let (law, most) = (&made[sender.law], limits[sender.law]?);
        sender.between.pairs().into_iter().find_map(|(from, to, key)| {
            let path = pathfinder.path(from, to, key)?;
            let ports = path.iter().map(|link| &links[link.index()]);
            let ports: Vec<_> = ports.filter(|link| is_of(law, link, made)).collect();
            let last = ports.len().checked_sub(most + 1).map(|at| ports[at])?;
            // The sender's own queue is the first, and is full only if the next link is busy.
            let is_own = last.from == from;
            (!is_own).then_some((sender, last, ports.len(), most))
        })
    })?;
    let law = &made[sender.law].name;
    Some(Diagnostic::warning(
        file,
        format!(
            "packets of {} pass {ports} ports of {law}, and their headers hold the last {most}: {law} is blind to queues up to {:?}",
            sender.name, link.name
        ),
        format!("a slow link has to be among the last {most} of the path"),
    ))
}

/// Names of the senders that `are_meant` chooses; `None` if there are none.
fn listed(senders: &[Sender<'_>], are_meant: impl FnMut(&&Sender<'_>) -> bool) -> Option<String> {
    let names: Vec<&str> = senders.iter().filter(are_meant).map(|sender| sender.name).collect();
    names.split_first().map(|(first, more)| and_more(first, more.len()))
}

fn senders(setup: &Setup) -> Vec<Sender<'_>> {
    let flows = setup.flows.iter().enumerate().map(|(id, flow)| Sender {
        name: &flow.name,
        law: flow.law,
        transport: &flow.transport,
        between: Between::Ends(flow.from, flow.to, id as u64),
    });
    let classes = setup.traffic.iter().map(|class| Sender {
        name: &class.name,
        law: class.law,
        transport: &class.transport,
        between: Between::Class(class),
    });
    flows.chain(classes).collect()
}

fn may_mark(link: &LinkSpec, made: &[Made]) -> bool {
    link.discipline.marks()
        || link.law.and_then(|law| made.get(law)).is_some_and(|made| made.law.marks())
}

/// Whether packets that leave a node wait in the buffers of its inputs, and not in a queue.
pub(super) fn waits_in_buffers(network: &NetworkSpec, node: NodeId) -> bool {
    let mut inputs = network.links.iter().filter(|link| link.to == node).peekable();
    let is_host = network.nodes[node.index()].is_host;
    !is_host && inputs.peek().is_some() && inputs.all(|link| link.pause.is_some())
}

/// Whether a host's queue drops packets while the far end pauses the link, because no socket waits.
fn drops_what_is_paused(link: &LinkSpec) -> bool {
    link.pause.is_some() && link.limit != Limit::Unlimited && link.driver.sockets == Sockets::Drop
}
