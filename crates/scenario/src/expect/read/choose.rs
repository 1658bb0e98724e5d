//! Chooses the listed flows that an expectation measures.

use ratewire_sim::setup::Ensembles;
use ratewire_units::names;

use super::Named;
use crate::network::refuse_ambiguous;
use crate::section::Section;

/// Edges of ensembles that "all flows" includes: those where a host knows the metric, so each byte
/// counts once.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// Edges whose receiver is a host.
    Receivers,
    /// Edges whose sender is a host.
    Senders,
    /// All edges: the metric belongs to each edge alone.
    All,
}

impl Side {
    pub(super) fn of(metric: &str) -> Side {
        match metric {
            "clamps" | "refused" => Side::All,
            "retransmitted" | "completion_time" => Side::Senders,
            _ if metric.starts_with("window") || metric.starts_with("rtt") => Side::Senders,
            _ => Side::Receivers,
        }
    }

    fn has(self, flow: usize, ensembles: &Ensembles) -> bool {
        match self {
            Side::Receivers => !ensembles.ends_at_switch(flow),
            Side::Senders => !ensembles.begins_at_switch(flow),
            Side::All => true,
        }
    }
}

/// The listed flows that a key chooses, and a label for them.
pub(super) fn choose(
    section: &Section<'_>,
    key: &'static str,
    side: Side,
    named: &Named<'_>,
) -> Option<(Vec<usize>, String)> {
    let context = section.context;
    let Some(wanted) = section.names(key) else {
        let all = (0..named.flows.len()).filter(|id| side.has(*id, named.ensembles));
        let all: Vec<usize> = all.collect();
        if all.is_empty() && !named.incomplete {
            context
                .error(section.span, format!("{} is of flows, and none is listed", section.title))
                .help("list one with [[flow]]");
        }
        return (!all.is_empty()).then(|| (all, "all flows".to_string()));
    };
    let mut chosen = Vec::new();
    for name in &wanted {
        let known = || named.flows.iter().map(|flow| flow.name.as_str());
        let found = names::find(name.value, known());
        if found.is_empty() && !named.incomplete {
            let message = format!("no listed flow is called {:?}", name.value);
            context.unknown(name.span, message, name.value, known());
        }
        if refuse_ambiguous(context, *name, &found, |id| &named.flows[id].name) {
            continue;
        }
        for id in found {
            if !chosen.contains(&id) {
                chosen.push(id);
            }
        }
    }
    if side == Side::Receivers
        && let Some(way) = named.ensembles.ways().find(|way| {
            let has = |list: &[usize]| list.iter().any(|id| chosen.contains(id));
            has(&way.arrive) && has(&way.leave)
        })
    {
        let list = |ids: &[usize]| {
            let names: Vec<&str> = ids.iter().map(|id| named.flows[*id].name.as_str()).collect();
            names.join(", ")
        };
        let message = format!("data delivered to {} count twice", list(&way.arrive));
        let span = wanted.first().map_or(section.span, |name| name.span);
        context
            .warning(span, message)
            .help(format!("a switch forwards them in {}: name one or the other", list(&way.leave)));
    }
    let text: Vec<&str> = wanted.iter().map(|name| name.value).collect();
    (!chosen.is_empty()).then(|| (chosen, text.join(", ")))
}
