//! Senders whose headers no port on their way reads: its ports are of another law, or of a twin of theirs (`xcp` and
//! `xcp@kernel` mean the same and do not understand each other).

use ratewire_laws::LinkContext;
use ratewire_net::routing::Routing;
use ratewire_net::spec::{LinkId, LinkSpec, NodeId};
use ratewire_sim::setup::Setup;

use crate::diagnostic::{Diagnostic, Severity};
use crate::uses::Made;

/// A flow, or a class of traffic between two nodes.
struct Sender<'a> {
    name: &'a str,
    law: usize,
    from: NodeId,
    to: NodeId,
    key: u64,
}

/// Warns where senders meet ports of their law's twin, and where their law has ports and none of them is on the way.
pub(crate) fn check(file: &str, setup: &Setup, made: &[Made], warnings: &mut Vec<Diagnostic>) {
    // Most runs have one law, and need no routes.
    let suspects: Vec<bool> = made.iter().map(|one| may_be_unheard(one, setup, made)).collect();
    let senders: Vec<Sender<'_>> = senders(setup).filter(|sender| suspects[sender.law]).collect();
    if senders.is_empty() {
        return;
    }
    let Ok(mut routing) = Routing::new(&setup.network, &setup.paths) else { return };
    let mut met = Vec::new();
    for sender in &senders {
        let path = routing.path(sender.from, sender.to, sender.key).unwrap_or_default();
        let links = || path.iter().map(|link| &setup.network.links[link.index()]);
        let twin = links().find_map(|link| {
            let other = made.get(link.law?)?;
            are_twins(&made[sender.law], other).then_some((link, other))
        });
        let told = (sender.law, twin.map(|(_, other)| other.name.as_str()));
        let said = match twin {
            Some((link, other)) => of_twin(sender, &made[sender.law], link, other),
            None if links().any(|link| is_of(&made[sender.law], link, made)) => continue,
            None => of_nobody(sender, &made[sender.law]),
        };
        if !met.contains(&told) {
            met.push(told);
            let (message, help) = said;
            let severity = Severity::Warning;
            let help = Some(help);
            warnings.push(Diagnostic { severity, help, ..Diagnostic::general(file, message) });
        }
    }
}

fn senders(setup: &Setup) -> impl Iterator<Item = Sender<'_>> {
    let flows = setup.flows.iter().enumerate().map(|(id, flow)| Sender {
        name: &flow.name,
        law: flow.law,
        from: flow.from,
        to: flow.to,
        key: id as u64,
    });
    let classes = setup.traffic.iter().flat_map(|class| {
        class.pairs.iter().map(|(from, to, _)| Sender {
            name: &class.name,
            law: class.law,
            from: *from,
            to: *to,
            key: 0,
        })
    });
    flows.chain(classes)
}

/// Whether some link's port is of another law, where this one would have a port.
fn may_be_unheard(one: &Made, setup: &Setup, made: &[Made]) -> bool {
    setup.network.links.iter().any(|link| !is_of(one, link, made) && would_stand(one, link))
}

/// Whether the port of a link is of this law.
fn is_of(one: &Made, link: &LinkSpec, made: &[Made]) -> bool {
    let other = link.law.and_then(|law| made.get(law));
    other.is_some_and(|other| other.law.info().name == one.law.info().name)
}

/// Whether the law has a port for such a link.
fn would_stand(one: &Made, link: &LinkSpec) -> bool {
    let id = LinkId(0).port_id();
    let context = LinkContext { rate: link.service.mean_rate(), delay: link.delay, id };
    one.law.port(&context).is_some()
}

fn are_twins(a: &Made, b: &Made) -> bool {
    let (a, b) = (a.law.info().name, b.law.info().name);
    a != b && a.trim_end_matches("@kernel") == b.trim_end_matches("@kernel")
}

fn of_twin(sender: &Sender<'_>, one: &Made, link: &LinkSpec, other: &Made) -> (String, String) {
    let (name, sends, stands) = (sender.name, &one.name, &other.name);
    let message = format!(
        "{name:?} sends by {sends}, and the port of {:?} is one of {stands}: it does not read those headers",
        link.name
    );
    let help =
        format!("run both as {sends} or both as {stands}; `law` of flows and links says which");
    (message, help)
}

fn of_nobody(sender: &Sender<'_>, one: &Made) -> (String, String) {
    let (name, sends) = (sender.name, &one.name);
    let message = format!(
        "{name:?} sends by {sends}, and no port on its way is one of {sends}: nobody tells it its rate"
    );
    let help = "`law` of a link says whose port stands there".to_string();
    (message, help)
}
