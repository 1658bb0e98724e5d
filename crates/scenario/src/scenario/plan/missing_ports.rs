//! Runs in which nothing is sent, and senders whose headers no port on their route reads.
//!
//! The ports on the route may belong to another law, or to a twin: `xcp` and `xcp@kernel` work
//! alike but do not read each other's headers.

use ratewire_laws::Draw;
use ratewire_net::spec::{LinkId, LinkSpec, NodeId};
use ratewire_sim::setup::{Arrivals, Setup, TrafficSpec};

use crate::diagnostic::Diagnostic;
use crate::laws::Made;

/// A flow, or a class of traffic between two nodes.
struct Sender<'a> {
    name: &'a str,
    law: usize,
    from: NodeId,
    to: NodeId,
    key: u64,
    /// Whether this is an edge of an ensemble, whose switch carries feedback from one edge to
    /// another.
    is_edge: bool,
}

/// Warns where nothing is sent, where senders meet ports of a twin law, and where a route has no
/// port of a law that has ports.
pub(super) fn check(file: &str, setup: &Setup, made: &[Made], warnings: &mut Vec<Diagnostic>) {
    if models_nothing(setup) && setup.programs.is_empty() {
        let help = "add a [[flow]], [[traffic]], an [[ensemble]] or an [overlay]";
        warnings.push(Diagnostic::warning(file, "nothing is sent", help));
    }
    // Most runs have ports of one law everywhere, so they need no routes.
    let suspects: Vec<bool> = made.iter().map(|one| may_lack_ports(one, setup, made)).collect();
    let senders: Vec<Sender<'_>> = senders(setup).filter(|sender| suspects[sender.law]).collect();
    if senders.is_empty() {
        return;
    }
    let Ok(mut pathfinder) = setup.pathfinder() else { return };
    let mut met = Vec::new();
    for sender in &senders {
        let one = &made[sender.law];
        let path = pathfinder.path(sender.from, sender.to, sender.key).unwrap_or_default();
        let links = || path.iter().map(|link| &setup.network.links[link.index()]);
        let twin = links().find_map(|link| {
            let other = made.get(link.law?)?;
            are_twins(one, other).then_some((link, other))
        });
        let has_port = || links().any(|link| is_of(one, link, made));
        // A law that reacts to marks obeys the marks of any queue.
        if twin.is_none() && (sender.is_edge || one.law.marks() || has_port()) {
            continue;
        }
        let law_and_twin = (&one.name, twin.map(|(_, other)| &other.name));
        if met.contains(&law_and_twin) {
            continue;
        }
        met.push(law_and_twin);
        let (message, help) = match twin {
            Some((link, other)) => of_twin(sender.name, one, link, other),
            None => of_nobody(sender.name, one),
        };
        warnings.push(Diagnostic::warning(file, message, help));
    }
}

/// Whether simulated hosts send nothing.
fn models_nothing(setup: &Setup) -> bool {
    setup.flows.is_empty() && setup.traffic.is_empty()
}

/// Warns of a simulated run that sends nothing because only programs would.
pub(super) fn silent(file: &str, setup: &Setup) -> Option<Diagnostic> {
    (models_nothing(setup) && !setup.programs.is_empty()).then(|| {
        let message = "nothing is sent in a simulated run: programs run only in emulated runs";
        let help =
            "the world `emulate` runs them; the simulator models [[flow]]s, even those with `run`";
        Diagnostic::warning(file, message, help)
    })
}

fn senders(setup: &Setup) -> impl Iterator<Item = Sender<'_>> {
    let ensembles = &setup.ensembles;
    let flows = setup.flows.iter().enumerate().map(|(id, flow)| Sender {
        name: &flow.name,
        law: flow.law,
        from: flow.from,
        to: flow.to,
        key: id as u64,
        is_edge: ensembles.has_edge(id),
    });
    let classes = setup.traffic.iter().flat_map(|class| {
        let (name, law) = (class.name.as_str(), class.law);
        let of = move |(from, to)| Sender { name, law, from, to, key: 0, is_edge: false };
        pairs(class).into_iter().map(of)
    });
    flows.chain(classes)
}

/// Pairs of nodes of a class of traffic.
pub(super) fn pairs(class: &TrafficSpec) -> Vec<(NodeId, NodeId)> {
    let listed = match &class.arrivals {
        Arrivals::Listed(list) => list.as_slice(),
        _ => &[],
    };
    let listed = listed.iter().map(|arrival| (arrival.from, arrival.to));
    let drawn = class.pairs.iter().map(|(from, to, _)| (*from, *to));
    let mut pairs: Vec<_> = drawn.chain(listed).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Whether the law has ports, but not at every link.
fn may_lack_ports(one: &Made, setup: &Setup, made: &[Made]) -> bool {
    let Some(link) = setup.network.links.first() else { return false };
    let any = link.context(LinkId(0), Draw::new(0));
    one.law.port(&any).is_some() && setup.network.links.iter().any(|link| !is_of(one, link, made))
}

/// Whether the port of a link is of this law.
pub(super) fn is_of(one: &Made, link: &LinkSpec, made: &[Made]) -> bool {
    let other = link.law.and_then(|law| made.get(law));
    other.is_some_and(|other| other.law.info().name == one.law.info().name)
}

fn are_twins(a: &Made, b: &Made) -> bool {
    let (a, b) = (a.law.info().name, b.law.info().name);
    a != b && a.trim_end_matches("@kernel") == b.trim_end_matches("@kernel")
}

fn of_twin(name: &str, one: &Made, link: &LinkSpec, other: &Made) -> (String, String) {
    let (sends, stands) = (&one.name, &other.name);
    let message = format!(
        "{name:?} uses {sends}, but the port of {:?} is of {stands} and does not read its headers",
        link.name
    );
    let help =
        format!("run both as {sends} or both as {stands}; `law` of flows and links sets which");
    (message, help)
}

fn of_nobody(name: &str, one: &Made) -> (String, String) {
    let sends = &one.name;
    let message = format!(
        "{name:?} uses {sends}, but no port on its route is of {sends}: its headers return unchanged"
    );
    (message, "`law` of a link sets the law of its port".to_string())
}
