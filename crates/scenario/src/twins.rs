//! Laws that mean the same and do not understand each other: `xcp` and `xcp@kernel`.

use ratewire_net::routing::Routing;
use ratewire_net::spec::{LinkId, NodeId};
use ratewire_sim::setup::Setup;

use crate::diagnostic::{Diagnostic, Severity};
use crate::uses::Made;

/// Warns where senders of one meet ports of the other: these pass its headers on unread.
pub(crate) fn check(file: &str, setup: &Setup, made: &[Made], warnings: &mut Vec<Diagnostic>) {
    let base =
        |at: usize| made.get(at).map_or("", |one| one.law.info().name).trim_end_matches("@kernel");
    let are_twins = |a: usize, b: usize| {
        let name = |at: usize| made.get(at).map(|one| one.law.info().name);
        base(a) == base(b) && name(a) != name(b)
    };
    let laws = || setup.network.links.iter().filter_map(|link| link.law);
    let meets = |law: usize| laws().any(|port| are_twins(law, port));
    // Most runs have no twins, and need no routes.
    let classes = setup.traffic.iter().filter(|class| meets(class.law));
    let flows = setup.flows.iter().enumerate().filter(|(_, flow)| meets(flow.law));
    let mut senders: Vec<(&str, usize, NodeId, NodeId, u64)> = flows
        .map(|(id, flow)| (flow.name.as_str(), flow.law, flow.from, flow.to, id as u64))
        .collect();
    senders.extend(classes.flat_map(|class| {
        class.pairs.iter().map(|(from, to, _)| (class.name.as_str(), class.law, *from, *to, 0))
    }));
    let Some(mut routing) =
        (!senders.is_empty()).then(|| Routing::new(&setup.network, &setup.paths).ok()).flatten()
    else {
        return;
    };
    let mut met = Vec::new();
    for (name, law, from, to, key) in senders {
        let path = routing.path(from, to, key).unwrap_or_default();
        let port = |link: &LinkId| setup.network.links[link.index()].law;
        let twin = path.iter().find(|link| port(link).is_some_and(|other| are_twins(law, other)));
        let Some((link, other)) = twin.and_then(|link| Some((link, port(link)?))) else { continue };
        if met.contains(&(law, other)) {
            continue;
        }
        met.push((law, other));
        let (sends, stands) = (&made[law].name, &made[other].name);
        let link = &setup.network.links[link.index()].name;
        let message = format!(
            "{name:?} sends by {sends}, and the port of {link:?} is one of {stands}: it does not read those headers"
        );
        let help =
            format!("run both as {sends} or both as {stands}; `law` of flows and links says which");
        let severity = Severity::Warning;
        warnings.push(Diagnostic {
            severity,
            help: Some(help),
            ..Diagnostic::general(file, message)
        });
    }
}
